"""Has nodes use the items of sequences, and what is in optionals, where it is known what these are.

What is neither known nor used otherwise stays: a sequence that is an input or an output of the
graph, that a loop carries, or of which an item is taken at a position that an input decides.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy
import onnx_ir

from .._constants import Array, constant_outputs
from .._proto import elements_of, small_tensor
from .._spec import dims_of
from .._summary import label_of
from ._copies import Names, can_copy, copied, let_go
from ._pass import Pass, may_replace
from ._patterns import put, register, remove, skip

# Since this version Split and Unsqueeze have what they need as inputs.
_SINCE = 13
# Sequences of more items are left as they are: there would be too many nodes.
_MOST = 512
# As many nodes at most for all items of a SequenceMap.
_MOST_MAPPED = 4096

# Gives an item, for which nodes are written when it is used for the first time.
Item = Callable[[], onnx_ir.Value]
Items = list[Item]

_OPERATORS = frozenset(
    """
    ConcatFromSequence Optional OptionalGetElement OptionalHasElement SequenceAt SequenceConstruct
    SequenceEmpty SequenceErase SequenceInsert SequenceLength SequenceMap SplitToSequence
    """.split()
)


def _run(model: onnx_ir.Model) -> list[str]:
    removed: list[str] = []
    # What is in the body of a SequenceMap is known when it has become nodes around it.
    while found := _swept(model):
        removed += found
    return removed


def _swept(model: onnx_ir.Model) -> list[str]:
    nodes = list(onnx_ir.traversal.RecursiveGraphIterator(model.graph))
    has_any = any(node.op_type in _OPERATORS and not node.domain for node in nodes)
    if not has_any or model.opset_imports.get("", 1) < _SINCE:
        return []
    known = _Known(model)
    removed: list[str] = []
    for node in nodes:
        if isinstance(node.graph, onnx_ir.Graph) and not node.domain and node.outputs:
            removed += known.follow(node, node.graph)
    for node in reversed(nodes):
        if node.op_type in _OPERATORS and not node.domain:
            # Those that only graphs in nodes have used are still there.
            removed += [] if node.graph is None else remove(node)
            if node.graph is None:
                let_go(node)
    return removed


class _Known:
    """What is known of the sequences and optionals of a graph; of its first nodes first."""

    def __init__(self, model: onnx_ir.Model) -> None:
        self._opsets = model.opset_imports
        self._names = Names(model)
        self._items: dict[onnx_ir.Value, Items] = {}
        self._optionals: dict[onnx_ir.Value, onnx_ir.Value | None] = {}
        self._arrays: dict[onnx_ir.Value, Array] = {}

    def follow(self, node: onnx_ir.Node, graph: onnx_ir.Graph) -> list[str]:
        """Sees what a node gives, or has others use something else; the names of what is gone."""
        replace = _REPLACED.get(node.op_type)
        if replace is not None:
            return replace(self, node, graph)
        look = _MADE.get(node.op_type)
        if look is not None:
            items = look(self, node)
            if items is not None and len(items) <= _MOST:
                self._items[node.outputs[0]] = items
        elif node.op_type == "SequenceMap":
            self._map(node, graph)
        elif node.op_type == "Optional":
            self._optionals[node.outputs[0]] = node.inputs[0] if node.inputs else None
        else:
            self._compute(node)
        return []

    def _compute(self, node: onnx_ir.Node) -> None:
        """Positions may be computed, of lengths and shapes."""
        for value, array in zip(
            node.outputs, constant_outputs(node, self._array, self._opsets) or (), strict=False
        ):
            self._arrays[value] = array
        given = node.inputs[0] if node.op_type == "Identity" and node.inputs else None
        if given in self._items:
            self._items[node.outputs[0]] = self._items[given]
        if given in self._optionals:
            self._optionals[node.outputs[0]] = self._optionals[given]

    def _array(self, value: onnx_ir.Value | None) -> Array | None:
        if value is None or value in self._arrays:
            return None if value is None else self._arrays[value]
        if value.is_initializer() and small_tensor(value.const_value):
            assert value.const_value is not None
            self._arrays[value] = elements_of(value.const_value)
            return self._arrays[value]
        return None

    def _given(self, node: onnx_ir.Node) -> Items | None:
        """The items of a node's first input."""
        value = node.inputs[0] if node.inputs else None
        return None if value is None else self._items.get(value)

    def _position(self, node: onnx_ir.Node, index: int, count: int, default: int) -> int | None:
        """A position among `count`, which a node is given; None where it is not known, or wrong."""
        if len(node.inputs) <= index or node.inputs[index] is None:
            return default if default >= 0 else None
        array = self._array(node.inputs[index])
        if array is None or array.size != 1 or array.dtype.kind not in "iu":
            return None
        return int(array.reshape(()))

    # What makes sequences.

    def _empty(self, node: onnx_ir.Node) -> Items | None:
        return []

    def _constructed(self, node: onnx_ir.Node) -> Items | None:
        return [partial(_same, value) for value in node.inputs if value is not None]

    def _erased(self, node: onnx_ir.Node) -> Items | None:
        items = self._given(node)
        if items is None:
            return None
        at = self._position(node, 1, len(items), len(items) - 1)
        if at is None or not -len(items) <= at < len(items):
            return None
        return [item for number, item in enumerate(items) if number != at % len(items)]

    def _inserted(self, node: onnx_ir.Node) -> Items | None:
        items = self._given(node)
        item = node.inputs[1] if len(node.inputs) > 1 else None
        if items is None or item is None:
            return None
        at = self._position(node, 2, len(items), len(items))
        if at is None or not -len(items) <= at <= len(items):
            return None
        at += len(items) if at < 0 else 0
        return [*items[:at], partial(_same, item), *items[at:]]

    def _split(self, node: onnx_ir.Node) -> Items | None:
        x = node.inputs[0] if node.inputs else None
        axis: int = node.attributes.get_int("axis", 0)
        dims = None if x is None else dims_of(x.shape)
        if x is None or dims is None or not -len(dims) <= axis < len(dims):
            return None
        axis %= len(dims)
        split = node.inputs[1] if len(node.inputs) > 1 else None
        sizes = _sizes(split is not None, self._array(split), dims[axis])
        if not sizes or len(sizes) > _MOST:
            return None
        keeps_axis = split is not None or bool(node.attributes.get_int("keepdims", 1))
        parts = _Parts(node, axis, sizes, keeps_axis, self._names)
        return [partial(parts.item, number) for number in range(len(sizes))]

    def _map(self, node: onnx_ir.Node, graph: onnx_ir.Graph) -> None:
        first, body = self._given(node), _body_of(node)
        if first is None or body is None or len(first) * len(body) > _MOST_MAPPED:
            return
        inputs = [value for value in node.inputs if value is not None]
        if len(inputs) != len(body.inputs) or len(node.outputs) != len(body.outputs):
            return
        columns: list[Items] = []
        for value in inputs:
            items = self._items.get(value)
            if items is None and not isinstance(value.type, onnx_ir.TensorType):
                return
            columns.append([partial(_same, value)] * len(first) if items is None else items)
            if len(columns[-1]) != len(first):
                return
        turns = [
            _Turn(node, graph, row, f"{label_of(node)}.{number}", self._names)
            for number, row in enumerate(zip(*columns, strict=True))
        ]
        for number, value in enumerate(node.outputs):
            self._items[value] = [partial(turn.output, number) for turn in turns]

    # What takes tensors out of them.

    def _at(self, node: onnx_ir.Node, graph: onnx_ir.Graph) -> list[str]:
        items = self._given(node)
        at = None if items is None else self._position(node, 1, len(items), -1)
        if items is None or at is None or not -len(items) <= at < len(items):
            return []
        return _instead(node, graph, items[at]())

    def _length(self, node: onnx_ir.Node, graph: onnx_ir.Graph) -> list[str]:
        items = self._given(node)
        return [] if items is None else self._number(node, graph, numpy.array(len(items)))

    def _concatenated(self, node: onnx_ir.Node, graph: onnx_ir.Graph) -> list[str]:
        items, axis = self._given(node), node.attributes.get_int("axis", None)
        if not items or axis is None:
            return []
        values = [item() for item in items]
        is_new = bool(node.attributes.get_int("new_axis", 0))
        ranks = [len(value.shape) + is_new for value in values if value.shape is not None]
        if not all(-rank <= axis < rank for rank in ranks):
            return []
        if is_new:
            name = self._names.new(f"{label_of(node)}_axis")
            axes = register(graph, onnx_ir.tensor(numpy.array([axis])), name)
            made = [self._names.node(node, "Unsqueeze", [value, axes]) for value in values]
            values = [_with_axis(node, graph, one, axis) for one in made]
        return put(node, "Concat", values, {"axis": axis})

    def _element(self, node: onnx_ir.Node, graph: onnx_ir.Graph) -> list[str]:
        _, value = self._inside(node)
        return [] if value is None else _instead(node, graph, value)

    def _has_element(self, node: onnx_ir.Node, graph: onnx_ir.Graph) -> list[str]:
        is_known, value = self._inside(node)
        return self._number(node, graph, numpy.array(value is not None)) if is_known else []

    def _inside(self, node: onnx_ir.Node) -> tuple[bool, onnx_ir.Value | None]:
        """Whether it is known what the optional has that a node is given, and that; what is no
        optional has itself."""
        value = node.inputs[0] if node.inputs else None
        if value is not None and value in self._optionals:
            return True, self._optionals[value]
        if value is not None and not _has_plain_type(value):
            return False, None
        return True, value

    def _number(self, node: onnx_ir.Node, graph: onnx_ir.Graph, array: Array) -> list[str]:
        name = self._names.new(f"{label_of(node)}_known")
        value = register(graph, onnx_ir.tensor(array), name)
        self._arrays[value] = array
        return _instead(node, graph, value)


