"""Cases on a library: each run in several ways, and compared with what the CPU gives."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

import numpy as np

from . import abi, cases
from .cases import Call, Case
from .guarded import CANARY, Tensors, Workspace
from .plug import Plug
from .plugin import AccError, Array, Executor, Memory
from .suite import Run

EXACT = "Results are those of MXNet on the CPU within what rounding allows"
IN_PLACE = "an output may share the memory of an input of its spec and layout"
# Margin in bytes: more than a page, aligned to no more than the largest element.
FAR = 2 * 4096 + 48
# Operators that are given to a stream before it is waited for.
DEPTH = 24


@dataclass
class Given:
    """A run whose result is not there yet."""

    inputs: Tensors
    outputs: Tensors
    workspace: Workspace


@dataclass
class Trial:
    """One case on the library."""

    run: Run
    case: Case
    call: Call
    expected: list[Array]
    executor: Executor
    is_wrong: bool = field(default=False)

    def give(self, margin: int = 0, stream: int | None = None, byte: int = CANARY) -> Given:
        """Runs the executor on tensors of their own, with such bytes in its workspace."""
        inputs = Tensors(self.run, list(self.call.inputs.values()), margin, True, stream)
        outputs = Tensors(self.run, self.expected, margin, False, stream)
        size = self.executor.workspace_bytes
        workspace = Workspace(self.run, size, max(margin, FAR), byte, stream)
        self.executor.run(inputs.views, outputs.views, stream, workspace.memory)
        for tensors in (outputs, inputs, workspace.tensors):
            tensors.fetch()
        return Given(inputs, outputs, workspace)

    def look_at(self, given: Given, what: str) -> None:
        """Compares what came."""
        for number, expected in enumerate(self.expected):
            self.compare(given.outputs.values(number), expected, what)
            wrong = given.outputs.written_beside(number)
            self._expect(not wrong, "nothing written beside the output", f"{wrong} ({what})")
        for number, array in enumerate(self.call.inputs.values()):
            same = given.inputs.values(number).tobytes() == np.ascontiguousarray(array).tobytes()
            wrong = given.inputs.written_beside(number) if same else "its elements were"
            got = f"input {number} has changed: {wrong} ({what})"
            self._expect(not wrong, "inputs that are left as they are", got)
        wrong = given.workspace.written_beside()
        self._expect(not wrong, "nothing written beside the workspace", f"{wrong} ({what})")
        for tensors in (given.inputs, given.outputs, given.workspace.tensors):
            tensors.free()

    def once(self, what: str, margin: int = 0, byte: int = CANARY) -> None:
        """Runs the executor and compares."""
        self.look_at(self.give(margin, None, byte), what)

    def in_place(self) -> None:
        """Has the output share the memory of an input of its spec and layout."""
        if len(self.expected) != 1:
            return
        expected = self.expected[0]
        arrays = list(self.call.inputs.values())
        for number, array in enumerate(arrays):
            layout = (array.shape, array.dtype, array.strides)
            if layout != (expected.shape, expected.dtype, expected.strides) or not array.size:
                continue
            inputs = Tensors(self.run, arrays)
            self.executor.run(inputs.views, [inputs.views[number]])
            inputs.fetch()
            self.compare(inputs.values(number), expected, f"in place of input {number}", IN_PLACE)
            inputs.free()

    def compare(self, came: Array, expected: Array, what: str, says: str = EXACT) -> None:
        wrong = cases.difference(self.case, came, expected, self.run.options.tolerance)
        if wrong is not None:
            self.is_wrong = True
            self.run.finding("what the CPU gives", f"{wrong} ({what})", says)

    def _expect(self, holds: bool, expected: str, got: str) -> None:
        self.is_wrong |= not self.run.expect(holds, expected, got)


class Queue:
    """Trials in one stream, many before anybody waits for the first; nothing without streams.

    What comes first takes long, so that all that is given afterwards has to wait for its turn.
    """

    def __init__(self, run: Run):
        self.run = run
        self.stream: int | None = None
        self._pending: list[tuple[Trial, Given]] = []
        if run.plugin.has("createStream"):
            self.stream = run.plugin.create("Stream", run.device)
            self._plug = Plug(run.plugin, run.device)

    def add(self, trial: Trial) -> bool:
        """Gives a trial to the stream, which closes its executor; False without streams."""
        if self.stream is None:
            return False
        if not self._pending:
            self._plug.put(self.stream)
        try:
            self._pending.append((trial, trial.give(FAR, self.stream)))
        except AccError:
            # Copies are under way into memory that is freed now.
            self.run.plugin.call("syncStream", self.run.device, self.stream)
            raise
        return True

    def is_full(self) -> bool:
        return len(self._pending) >= DEPTH

    def flush(self) -> None:
        """Waits for all trials and compares them."""
        if not self._pending:
            return
        with self.run.step(f"{len(self._pending)} operators in one stream", counts=False):
            self.run.plugin.call("syncStream", self.run.device, self.stream)
        for trial, given in self._pending:
            with self.run.step(trial.case.text, counts=False):
                trial.look_at(given, "in a stream, with much before it")
            finish(trial)
        self._pending = []

    def close(self) -> None:
        self.flush()
        if self.stream is not None:
            self.run.plugin.destroy("Stream", self.stream, self.run.device)
            self._plug.free()


@contextmanager
def queue(run: Run) -> Iterator[Queue]:
    made = Queue(run)
    try:
        yield made
    finally:
        made.close()


def finish(trial: Trial) -> None:
    """Counts a trial that has been run in all ways, and frees its executor."""
    counts = trial.run.result.counts(trial.case.name, trial.case.dtype)
    counts.ran += 1
    counts.wrong += trial.is_wrong
    trial.executor.close()


def like(arrays: Sequence[Array], run: Run) -> list[Memory]:
    """Tensors without memory, to ask for an executor."""
    return [Memory(run.plugin, run.device, None, array) for array in arrays]


def executor_of(run: Run, case: Case, call: Call, expected: list[Array]) -> Executor | None:
    """The executor of a case; None where the library does not do it, which is noted."""
    inputs = dict(zip(call.inputs, like(list(call.inputs.values()), run), strict=True))
    outputs = like(expected, run)
    try:
        return run.plugin.executor_with(case.name, inputs, outputs, call.attributes, run.device)
    except AccError as error:
        if error.code != "unsupported":
            raise
        run.rejected(case.text, error.message)
        return None


def try_case(run: Run, case: Case, pending: Queue) -> None:
    """Runs a case in all its ways, if the CPU and the library do it."""
    try:
        with np.errstate(all="ignore"):
            expected = cases.expected_of(case)
    except Exception:
        return  # the CPU rejects it, so that MXNet never asks a library for it
    run.result.counts(case.name, case.dtype).tried += 1
    with run.step(case.text):
        call = cases.call_of(case)
        executor = executor_of(run, case, call, expected)
        if executor is None:
            return
        if not run.expect(bool(executor.executor.run), "a function run", "NULL", "Required."):
            return
        trial = Trial(run, case, call, expected, executor)
        try:
            trial.once("the first run", 0, 0)
            trial.once("the second run, elsewhere", FAR, 0xFF)
            if executor.executor.flags & abi.IN_PLACE:
                trial.in_place()
            if not pending.add(trial):
                finish(trial)
        except AccError as error:
            executor.close()
            if error.code != "unsupported" or error.function != "run":
                raise
            run.rejected(case.text, error.message)
    if pending.is_full():
        pending.flush()


def simple_case(run: Run, size: int = 64) -> tuple[Case, Call, list[Array], Executor] | None:
    """An operator that the library executes on float32, with its executor."""
    x = np.arange(size, dtype="float32")
    for name, arguments in (("add", (x, x[::-1].copy())), ("negative", (x,)), ("multiply", (x, x))):
        case = Case(name, f"({size},)", arguments)
        call, expected = cases.call_of(case), cases.expected_of(case)
        executor = executor_of(run, case, call, expected)
        if executor is not None:
            return case, call, expected, executor
    return None


def need_operators(run: Run) -> None:
    """Skips the check where the library executes no operators."""
    if not run.plugin.imperative():
        run.skip("the library says by supportsImperative that it executes no operators")
    run.need_memory()
    run.need("accGetExecutor")
