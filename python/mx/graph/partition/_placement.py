"""Where the nodes of a graph run, for one set of input shapes, and how they are executed there."""

from __future__ import annotations

import re
import warnings
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from threading import Condition, Lock
from time import perf_counter_ns
from typing import Any, cast
from weakref import WeakSet

import onnx_ir

import ffi

from ..._acc.fallback import AccFallbackWarning, AccPlacementWarning, tell, users_level, waitall
from ...context import cpu
from .. import _told
from .._graph import Graph
from .._latest import Attempt
from ..lowering import BACKENDS, Chooser
from ..lowering._lowering import ARRAY_DTYPES
from ..lowering._node import describe as text_of
from ..lowering._program import Program
from ..lowering._quick import QuickChooser, suits_quick
from ..lowering._segment import Step
from ..lowering.recipes import Recipe
from ..plan import own_arrays
from ..profile import Recorder
from ._compiled import FAILURES, Loaded, Source
from ._costs import Costs
from ._describe import NotOffered, check_offered
from ._device import Answer, Device
from ._groups import CPU, find_groups, in_order
from ._nested import Bodies, on_host
from ._records import parts_of
from ._values import Values
from ._verify import Tolerance, Verifier
from ._wiring import Part, Wiring

_count_fallbacks = ffi.get_global_func("mx.acc.count_fallbacks")

_AT_NODE = re.compile(r" failed at node (\d+)")
# Operators that the warning names, so that it stays a line.
_MOST_NAMED = 4


# A model that failed rests for so many runs; for twice as many when it fails again.
_REST = 8


@dataclass
class Piece:
    """A part of a graph with what executes it: a model of the device, or a program of the CPU."""

    part: Part
    positions: tuple[int, ...]
    model: Any = None
    program: Program | None = None
    dropped: tuple[onnx_ir.Value, ...] = field(default=())  # that nobody reads afterwards
    failure: str = ""  # of the model's last run
    failures: int = 0  # one after another
    rest: int = 0  # runs until it is tried again
    # That call the model alone, until it fails.
    _attempts: WeakSet[Attempt] = field(default_factory=WeakSet)
    # Of the failures and attempts, as several threads run a plan.
    _lock: Lock = field(default_factory=Lock)

    def is_to_try(self) -> bool:
        """Whether this run is to try the model."""
        if self.model is None:
            return False
        if self.rest <= 0:  # the usual case, without the lock
            return True
        with self._lock:
            self.rest -= 1
            return self.rest <= 0

    def fail(self, reason: str) -> None:
        """Gives the model up for some runs."""
        with self._lock:
            self.failure = reason
            self.rest = _REST << min(self.failures, 10)
            self.failures += 1
            self._end_attempts()

    def succeed(self) -> None:
        """Forgets that the model had failed."""
        if self.failure:
            with self._lock:
                self.failure, self.failures, self.rest = "", 0, 0

    def attempt(self, instead: Callable[[Sequence[Any], Exception], Any]) -> Attempt | None:
        """What calls the model, and `instead` where that fails; None while the model rests."""
        with self._lock:
            if self.failure:
                return None
            made = Attempt(self.model.try_infer, instead, FAILURES)
            self._attempts.add(made)
            return made

    def retire(self) -> None:
        """Ends what calls the model alone."""
        with self._lock:
            self._end_attempts()

    def _end_attempts(self) -> None:
        for each in self._attempts:
            each.end()
        self._attempts.clear()


class Outdated(Exception):
    """The weights of a placement were replaced: there is another one for its inputs."""


