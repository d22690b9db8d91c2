"""Each pass leaves what the graph computes as it is, and says what it has removed."""

import numpy
import onnx_ir
import pytest
from onnx.reference import ReferenceEvaluator

from benchmarks import models
from mx.graph import passes

from .build import graph_of

# Pass, graph, operators that are left, names of the nodes that are gone.
CONV = """(float[N, 2, 5, 5] x) => (float[] y)
<float[4, 2, 3, 3] w, float[4] s, float[4] b, float[4] m, float[4] v, float[4] c>"""
CASES = {
    "gelu": (
        "activations",
        """(float[N, 2] x) => (float[] y) <float c = {1.4142135}, float o = {1}, float h = {0.5}>
        { [a] s = Div(x, c) [b] e = Erf(s) [d] t = Add(e, o) [f] p = Mul(x, t)
        [g] y = Mul(p, h) }""",
        ["Gelu"],
        ["g", "f", "d", "b", "a"],
    ),
    "gelu of halves": (
        "activations",
        """(float[N, 2] x) => (float[] y) <float c = {0.70710678}, float o = {1}, float h = {0.5}>
        { [k] n = Neg(x) [a] s = Mul(c, n) [b] e = Erf(s) [d] t = Add(o, e) [f] p = Mul(h, n)
        [g] y = Mul(p, t) }""",
        ["Neg", "Gelu"],
        ["g", "f", "d", "b", "a"],
    ),
    "no gelu": (
        "activations",
        """(float[N, 2] x) => (float[] y, float[] e) <float c = {1.4142135}, float o = {1},
        float h = {0.5}> { s = Div(x, c) e = Erf(s) t = Add(e, o) p = Mul(x, t) y = Mul(p, h) }""",
        ["Div", "Erf", "Add", "Mul", "Mul"],
        [],
    ),
    "gelu of other numbers": (
        "activations",
        """(float[N, 2] x) => (float[] y) <float c = {1.5}, float o = {1}, float h = {0.5}>
        { s = Div(x, c) e = Erf(s) t = Add(e, o) p = Mul(x, t) y = Mul(p, h) }""",
        ["Div", "Erf", "Add", "Mul", "Mul"],
        [],
    ),
    "swish": (
        "activations",
        """(float[N, 2] x) => (float[] y) { [k] n = Neg(x) [a] s = Sigmoid(n) [b] m = Mul(s, n)
        y = Neg(m) }""",
        ["Neg", "Swish", "Neg"],
        ["b", "a"],
    ),
    "no swish": (
        "activations",
        "(float[N, 2] x, float[N, 2] z) => (float[] y) { s = Sigmoid(x) y = Mul(s, z) }",
        ["Sigmoid", "Mul"],
        [],
    ),
    "dropout": (
        "dropout",
        "(float[N] x) => (float[] y) { [d] h = Dropout(x) y = Neg(h) }",
        ["Neg"],
        ["d"],
    ),
    "dropout at the end": (
        "dropout",
        "(float[N] x) => (float[] y) { h = Neg(x) [d] y = Dropout(h) }",
        ["Neg"],
        ["d"],
    ),
    "dropout alone": ("dropout", "(float[N] x) => (float[] y) { y = Dropout(x) }", ["Dropout"], []),
    "mask": (
        "dropout",
        "(float[N] x) => (float[] y, bool[] m) { y, m = Dropout(x) }",
        ["Dropout"],
        [],
    ),
    "dropout of training": (
        "dropout",
        "(float[N] x, bool t) => (float[] y) <float r = {0.0}> { h = Dropout(x, r, t) y = Neg(h) }",
        ["Dropout", "Neg"],
        [],
    ),
    "dropout of no training": (
        "dropout",
        """(float[N] x) => (float[] y) <float r = {0.5}, bool t = {0}>
        { [d] h = Dropout(x, r, t) y = Neg(h) }""",
        ["Neg"],
        ["d"],
    ),
    "identities": (
        "identities",
        """(float[N, 2] x) => (float[] y) { [a] h = Identity(x) [b] i = Cast<to = 1>(h)
        [c] j = Transpose<perm = [0, 1]>(i) [d] k = Sum(j) [e] l = Concat<axis = 0>(k)
        y = Neg(l) }""",
        ["Neg"],
        ["a", "b", "c", "d", "e"],
    ),
    "identity between ends": (
        "identities",
        "(float[N] x) => (float[] y) { y = Identity(x) }",
        ["Identity"],
        [],
    ),
    "identity of an output": (
        "identities",
        "(float[N] x) => (float[] y, float[] z) { y = Neg(x) z = Identity(y) }",
        ["Neg", "Identity"],
        [],
    ),
    "identity within a node": (
        "identities",
        """(float[N] x, bool c) => (float[] y) { h = Neg(x) y = If(c) <
        then_branch = a () => (float[] t) { t = Identity(h) },
        else_branch = b () => (float[] e) { e = Neg(h) }> }""",
        ["Neg", "If"],
        [],
    ),
    "no identities": (
        "identities",
        """(float[N, 2] x) => (float[] y) { h = Transpose<perm = [1, 0]>(x) i = Transpose(h)
        j = Cast<to = 11>(i) y = Cast<to = 1>(j) }""",
        ["Transpose", "Transpose", "Cast", "Cast"],
        [],
    ),
    "constants": (
        "constants",
        """(float[N, 2] x) => (float[] y) <float[2] a = {1, 2}> { [c] b = Constant<value =
        float[2] {3, 4}>() [d] h = Add(a, b) [e] i = Exp(h) y = Mul(x, i) }""",
        ["Mul"],
        ["c", "d", "e"],
    ),
    "constant output": (
        "constants",
        "() => (float[] y) <float[2] a = {1, 2}> { y = Neg(a) }",
        ["Neg"],
        [],
    ),
    "shape of a known shape": (
        "constants",
        """(float[2, 3] x) => (float[] y) { [s] s = Shape(x) [n] n = Size(x) [c] t = Cast<to = 1>(s)
        [d] m = Cast<to = 1>(n) [p] p = ReduceProd<keepdims = 0>(t) [a] q = Add(p, m)
        y = Mul(x, q) }""",
        ["Mul"],
        ["s", "n", "c", "d", "p", "a"],
    ),
    "large constant": (
        "constants",
        """(float x) => (float[] y) <int64[1] s = {1000000}> { h = ConstantOfShape(s)
        y = Mul(x, h) }""",
        ["ConstantOfShape", "Mul"],
        [],
    ),
    "random": (
        "constants",
        """(float[2] x) => (float[] y) { h = RandomNormal<shape = [2]>() i = Sub(h, h)
        y = Add(x, i) }""",
        ["RandomNormal", "Sub", "Add"],
        [],
    ),
    "batch norm": (
        "batch_norm",
        f"{CONV} {{ h = Conv(x, w) [n] y = BatchNormalization(h, s, b, m, v) }}",
        ["Conv"],
        ["n"],
    ),
    "batch norm and bias": (
        "batch_norm",
        f"""{CONV} {{ h = Conv<group = 1>(x, w, c)
        [n] i = BatchNormalization<epsilon = 0.1>(h, s, b, m, v) y = Relu(i) }}""",
        ["Conv", "Relu"],
        ["n"],
    ),
    "batch norms of one weight": (
        "batch_norm",
        f"""{CONV} {{ h = Conv(x, w, c) [n] i = BatchNormalization(h, s, b, m, v)
        j = Conv(x, w, c) y = Add(i, j) }}""",
        ["Conv", "Conv", "Add"],
        ["n"],
    ),
    "batch norm after two uses": (
        "batch_norm",
        f"""{CONV} {{ h = Conv(x, w) i = BatchNormalization(h, s, b, m, v) y = Add(h, i) }}""",
        ["Conv", "BatchNormalization", "Add"],
        [],
    ),
    "batch norm after none": (
        "batch_norm",
        """(float[N, 4] x) => (float[] y) <float[4] s, float[4] b, float[4] m, float[4] v>
        { y = BatchNormalization(x, s, b, m, v) }""",
        ["BatchNormalization"],
        [],
    ),
    "batch norm and matrix": (
        "batch_norm",
        """(float[N, 3] x) => (float[] y)
        <float[4, 3] w, float[4] c, float[4] s, float[4] b, float[4] m, float[4] v>
        { h = Gemm<transB = 1, alpha = 0.5, beta = 2.0>(x, w, c)
          [n] y = BatchNormalization(h, s, b, m, v) }""",
        ["Gemm"],
        ["n"],
    ),
    "batch norm and matrix without bias": (
        "batch_norm",
        """(float[N, 3] x) => (float[] y)
        <float[3, 4] w, float[4] s, float[4] b, float[4] m, float[4] v>
        { h = Gemm(x, w) [n] y = BatchNormalization(h, s, b, m, v) }""",
        ["Gemm"],
        ["n"],
    ),
    "batch norm and transposed convolution": (
        "batch_norm",
        """(float[N, 4, 3, 3] x) => (float[] y)
        <float[4, 2, 2, 2] w, float[4] s, float[4] b, float[4] m, float[4] v>
        { h = ConvTranspose<group = 2>(x, w) [n] y = BatchNormalization(h, s, b, m, v) }""",
        ["ConvTranspose"],
        ["n"],
    ),
    "common": (
        "common",
        "(float[N] x) => (float[] y) { a = Neg(x) b = Neg(x) y = Add(a, b) }",
        ["Neg", "Add"],
        ["b"],
    ),
    "common types": (
        "common",
        """(float[N] x, bool c) => (float[] y) { a = Optional<type = float[2]>() b = Optional<type =
        float[2]>() d = Optional<type = seq(float[2])>() e = OptionalHasElement(a)
        f = OptionalHasElement(b) g = OptionalHasElement(d) h = Or(e, f) i = Or(h, g) j = Or(i, c)
        k = Cast<to = 1>(j) y = Mul(x, k) }""",
        ["Optional", "Optional", *["OptionalHasElement"] * 2, *["Or"] * 3, "Cast", "Mul"],
        ["b", "f"],
    ),
    "common outputs": (
        "common",
        "(float[N] x) => (float[] y, float[] z) { y = Neg(x) z = Neg(x) }",
        None,
        None,
    ),
    "item of a split": (
        "sequences",
        """(float[6, 2] x) => (float[2, 2] y) <int64 k = {4}, int64 p = {-1}>
        { [s] q = SplitToSequence(x, k) [a] h = SequenceAt(q, p) y = Neg(h) }""",
        ["Split", "Neg"],
        ["a", "s"],
    ),
    "items that are joined": (
        "sequences",
        """(float[6, 2] x, float[2] z) => (float[2, 6] y) <int64 p = {0}>
        { [s] q = SplitToSequence<keepdims = 0>(x) [e] r = SequenceErase(q, p)
        [i] t = SequenceInsert(r, z) [c] y = ConcatFromSequence<axis = -1, new_axis = 1>(t) }""",
        ["Split"] + ["Squeeze"] * 5 + ["Unsqueeze"] * 6 + ["Concat"],
        ["c", "i", "e", "s"],
    ),
    "item that is an output": (
        "sequences",
        """(float[N] x) => (float[] y, int64 n) <int64 p = {0}>
        { [c] q = SequenceConstruct(x, x) [a] y = SequenceAt(q, p) [l] n = SequenceLength(q) }""",
        ["Identity", "Identity"],
        ["a", "l", "c"],
    ),
    "items in branches": (
        "sequences",
        """(float[4, 2] x, bool b) => (float[] y) <int64 one = {1}> {
        [q] q = SplitToSequence<axis = 1, keepdims = 0>(x)
        y = If(b) <then_branch = t () => (float[4] u) { [u] u = SequenceAt(q, one) },
        else_branch = e () => (float[4] v) { [n] n = SequenceLength(q) [p] p = Sub(n, one)
        [w] w = SequenceAt(q, p) v = Neg(w) }> }""",
        ["Split", "Squeeze", "If"],
        ["u", "n", "w", "p", "q"],
    ),
    "nodes for each item": (
        "sequences",
        """(float[4, 2] x, float[2] z) => (float[4, 2] all, float[1, 2] last) <int64 p = {-1}> {
        [q] q = SplitToSequence(x) [m] r, s = SequenceMap(q, z) <body = f (float[1, 2] one,
        float[2] two) => (float[1, 2] sum, float[1, 2] one)
        <float[2] w = {1, 2}> { c = Mul(w, two) sum = Add(c, one) }>
        [a] all = ConcatFromSequence<axis = 0>(r) [l] last = SequenceAt(s, p) }""",
        ["Split"] + ["Constant", "Mul", "Add"] * 4 + ["Concat"],
        ["a", "l", "m", "q"],
    ),
    "no items that are known": (
        "sequences",
        """(float[N] x, int64 p) => (float[] y) { q = SequenceConstruct(x, x)
        y = SequenceAt(q, p) }""",
        ["SequenceConstruct", "SequenceAt"],
        [],
    ),
    "items of a length that is not known": (
        "sequences",
        """(float[N] x) => (float[] y) <int64 k = {4}, int64 p = {0}>
        { q = SplitToSequence(x, k) y = SequenceAt(q, p) }""",
        ["SplitToSequence", "SequenceAt"],
        [],
    ),
    "sequence that is an output": (
        "sequences",
        """(float[4] x) => (float[] y, seq(float[]) q) <int64 p = {0}>
        { q = SplitToSequence(x) y = SequenceAt(q, p) }""",
        ["Split", "SplitToSequence"],
        ["y"],
    ),
    "unused": (
        "unused",
        "(float[N] x) => (float[] y) <float[2] w = {1, 2}> { [a] a = Neg(w) y = Neg(x) }",
        ["Neg"],
        ["a"],
    ),
}


