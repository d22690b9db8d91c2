"""What the nodes of a graph say about the lengths of its inputs, without a run."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import onnx_ir

from ...graph import Graph, GraphError, ValueSpec
from ...graph._errors import node_text
from ...graph._shapes_as_data import is_generated
from ...graph._spec import dims_of
from ._dimensions import Shape
from ._fit import fitted

# The lengths that the names of extents have in the example, None without one.
Lengths = Mapping[str, int | None]
# What is tried where there is none.
_TRIED = 224
# The shape of an output of which not even the number of axes is known.
_UNKNOWN = ("...",)

# Operators whose weights are for so many channels or features, of which onnx's inference says
# nothing: the axis of the first input, which input has the weights, and the axis of those.
_WEIGHTS = {
    "BatchNormalization": (1, 1, 0),
    "Conv": (1, 1, 1),
    "ConvTranspose": (1, 1, 0),
    **dict.fromkeys(("GRU", "LSTM", "RNN"), (2, 1, 2)),
}


class _UnknownError(Exception):
    """What a length leads to is not known."""


class Structure:
    """The shapes of a graph's inputs, with names for extents that may vary."""

    def __init__(
        self, copy: Callable[[], Graph], shapes: Mapping[str, Shape], lengths: Lengths
    ) -> None:
        """`copy` gives the graph, to be changed; `shapes` are those of its inputs, by name, and
        `lengths` those of the names in them."""
        self._copy = copy
        self.shapes, self._lengths = dict(shapes), dict(lengths)
        self._told: dict[Any, Mapping[str, tuple[Any, ...]]] = {}

    @functools.cached_property
    def fixed(self) -> Mapping[str, str]:
        """The names of extents that fit in no other length that is tried than in theirs, and what
        speaks against those."""
        lengths = self._lengths
        found: dict[str, str] = {}
        for name, length in lengths.items():
            if length is None:
                continue
            alike = [other for other, one in lengths.items() if one == length]
            others = [one for one in (length + 1, length - 1, 2 * length) if one > 0]
            tried = [dict.fromkeys(names, one) for names in ([name], alike) for one in others]
            reasons = (self._misfit(self._with(one)) for one in tried)
            first = next(reasons)
            if first is not None and all(one is not None for one in reasons):
                found[name] = first
        return found

    def reason(self, name: str, axis: int) -> str | None:
        """What speaks against one element more along an axis, if anything does."""
        extent, shapes = self.shapes[name][axis], self._with({})
        if extent in self.fixed:
            return self.fixed[str(extent)]
        longer = list(shapes[name])
        longer[axis] = int(longer[axis]) + 1
        return self._misfit({**shapes, name: tuple(longer)})

    def outputs(self, declared: Sequence[ValueSpec]) -> dict[str, Shape]:
        """The shapes of outputs in terms of the names, "?" for what is told by something else.
        `declared` are the outputs as the graph has them, which is inferred if inputs have shapes
        there."""
        shapes = {one.name: _shape_of(one) for one in declared}
        if any(shape == _UNKNOWN for shape in shapes.values()):
            shapes = {**shapes, **(self._outputs(self.shapes) or {})}
        return {
            name: tuple(
                self._fitted(name, axis) if one is None or is_generated(one) else one
                for axis, one in enumerate(shape)
            )
            for name, shape in shapes.items()
        }

    def _fitted(self, output: str, axis: int) -> int | str:
        """An extent that inference knows for numbers alone, as what follows from one name."""
        lengths = {name: length or _TRIED for name, length in self._lengths.items()}
        found: list[int | str | None] = []
        for varying in lengths.keys() - self.fixed.keys():

            def of(length: int, name: str = varying) -> int:
                told = self._outputs(self._with({**lengths, name: length}))
                extent = None if told is None else told[output][axis]
                if not isinstance(extent, int):
                    raise _UnknownError
                return extent

            try:
                found.append(fitted(varying, lengths[varying], of))
            except _UnknownError:
                return "?"
        texts = [one for one in found if not isinstance(one, int)]
        if len(texts) > 1 or None in texts or not found:
            return "?"
        return next((one for one in texts if one is not None), found[0] or 0)

    def _with(self, lengths: Mapping[str, int]) -> dict[str, Shape]:
        """The shapes of inputs, of these lengths where they are given."""
        every = {**self._lengths, **lengths}
        return {
            name: tuple(every.get(str(one)) or one for one in shape)
            for name, shape in self.shapes.items()
        }

    def _inferred(self, shapes: Mapping[str, Shape]) -> Graph:
        """The graph for inputs of these shapes. GraphError where they do not fit."""
        graph = self._copy()
        for value in graph.model.graph.inputs:
            told = dims_of(value.shape) if value.name in shapes else None
            if told is not None:  # or what is declared would speak, and no node
                value.shape = onnx_ir.Shape(None if isinstance(one, int) else one for one in told)
        graph.infer(shapes)
        return graph

    def _misfit(self, shapes: Mapping[str, Shape]) -> str | None:
        """Why inputs of these shapes do not fit; None where nothing speaks against them."""
        try:
            graph = self._inferred(shapes)
        except GraphError as error:
            file, _, text = str(error).split("\n")[0].partition(": ")
            return text or file
        found = (_of_weights(node) for node in graph.model.graph)
        return next((text for text in found if text), None)

    def _outputs(self, shapes: Mapping[str, Shape]) -> Mapping[str, tuple[Any, ...]] | None:
        """The shapes of outputs; None where these do not fit."""
        key = tuple(shapes.values())
        if key not in self._told:
            try:
                outputs = self._inferred(shapes).outputs
            except GraphError:
                return None
            self._told[key] = {one.name: _shape_of(one) for one in outputs}
        return self._told[key]


def _shape_of(spec: ValueSpec) -> tuple[Any, ...]:
    return _UNKNOWN if spec.shape is None else tuple(spec.shape)


def _of_weights(node: onnx_ir.Node) -> str | None:
    """What a node with weights says of its input, if that has another length."""
    axis, position, axis_of_weights = _WEIGHTS.get(node.op_type, (0, 0, 0))
    if node.domain not in ("", "ai.onnx") or not 0 < position < len(node.inputs):
        return None
    x, weights = node.inputs[0], node.inputs[position]
    given = None if x is None else dims_of(x.shape)
    wanted = None if weights is None else dims_of(weights.shape)
    if not given or not wanted or len(given) <= axis or len(wanted) <= axis_of_weights:
        return None
    got, length = given[axis], wanted[axis_of_weights]
    if not isinstance(got, int) or not isinstance(length, int):
        return None
    if node.op_type == "Conv":
        length *= node.attributes.get_int("group", 1)
    if got == length:
        return None
    return f"{node_text(node)}: its weights are for {length} channels, its input has {got}"
