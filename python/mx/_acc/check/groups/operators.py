"""Operators against those of the CPU."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from .. import abi, cases
from ..cases import Call, Case
from ..plugin import OPERATOR_SET, UNTOUCHED, AccError, Array, Executor, Memory, tensors
from ..suite import Group, Run

group = Group("operators", "operators, against those of the CPU")

RUN = (
    "Carries the operator out; shapes, types and strides are those it was asked for, data and "
    "byte_offset differ from call to call."
)
ASKED = "How an operator is carried out; kMXAccUnsupported where it is not, with the reason."
IN_PLACE = "an output may share the memory of an input of its geometry"
FILLED = (
    "How one operator is carried out for tensors of one geometry; filled in by the library. MXNet "
    "sets struct_size and zeroes the rest."
)
BEYOND = "Who fills in a struct that another made writes nothing beyond its struct_size"
MARGIN = 64
CANARY = 0xA5


def need_operators(run: Run) -> None:
    """Skips the check where the library carries out no operators."""
    if not run.plugin.imperative():
        run.skip("the library says by supportsImperative that it carries out no operators")
    run.need_memory()
    run.need("accGetExecutor")


class Tensors:
    """Tensors like arrays on the device, with their elements or without; leave them by `free`."""

    def __init__(self, run: Run, arrays: Sequence[Array], margin: int = 0, filled: bool = True):
        self.run, self.arrays, self.margin = run, arrays, margin
        self.wholes: list[Memory] = []
        self.views: list[Memory] = []
        for array in arrays:
            self._add(array, filled)

    def _add(self, array: Array, filled: bool) -> None:
        """Memory for all that a view reaches."""
        reach = [
            (extent - 1) * step for extent, step in zip(array.shape, array.strides, strict=True)
        ]
        low = sum(step for step in reach if step < 0)
        size = sum(map(abs, reach)) + array.itemsize if array.size else 0
        image = np.full(size + 2 * self.margin, CANARY, "uint8")
        if array.size and filled:
            first = self.margin - low
            laid: Array = np.ndarray(array.shape, array.dtype, image, first, array.strides)
            laid[...] = array
        whole = self.run.plugin.to_device(image, self.run.device)
        view = Memory(self.run.plugin, self.run.device, whole.handle, array)
        view.byte_offset = self.margin - low
        self.wholes.append(whole)
        self.views.append(view)

    def values(self, number: int) -> Array:
        """The elements that are there now."""
        array, view = self.arrays[number], self.views[number]
        if not array.size:
            return np.empty_like(array)
        image = self.run.plugin.to_host(self.wholes[number])
        laid: Array = np.ndarray(array.shape, array.dtype, image, view.byte_offset, array.strides)
        values: Array = laid.copy()
        return values

    def is_clean(self, number: int) -> bool:
        """Whether the bytes around the tensor are what they were; of row-major ones."""
        image = self.run.plugin.to_host(self.wholes[number])
        around = np.concatenate([image[: self.margin], image[len(image) - self.margin :]])
        return bool((around == CANARY).all())

    def free(self) -> None:
        for whole in self.wholes:
            if whole.handle is not None:
                whole.free()


@dataclass
class Trial:
    """One case on the library."""

    run: Run
    case: Case
    call: Call
    expected: list[Array]
    executor: Executor

    def once(self, what: str, margin: int = 0) -> None:
        """Runs the executor on tensors of their own and compares."""
        arrays = list(self.call.inputs.values())
        inputs = Tensors(self.run, arrays, margin)
        outputs = Tensors(self.run, self.expected, margin, filled=False)
        self.executor.run(inputs.views, outputs.views)
        for number, expected in enumerate(self.expected):
            self.compare(outputs.values(number), expected, what)
            if margin:
                clean = outputs.is_clean(number)
                self.run.expect(clean, "nothing written beside the output", "it was")
        for number, array in enumerate(arrays):
            left = inputs.values(number).tobytes() == np.ascontiguousarray(array).tobytes()
            self.run.expect(left, "inputs that are left as they are", f"input {number} has changed")
        inputs.free()
        outputs.free()

    def in_place(self) -> None:
        """Has the output take the place of an input of its geometry."""
        if len(self.expected) != 1:
            return
        expected = self.expected[0]
        arrays = list(self.call.inputs.values())
        for number, array in enumerate(arrays):
            geometry = (array.shape, array.dtype, array.strides)
            if geometry != (expected.shape, expected.dtype, expected.strides) or not array.size:
                continue
            inputs = Tensors(self.run, arrays)
            self.executor.run(inputs.views, [inputs.views[number]])
            self.compare(inputs.values(number), expected, f"in place of input {number}", IN_PLACE)
            inputs.free()

    def compare(self, came: Array, expected: Array, what: str, says: str = "") -> None:
        wrong = cases.difference(self.case, came, expected, self.run.options.tolerance)
        if wrong is not None:
            self.run.finding("what the CPU gives", f"{wrong} ({what})", says)


def _like(arrays: Sequence[Array], run: Run) -> list[Memory]:
    """Tensors without memory, to ask for an executor."""
    return [Memory(run.plugin, run.device, None, array) for array in arrays]


def executor_of(run: Run, case: Case, call: Call, expected: list[Array]) -> Executor | None:
    """The executor of a case; None where the library does not do it, which is noted."""
    inputs = dict(zip(call.inputs, _like(list(call.inputs.values()), run), strict=True))
    outputs = _like(expected, run)
    try:
        return run.plugin.executor_with(case.name, inputs, outputs, call.attributes, run.device)
    except AccError as error:
        if error.code != "unsupported":
            raise
        run.refused(case.text, error.message)
        return None


def try_case(run: Run, case: Case) -> None:
    """Runs a case in all its ways, if the CPU and the library do it."""
    try:
        with np.errstate(all="ignore"):
            expected = cases.expected_of(case)
    except Exception:
        return  # nothing to compare with: such a call never reaches a library
    with run.step(case.text):
        call = cases.call_of(case)
        executor = executor_of(run, case, call, expected)
        if executor is None:
            return
        if not run.expect(bool(executor.executor.run), "a function run", "NULL", "Required."):
            return
        trial = Trial(run, case, call, expected, executor)
        try:
            trial.once("the first run")
            trial.once("the second run, elsewhere", MARGIN)
            if executor.executor.flags & abi.IN_PLACE:
                trial.in_place()
        except AccError as error:
            if error.code != "unsupported" or error.function != "run":
                raise
            run.refused(case.text, error.message)
        finally:
            executor.close()


def _section(name: str) -> Callable[[Run], None]:
    def check(run: Run) -> None:
        need_operators(run)
        if cases.NO_BFLOAT16 and not run.quick:
            run.note(f"bfloat16 is not tried: {cases.NO_BFLOAT16}")
        for case in cases.SECTIONS[name](not run.quick):
            try_case(run, case)

    check.__doc__ = f"{name.capitalize()} operators give what the CPU gives"
    return check


for _name in cases.SECTIONS:
    group.check(_name, RUN)(_section(_name))


@group.check(
    "bools",
    "A byte. 0 is false; true is 1 in results, and any other byte in memory that others made.",
)
def bools(run: Run) -> None:
    """Bytes that are neither 0 nor 1 are true"""
    need_operators(run)
    for case in cases.odd_bools():
        try_case(run, case)


def simple_case(run: Run, size: int = 64) -> tuple[Case, Call, list[Array], Executor] | None:
    """An operator that the library carries out on float32, with its executor."""
    x = np.arange(size, dtype="float32")
    for name, arguments in (("add", (x, x[::-1].copy())), ("negative", (x,)), ("multiply", (x, x))):
        case = Case(name, f"({size},)", arguments)
        call, expected = cases.call_of(case), cases.expected_of(case)
        executor = executor_of(run, case, call, expected)
        if executor is not None:
            return case, call, expected, executor
    return None


@group.check("unknown", ASKED)
def unknown(run: Run) -> None:
    """An operator that there is not is unsupported, with a reason"""
    need_operators(run)
    with run.step("no_such_operator float32 (2,)"):
        (x,) = _like([np.zeros(2, "float32")], run)
        try:
            executor = run.plugin.executor("no_such_operator", {"x": x}, [x], run.device)
        except AccError as error:
            run.expect(error.code == "unsupported", "kMXAccUnsupported", error)
        else:
            run.finding("kMXAccUnsupported", "an executor")
            executor.close()


@group.check("struct", FILLED)
def struct(run: Run) -> None:
    """The executor's struct is filled in, and nothing beyond it"""
    need_operators(run)
    x = np.zeros(2, "float32")
    for case in (Case("add", "(2,)", (x, x)), Case("negative", "(2,)", (x,))):
        with run.step(case.text):
            call = cases.call_of(case)
            inputs = _like(list(call.inputs.values()), run)
            operator = abi.MXAccOperator(
                ctypes.sizeof(abi.MXAccOperator),
                case.name.encode(),
                OPERATOR_SET,
                run.device,
                tensors(inputs, list(call.inputs)),
                tensors(_like([x], run), role=3),
                len(inputs),
                1,
            )
            size = ctypes.sizeof(abi.MXAccExecutor)
            room = ctypes.create_string_buffer(bytes([UNTOUCHED]) * 2 * size, 2 * size)
            ctypes.memset(room, 0, size)
            made = abi.MXAccExecutor.from_buffer(room)
            made.struct_size = size
            try:
                run.plugin.call("accGetExecutor", ctypes.byref(operator), ctypes.byref(made))
            except AccError as error:
                run.refused(case.text, error.message)
                continue
            finally:
                written = size - room.raw[size:].count(UNTOUCHED)
                run.expect(not written, "nothing written beyond", f"{written} bytes", BEYOND)
            known = abi.CONCURRENT | abi.IN_PLACE
            run.expect(made.struct_size <= size, f"struct_size {size}", made.struct_size)
            if run.plugin.api.abi_minor <= abi.ABI_MINOR:
                run.expect(not made.flags & ~known, f"flags of {known:#x}", hex(made.flags))
            Executor(run.plugin, made).close()


@group.check(
    "leaks",
    "Frees all that is allocated, before finalize; *live is how many there were.",
    fresh=True,
)
def leaks(run: Run) -> None:
    """Executors leave no memory of the device behind"""
    need_operators(run)
    run.need("mx_releaseAll")
    with run.step("20 executors, each run once and freed"):
        for _ in range(20):
            made = simple_case(run)
            if made is None:
                run.skip("the library carries out neither add nor negative nor multiply")
                return
            case, call, expected, executor = made
            Trial(run, case, call, expected, executor).once("a run")
            executor.close()
        live = ctypes.c_size_t(0)
        run.plugin.call("mx_releaseAll", run.device, ctypes.byref(live))
        run.expect(live.value == 0, "no memory alive", f"{live.value} pieces")
    run.close()