def filled(graph) -> None:
    """Gives weights without elements random ones, which may be variances."""
    random = numpy.random.default_rng(0)
    for value in graph.model.graph.initializers.values():
        if value.dtype == onnx_ir.DataType.FLOAT and not value.const_value.numpy().any():
            shape = value.const_value.shape.numpy()
            array = random.uniform(0.5, 1.5, shape).astype("float32")
            value.const_value = onnx_ir.tensor(array, name=value.name)


def give_weights(text: str) -> str:
    """Weights that the text only declares have elements, too: zeros, which `filled` replaces."""
    import math
    import re

    def add(found) -> str:
        count = math.prod(int(number) for number in found[1].split(","))
        return f"float[{found[1]}] {found[2]} = {{{', '.join(['0'] * count)}}}{found[3]}"

    head, arrow, rest = text.partition("=>")
    return head + arrow + re.sub(r"float\[([\d, ]+)\] (\w)([,>])", add, rest)


def run(graph, given) -> list[numpy.ndarray]:
    """What onnx computes, or where that has an error, transposed convolutions, ONNX Runtime."""
    if any("group" in node.attributes for node in graph.nodes if node.op_type == "ConvTranspose"):
        proto = onnx_ir.to_proto(graph.model)
        proto.opset_import[0].version = 26
        session = pytest.importorskip("onnxruntime").InferenceSession(proto.SerializeToString())
        return session.run(None, given)
    return ReferenceEvaluator(onnx_ir.to_proto(graph.model)).run(None, given)