class Placement:
    """The nodes of a graph, each on the device or on the CPU."""

    def __init__(
        self,
        graph: Graph,
        device: Device,
        mode: str,
        costs: bool,
        verify: Tolerance | bool = False,
        answers: Sequence[Answer] | Answer | None = None,
        keep_nan: bool = False,
        is_body: bool = False,
        previous: Placement | None = None,
    ) -> None:
        """`answers` has those that the library gave at another time, less what was too costly then,
        or one for all nodes, for as long as models are loaded; by default it is asked. `is_body`
        says that it is the body of a branch or a loop, whose outputs are on the host. `previous` is
        of a graph that may differ in nothing but the elements of weights, and was retired: its
        models are taken over, with those that changed."""
        self._opset = dict(graph.model.opset_imports)
        self._graph = graph.model.graph
        self._device = device
        self._mode = mode
        self._keep_nan = keep_nan
        self._is_body = is_body

        def make_body(graph: Graph) -> Placement:  # without a reference to this placement
            return Placement(graph, device, mode, costs, verify, None, keep_nan, True)

        self._bodies = Bodies(make_body)
        self._wiring = Wiring(graph.model.graph)
        self._sources = self._wiring.sources()
        self._ids = {node: number for number, node in enumerate(self._wiring.nodes, 1)}
        self._models: dict[tuple[int, ...], Loaded] = {}
        self._failures: set[str] = set()  # with the names of nodes, as warnings tell them
        self._failure_reasons: set[str] = set()
        self._has_warned = False
        self._is_for_now = isinstance(answers, Answer)
        if isinstance(answers, Answer):
            answers = [answers] * len(self._wiring.nodes)
        is_known = answers is not None and len(answers) == len(self._wiring.nodes)
        self._costs = costs and not is_known
        self._running = Condition()
        self._runs = 0  # under way
        self._is_outdated = False
        self._previous = previous
        self.answers = list(answers or ()) if is_known else self._ask()
        self.groups: list[int] = []
        self.pieces: list[Piece] = []
        self._assign()
        self.is_whole = CPU not in self.groups  # on the device
        self._check_mode()
        self._verifier: Verifier | None = None
        if verify:
            tolerance = verify if isinstance(verify, Tolerance) else None
            self._verifier = Verifier(
                self._wiring, device, self._ids, self._opset, tolerance, keep_nan
            )
        if mode != "whole":  # or another thread may be using them
            device.forget_weights()
        self._previous = None

    def answers_for(self, graph: Graph) -> list[Answer] | None:
        """What the library said of the nodes of a graph, where this placement has the same ones;
        None where it failed to say it, too."""
        nodes = Wiring(graph.model.graph).nodes
        if self._failures or list(map(_names_in, nodes)) != list(map(_names_in, self.nodes)):
            return None
        return self.answers

    @property
    def nodes(self) -> list[onnx_ir.Node]:
        """All but constants."""
        return self._wiring.nodes

    @property
    def name(self) -> str:
        """That of the graph."""
        return self._graph.name or "graph"

    @property
    def inputs(self) -> list[onnx_ir.Value]:
        """What run is given, but for weights."""
        weights = set(self._graph.initializers.values())
        return [value for value in self._graph.inputs if value not in weights]

    # -- deciding --

    def _ask(self) -> list[Answer]:
        """What the library says of each node, and of those that it is not asked about why."""
        answers: list[Answer | None] = []
        for node in self._wiring.nodes:
            try:
                check_offered(node, self._opset)
                answers.append(None)
            except NotOffered as reason:
                answers.append(Answer(CPU, str(reason)))
        offered = [position for position, answer in enumerate(answers) if answer is None]
        if self._mode == "whole":
            return [answer or Answer(CPU, "the fallback is 'whole'") for answer in answers]
        given: Sequence[Answer] = ()
        if offered:
            part = self._wiring.part(offered)
            try:
                given = self._device.answers(self._wiring, part, self._ids, self._opset)
            except FAILURES as error:
                self._failures.add(str(error))
                self._failure_reasons.add(str(error))
                given = [Answer(CPU, str(error))] * len(offered)
        taken = iter(given)
        return [next(taken) if answer is None else answer for answer in answers]

    def _assign(self) -> None:
        """Forms groups and loads them, once more where one cannot be loaded."""
        while True:
            self.groups = find_groups(self._sources, [answer.group for answer in self.answers])
            if self._costs and self._drop_costly():
                continue
            pieces = []
            for positions in in_order(self._sources, self.groups):
                piece = Piece(self._wiring.part(sorted(positions)), tuple(sorted(positions)))
                if self.groups[positions[0]] == CPU:
                    piece = Piece(self._wiring.part(positions), tuple(positions))
                elif not self._load(piece):
                    break
                pieces.append(piece)
            else:
                break
        kept = {piece.positions for piece in pieces}
        self._models = {key: model for key, model in self._models.items() if key in kept}
        results = set(self._graph.outputs)
        last = self._wiring.last_uses(piece.part for piece in pieces)
        for number, piece in enumerate(pieces):
            piece.dropped = tuple(
                value
                for value in piece.part.inputs
                if last[value] == number and value not in results
            )
        self.pieces = pieces

    def _load(self, piece: Piece) -> bool:
        """Gives a piece its model. Where that fails, its nodes are to stay on the CPU: one if the
        library says which, and else all."""
        if piece.positions not in self._models:
            try:
                self._models[piece.positions] = self._loaded(piece)
            except FAILURES as error:
                found = _AT_NODE.search(str(error))
                at = int(found[1]) - 1 if found else -1
                self._leave((at,) if at in piece.positions else piece.positions, str(error))
                self._failures.add(self._named(str(error)))
                self._failure_reasons.add(str(error))
                return False
        piece.model = self._models[piece.positions].model
        return True

    def _source(self, piece: Piece, before: Sequence[str] = ()) -> Source:
        """A piece as the library gets it."""
        return self._device.source(self._wiring, piece.part, self._ids, self._opset, before)

    def _loaded(self, piece: Piece) -> Loaded:
        """The model of a piece: that of the previous placement with other weights, or a new one."""
        previous = self._previous
        old = None if previous is None else previous._models.get(piece.positions)
        if previous is not None and old is not None and old.structure:
            source = self._source(piece, old.hashes)
            try:
                updated = old.updated(source, previous.wait_until_idle)
                if updated is not None:
                    return updated
            except NotImplementedError:
                pass  # not these weights
            except FAILURES as error:
                warn(f"{self._named(str(error))}. The model is loaded again")
        return self._device.compiler.load(self._source(piece))

    def _drop_costly(self) -> bool:
        """Leaves groups on the CPU that are slower on the device; whether there were any. There are
        none where the CPU is to execute nothing."""
        if self._mode == "error":
            return False
        members: dict[int, list[int]] = {}
        for position, group in enumerate(self.groups):
            if group != CPU:
                members.setdefault(group, []).append(position)
        costs = Costs(self._wiring, self._device, self.answers, self.groups, self._is_body)
        dropped = False
        for number, positions in members.items():
            reason = costs.why_not_worth(number, positions)
            if reason:
                self._leave(positions, reason)
                costs.leave(number, positions)
                dropped = True
        return dropped

    def _leave(self, positions: Sequence[int], reason: str) -> None:
        for position in positions:
            self.answers[position] = Answer(CPU, reason)

    def _named(self, text: str) -> str:
        """A library's message with the name of the node that it knows by number."""
        found = _AT_NODE.search(text)
        if found is None or not 0 < int(found[1]) <= len(self.nodes):
            return text
        node = text_of(self.nodes[int(found[1]) - 1])
        return text[: found.start()] + f" failed at {node}" + text[found.end() :]

    def _check_mode(self) -> None:
        left = [position for position, group in enumerate(self.groups) if group == CPU]
        if self._mode == "error" and left:
            reasons = "; ".join(
                f"{text_of(self.nodes[position])}: {self.answers[position].reason}"
                for position in left
            )
            raise NotImplementedError(
                f"{self._device.name} does not execute {len(left)} of {len(self.nodes)} nodes: "
                f"{reasons}"
            )
        for failure in sorted(self._failures):
            warn(f"{failure}. What it was to execute runs on the CPU")

    # -- telling --

    def where(self, position: int) -> str:
        """The device of a node with the number of its group, or "cpu"."""
        group = self.groups[position]
        is_here = group == CPU or position in self._failed()
        return "cpu" if is_here else f"{self._device.name} {group}"

    def why(self, position: int) -> str:
        """Why a node is not on the device."""
        return self._failed().get(position) or self.answers[position].reason

    def summary(self) -> str:
        """How many nodes the device executes, and the operators of the others."""
        failed = self._failed()
        left = [
            node.op_type
            for position, (node, group) in enumerate(zip(self.nodes, self.groups, strict=True))
            if group == CPU or position in failed
        ]
        text = f"{self._device.name}: {len(self.nodes) - len(left)} of {len(self.nodes)} nodes"
        text += f"; on cpu: {_told.names_of(left)}" if left else ""
        text += f"; {len(failed)} of them since their model failed" if failed else ""
        text += "; models are being loaded" if self._is_for_now else ""
        inner = [counts for each in self.nested() for counts in each.counts()]
        if any(here for here, _ in inner):
            here, all_ = (sum(column) for column in zip(*inner, strict=True))
            text += f"; in branches and loops {here} of {all_} nodes"
        return text + _told.in_python(self.steps())

    def counts(self) -> list[tuple[int, int]]:
        """How many nodes the device executes, and how many there are: of this graph, and of the
        bodies in it."""
        own = sum(group != CPU for group in self.groups), len(self.nodes)
        return [own, *(counts for each in self.nested() for counts in each.counts())]

    def nested(self) -> list[Placement]:
        """The placements of bodies of branches and loops that the CPU has executed so far, in which
        the device has a part."""
        return self._bodies.placements()

    def warn(self) -> bool:
        """Warns that the CPU executes some nodes: how many, of which operators, and why. Returns
        whether there was a reason to: of what failed another warning has told. Does so once."""
        if self._has_warned:
            return False
        self._has_warned = True
        found: dict[str, list[str]] = {}
        for node, group, answer in zip(self.nodes, self.groups, self.answers, strict=True):
            if group == CPU and answer.reason not in self._failure_reasons:
                found.setdefault(node.op_type, []).append(answer.reason)
        if not found:
            return False
        total = sum(map(len, found.values()))
        named = sorted(found.items(), key=lambda item: -len(item[1]))
        told = [_reasons_of(operator, reasons) for operator, reasons in named[:_MOST_NAMED]]
        if len(named) > _MOST_NAMED:
            told.append(f"and {len(named) - _MOST_NAMED} more")
        warn(
            f"{self._device.name} does not execute {total} of {len(self.nodes)} nodes of the "
            f"graph, which run on the CPU, with copies: {', '.join(told)}. mx.graph.explain tells "
            "of each",
            AccPlacementWarning,
        )
        return True

    def _failed(self) -> dict[int, str]:
        """The nodes whose models rest after a failure, and what that was."""
        return {
            position: piece.failure
            for piece in self.pieces
            if piece.failure
            for position in piece.positions
        }

    def _load_again(self, piece: Piece) -> None:
        """Gives a piece another model, after the process that had its model has ended."""
        try:
            loaded = self._device.compiler.load(self._source(piece))
        finally:
            self._device.forget_weights()
        self._models[piece.positions], piece.model = loaded, loaded.model

    def models(self) -> list[Loaded]:
        """The models of the device, also of bodies that were executed, and where they came from."""
        inner = [model for each in self.nested() for model in each.models()]
        return [*self._models.values(), *inner]

    def steps(self) -> list[Step]:
        """Where each node that is on the CPU was executed, in the plans made so far."""
        programs = [piece.program for piece in self.pieces if piece.program is not None]
        return [step for program in programs for each in program.segments() for step in each.steps]

    def recipe(self) -> Recipe | None:
        """Of the plan that executes all nodes on the CPU; None where there is no such plan, or it
        cannot be kept."""
        if len(self.pieces) != 1 or self.pieces[0].program is None:
            return None
        program, graph = self.pieces[0].program, self._graph
        is_whole = program.inputs == self.inputs and program.results == list(graph.outputs)
        return program.recipe() if is_whole else None

    def operators(self) -> list[tuple[str, int]]:
        """The operators, and how many nodes are of each."""
        return list(Counter(node.op_type for node in self.nodes).items())

    # -- executing --

    def run(
        self, given: Mapping[onnx_ir.Value, Any], recorder: Recorder | None = None
    ) -> list[Any]:
        """The graph's outputs for its inputs. A recorder is told how long the pieces took.

        Raises Outdated where the weights are others now.
        """
        with self._running:
            if self._is_outdated:
                raise Outdated
            self._runs += 1
        try:
            return self._run(given, recorder)
        finally:
            with self._running:
                self._runs -= 1
                if self._is_outdated:
                    self._running.notify_all()

    def retire(self) -> None:
        """Has `run` raise Outdated from now on; what is under way goes on."""
        with self._running:
            self._is_outdated = True
        for piece in self.pieces:
            piece.retire()

    def wait_until_idle(self) -> None:
        """Waits for the runs under way: one that is not over would find new weights in one model
        and old ones in the other."""
        with self._running:
            self._running.wait_for(lambda: self._runs == 0)

    def _run(self, given: Mapping[onnx_ir.Value, Any], recorder: Recorder | None) -> list[Any]:
        values = Values(self._device, given, recorder)
        for piece in self.pieces:
            if not (piece.is_to_try() and self._infer(piece, values, recorder)):
                self._run_here(piece, values, recorder)
            values.drop(piece.dropped)
        return self._outputs(values, list(given.values()))

    def single_model(self) -> Attempt | None:
        """What executes the graph for its inputs in order, of arrays, where it is one model of the
        device; else None. It gives None for arrays that do not fit, after a failure, and where the
        weights are others now.

        It spares what `run` does to keep values between several pieces.
        """
        if len(self.pieces) != 1 or self.pieces[0].model is None or self._verifier is not None:
            return None
        (piece,) = self.pieces
        inputs = self.inputs
        if piece.part.inputs != inputs or piece.part.outputs != list(self._graph.outputs):
            return None

        def run_here(arrays: Sequence[Any], error: Exception) -> Sequence[Any] | None:
            if self._is_outdated:
                return None
            self._give_up(piece, error)
            values = Values(self._device, dict(zip(inputs, arrays, strict=True)), None)
            self._run_here(piece, values, None)
            return self._outputs(values, arrays)

        attempt = piece.attempt(run_here)
        if self._is_outdated and attempt is not None:  # since another one retired the piece
            attempt.end()
        return attempt

    def _infer(self, piece: Piece, values: Values, recorder: Recorder | None) -> bool:
        try:
            if piece.failure and piece.model.is_lost:
                self._load_again(piece)
            inputs = values.on_device(piece.part.inputs)
            if recorder is None:
                outputs = piece.model.infer(inputs)
            else:
                outputs = self._infer_profiled(piece, inputs, recorder)
        except FAILURES as error:
            self._give_up(piece, error)
            return False
        piece.succeed()
        if self._verifier is not None:
            self._verifier.check(piece.positions, inputs, outputs)
        values.there.update(zip(piece.part.outputs, outputs, strict=True))
        return True

    def _infer_profiled(self, piece: Piece, inputs: Sequence[Any], recorder: Recorder) -> Any:
        """The model's outputs once they are there. A recorder is told of its nodes, too, where the
        library tells."""
        waitall()  # for the work that is in a stream
        begin = perf_counter_ns()
        outputs, records, problem = piece.model.infer_profiled(inputs)
        shapes = [output.shape for output in outputs]
        where = self.where(piece.positions[0])
        recorder.add(_names_of(piece), where, shapes, begin, parts_of(self.nodes, records, where))
        if problem:
            warnings.warn(f"{problem}. The profile may lack nodes", RuntimeWarning, users_level())
        return outputs

    def _give_up(self, piece: Piece, error: Exception) -> None:
        """Leaves a piece to the CPU after its model failed, of which nothing is visible yet; with
        the mode "error" raises what it failed with."""
        if self._mode == "error":
            raise error
        piece.fail(str(error))
        warn(
            f"{error}. The {len(piece.positions)} nodes of this group run on the CPU now; "
            f"the device is tried again in {piece.rest} runs"
        )

    def _run_here(self, piece: Piece, values: Values, recorder: Recorder | None) -> None:
        if piece.program is None:
            graph = cast(onnx_ir.Graph, piece.part)
            bodies = None if self._mode == "whole" else self._bodies
            is_soon = self._is_for_now and suits_quick(graph)
            chooser = QuickChooser() if is_soon else Chooser(BACKENDS)
            piece.program = Program(
                graph, self._opset, chooser, keep_nan=self._keep_nan, bodies=bodies
            )
        inputs = values.on_host(piece.part.inputs)
        self._count(piece)
        with cpu():
            outputs = piece.program.run(inputs, record=recorder)
        values.here.update(zip(piece.part.outputs, outputs, strict=True))

    def _count(self, piece: Piece) -> None:
        """Has `mx.acc_stats` tell what the CPU executes."""
        positions = piece.positions
        reasons = [piece.failure or self.answers[position].reason for position in positions]
        counts = Counter(zip((node.op_type for node in piece.part.nodes), reasons, strict=True))
        rows = (
            item for (operator, why), count in counts.items() for item in (operator, why, count)
        )
        _count_fallbacks(self._device.ctx, *rows)

    def _outputs(self, values: Values, given: Sequence[Any]) -> list[Any]:
        outputs = [self._output(value, values) for value in self._graph.outputs]
        return on_host(outputs) if self._is_body else own_arrays(outputs, given)

    def _output(self, value: onnx_ir.Value, values: Values) -> Any:
        if value in values.there:
            return values.there[value]
        content = values.here[value] if value in values.here else self._wiring.elements(value)
        is_array = (
            getattr(content, "dtype", None) is not None and str(content.dtype) in ARRAY_DTYPES
        )
        return self._device.array(content) if is_array else content


def _names_in(node: onnx_ir.Node) -> tuple[Any, ...]:
    """What tells a node from others of a graph."""
    names = (tuple(value and value.name for value in each) for each in (node.inputs, node.outputs))
    return (node.domain, node.op_type, *names)


def _names_of(piece: Piece) -> str:
    """The nodes of a group, by the first and the last where there are many."""
    names = [node.name or node.op_type for node in piece.part.nodes]
    return ", ".join(names) if len(names) <= 3 else f"{names[0]} ... {names[-1]} ({len(names)})"


def _reasons_of(operator: str, reasons: Sequence[str]) -> str:
    """An operator with its number of nodes, and why they are on the CPU."""
    (first, count), *others = Counter(reasons).most_common()
    more = f" in {count} cases, and {len(others)} other reasons" if others else ""
    return f"{operator} x{len(reasons)} ({first}{more})"


def warn(text: str, category: type[AccFallbackWarning] = AccFallbackWarning) -> None:
    """Tells the user why the CPU executes something."""
    tell(text, category)