_MADE: dict[str, Callable[[_Known, onnx_ir.Node], Items | None]] = {
    "SequenceConstruct": _Known._constructed,
    "SequenceEmpty": _Known._empty,
    "SequenceErase": _Known._erased,
    "SequenceInsert": _Known._inserted,
    "SplitToSequence": _Known._split,
}
_REPLACED: dict[str, Callable[[_Known, onnx_ir.Node, onnx_ir.Graph], list[str]]] = {
    "ConcatFromSequence": _Known._concatenated,
    "OptionalGetElement": _Known._element,
    "OptionalHasElement": _Known._has_element,
    "SequenceAt": _Known._at,
    "SequenceLength": _Known._length,
}


class _Parts:
    """The parts of a tensor that SplitToSequence makes."""

    def __init__(
        self, node: onnx_ir.Node, axis: int, sizes: Sequence[int], keeps_axis: bool, names: Names
    ) -> None:
        self._node, self._axis, self._sizes = node, axis, sizes
        self._keeps_axis, self._names = keeps_axis, names
        self._split: onnx_ir.Node | None = None
        self._axes: onnx_ir.Value | None = None
        self._squeezed: dict[int, onnx_ir.Value] = {}

    def item(self, number: int) -> onnx_ir.Value:
        """A part, without the axis where the node says so."""
        if self._split is None:
            self._split = self._write()
        part = self._split.outputs[number]
        if self._keeps_axis:
            return part
        if number not in self._squeezed:
            graph, dims = self._node.graph, dims_of(part.shape)
            assert isinstance(graph, onnx_ir.Graph) and dims is not None
            if self._axes is None:
                self._axes = self._numbers("axis", [self._axis])
            made = self._names.node(self._node, "Squeeze", [part, self._axes])
            made.outputs[0].type = part.type
            made.outputs[0].shape = onnx_ir.Shape([*dims[: self._axis], *dims[self._axis + 1 :]])
            graph.insert_before(self._node, made)
            self._squeezed[number] = made.outputs[0]
        return self._squeezed[number]

    def _write(self) -> onnx_ir.Node:
        graph, x = self._node.graph, self._node.inputs[0]
        assert isinstance(graph, onnx_ir.Graph) and x is not None
        dims = dims_of(x.shape)
        assert dims is not None
        inputs = [x, self._numbers("sizes", self._sizes)]
        made = self._names.node(
            self._node, "Split", inputs, {"axis": self._axis}, outputs=len(self._sizes)
        )
        for value, size in zip(made.outputs, self._sizes, strict=True):
            value.type = x.type
            value.shape = onnx_ir.Shape([*dims[: self._axis], size, *dims[self._axis + 1 :]])
        graph.insert_before(self._node, made)
        return made

    def _numbers(self, word: str, numbers: Sequence[int]) -> onnx_ir.Value:
        graph = self._node.graph
        assert isinstance(graph, onnx_ir.Graph)
        name = self._names.new(f"{label_of(self._node)}_{word}")
        return register(graph, onnx_ir.tensor(numpy.array(numbers, "int64")), name)


