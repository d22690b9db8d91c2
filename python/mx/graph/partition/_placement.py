"""Where the nodes of a graph run, for one set of input shapes, and how they are executed there."""

from __future__ import annotations

import re
import warnings
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

import onnx_ir

from ... import numpy as np
from ..._acc.fallback import AccFallbackWarning, users_level
from ...context import cpu
from .._graph import Graph
from ..lowering import BACKENDS
from ..lowering._lowering import ARRAY_DTYPES
from ..lowering._node import describe as text_of
from ..lowering._program import Program, Step
from ._costs import why_not_worth
from ._describe import NotOffered, check_offered
from ._device import Answer, Device
from ._groups import CPU, find_groups, in_order
from ._verify import Tolerance, Verifier
from ._wiring import Part, Wiring

# What a library, or MXNet on its behalf, may fail with; it is a reason to use the CPU.
FAILURES = (RuntimeError, ValueError, TypeError, IndexError, NotImplementedError, MemoryError)
_AT_NODE = re.compile(r" failed at node (\d+)")


@dataclass
class Piece:
    """A part of a graph with what executes it: a model of the device, or a program of the CPU."""

    part: Part
    positions: tuple[int, ...]
    model: Any = None
    program: Program | None = None
    dropped: tuple[onnx_ir.Value, ...] = field(default=())  # that nobody reads afterwards


class Placement:
    """The nodes of a graph, each on the device or on the CPU."""

    def __init__(
        self,
        graph: Graph,
        device: Device,
        mode: str,
        costs: bool,
        verify: Tolerance | bool = False,
    ) -> None:
        self._opset = dict(graph.model.opset_imports)
        self._graph = graph.model.graph
        self._device = device
        self._mode = mode
        self._costs = costs
        self._wiring = Wiring(graph.model.graph)
        self._sources = self._wiring.sources()
        self._ids = {node: number for number, node in enumerate(self._wiring.nodes, 1)}
        self._models: dict[tuple[int, ...], Any] = {}
        self._failures: set[str] = set()
        self.answers = self._ask()
        self.groups: list[int] = []
        self.pieces: list[Piece] = []
        self._assign()
        self._check_mode()
        self._verifier: Verifier | None = None
        if verify:
            tolerance = verify if isinstance(verify, Tolerance) else None
            self._verifier = Verifier(self._wiring, device, self._ids, self._opset, tolerance)
        device.forget_weights()

    @property
    def nodes(self) -> list[onnx_ir.Node]:
        """All but constants."""
        return self._wiring.nodes

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
                model = self._device.load(self._wiring, piece.part, self._ids, self._opset)
                self._models[piece.positions] = model
            except FAILURES as error:
                found = _AT_NODE.search(str(error))
                at = int(found[1]) - 1 if found else -1
                self._leave((at,) if at in piece.positions else piece.positions, str(error))
                self._failures.add(self._named(str(error)))
                return False
        piece.model = self._models[piece.positions]
        return True

    def _drop_costly(self) -> bool:
        """Leaves groups on the CPU that are slower on the device; whether there were any."""
        members: dict[int, list[int]] = {}
        for position, group in enumerate(self.groups):
            if group != CPU:
                members.setdefault(group, []).append(position)
        dropped = False
        for positions in members.values():
            answers = [self.answers[position] for position in positions]
            reason = why_not_worth(self._wiring.part(positions), answers)
            if reason:
                self._leave(positions, reason + " here")
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
        return "cpu" if group == CPU else f"{self._device.name} {group}"

    def summary(self) -> str:
        """How many nodes the device executes, and the operators of the others."""
        there = sum(group != CPU for group in self.groups)
        left = Counter(
            node.op_type
            for node, group in zip(self.nodes, self.groups, strict=True)
            if group == CPU
        )
        text = f"{self._device.name}: {there} of {len(self.nodes)} nodes"
        names = ", ".join(f"{name} x{count}" for name, count in left.most_common())
        return text + (f"; on cpu: {names}" if names else "")

    def steps(self) -> list[Step]:
        """Where each node that is on the CPU was executed, in the plans made so far."""
        programs = [piece.program for piece in self.pieces if piece.program is not None]
        return [step for program in programs for each in program.segments() for step in each.steps]

    # -- executing --

    def run(self, given: Mapping[onnx_ir.Value, Any]) -> list[Any]:
        """The graph's outputs for its inputs."""
        here: dict[onnx_ir.Value, Any] = {}
        there: dict[onnx_ir.Value, Any] = {}
        for value, content in given.items():
            is_there = isinstance(content, np.ndarray) and content.ctx == self._device.memory
            (there if is_there else here)[value] = content
        for piece in self.pieces:
            model = piece.model  # once: another thread may give it up
            if model is None or not self._infer(model, piece, here, there):
                self._run_here(piece, here, there)
            for value in piece.dropped:
                here.pop(value, None)
                there.pop(value, None)
        return [self._output(value, here, there) for value in self._graph.outputs]

    def _infer(
        self,
        model: Any,
        piece: Piece,
        here: dict[onnx_ir.Value, Any],
        there: dict[onnx_ir.Value, Any],
    ) -> bool:
        try:
            for value in piece.part.inputs:
                if value not in there:
                    there[value] = self._device.array(here[value])
            inputs = [there[value] for value in piece.part.inputs]
            outputs = model.infer(inputs)
        except FAILURES as error:
            if self._mode == "error":
                raise
            # Nothing of it is visible yet. The next run does not try again.
            piece.model = None
            self._leave(piece.positions, str(error))
            for position in piece.positions:
                self.groups[position] = CPU
            warn(f"{error}. The {len(piece.positions)} nodes of this group run on the CPU now")
            return False
        if self._verifier is not None:
            self._verifier.check(piece.positions, inputs, outputs)
        there.update(zip(piece.part.outputs, outputs, strict=True))
        return True

    def _run_here(
        self, piece: Piece, here: dict[onnx_ir.Value, Any], there: dict[onnx_ir.Value, Any]
    ) -> None:
        if piece.program is None:
            graph = cast(onnx_ir.Graph, piece.part)
            piece.program = Program(graph, self._opset, BACKENDS)
        for value in piece.part.inputs:
            if value not in here:
                here[value] = there[value].to_device(cpu())
        with cpu():
            outputs = piece.program.run([here[value] for value in piece.part.inputs])
        here.update(zip(piece.part.outputs, outputs, strict=True))

    def _output(
        self,
        value: onnx_ir.Value,
        here: Mapping[onnx_ir.Value, Any],
        there: Mapping[onnx_ir.Value, Any],
    ) -> Any:
        if value in there:
            return there[value]
        content = here[value] if value in here else self._wiring.elements(value)
        is_array = (
            getattr(content, "dtype", None) is not None and str(content.dtype) in ARRAY_DTYPES
        )
        return self._device.array(content) if is_array else content


def warn(text: str) -> None:
    """Tells the user why the CPU executes something."""
    warnings.warn(text, AccFallbackWarning, stacklevel=users_level())
