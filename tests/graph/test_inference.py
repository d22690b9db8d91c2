"""Shapes and dtypes that follow from the inputs', and errors that name the node."""

import time

import onnx_ir
import pytest

from mx.graph import GraphError
from mx.op import TensorSpec

from .build import graph_of

# Name, text of the graph, shapes given to infer, shape of the output.
SHAPES = {
    "names stay": ("(float[N, M] x) => (float[] y) { h = Relu(x) y = Transpose(h) }", ("M", "N")),
    "broadcasting": ("(float[N, 1] x, float[M] z) => (float[] y) { y = Add(x, z) }", ("N", "M")),
    "reshape to -1": (
        "(float[N, 4] x) => (float[] y) <int64[3] s = {-1, 2, 2}> { y = Reshape(x, s) }",
        ("N", 2, 2),
    ),
    "reshape joins": (
        "(float[N, M, 4] x) => (float[] y) <int64[2] s = {-1, 4}> { y = Reshape(x, s) }",
        ("N*M", 4),
    ),
    "reshape keeps": (
        "(float[N, M, 4] x) => (float[] y) <int64[3] s = {0, -1, 2}> { y = Reshape(x, s) }",
        ("N", "2*M", 2),
    ),
    "of data stays": (
        """(float[N] x) => (float[] y) <int64[3] s = {0, 1, 2}>
        { h = NonZero(x) t = Transpose(h) u = Concat<axis=1>(t, t) v = Cast<to=1>(u)
          y = Reshape(v, s) }""",
        ("unk__0", 1, 2),
    ),
    "windows": (
        """(float[N, 3, H, W] x, float[8, 3, 3, 3] w) => (float[] y) { h = Conv<pads = [1, 1, 1, 1]>
        (x, w) y = MaxPool<kernel_shape = [2, 3], pads = [0, 1, 1, 0], dilations = [1, 2]>(h) }""",
        ("N", 8, "H", "W - 3"),
    ),
    "windows of the same extent": (
        """(float[N, 3, H, W] x, float[8, 3, 3, 3] w) => (float[] y)
        { y = Conv<auto_pad = "SAME_UPPER">(x, w) }""",
        ("N", 8, "H", "W"),
    ),
    "padded": (
        """(float[N, M] x) => (float[] y) <int64[2] p = {1, 2}, int64[1] a = {-1}>
        { y = Pad(x, p, , a) }""",
        ("N", "M + 3"),
    ),
    "names that nobody computes with": (
        """(float[N, M] x) => (float[] y) { s = Shape(x) t = ConstantOfShape(s) y = Neg(t) }""",
        ("N", "M"),
    ),
    "flatten": ("(float[N, M, 4] x) => (float[] y) { y = Flatten(x) }", ("N", "4*M")),
    "concat": ("(float[N] x, float[M] z) => (float[] y) { y = Concat<axis=0>(x, z) }", ("N + M",)),
    "concat of one": (
        "(float[N] x) => (float[] y) { y = Concat<axis=0>(x, x) }",
        ("2*N",),
    ),
    "through names of onnx": (
        """(float[N, 4] x, float[N, 2, 2] z) => (float[] y) <int64[3] s = {-1, 2, 2}>
        { a = Reshape(x, s) b = Reshape(z, s) c = Add(a, b) y = MatMul(c, b) }""",
        ("N", 2, 2),
    ),
    "computed shape": (
        """(float[2, 3, 4] x) => (float[] y) <int64 i = {1}, int64 two = {2}, int64[1] m = {-1}>
        { s = Shape(x) a = Gather(s, i) b = Div(a, two) c = Mul(b, two) d = Add(c, two)
          z = Constant<value = int64[1] {0}>() e = Unsqueeze(c, z) f = Concat<axis=0>(e, m)
          y = Reshape(x, f) }""",
        (2, 12),
    ),
    "computed shape of names": (
        """(float[N, 3, 4] x) => (float[] y) <int64[1] m = {-1}>
        { s = Shape<end = 1>(x) f = Concat<axis=0>(s, m) y = Reshape(x, f) }""",
        ("N", 12),
    ),
    "computed shape where 0 is 0": (
        """(float[N, 3, 4] x) => (float[] y) <int64[1] m = {-1}>
        { s = Shape<end = 1>(x) f = Concat<axis=0>(s, m) y = Reshape<allowzero = 1>(x, f) }""",
        ("N", 12),
    ),
    "0 that is 0 beside a name": (
        """(float[N, 0] x) => (float[] y) <int64[1] z = {0}>
        { s = Shape<end = 1>(x) f = Concat<axis=0>(s, z) y = Reshape<allowzero = 1>(x, f) }""",
        ("N", 0),
    ),
    "computed in several rounds": (
        """(float[4, 6] x) => (float[] y) <int64[1] m = {-1}, int64[1] two = {2}>
        { s = Shape<end = 1>(x) h = Div(s, two) f = Concat<axis=0>(h, m) a = Reshape(x, f)
          t = Shape<start = 1>(a) i = Div(t, two) g = Concat<axis=0>(i, m) y = Reshape(a, g) }""",
        (6, 4),
    ),
    "expand as torch writes it": (
        """(float[N, 1, 4] x, float[N, M] z) => (float[] y)
        <int64[1] m = {-1}, int64[3] t = {-1, 1, 4}, int64 i = {0}, int64 j = {1}>
        { s = Shape(z) n = Gather(s, i) k = Gather(s, j) zero = Constant<value = int64[1] {0}>()
          a = Unsqueeze(n, zero) b = Unsqueeze(k, zero) four = Constant<value = int64[1] {4}>()
          c = Concat<axis = 0>(a, b, four) l = Shape(c) o = ConstantOfShape(l)
          ones = Cast<to = 7>(o) minus = Sub(ones, j) e = Equal(c, minus) w = Where(e, ones, c)
          y = Expand(x, w) }""",
        ("N", "M", 4),
    ),
    "filled by names": (
        """(float[N, M] x) => (float[] y) <int64[1] two = {2}>
        { s = Shape(x) t = Concat<axis = 0>(two, s) h = ConstantOfShape(t) y = Neg(h) }""",
        (2, "N", "M"),
    ),
    "rank of what is filled": (
        """(float[N] x) => (float[] y) <int64[1] two = {2}>
        { h = NonZero(x) s = Shape(h) t = Concat<axis = 0>(two, s)
          v = ConstantOfShape(t) y = Flatten<axis = 3>(v) }""",
        ("unk__1", 1),
    ),
    "filled": (
        "() => (float[] y) <int64[2] s = {2, 3}> { y = ConstantOfShape(s) }",
        (2, 3),
    ),
    "attention of heads in a row": (
        "(float[N, S, D] x, float[N, S, D] z) => (float[] y)"
        " { y = Attention<q_num_heads = 2, kv_num_heads = 2>(x, x, z) }",
        ("N", "S", "unk__0"),
    ),
    "a scale of another type": (
        "(float[N, M] x, float16[M] z) => (float[] y) { y = RMSNormalization(x, z) }",
        ("N", "M"),
    ),
    "groups of channels": (
        "(float[N, 4, H] x, float[C] z) => (float[] y)"
        " { h = GroupNormalization<num_groups = 2>(x, z, z) y = Relu(h) }",
        ("N", 4, "H"),
    ),
    "default axes": (
        "(double[N, 2, H, W] x) => (float[] y)"
        " { h = MeanVarianceNormalization(x) y = Cast<to = 1>(h) }",
        ("N", 2, "H", "W"),
    ),
    "if": (
        """(bool c, float[N, 2] x) => (float[] y) { y = If(c) <
        then_branch = a () => (float[] t) { t = Relu(x) },
        else_branch = b () => (float[] e) { e = Neg(x) }> }""",
        ("N", 2),
    ),
}


