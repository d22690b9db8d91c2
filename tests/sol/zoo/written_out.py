"""Models written in more nodes than they need: for each pass, what it is there to find."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy
import onnx_ir as ir

from mx.graph import Graph

_UNARY = ("Clip", "Gelu", "Relu", "Sigmoid", "Swish")
WRITTEN_OUT: dict[str, Callable[[Writer], None]] = {}


class Writer:
    """Writes nodes around those of a graph."""

    def __init__(self, graph: Graph) -> None:
        self.graph = graph.model.graph
        self._count = 0

    def nodes(self, *operators: str) -> list[ir.Node]:
        """Those of operators, or all but constants, that give what the graph does not."""
        return [
            node
            for node in self.graph
            if (node.op_type in operators if operators else node.op_type != "Constant")
            and not any(value.is_graph_output() for value in node.outputs)
        ]

    def op(
        self,
        before: ir.Node,
        operator: str,
        *inputs: Any,
        like: ir.Value | None = None,
        outputs: int = 1,
        **attributes: Any,
    ) -> Any:
        """A new node in front of another, of values and constants; what it gives."""
        values = [
            one if one is None or isinstance(one, ir.Value) else self._constant(before, one)
            for one in inputs
        ]
        node = ir.node(operator, values, attributes, num_outputs=outputs, name=self._name(operator))
        for value in node.outputs:
            value.name = self._name("v")
            if like is not None:
                value.type, value.shape = like.type, like.shape
        self.graph.insert_before(before, node)
        return node.outputs[0]

    def instead(self, node: ir.Node, made: ir.Value) -> None:
        """Has a value stand where a node's first output does."""
        old = node.outputs[0]
        made.type, made.shape = old.type, old.shape
        old.replace_all_uses_with(made)
        self.graph.remove(node, safe=True)

    def behind(self, node: ir.Node, write: Callable[[ir.Node, ir.Value], ir.Value]) -> None:
        """Has all that read a node's first output read what is made of that."""
        value = node.outputs[0]
        uses = list(value.uses())
        following = self._behind(node)
        if following is None or not uses:
            return
        made = write(following, value)
        made.type, made.shape = value.type, value.shape
        for use in uses:
            use.node.replace_input_with(use.idx, made)

    def _behind(self, node: ir.Node) -> ir.Node | None:
        nodes = list(self.graph)
        at = nodes.index(node) + 1
        return nodes[at] if at < len(nodes) else None

    def _constant(self, before: ir.Node, array: Any) -> ir.Value:
        tensor = ir.tensor(numpy.asarray(array), name=self._name("c"))
        node = ir.node("Constant", [], {"value": tensor}, name=self._name("Constant"))
        value = node.outputs[0]
        value.name, value.const_value = self._name("v"), tensor
        value.type, value.shape = ir.TensorType(tensor.dtype), ir.Shape(tensor.shape)
        self.graph.insert_before(before, node)
        return value

    def _name(self, name: str) -> str:
        self._count += 1
        return f"written_{name}_{self._count}"


def _for(name: str) -> Callable[[Callable[[Writer], None]], Callable[[Writer], None]]:
    def add(function: Callable[[Writer], None]) -> Callable[[Writer], None]:
        WRITTEN_OUT[name] = function
        return function

    return add


def _shape(value: ir.Value) -> list[int]:
    assert value.shape is not None
    return [int(extent) for extent in value.shape]  # type: ignore[call-overload]


def _f(number: float) -> numpy.ndarray:
    return numpy.array(number, "float32")


@_for("dropout")
def _dropout(to: Writer) -> None:
    for node in to.nodes(*_UNARY, "LayerNormalization", "LSTM"):
        to.behind(node, lambda at, x: to.op(at, "Dropout", x))


@_for("einsum")
def _einsum(to: Writer) -> None:
    for node in to.nodes("MatMul"):
        ahead = "abc"[: len(_shape(node.inputs[0])) - 1]
        if len(_shape(node.inputs[1])) == 2:
            equation = f"{ahead}x,xy->{ahead}y"
            to.instead(node, to.op(node, "Einsum", *node.inputs, equation=equation))


@_for("sequences")
def _sequences(to: Writer) -> None:
    for node in to.nodes("Concat"):
        items = to.op(node, "SequenceConstruct", *node.inputs)
        items.type = ir.SequenceType(node.inputs[0].type)
        axis = node.attributes["axis"].as_int()
        to.instead(node, to.op(node, "ConcatFromSequence", items, axis=axis))


@_for("identities")
def _identities(to: Writer) -> None:
    for node in to.nodes():
        to.behind(node, lambda at, x: to.op(at, "Identity", x))


@_for("algebra")
def _algebra(to: Writer) -> None:
    for node in to.nodes(*_UNARY, "Add"):
        if node.outputs[0].dtype == ir.DataType.FLOAT:
            twice = lambda at, x: to.op(at, "Neg", to.op(at, "Neg", x, like=x))  # noqa: E731
            to.behind(node, twice)
            to.behind(node, lambda at, x: to.op(at, "Mul", x, _f(1)))


@_for("transposes")
def _transposes(to: Writer) -> None:
    for node in to.nodes(*_UNARY):
        x = node.inputs[0]
        shape = _shape(x)
        perm = [0, *range(2, len(shape)), 1] if len(shape) > 2 else [1, 0]
        turned = to.op(node, "Transpose", x, perm=perm)
        turned.type, turned.shape = x.type, ir.Shape(shape[axis] for axis in perm)
        node.replace_input_with(0, turned)
        back = [perm.index(axis) for axis in range(len(perm))]
        to.behind(node, lambda at, y, back=back: to.op(at, "Transpose", y, perm=back))
        node.outputs[0].shape = turned.shape


