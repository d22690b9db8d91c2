"""Models that do the same for each item of a batch, cut into slices of it.

A library that runs all of a model for one slice after another, each thread for slices of its own,
reads from its caches what the kernel before has written, and waits for other threads once.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy
import onnx_ir

from ...graph import Graph, GraphError
from ...graph._spec import dims_of
from .._operations import operations

# Operations that a slice has at least: to begin one takes little beside them.
_LEAST_OPERATIONS = 1 << 20
# Operations of a slice for each weight, at least, as each slice reads all of them; more where
# weights are so many bytes that they are read from beyond the caches of one thread.
_LEAST_USES, _LEAST_FAR_USES = 16, 128
_NEAR_BYTES = 1 << 20

Shape = tuple[int, ...]


class _Mixed(Exception):
    """A node may mix the items of a batch, or nothing is known of it."""


class _Node:
    """A node that reads something of the batch."""

    def __init__(self, node: onnx_ir.Node, batched: set[onnx_ir.Value], batch: int) -> None:
        self.node, self.batch = node, batch
        self.inputs = [value for value in node.inputs if value is not None]
        self.is_batched = [value in batched for value in self.inputs]
        self.rank = len(shape_of(node.outputs[0]))

    def check_only_first(self) -> None:
        """_Mixed where another input than the first one is of the batch."""
        first, *others = self.is_batched
        if not first or any(others):
            raise _Mixed

    def check_axis(self, axis: int, rank: int | None = None) -> None:
        """_Mixed for the axis of the batch, counted from either end."""
        rank = len(shape_of(self.inputs[0])) if rank is None else rank
        if not 0 < (axis + rank if axis < 0 else axis) < rank:
            raise _Mixed

    def number(self, name: str, default: int) -> int:
        """An attribute."""
        return int(self.node.attributes.get_int(name, default))

    def elements(self, index: int) -> list[int]:
        """Those of an input that is known. _Mixed for another."""
        value = self.node.inputs[index] if index < len(self.node.inputs) else None
        tensor = None if value is None else onnx_ir.convenience.get_const_tensor(value)
        if tensor is None:
            raise _Mixed
        return [int(one) for one in tensor.numpy().reshape(-1)]

    def axes(self, position: int) -> list[int]:
        """Axes that are an attribute or an input."""
        told = self.node.attributes.get("axes")
        if told is not None:
            return list(told.as_ints())
        return self.elements(position)


Rule = Callable[[_Node], None]


def _one(node: _Node) -> None:
    """The first input alone; others are numbers or weights."""
    node.check_only_first()
    if node.number("training_mode", 0):
        raise _Mixed


def _elementwise(node: _Node) -> None:
    for value, is_batched in zip(node.inputs, node.is_batched, strict=True):
        shape = shape_of(value)
        if is_batched and len(shape) != node.rank:
            raise _Mixed
        if not is_batched and len(shape) == node.rank and shape[0] != 1:
            raise _Mixed


def _along(default: int) -> Rule:
    def rule(node: _Node) -> None:
        node.check_only_first()
        node.check_axis(node.number("axis", default))

    return rule


def _gemm(node: _Node) -> None:
    node.check_only_first()
    added = shape_of(node.inputs[2]) if len(node.inputs) > 2 else ()
    if node.number("transA", 0) or (len(added) == 2 and added[0] != 1):
        raise _Mixed


def _product(node: _Node) -> None:
    if node.is_batched == [True, False]:
        if len(shape_of(node.inputs[0])) < 2 or len(shape_of(node.inputs[1])) != 2:
            raise _Mixed
    elif not all(node.is_batched) or any(len(shape_of(x)) != node.rank for x in node.inputs):
        raise _Mixed
    elif node.rank < 3:
        raise _Mixed


def _gather(node: _Node) -> None:
    axis = node.number("axis", 0)
    if node.is_batched == [False, True] and axis == 0 and shape_of(node.inputs[1]):
        return
    node.check_only_first()
    node.check_axis(axis)


def _reshape(node: _Node) -> None:
    node.check_only_first()
    told = node.elements(1)
    if node.number("allowzero", 0) or told[:1] not in ([-1], [0], [node.batch]):
        raise _Mixed


def _expand(node: _Node) -> None:
    node.check_only_first()
    told = node.elements(1)
    if len(told) != len(shape_of(node.inputs[0])) or told[0] not in (1, node.batch):
        raise _Mixed


def _squeeze(node: _Node) -> None:
    node.check_only_first()
    given = node.axes(1)
    for axis in given:
        node.check_axis(axis)


def _unsqueeze(node: _Node) -> None:
    node.check_only_first()
    for axis in node.axes(1):
        node.check_axis(axis, node.rank)


def _transpose(node: _Node) -> None:
    order = node.node.attributes.get("perm")
    if order is None or order.as_ints()[0] != 0:
        raise _Mixed


def _slice(node: _Node) -> None:
    node.check_only_first()
    if len(node.node.inputs) < 4:
        raise _Mixed
    for axis in node.elements(3):
        node.check_axis(axis)


def _concat(node: _Node) -> None:
    if not all(node.is_batched):
        raise _Mixed
    node.check_axis(node.number("axis", 0))


def _reduce(node: _Node) -> None:
    node.check_only_first()
    axes = node.axes(1)
    if not axes:
        raise _Mixed
    for axis in axes:
        node.check_axis(axis)


def _attention(node: _Node) -> None:
    if len(node.node.outputs) != 1 or len(node.node.inputs) > 4:
        raise _Mixed
    if len(node.inputs) != len(node.node.inputs) or not all(node.is_batched[:3]):
        raise _Mixed
    for value, is_batched in zip(node.inputs[3:], node.is_batched[3:], strict=True):
        shape = shape_of(value)
        is_whole = len(shape) == 4
        if is_whole != is_batched and (is_batched or shape[0] != 1):
            raise _Mixed


_RULES: dict[str, Rule] = {
    **dict.fromkeys(
        """
        Abs AveragePool BatchNormalization Cast Ceil Clip Conv ConvTranspose Cos DepthToSpace Elu
        Erf Exp Floor Gelu GlobalAveragePool GlobalMaxPool GroupNormalization HardSigmoid HardSwish
        Identity InstanceNormalization LeakyRelu Log MaxPool Mish Neg Not Reciprocal Relu Round Selu
        Sigmoid Sign Sin Softplus Softsign SpaceToDepth Sqrt Swish Tanh
        """.split(),
        _one,
    ),
    **dict.fromkeys(
        "Add And Div Equal Greater Less Max Min Mul Or PRelu Pow Sub Where".split(), _elementwise
    ),
    **dict.fromkeys("LayerNormalization LogSoftmax RMSNormalization Softmax".split(), _along(-1)),
    **dict.fromkeys("ReduceMax ReduceMean ReduceMin ReduceSum".split(), _reduce),
    "Attention": _attention,
    "Concat": _concat,
    "Expand": _expand,
    "Flatten": _along(1),
    "Gather": _gather,
    "Gemm": _gemm,
    "MatMul": _product,
    "Reshape": _reshape,
    "Slice": _slice,
    "Split": _along(0),
    "Squeeze": _squeeze,
    "Transpose": _transpose,
    "Unsqueeze": _unsqueeze,
}  # fmt: skip


def shape_of(value: onnx_ir.Value) -> Shape:
    """A shape of which all is known; _Mixed for another."""
    dims = dims_of(value.shape)
    known = tuple(one for one in dims or () if isinstance(one, int))
    if dims is None or len(known) != len(dims):
        raise _Mixed
    return known


def slices_of(graph: Graph, threads: int) -> tuple[int, Graph]:
    """Into how many slices to cut the batch, and the graph for one of them; 1 and the graph where
    that is of no use, or items may not be independent of one another.

    `threads` share the slices evenly.
    """
    try:
        batch, batched = _batched(graph)
        count = _count(graph, batch, threads)
        if count > 1:
            return count, _cut(graph, batch, batch // count, batched)
    except (_Mixed, GraphError):
        pass
    return 1, graph


def _batched(graph: Graph) -> tuple[int, set[onnx_ir.Value]]:
    """How many items there are, and the values that have them along their first axis."""
    inner = graph.model.graph
    given = [value for value in inner.inputs if not value.is_initializer()]
    shapes = [shape_of(value) for value in given]
    batch = shapes[0][0] if shapes and shapes[0] else 0
    if batch < 2 or any(shape[:1] != (batch,) for shape in shapes):
        raise _Mixed
    batched = set(given)
    for node in inner:
        if batched.isdisjoint(value for value in node.inputs if value is not None):
            if any(one.type == onnx_ir.AttributeType.GRAPH for one in node.attributes.values()):
                raise _Mixed
            continue
        if node.domain or node.op_type not in _RULES:
            raise _Mixed
        if len(node.outputs) > 1 and node.op_type != "Split":  # statistics, or positions in all
            raise _Mixed
        _RULES[node.op_type](_Node(node, batched, batch))
        for value in node.outputs:
            shape = shape_of(value)
            if shape[:1] != (batch,) or 0 in shape:
                raise _Mixed
            batched.add(value)
    if not all(value in batched and value not in given for value in inner.outputs):
        raise _Mixed
    return batch, batched


def _count(graph: Graph, batch: int, threads: int) -> int:
    """The largest number of slices of which each is large enough, and all threads have as many."""
    counted = [operations(node) or 0 for node in graph.model.graph]
    weights = sum(math.prod(shape_of(value)) for value in graph.model.graph.initializers.values())
    uses = _LEAST_USES if 4 * weights <= _NEAR_BYTES else _LEAST_FAR_USES
    wanted = max(_LEAST_OPERATIONS, uses * weights)
    least = wanted * batch / max(sum(counted), 1)
    for count in range(batch, 1, -1):
        if batch % count == 0 and batch // count >= least and count % threads == 0:
            return count
    return 1


def _cut(graph: Graph, batch: int, items: int, batched: set[onnx_ir.Value]) -> Graph:
    """The graph for so many items. GraphError or _Mixed where its values are others then."""
    made = graph.copy()
    inner = made.model.graph
    names = {value.name for value in batched}
    shapes = {value.name: (items, *shape_of(value)[1:]) for value in batched}
    for value in inner.inputs:
        if value.name in names:
            value.shape = onnx_ir.Shape(shapes[value.name])
    for node in list(inner):
        if node.op_type in ("Reshape", "Expand") and node.outputs[0].name in names:
            _retarget(inner, node, batch, items)
        for value in node.outputs:
            if value.name in names:
                value.shape = None
    made.infer()
    for node in inner:
        for value in node.outputs:
            if value.name in names and shape_of(value) != shapes[value.name]:
                raise _Mixed
    return made


def _retarget(inner: onnx_ir.Graph, node: onnx_ir.Node, batch: int, items: int) -> None:
    """Gives a node the shape of a slice where it has that of the batch."""
    value = node.inputs[1]
    tensor = None if value is None else onnx_ir.convenience.get_const_tensor(value)
    assert tensor is not None
    told = tensor.numpy().copy()
    if told[0] != batch:
        return
    told[0] = items
    name = f"{node.outputs[0].name}.of_slice"
    shape = onnx_ir.Value(
        name=name,
        type=onnx_ir.TensorType(onnx_ir.DataType.INT64),
        shape=onnx_ir.Shape(told.shape),
        const_value=onnx_ir.tensor(numpy.asarray(told, "int64"), name=name),
    )
    shape.metadata_props["mx.role"] = "constant"
    inner.initializers[name] = shape
    node.replace_input_with(1, shape)