@pytest.mark.parametrize(("text", "shape"), SHAPES.values(), ids=SHAPES.keys())
def test_shapes(text, shape) -> None:
    graph = graph_of(f"g {text}")
    found = graph.infer()
    # Sums and products have their terms in any order.
    wanted = TensorSpec(shape, "float32")
    assert TensorSpec(graph.outputs[0].shape, graph.outputs[0].dtype) == wanted
    assert "unk__" in str(shape) or (found and str(found) == "all shapes are known")
    graph.infer()
    assert TensorSpec(graph.outputs[0].shape, graph.outputs[0].dtype) == wanted


@pytest.mark.parametrize("name", ["a.b", "a-b", "2 * a", "", "x" * 9999, "1", "N//2", "a b", "*"])
def test_odd_names(name) -> None:
    graph = graph_of(
        """g (float[N, 3] x) => (float[] y, float[] z) <int64[2] m = {-1, 2}>
        { y = Concat<axis=0>(x, x) s = Shape(x) h = ReduceProd(s) u = ConstantOfShape(h)
        z = Reshape(y, m) }"""
    )
    graph.model.graph.inputs[0].shape = onnx_ir.Shape([name, 3])
    graph.infer()
    assert [len(spec.shape) for spec in graph.outputs] == [2, 2]
    assert graph.copy().infer({"x": (4, 3)})