def example(graph) -> dict[str, numpy.ndarray]:
    random = numpy.random.default_rng(1)
    return {
        name: random.standard_normal([d if isinstance(d, int) else 3 for d in shape]).astype(dtype)
        for name, dtype, shape in graph.inputs
    }


@pytest.mark.parametrize(("name", "text", "left", "gone"), CASES.values(), ids=CASES.keys())
def test_pass(name, text, left, gone) -> None:
    graph = graph_of(f"g {give_weights(text)}")
    filled(graph)
    graph.infer()
    for node in graph.nodes:
        node.name = node.name or node.outputs[0].name
    given = example(graph)
    before, specs = ([] if name == "random" else run(graph, given)), graph.outputs
    report = passes.run(graph, [name])
    assert graph.outputs == specs
    if left is not None:
        assert [node.op_type for node in graph.nodes] == left
        assert report.removed == {name: tuple(gone)} and bool(report) == bool(gone)
        assert all(node in str(report) for node in gone[:5])
    if not any(node.op_type == "RandomNormal" for node in graph.nodes):
        for result, expected in zip(run(graph, given), before, strict=True):
            numpy.testing.assert_allclose(result, expected, rtol=1e-4, atol=1e-5)
    onnx_ir.passes.common.CheckerPass()(graph.model)