@_for("pads")
def _pads(to: Writer) -> None:
    for node in to.nodes("Conv"):
        pads = node.attributes.get_ints("pads", None)
        if pads is None or not any(pads):
            continue
        x = node.inputs[0]
        half = len(pads) // 2
        around = [0, 0, *pads[:half], 0, 0, *pads[half:]]
        padded = to.op(node, "Pad", x, numpy.array(around, "int64"))
        extents = zip(_shape(x), around[: half + 2], around[half + 2 :], strict=True)
        padded.type, padded.shape = x.type, ir.Shape(map(sum, extents))
        node.replace_input_with(0, padded)
        node.attributes["pads"] = ir.AttrInt64s("pads", [0] * len(pads))


@_for("scales")
def _scales(to: Writer) -> None:
    random = numpy.random.default_rng(0)
    for node in to.nodes("Conv", "Gemm"):
        axes = len(_shape(node.outputs[0]))
        channels = _shape(node.outputs[0])[1]
        numbers = random.uniform(0.5, 2, (channels, *[1] * (axes - 2))).astype("float32")

        def scaled(at: ir.Node, x: ir.Value, numbers: Any = numbers) -> ir.Value:
            for operator in ("Mul", "Add", "Sub", "Div"):
                x = to.op(at, operator, x, numbers, like=x)
            return x

        to.behind(node, scaled)


@_for("common")
def _common(to: Writer) -> None:
    for node in to.nodes(*_UNARY):

        def twice(at: ir.Node, x: ir.Value, node: ir.Node = node) -> ir.Value:
            again = to.op(at, node.op_type, *node.inputs, like=x, **_attributes(node))
            return to.op(at, "Max", x, again)

        to.behind(node, twice)


def _attributes(node: ir.Node) -> dict[str, Any]:
    return {name: one.value for name, one in node.attributes.items()}


@_for("normalizations")
def _normalizations(to: Writer) -> None:
    for node in to.nodes("LayerNormalization"):
        x, scale, shift = node.inputs
        narrow = ir.Shape([*_shape(x)[:-1], 1])

        def mean(value: ir.Value, at: ir.Node = node, narrow: Any = narrow) -> ir.Value:
            made = to.op(at, "ReduceMean", value, numpy.array([-1]), like=value)
            made.shape = narrow
            return made

        centered = to.op(node, "Sub", x, mean(x), like=x)
        variance = mean(to.op(node, "Mul", centered, centered, like=x))
        epsilon = _f(node.attributes.get_float("epsilon", 1e-5))
        added = to.op(node, "Add", variance, epsilon, like=variance)
        root = to.op(node, "Sqrt", added, like=variance)
        made = to.op(node, "Div", centered, root, like=x)
        made = to.op(node, "Mul", made, scale, like=x)
        to.instead(node, to.op(node, "Add", made, shift))


@_for("activations")
def _activations(to: Writer) -> None:
    for node in to.nodes("Gelu", "Swish"):
        x = node.inputs[0]
        if node.op_type == "Swish":
            made = to.op(node, "Sigmoid", x, like=x)
            to.instead(node, to.op(node, "Mul", x, made))
        elif node.attributes.get_string("approximate", "none") == "none":
            made = to.op(node, "Erf", to.op(node, "Div", x, _f(2**0.5), like=x), like=x)
            made = to.op(node, "Mul", x, to.op(node, "Add", made, _f(1), like=x), like=x)
            to.instead(node, to.op(node, "Mul", made, _f(0.5)))
        else:
            cube = to.op(node, "Mul", to.op(node, "Pow", x, _f(3), like=x), _f(0.044715), like=x)
            inner = to.op(node, "Add", x, cube, like=x)
            inner = to.op(node, "Mul", inner, _f((2 / numpy.pi) ** 0.5), like=x)
            made = to.op(node, "Add", to.op(node, "Tanh", inner, like=x), _f(1), like=x)
            half = to.op(node, "Mul", x, _f(0.5), like=x)
            to.instead(node, to.op(node, "Mul", half, made))


@_for("attention")
def _attention(to: Writer) -> None:
    for node in to.nodes("Attention"):
        query, key, value, mask = [*node.inputs, None][:4]
        (*ahead, count, width), others = _shape(query), _shape(key)[2]
        scale = node.attributes.get_float("scale", width**-0.5)
        turned = to.op(node, "Transpose", key, perm=[0, 1, 3, 2], like=query)
        turned.shape = ir.Shape([*ahead, width, others])
        scores = to.op(node, "MatMul", query, turned, like=query)
        scores.shape = ir.Shape([*ahead, count, others])
        scores = to.op(node, "Mul", scores, _f(scale), like=scores)
        if node.attributes.get_int("is_causal", 0):
            mask = numpy.triu(numpy.full((count, others), -numpy.inf, "float32"), 1)
        if mask is not None:
            scores = to.op(node, "Add", scores, mask, like=scores)
        weights = to.op(node, "Softmax", scores, axis=-1, like=scores)
        to.instead(node, to.op(node, "MatMul", weights, value))


@_for("unused")
def _unused(to: Writer) -> None:
    for node in to.nodes(*_UNARY, "Add"):
        to.behind(node, lambda at, x: (to.op(at, "Identity", x, like=x), x)[1])