def test_names_of_unknown_extents() -> None:
    """One for each that may differ from all others, the same each time."""
    graph = graph_of(
        """g (float[N] x, float[unk__0] z) => (int64[] a, int64[] b, float[] c)
        { a = NonZero(x) h = NonZero(z) b = Identity(h) c = Neg(z) }"""
    )
    for _ in range(3):
        graph.infer()
        shapes = [spec.shape for spec in graph.outputs]
        assert shapes == [(1, "unk__1"), (1, "unk__2"), ("unk__0",)]


UNKNOWN = {
    "of data": ("(float[N] x) => (int64[] y) { y = NonZero(x) }", ("y",), ()),
    "operator": ("(float[N] x) => (float[] y) { h = Odd(x) y = Relu(h) }", ("h", "y"), ("Odd",)),
    "domain": (
        "(float[N] x) => (float[] y) { h = my.Odd(x) y = Relu(h) }",
        ("h", "y"),
        ("my::Odd",),
    ),
}


@pytest.mark.parametrize(("text", "values", "operators"), UNKNOWN.values(), ids=UNKNOWN.keys())
def test_what_stays_unknown(text, values, operators) -> None:
    found = graph_of(f"g {text}", imports=', "my" : 1').infer()
    assert (found.unknown, found.unknown_operators) == (values, operators)
    assert not found and all(value in str(found) for value in (*values, *operators))


def test_what_the_model_says_of_unknown_operators() -> None:
    graph = graph_of("g (float[N] x) => (float[] y) <float[N, 7] h> { h = Odd(x) y = Relu(h) }")
    assert graph.infer() and graph.outputs[0].shape == ("N", 7)
    graph.infer({"x": (5,)})
    assert graph.outputs[0].shape == (5, 7)


def test_names_of_the_model() -> None:
    graph = graph_of("g (float[N] x) => (int64[1, found] y) { h = NonZero(x) y = Identity(h) }")
    assert graph.infer()
    assert onnx_ir.convenience.create_value_mapping(graph.model.graph)["h"].shape == [1, "found"]


CONV = """g (float[N, 3, H, W] x, float[8, 3, 3, 3] w) => (float[] y)
{ h = Conv<strides = [2, 2], pads = [1, 1, 1, 1]>(x, w) y = GlobalAveragePool(h) }""".replace(
    "(float[N, 3, H, W] x)", "(float[N, 3, H, W] x, float[8, 3, 3, 3] w)"
)


def test_given_shapes() -> None:
    graph = graph_of(CONV)
    graph.infer({"x": ("batch", 3, 224, 224)})
    assert graph.inputs[0].shape == ("batch", 3, 224, 224)
    assert graph.outputs[0].shape == ("batch", 8, 1, 1)
    graph.bind({"batch": 16})
    assert graph.infer() and graph.outputs[0].shape == (16, 8, 1, 1)


