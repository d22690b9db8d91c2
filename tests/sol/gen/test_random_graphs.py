"""Random graphs of products, convolutions, reductions, norms and branches, as the reference has
them: in plans that ask for generated code first, deployed, and optimized."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import numpy
import onnx
import onnx_ir
from hypothesis import given, settings
from hypothesis import strategies as st
from onnx import helper
from onnx.reference import ReferenceEvaluator

from mx import sol
from mx.graph import OPSET, Graph, Plan
from mx.graph.lowering import BACKENDS, Chooser
from mx.sol.backends.gen import GEN, Target
from mx.sol.deployments._lower import lower
from tests.sol.deploy.merged import Merged

Array = numpy.ndarray[Any, Any]
Shape = tuple[int, ...]
C = Target.named("c")
# Elements that a value may have.
_MOST = 5000
MORE = int(os.environ.get("MXFFI_EXAMPLES", "0"))


class Network:
    """A graph in the making: values with their shapes, of which nodes read any."""

    def __init__(self, draw: Callable[[Any], Any], shape: Shape) -> None:
        self.draw = draw
        self.shapes: dict[str, Shape] = {"x": shape}
        self.nodes: list[onnx.NodeProto] = []
        self.weights: list[onnx.TensorProto] = []

    def op(self, operator: str, inputs: list[str], shape: Shape, **attributes: Any) -> str:
        """Adds a node, and its output to the values, whose name it gives."""
        name = f"v{len(self.nodes)}"
        self.nodes.append(helper.make_node(operator, inputs, [name], **attributes))
        self.shapes[name] = shape
        return name

    def constant(self, array: Array) -> str:
        """A new constant."""
        name = f"w{len(self.weights)}"
        self.weights.append(onnx.numpy_helper.from_array(array, name))
        return name

    def weight(self, *shape: int, is_positive: bool = False) -> str:
        """A new constant of numbers around 0, or above it."""
        random = numpy.random.default_rng(len(self.weights))
        array = random.standard_normal(shape) / max((1, *shape[-1:])) ** 0.5
        return self.constant((abs(array) + 0.5 if is_positive else array).astype("float32"))

    def numbers(self, *numbers: int) -> str:
        """A constant of integers."""
        return self.constant(numpy.array(numbers, "int64"))

    def one(self, *choices: Any) -> Any:
        """One of them."""
        return self.draw(st.sampled_from(choices))

    def grow(self) -> None:
        """Adds one node or a few, of those that a value can have."""
        # The newest value mostly, so that graphs are deep, and an older one, so that they branch.
        names = list(self.shapes)
        name = self.one(*names, *names[-1:] * 3)
        shape = self.shapes[name]
        kinds = [self.unary, self.unary, self.binary]
        if shape:
            kinds += [self.binary, self.broadcast, self.chosen, self.reduced, self.around]
            kinds += [self.softmax, self.norm, self.turned, self.sliced, self.joined, self.padded]
        if 2 <= len(shape):
            kinds += [self.product] * 2 + [self.square]
        if 3 <= len(shape):
            kinds += [self.convolution] * 3 + [self.transposed, self.pool, self.norm_of_images]
            kinds += [self.overall, self.flat]
        self.one(*kinds)(name, shape)

    def unary(self, name: str, shape: Shape) -> None:
        functions = "Relu Tanh Sigmoid Abs Gelu Erf Neg Softplus LeakyRelu HardSwish Sin Identity"
        self.op(self.one(*functions.split()), [name], shape)

    def binary(self, name: str, shape: Shape) -> None:
        """With another value of the shape, or a weight for its last axis."""
        others = [other for other, one in self.shapes.items() if one == shape]
        other = self.one(*others, "") or self.weight(*shape[-1:])
        inputs = self.draw(st.permutations([name, other]))
        self.op(self.one("Add", "Sub", "Mul", "Max", "Min"), inputs, shape)

    def broadcast(self, name: str, shape: Shape) -> None:
        """With a weight or a value that has 1 in place of some extents, or fewer axes."""
        narrow = tuple(self.one(1, extent) for extent in shape)[self.one(0, len(shape) - 1) :]
        fitting = [
            other
            for other, one in self.shapes.items()
            if len(one) <= len(shape)
            and all(n in (1, m) for n, m in zip(one[::-1], shape[::-1], strict=False))
        ]
        other = self.one(*fitting, "") or self.weight(*narrow)
        self.op(self.one("Add", "Sub", "Mul", "Max"), [name, other], shape)
        if self.one(False, True):
            self.op("Div", [name, self.weight(*narrow, is_positive=True)], shape)

    def chosen(self, name: str, shape: Shape) -> None:
        mask = numpy.arange(shape[-1]) % self.one(2, 3) == 0
        self.op("Where", [self.constant(mask), name, self.one(*self.of(shape))], shape)

    def of(self, shape: Shape) -> list[str]:
        """The values of a shape."""
        return [other for other, one in self.shapes.items() if one == shape]

    def reduced(self, name: str, shape: Shape) -> None:
        """Along some axes, which may go."""
        axes = [axis for axis in range(len(shape)) if self.one(False, True)] or [0]
        operators = "Mean Sum Max Min L1 L2 SumSquare LogSumExp".split()
        keeps = self.one(0, 1)
        kept = [axis for axis in range(len(shape)) if keeps or axis not in axes]
        made = tuple(1 if axis in axes else shape[axis] for axis in kept)
        inputs = [name, self.numbers(*axes)]
        self.op(f"Reduce{self.one(*operators)}", inputs, made, keepdims=keeps)

    def around(self, name: str, shape: Shape) -> None:
        """How far it is from what it is along an axis."""
        axis = self.draw(st.integers(0, len(shape) - 1))
        operator = self.one("ReduceMean", "ReduceSum", "ReduceMax")
        narrow = tuple(1 if n == axis else extent for n, extent in enumerate(shape))
        mean = self.op(operator, [name, self.numbers(axis)], narrow)
        self.op("Sub", [name, mean], shape)

    def softmax(self, name: str, shape: Shape) -> None:
        axis = self.draw(st.integers(0, len(shape) - 1))
        self.op(self.one("Softmax", "LogSoftmax"), [name], shape, axis=axis)

    def norm(self, name: str, shape: Shape) -> None:
        axis = self.draw(st.integers(0, len(shape) - 1))
        inputs = [name, *(self.weight(*shape[axis:]) for _ in range(2))]
        kind = self.one("LayerNormalization", "RMSNormalization", "LpNormalization")
        # A row of zeros has no length to be divided by.
        if kind == "LpNormalization":
            inputs = [self.op("Softplus", [name], shape)]
        if kind == "RMSNormalization":
            inputs = inputs[:2]
        self.op(kind, inputs, shape, axis=axis)

    def norm_of_images(self, name: str, shape: Shape) -> None:
        weights = [self.weight(shape[1]) for _ in range(2)]
        kind = self.one("Instance", "Group", "Batch")
        if kind == "Instance":
            self.op("InstanceNormalization", [name, *weights], shape)
        elif kind == "Group":
            groups = self.one(*[n for n in (1, 2, 3) if shape[1] % n == 0])
            self.op("GroupNormalization", [name, *weights], shape, num_groups=groups)
        else:
            moments = [self.weight(shape[1]), self.weight(shape[1], is_positive=True)]
            self.op("BatchNormalization", [name, *weights, *moments], shape)

    def turned(self, name: str, shape: Shape) -> None:
        order = self.draw(st.permutations(range(len(shape))))
        self.op("Transpose", [name], tuple(shape[axis] for axis in order), perm=order)

    def sliced(self, name: str, shape: Shape) -> None:
        axis = self.draw(st.integers(0, len(shape) - 1))
        begin, step = self.draw(st.integers(0, shape[axis] - 1)), self.one(1, 1, 2, -1)
        ends = [begin, -(2**31) if step < 0 else shape[axis], axis, step]
        count = begin + 1 if step < 0 else -(-(shape[axis] - begin) // step)
        made = (*shape[:axis], count, *shape[axis + 1 :])
        self.op("Slice", [name, *map(self.numbers, ends)], made)

    def joined(self, name: str, shape: Shape) -> None:
        axis, other = self.draw(st.integers(0, len(shape) - 1)), self.one(*self.of(shape))
        made = (*shape[:axis], 2 * shape[axis], *shape[axis + 1 :])
        if numpy.prod(made) < _MOST:
            self.op("Concat", [name, other], made, axis=axis)

    def padded(self, name: str, shape: Shape) -> None:
        before, behind = ([self.one(0, 0, 1, 2) for _ in shape] for _ in range(2))
        made = tuple(map(sum, zip(before, shape, behind, strict=True)))
        if numpy.prod(made) < _MOST:
            mode = self.one("constant", "edge")
            self.op("Pad", [name, self.numbers(*before, *behind)], made, mode=mode)

    def flat(self, name: str, shape: Shape) -> None:
        rows = shape[0] * shape[1]
        self.op("Reshape", [name, self.numbers(rows, -1)], (rows, int(numpy.prod(shape[2:]))))

    def product(self, name: str, shape: Shape) -> None:
        columns = self.draw(st.integers(1, 19))
        made = (*shape[:-1], columns)
        if len(shape) > 2 or self.one(False, True):
            self.op("MatMul", [name, self.weight(shape[-1], columns)], made)
            return
        # Either may be transposed, what is added may be a row, a column or a number.
        turns = self.one(0, 1), self.one(0, 1)
        (rows, inner) = shape[::-1] if turns[0] else shape
        weight = self.weight(*((columns, inner) if turns[1] else (inner, columns)))
        added = self.weight(*self.one((columns,), (rows, 1), (1,), (rows, columns)))
        inputs = [name, weight, *self.one([], [added])]
        given = {"transA": turns[0], "transB": turns[1], "alpha": 0.5, "beta": self.one(1.0, 2.0)}
        self.op("Gemm", inputs, (rows, columns), **given)

    def square(self, name: str, shape: Shape) -> None:
        """With itself, transposed."""
        order = [*range(len(shape) - 2), len(shape) - 1, len(shape) - 2]
        turned = self.op("Transpose", [name], tuple(shape[axis] for axis in order), perm=order)
        made = (*shape[:-1], shape[-2])
        squared = self.op("MatMul", [name, turned], made)
        self.op("Mul", [squared, self.constant(numpy.float32(0.1))], made)

    def windows(
        self, spatial: Shape, has_dilations: bool, has_pads: bool = True
    ) -> tuple[dict[str, Any], Shape] | None:
        """Attributes of a convolution or pool with what it makes of these extents, if anything."""
        given = {
            "kernel_shape": [self.one(1, 2, 3, 3) for _ in spatial],
            "strides": [self.one(1, 1, 2) for _ in spatial],
            "dilations": [self.one(1, 1, 2) if has_dilations else 1 for _ in spatial],
        }
        pads = [self.one(0, *range(size)) * has_pads for size in given["kernel_shape"] * 2]
        reach = [
            (size - 1) * dilation + 1
            for size, dilation in zip(given["kernel_shape"], given["dilations"], strict=True)
        ]
        ends = zip(spatial, pads[: len(spatial)], pads[len(spatial) :], strict=True)
        lengths = zip(map(sum, ends), reach, given["strides"], strict=True)
        made = tuple((length - size) // stride + 1 for length, size, stride in lengths)
        return ({**given, "pads": pads}, made) if min(made) > 0 else None

    def convolution(self, name: str, shape: Shape) -> None:
        channels, found = shape[1], self.windows(shape[2:], True)
        if found is None:
            return self.unary(name, shape)
        given, made = found
        group = self.one(1, 1, channels, *[2] * (channels % 2 == 0))
        out = group * self.one(1, 2, 3) if group > 1 else self.draw(st.integers(1, 17))
        weight = self.weight(out, channels // group, *given["kernel_shape"])
        inputs = [name, weight, *self.one([], [self.weight(out)])]
        if numpy.prod(made) * out < _MOST:
            self.op("Conv", inputs, (shape[0], out, *made), group=group, **given)
        return None

    def transposed(self, name: str, shape: Shape) -> None:
        """A transposed convolution."""
        size, stride, out = self.one(1, 2, 3), self.one(1, 2), self.draw(st.integers(1, 9))
        spatial = tuple((extent - 1) * stride + size for extent in shape[2:])
        if numpy.prod(spatial) * out < _MOST:
            weight = self.weight(shape[1], out, *[size] * len(spatial))
            made = (shape[0], out, *spatial)
            self.op("ConvTranspose", [name, weight], made, strides=[stride] * len(spatial))

    def pool(self, name: str, shape: Shape) -> None:
        # Of other than two axes, and behind pads that differ, the reference makes no maxima.
        operator = self.one("AveragePool", *["MaxPool"] * (len(shape) == 4))
        found = self.windows(shape[2:], False, has_pads=operator == "AveragePool")
        if found is None:
            return self.unary(name, shape)
        given, made = found
        counts = {"count_include_pad": self.one(0, 1)} if operator == "AveragePool" else {}
        self.op(operator, [name], (*shape[:2], *made), **given, **counts)
        return None

    def overall(self, name: str, shape: Shape) -> None:
        """A pool of all there is."""
        made = (*shape[:2], *[1] * (len(shape) - 2))
        operators = "GlobalAveragePool", *["GlobalMaxPool"] * (len(shape) == 4)
        self.op(self.one(*operators), [name], made)

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
    image = st.tuples(st.integers(1, 2), *[st.integers(1, 9)] * 3)
    rows = st.tuples(st.integers(1, 9), st.integers(1, 33))
    batch = st.tuples(st.integers(1, 3), st.integers(1, 9), st.integers(1, 33))
    shape = draw(st.one_of(image, rows, batch))
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


def input_of(model: onnx.ModelProto) -> Array:
    """Numbers around 0."""
    shape = [dim.dim_value for dim in model.graph.input[0].type.tensor_type.shape.dim]
    return numpy.random.default_rng(1).standard_normal(shape).astype("float32")


@settings(max_examples=max(6, MORE), deadline=None)
@given(networks(), st.booleans())
def test_random_graphs(model: onnx.ModelProto, is_deployed: bool) -> None:
    graph, x = Graph(onnx_ir.from_proto(model)), input_of(model)
    if is_deployed:
        graph.infer()
        check(Merged([lower(graph, C)], C).call([x]), model, x)
    else:
        check(Plan(graph, chooser=Chooser((GEN, *BACKENDS)))(x), model, x)


@settings(max_examples=max(40, MORE), deadline=None)
@given(networks())
def test_optimized(model: onnx.ModelProto) -> None:
    """By the kernels that a plan of such small ones has, of which nothing is compiled."""
    x = input_of(model)
    found = sol.optimize(Graph(onnx_ir.from_proto(model)))(x)
    check(found if isinstance(found, (list, tuple)) else [found], model, x)
