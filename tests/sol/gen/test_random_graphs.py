"""Random graphs of products, convolutions, reductions, norms and branches, as the reference has
them: in plans that ask for generated code first, and deployed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy
import onnx
import onnx_ir
from hypothesis import given, settings
from hypothesis import strategies as st
from onnx import helper
from onnx.reference import ReferenceEvaluator

from mx.graph import OPSET, Graph, Plan
from mx.graph.lowering import BACKENDS, Chooser
from mx.sol.backends.gen import GEN, Target
from mx.sol.deployments._lower import lower
from tests.sol.deploy.merged import Merged

Array = numpy.ndarray[Any, Any]
Shape = tuple[int, ...]
C = Target.named("c")


class Network:
    """A graph in the making: values with their shapes, of which nodes read any."""

    def __init__(self, draw: Callable[[Any], Any], shape: Shape) -> None:
        self.draw = draw
        self.shapes: dict[str, Shape] = {"x": shape}
        self.nodes: list[onnx.NodeProto] = []
        self.weights: list[onnx.TensorProto] = []

    def op(self, operator: str, inputs: list[str], shape: Shape, **attributes: Any) -> None:
        """Adds a node, and its output to the values."""
        name = f"v{len(self.nodes)}"
        self.nodes.append(helper.make_node(operator, inputs, [name], **attributes))
        self.shapes[name] = shape

    def weight(self, *shape: int) -> str:
        """A new constant."""
        name = f"w{len(self.weights)}"
        random = numpy.random.default_rng(len(self.weights))
        array = (random.standard_normal(shape) / max(1, shape[-1]) ** 0.5).astype("float32")
        self.weights.append(onnx.numpy_helper.from_array(array, name))
        return name

    def numbers(self, *numbers: int) -> str:
        """A constant of integers."""
        name = f"w{len(self.weights)}"
        self.weights.append(onnx.numpy_helper.from_array(numpy.array(numbers, "int64"), name))
        return name

    def grow(self) -> None:
        """Adds one node, of those that a value can have."""
        # The newest value mostly, so that graphs are deep, and an older one, so that they branch.
        names = list(self.shapes)
        name = self.draw(st.sampled_from([*names, *names[-1:] * 3]))
        shape = self.shapes[name]
        kinds = [self.unary, self.binary, self.reduced, self.softmax, self.norm, self.turned]
        kinds += [self.product] * 2 if len(shape) == 2 else []
        kinds += [self.convolution] * 2 + [self.pool, self.flat] if len(shape) == 4 else []
        self.draw(st.sampled_from(kinds))(name, shape)

    def unary(self, name: str, shape: Shape) -> None:
        self.op(self.draw(st.sampled_from(["Relu", "Tanh", "Sigmoid", "Abs"])), [name], shape)

    def binary(self, name: str, shape: Shape) -> None:
        """With another value of the shape, or a weight for its last axis."""
        others = [other for other, one in self.shapes.items() if one == shape]
        other = self.draw(st.sampled_from([*others, ""])) or self.weight(shape[-1])
        inputs = self.draw(st.permutations([name, other]))
        self.op(self.draw(st.sampled_from(["Add", "Sub", "Mul", "Max"])), inputs, shape)

    def reduced(self, name: str, shape: Shape) -> None:
        axis = self.draw(st.integers(0, len(shape) - 1))
        operator = self.draw(st.sampled_from(["ReduceMean", "ReduceSum", "ReduceMax"]))
        narrow = tuple(1 if n == axis else extent for n, extent in enumerate(shape))
        self.op(operator, [name, self.numbers(axis)], narrow)
        self.op("Sub", [name, list(self.shapes)[-1]], shape)

    def softmax(self, name: str, shape: Shape) -> None:
        self.op("Softmax", [name], shape, axis=self.draw(st.integers(0, len(shape) - 1)))

    def norm(self, name: str, shape: Shape) -> None:
        inputs = [name, self.weight(shape[-1]), self.weight(shape[-1])]
        self.op("LayerNormalization", inputs, shape, axis=-1)

    def turned(self, name: str, shape: Shape) -> None:
        order = self.draw(st.permutations(range(len(shape))))
        self.op("Transpose", [name], tuple(shape[axis] for axis in order), perm=order)

    def flat(self, name: str, shape: Shape) -> None:
        rows = shape[0] * shape[1]
        self.op("Reshape", [name, self.numbers(rows, -1)], (rows, shape[2] * shape[3]))

    def product(self, name: str, shape: Shape) -> None:
        columns = self.draw(st.integers(1, 19))
        self.op("MatMul", [name, self.weight(shape[1], columns)], (shape[0], columns))

    def convolution(self, name: str, shape: Shape) -> None:
        channels, size = shape[1], self.draw(st.sampled_from([1, 3]))
        group = self.draw(st.sampled_from([1, channels]))
        out = channels if group > 1 else self.draw(st.integers(1, 9))
        weight = self.weight(out, channels // group, size, size)
        made = (shape[0], out, *shape[2:])
        self.op("Conv", [name, weight], made, pads=[size // 2] * 4, group=group)

    def pool(self, name: str, shape: Shape) -> None:
        operator = self.draw(st.sampled_from(["MaxPool", "AveragePool"]))
        if min(shape[2:]) < 2:
            return self.unary(name, shape)
        made = (*shape[:2], shape[2] // 2, shape[3] // 2)
        self.op(operator, [name], made, kernel_shape=[2, 2], strides=[2, 2])
        return None

    def model(self) -> onnx.ModelProto:
        """The graph, whose outputs are the last two values."""
        names = list(self.shapes)[1:][-2:]
        info = helper.make_tensor_value_info
        kind = onnx.TensorProto.FLOAT
        graph = helper.make_graph(
            self.nodes,
            "random",
            [info("x", kind, self.shapes["x"])],
            [info(name, kind, self.shapes[name]) for name in names],
            self.weights,
        )
        imports = [helper.make_opsetid("", OPSET)]
        return helper.make_model(graph, opset_imports=imports, ir_version=10)


@st.composite
def networks(draw: Callable[[Any], Any]) -> onnx.ModelProto:
    """A model of some nodes."""
    image = st.tuples(st.just(2), *[st.integers(1, 6)] * 3)
    shape = draw(st.one_of(image, st.tuples(st.integers(1, 9), st.integers(1, 17))))
    network = Network(draw, shape)
    for _ in range(draw(st.integers(2, 10))):
        network.grow()
    return network.model()


def check(came: list[Array], model: onnx.ModelProto, x: Array) -> None:
    """That outputs are what the reference gives."""
    for got, wanted in zip(came, ReferenceEvaluator(model).run(None, {"x": x}), strict=True):
        got = numpy.asarray(got)
        assert got.shape == wanted.shape
        most = max(1.0, float(abs(wanted).max(initial=0)))
        numpy.testing.assert_allclose(got, wanted, rtol=1e-3, atol=2e-4 * most)


@settings(max_examples=8, deadline=None)
@given(networks(), st.booleans())
def test_random_graphs(model: onnx.ModelProto, is_deployed: bool) -> None:
    graph = Graph(onnx_ir.from_proto(model))
    shape = [dim.dim_value for dim in model.graph.input[0].type.tensor_type.shape.dim]
    x = numpy.random.default_rng(1).standard_normal(shape).astype("float32")
    if is_deployed:
        graph.infer()
        check(Merged([lower(graph, C)], C).call([x]), model, x)
    else:
        check(Plan(graph, chooser=Chooser((GEN, *BACKENDS)))(x), model, x)