GIVEN_WRONG = {
    "no input": ({"z": (1,)}, KeyError, "there is no input 'z': inputs are x, w"),
    "rank": ({"x": (1, 3)}, GraphError, r"input 'x' is of shape \(N, 3, H, W\), not \(1, 3\)"),
    "extent": ({"x": (1, 4, 5, 5)}, GraphError, r"\(N, 3, H, W\), not \(1, 4, 5, 5\)"),
    "negative": ({"x": (-1, 3, 5, 5)}, GraphError, "x: an extent is below zero: -1"),
    "type": ({"x": (1.5, 3, 5, 5)}, TypeError, "expected numbers and names as extents, got 1.5"),
}


@pytest.mark.parametrize(("shapes", "error", "text"), GIVEN_WRONG.values(), ids=GIVEN_WRONG.keys())
def test_wrong_shapes(shapes, error, text) -> None:
    graph = graph_of(CONV)
    with pytest.raises(error, match=text):
        graph.infer(shapes)


def test_same_name_twice() -> None:
    graph = graph_of("g (float[N] x, float[N] z) => (float[] y) { y = Add(x, z) }")
    with pytest.raises(GraphError, match="the input 'z': N is 3, not 4"):
        graph.infer({"x": (3,), "z": (4,)})
    with pytest.raises(KeyError, match="no extent of an input is called 'M': there are N"):
        graph.bind({"M": 3})


WRONG = {
    "batches": (
        "(float[2,2] x) => (float[n] y) <int64[2,1] i = {0, 0}>"
        " { y = GatherND<batch_dims = -5>(x, i) }",
        r"\(GatherND\): attribute 'batch_dims': expected 0 or more, got -5",
    ),
    "types": (
        "(float[2] x, int64[2] z) => (float[] y) { [plus] y = Add(x, z) }",
        r"g: node 'plus' \(Add\): .*inconsistent type.*inputs are x: float .*z: int64",
    ),
    "shapes": (
        "(float[2] x, float[3] z) => (float[] y) { y = Add(x, z) }",
        r"g: node that gives 'y' \(Add\): Incompatible dimensions; its inputs are x: float \(2,\)",
    ),
    "count": (
        "(float[2] x) => (float[] y) { h = Neg(x) [r] y = Relu(h, x) }",
        r"g: node 'r' \(Relu\): Node with schema.*has input size 2 not in range",
    ),
    "count of a norm": (
        "(float[2] x) => (float[] y) { y = RMSNormalization(x) }",
        r"\(RMSNormalization\): Node with schema.*has input size 1 not in range",
    ),
    "dangling": ("(float[2] x) => (float[] y) { y = Relu(q) }", r"\(Relu\): Input 0 expected"),
    "reshape": (
        "(float[5] x) => (float[] y) <int64[2] s = {2, 3}> { [r] y = Reshape(x, s) }",
        r"node 'r' \(Reshape\): 5 elements do not make the shape \(2, 3\)",
    ),
    "huge input": (
        "(float[4611686018427387904, 8] x) => (float[] y) { y = Relu(x) }",
        r"'x' is of shape \(4611686018427387904, 8\), more than any memory has",
    ),
    "huge constant": (
        "() => (float[] y) <int64[2] s = {99999999999, 99999999999}> { y = ConstantOfShape(s) }",
        r"'y' is of shape \(99999999999, 99999999999\), more than any memory has",
    ),
}


@pytest.mark.parametrize(("text", "message"), WRONG.values(), ids=WRONG.keys())
def test_errors_name_the_node(text, message) -> None:
    with pytest.raises(GraphError, match=message):
        graph_of(f"g {text}").infer()


def test_takes_time_linear_in_nodes() -> None:
    def seconds(count: int) -> float:
        nodes = "".join(f"v{i + 1} = Relu(v{i}) " for i in range(count))
        graph = graph_of(f"g (float[N, 4] v0) => (float v{count}) {{ {nodes} }}")
        start = time.process_time()
        graph.infer()
        graph.summary()
        graph.picture()
        return time.process_time() - start

    seconds(100)
    assert seconds(8000) < 8 * 3 * seconds(1000)