@pytest.mark.parametrize("name", models.MODELS)
def test_models(name) -> None:
    small = {"resnet50": {"size": 32}, "mobilenet_v2": {"size": 32}, "bert": {"layers": 2}}
    small |= {"unet": {"size": 16}, "lstm": {"sequence": 5}}
    graph = models.MODELS[name](width=0.1, **small.get(name, {}))
    given, specs = models.example(graph, 2), graph.outputs
    (before,) = run(graph, given)
    weights = set(graph.weights)
    report = passes.run(graph)
    assert graph.outputs == specs
    assert all(node.op_type != "BatchNormalization" for node in graph.nodes)
    (after,) = run(graph, given)
    numpy.testing.assert_allclose(after, before, rtol=1e-3, atol=1e-4 * abs(before).max())
    assert not passes.run(graph), str(report)
    kept = {name for name in weights if name.endswith("conv1.weight")}
    assert kept <= set(graph.weights)


def test_constants_do_not_grow_without_end() -> None:
    tiles = "".join(f"v{i + 1} = Tile(v{i}, r) " for i in range(36))
    graph = graph_of(
        f"""g (float x) => (float[] y) <int64[1] r = {{2}}, float[1] v0 = {{1}}>
        {{ {tiles} y = Mul(v36, x) }}"""
    )
    graph.infer()
    passes.run(graph)
    assert graph.outputs[0].shape == (1 << 36,)
    assert sum(graph.weights.sizes().values()) < 1 << 25


NEGATION = "g (float x) => (float y) { y = Neg(x) }"


@pytest.mark.parametrize(
    ("graph", "names", "error", "message"),
    [
        (graph_of(NEGATION), ["magic"], ValueError, "names: 'magic' is no pass: there are dropout"),
        (graph_of(NEGATION), "einsum", TypeError, "names: expected a list of names, got 'einsum'"),
        (3, None, TypeError, "graph: expected a Graph, got int"),
    ],
)
def test_what_run_rejects(graph, names, error, message) -> None:
    with pytest.raises(error, match=message):
        passes.run(graph, names)


def test_passes_have_names_of_their_own() -> None:
    assert len({one.name for one in passes.CPU_PASSES}) == len(passes.CPU_PASSES)
    assert all(one.description for one in passes.CPU_PASSES)
