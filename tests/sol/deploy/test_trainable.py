"""What can be trained can be deployed: operators that plans leave to others, and the few that are
not deployed, each with the reason."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy
import onnx_ir
import pytest
from onnx.reference import ReferenceEvaluator

from mx.graph import Graph, GraphError
from mx.graph._reference import OPERATORS
from mx.sol.backends.gen import Target
from mx.sol.deployments._coverage import WITHOUT
from mx.sol.deployments._coverage import coverage as deployed
from mx.sol.deployments._lower import lower
from mx.sol.gradient._coverage import coverage as trained
from tests.graph.build import graph_of
from tests.graph.test_einsum import EQUATIONS, graph, operands

from .merged import Merged

C = Target.named("c")
Array = numpy.ndarray[Any, Any]
# Operators with gradients that C has no function for: none of a layer; what Range and Unique are
# given decides the shape of what they give.
NOT_DEPLOYED = {
    "Range": "it is computed beforehand only, of inputs that are known",
    "Unique": "elements decide the shape of its output",
}
SEQUENCES = "sequences and optionals have no type in C, and what is in them is not known"


def test_what_is_trained_is_deployed() -> None:
    trainable = {*trained()["rule"], *trained()["body"]}
    rest = trainable & {*deployed()["error"]}
    found = {name: WITHOUT[name] for name in rest}
    assert {name: why for name, why in found.items() if why != SEQUENCES} == NOT_DEPLOYED


@dataclass(frozen=True)
class Case:
    """Nodes for inputs x, y, z, of whose shapes and types the graph is."""

    inputs: tuple[Array, ...]
    nodes: str  # the last of which gives out

    def graph(self) -> Graph:
        """The nodes as a graph."""
        kinds = {"float32": "float", "float64": "double"}
        given = ", ".join(
            f"{kinds.get(str(one.dtype), one.dtype)}[{','.join(map(str, one.shape))}] {name}"
            for name, one in zip("xyz", self.inputs, strict=False)
        )
        return graph_of(f"g ({given}) => ({self._kind()}[] out) {{ {self.nodes} }}")

    def _kind(self) -> str:
        return {"float32": "float", "float64": "double"}.get(
            str(self.inputs[0].dtype), str(self.inputs[0].dtype)
        )

    def expected(self) -> Array:
        """What onnx computes, with what it has no reference of."""
        proto = onnx_ir.to_proto(self.graph().model)
        given = dict(zip("xyz", self.inputs, strict=False))
        found: Array = ReferenceEvaluator(proto, new_ops=[*OPERATORS]).run(None, given)[0]
        return found


def some(*shape: int, dtype: str = "float32") -> Array:
    random = numpy.random.default_rng(len(shape))
    return (3 * random.standard_normal(shape)).astype(dtype)


def ints(*numbers: int) -> str:
    return f"Constant<value = int64[{len(numbers)}] {{{','.join(map(str, numbers))}}}>()"


def col2im(x: Array, image: Sequence[int], block: Sequence[int], attributes: str = "") -> Case:
    given = f"<{attributes}>" if attributes else ""
    nodes = f"i = {ints(*image)} b = {ints(*block)} out = Col2Im{given}(x, i, b)"
    return Case((x,), nodes)


def regions(dtype: str) -> Case:
    """Of both images, whole and in part, outside, of no size, and with corners of halves."""
    rois = [[0, 0, 0, 8, 9], [1, 3, 2, 11, 7], [0, 20, 4, 30, 9], [1, 3, 2, 3, 2], [0, 5, 5, -9, 1]]
    nodes = "out = MaxRoiPool<pooled_shape = [2,3], spatial_scale = 0.5>(x, y)"
    return Case((some(2, 3, 6, 7, dtype=dtype), numpy.array(rois, dtype)), nodes)


SINGULAR = numpy.array([[[0, 2, 1], [0, 4, 3], [0, 1, 1]], [[0, 2, 1], [3, 4, 3], [1, 1, 1]]])
POSITIONS = numpy.array([[[[3, 6], [12, 15]]]], "int64")
UNPOOL = "out = MaxUnpool<kernel_shape = [2,2], strides = [2,2]>(x, y)"
CASES = {
    "col2im": col2im(some(2, 8, 9), (4, 4), (2, 2)),
    "col2im with holes": col2im(
        some(1, 12, 9), (5, 5), (2, 3), "strides = [2,1], dilations = [1,2], pads = [1,0,1,2]"
    ),
    "col2im of one axis": col2im(some(2, 6, 4, dtype="float64"), (6,), (3,)),
    "max unpool": Case((some(1, 1, 2, 2), POSITIONS), UNPOOL),
    "max unpool into more": Case(
        (some(1, 1, 2, 2), POSITIONS),
        f"s = {ints(1, 1, 5, 5)} {UNPOOL.replace('(x, y)', '(x, y, s)')}",
    ),
    "max pool with positions": Case(
        (some(2, 3, 5, 6),),
        """a, i = MaxPool<kernel_shape = [2,3], strides = [1,2], pads = [1,0,0,1],
        dilations = [2,1], storage_order = 1>(x) out = Cast<to = 1>(i)""",
    ),
    "what is pooled, put back": Case(
        (some(2, 3, 4, 6, dtype="float64"),),
        """a, i = MaxPool<kernel_shape = [2,3], strides = [2,3]>(x) b = Neg(a)
        out = MaxUnpool<kernel_shape = [2,3], strides = [2,3]>(b, i)""",
    ),
    "regions": regions("float32"),
    "regions of float64": regions("float64"),
    "det": Case((some(2, 3, 5, 5),), "out = Det(x)"),
    "det of one": Case((some(4, 1, 1, dtype="float64"),), "out = Det(x)"),
    "det of a singular matrix": Case((SINGULAR.astype("float32"),), "out = Det(x)"),
    "matmul": Case(
        (some(2, 1, 3, 4, dtype="float64"), some(5, 4, 6, dtype="float64")), "out = MatMul(x, y)"
    ),
    "matmul of transposes": Case(
        (some(3, 4, dtype="float64"), some(2, 3, dtype="float64"), some(4, 5, dtype="float64")),
        "a = Transpose(x) b = Transpose(y) c = MatMul(a, b) d = Transpose(c) out = MatMul(d, z)",
    ),
    "matmul of vectors": Case(
        (some(4, dtype="int32"), some(4, 3, dtype="int32")), "out = MatMul(x, y)"
    ),
    "gemm": Case(
        (some(3, 4, dtype="float64"), some(5, 4, dtype="float64"), some(5, dtype="float64")),
        "out = Gemm<transB = 1, alpha = 0.5, beta = 2.0>(x, y, z)",
    ),
    "grid sample": Case(
        (some(2, 3, 4, 5), some(2, 3, 2, 2) / 3),
        """a = GridSample<mode = "cubic", padding_mode = "reflection">(x, y)
        b = GridSample<mode = "cubic", padding_mode = "border">(x, y)
        c = GridSample<mode = "nearest", padding_mode = "reflection", align_corners = 1>(x, y)
        out = Sum(a, b, c)""",
    ),
    "grid sample of volumes": Case(
        (some(1, 2, 3, 4, 2), some(1, 2, 2, 3, 3) / 3),
        """a = GridSample(x, y) b = GridSample<mode = "nearest", padding_mode = "border">(x, y)
        c = GridSample<mode = "cubic", padding_mode = "reflection", align_corners = 1>(x, y)
        out = Sum(a, b, c)""",
    ),
    "largest of aligned regions": Case(
        (some(2, 3, 5, 6), numpy.array([[0.3, 0.4, 3.2, 3.9], [1.1, 0.2, 6.4, 2.7]], "float32")),
        f"""i = {ints(1, 0)} out = RoiAlign<mode = "max", sampling_ratio = 2, output_height = 2,
        output_width = 3>(x, y, i)""",
    ),
    "deformed windows in groups": Case(
        (some(2, 4, 4, 5), some(6, 2, 2, 2), some(2, 16, 2, 4) / 8),
        """out = DeformConv<group = 2, offset_group = 2, strides = [2,1], pads = [0,1,0,0],
        dilations = [1,2]>(x, y, z)""",
    ),
    "transforms": Case(
        (some(2, 4, 2),),
        """a = DFT<inverse = 1, onesided = 1>(x) b = DFT<inverse = 1>(x) c = DFT(x)
        d = Add(b, c) e = ReduceSum<keepdims = 0>(d) out = Mul(a, e)""",
    ),
    "norms of windows": Case(
        (some(1, 2, 6, 5),),
        "out = LpPool<kernel_shape = [3,3], strides = [2,2], p = 3, auto_pad = \"SAME_UPPER\">(x)",
    ),
    "samples of regions": Case(
        (some(2, 3, 5, 6),),
        """r = Constant<value = float[2,4] {0.3, 0.4, 4.2, 3.9, 1.1, 0.2, 2.4, 4.7}>()
        i = Constant<value = int64[2] {1, 0}>()
        out = RoiAlign<output_height = 2, output_width = 2>(x, r, i)""",
    ),
    "scattered": Case(
        (some(4, 2), some(3, 2)),
        """i = Constant<value = int64[3,2] {0, 2, 0, -1, 2, 0}>()
        a = ScatterElements<reduction = "mul">(x, i, y)
        b = ScatterElements<reduction = "max">(x, i, y)
        c = ScatterElements<reduction = "min">(x, i, y) out = Sum(a, b, c)""",
    ),
    "scattered rows": Case(
        (some(4, 2), some(3, 2)),
        """i = Constant<value = int64[3,1] {0, -2, 0}>()
        a = ScatterND<reduction = "mul">(x, i, y) b = ScatterND<reduction = "max">(x, i, y)
        c = ScatterND<reduction = "min">(x, i, y) out = Sum(a, b, c)""",
    ),
    "normalized by the batch": Case(
        (some(4, 3, 2, 5), some(3), some(3)),
        """a, m, v = BatchNormalization<training_mode = 1, momentum = 0.7>(x, y, z, z, y)
        b = Reshape(m, c) d = Reshape(v, c) out = Sum(a, b, d)
        """.replace("b =", f"c = {ints(3, 1, 1)} b =", 1),
    ),
    "rows normalized by the batch": Case(
        (some(4, 3, dtype="float64"), some(3, dtype="float64"), some(3, dtype="float64")),
        "out, m, v = BatchNormalization<training_mode = 1, epsilon = 0.5>(x, y, z, z, y)",
    ),
    "halves normalized by the batch": Case(
        (numpy.array([[3], [5]], "float16"), numpy.ones(1, "float16"), numpy.ones(1, "float32")),
        "out, m, v = BatchNormalization<training_mode = 1, epsilon = 0.0>(x, y, y, z, z)",
    ),
    "sizes that are limits": Case(
        (some(1, 2, 3, 4),),
        f"""s = {ints(6, 7)}
        a = Resize<mode = "linear", axes = [2,3], keep_aspect_ratio_policy = "not_larger">(x, , , s)
        b = Resize<mode = "cubic", axes = [2,3], keep_aspect_ratio_policy = "not_larger">(x, , , s)
        out = Add(a, b)""",
    ),
    "means and variances": Case(
        (some(2, 3, 4, 5),), "out = MeanVarianceNormalization(x)"
    ),
    "along some axes": Case(
        (some(2, 3, 4, 5),), "out = MeanVarianceNormalization<axes = [1,-1]>(x)"
    ),
    "a scale of another type": Case(
        (some(3, 8), some(8, dtype="float64")), "out = RMSNormalization<epsilon = 0.5>(x, y)"
    ),
    "a recurrent layer of float64": Case(
        tuple(some(*shape, dtype="float64") / 3 for shape in ((3, 2, 4), (1, 12, 4), (1, 12, 3))),
        "out = LSTM<hidden_size = 3>(x, y, z)",
    ),
    "weights of a recurrent layer that are computed": Case(
        tuple(some(*shape) / 3 for shape in ((3, 2, 4), (2, 9, 4), (2, 9, 3))),
        """a, b = GRU<hidden_size = 3, direction = "bidirectional">(x, y, z) out = Add(a, b)""",
    ),
    "means of halves": Case(
        (numpy.arange(48, dtype="float16").reshape(1, 2, 4, 6),),
        "a = AveragePool<kernel_shape = [2,2]>(x) b = GlobalAveragePool(x) out = Add(a, b)",
    ),
    "between elements of float64": Case(
        (some(1, 2, 4, 5, dtype="float64"),),
        f"""s = {ints(1, 2, 7, 3)} a = Resize<mode = "linear">(x, , , s)
        b = Resize<mode = "cubic">(x, , , s) out = Add(a, b)""",
    ),
    "fewer elements, of all that are near": Case(
        (some(1, 2, 7, 9, dtype="float64"),),
        f"""s = {ints(1, 2, 3, 4)} a = Resize<mode = "linear", antialias = 1>(x, , , s)
        b = Resize<mode = "cubic", antialias = 1, exclude_outside = 1>(x, , , s) out = Add(a, b)""",
    ),
    "compress": Case(
        (some(3, 4),), "c = Constant<value = bool[3] {1, 0, 1}>() out = Compress<axis = 1>(x, c)"
    ),
    "compress of all": Case(
        (some(3, 4),), "c = Constant<value = bool[5] {0, 1, 1, 0, 1}>() out = Compress(x, c)"
    ),
}  # fmt: skip


def test_as_the_reference() -> None:
    """All in one library, without the passes, which do the same to Einsum."""
    programs, inputs, expected = [], [], {}
    for equation, shapes, *_ in EQUATIONS:
        for dtype in ("float32", "float64"):
            arrays = operands(shapes, dtype)
            programs.append(lower(graph(equation, shapes, dtype), C))
            inputs += arrays
            expected[f"{equation} of {dtype}"] = numpy.einsum(equation, *arrays)
    for name, case in CASES.items():
        made = case.graph()
        made.infer()
        programs.append(lower(made, C))
        inputs += case.inputs
        expected[name] = case.expected()
    outputs = Merged(programs, C).call(inputs)
    for (name, wanted), came in zip(expected.items(), outputs, strict=True):
        assert came.shape == wanted.shape and came.dtype == wanted.dtype, name
        numpy.testing.assert_allclose(came, wanted, rtol=2e-4, atol=1e-5, err_msg=name)


def test_elements_are_read_behind_what_moves_them() -> None:
    """Where the compiler puts both into one function, and knows types that are not the same."""
    case = CASES["matmul of transposes"]
    (came,) = Merged([lower(case.graph(), C)], C, "-O3").call(case.inputs)
    numpy.testing.assert_allclose(came, case.expected(), rtol=1e-9)


def test_what_is_rejected() -> None:
    nodes = "b = Cast<to = 9>(y) out = Compress(x, b)"
    with pytest.raises(GraphError, match="elements decide the shape"):
        lower(graph_of(f"g (float[3] x, int64[3] y) => (float[] out) {{ {nodes} }}"), C)