class _Turn:
    """What the body of a SequenceMap gives for one item of each input."""

    def __init__(
        self,
        node: onnx_ir.Node,
        graph: onnx_ir.Graph,
        given: Sequence[Item],
        prefix: str,
        names: Names,
    ) -> None:
        self._node, self._graph, self._given = node, graph, given
        self._prefix, self._names = prefix, names
        self._outputs: list[onnx_ir.Value] = []

    def output(self, number: int) -> onnx_ir.Value:
        if not self._outputs:
            body = _body_of(self._node)
            assert body is not None
            given = dict(zip(body.inputs, (item() for item in self._given), strict=True))
            nodes, self._outputs = copied(body, given, self._prefix, self._names)
            self._graph.insert_before(self._node, nodes)
        return self._outputs[number]


def _same(value: onnx_ir.Value) -> onnx_ir.Value:
    return value


def _body_of(node: onnx_ir.Node) -> onnx_ir.Graph | None:
    """The body of a SequenceMap, where its nodes can be written once for each item."""
    body = node.attributes.get("body")
    if body is None or body.type != onnx_ir.AttributeType.GRAPH:
        return None
    return body.as_graph() if can_copy(body.as_graph()) else None


def _has_plain_type(value: onnx_ir.Value) -> bool:
    """Whether a value is known to be no optional: newer versions of operators take others, too."""
    return isinstance(value.type, onnx_ir.TensorType | onnx_ir.SequenceType)


def _instead(node: onnx_ir.Node, graph: onnx_ir.Graph, value: onnx_ir.Value) -> list[str]:
    """Has a value be used instead of what a node gives."""
    if may_replace(node.outputs[0], value, graph):
        return skip(node, value)
    return put(node, "Identity", [value])


def _with_axis(
    node: onnx_ir.Node, graph: onnx_ir.Graph, made: onnx_ir.Node, axis: int
) -> onnx_ir.Value:
    """Puts an Unsqueeze in front of a node."""
    item = made.inputs[0]
    dims = None if item is None else dims_of(item.shape)
    made.outputs[0].type = None if item is None else item.type
    if dims is not None:
        at = axis % (len(dims) + 1)
        made.outputs[0].shape = onnx_ir.Shape([*dims[:at], 1, *dims[at:]])
    graph.insert_before(node, made)
    return made.outputs[0]


def _sizes(is_given: bool, split: Array | None, extent: Any) -> list[int] | None:
    """How many elements along the axis the items have; None where it is not known, or wrong."""
    if not is_given:
        return [1] * extent if isinstance(extent, int) and extent <= _MOST else None
    if split is None or split.dtype.kind not in "iu":
        return None
    if split.ndim == 1:
        sizes = [int(one) for one in split]
        fits = min(sizes, default=0) >= 0 and not (isinstance(extent, int) and extent != sum(sizes))
        return sizes if fits else None
    if split.ndim or not isinstance(extent, int):
        return None
    size = int(split)
    if size <= 0 or extent > _MOST * size:
        return None
    return [min(size, extent - begin) for begin in range(0, extent, size)]


SEQUENCES = Pass("sequences", "has nodes use the items of sequences that are known", _run)
