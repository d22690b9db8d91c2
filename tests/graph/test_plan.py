"""Plans of graphs: what surprised somebody once."""

import threading

import numpy
import pytest

import mx
from mx import _onednn
from mx.graph import GraphError, Plan

from .build import graph_of

RANDOM = numpy.random.default_rng(0)


def floats(*shape):
    return RANDOM.standard_normal(shape, "float32")


@pytest.mark.parametrize("how", ["run", "profile"])
def test_outputs_are_no_arrays_of_the_caller(how):
    plan = Plan(graph_of("g (float[2] x) => (float[2] y) { y = Identity(x) }"), optimize=False)
    for asarray in (numpy.asarray, mx.np.asarray):
        x = asarray(numpy.array([1, 2], "float32"))
        (y,) = plan.run({"x": x}) if how == "run" else plan.profile({"x": x}).outputs
        y[0] = 7
        assert float(x[0]) == 1


@pytest.mark.parametrize("breaks", ["NonZero", "If"])
def test_chains_that_one_kernel_computes_across_the_end_of_a_plan(breaks):
    middle = {
        "NonZero": "n = NonZero(x)",
        "If": "n = If(f) < then_branch = a () => (float[] t) { t = Neg(x) }, "
        "else_branch = b () => (float[] e) { e = Abs(x) }>",
    }[breaks]
    kind = {"NonZero": "int64", "If": "float"}[breaks]
    graph = graph_of(
        f"""g (float[2,4] x, bool f) => (float[2,4] y, {kind}[] n)
        <float[4,4] w = {{1,0,0,0,0,2,0,0,0,0,3,0,0,0,0,4}}, float[4] c = {{1,1,1,1}}>
        {{ a = MatMul(x, w) {middle} b = Relu(a) y = Add(b, c) }}"""
    )
    plan, x = Plan(graph), floats(2, 4)
    for flag in (True, False, True):
        got = plan(x, numpy.array(flag))
        expected = numpy.maximum(x * numpy.array([1, 2, 3, 4], "float32"), 0) + 1
        numpy.testing.assert_allclose(got[0], expected, rtol=1e-6)


@pytest.mark.parametrize("shape", [(2, 1, 4), (4, 1, 8), (1, 1, 4), (3, 2, 1)])
def test_products_of_transposed_tensors_with_axes_of_one_element(shape):
    turned = (shape[0], shape[2], shape[1])
    weight = floats(turned[-1], 6)
    numbers = ",".join(map(str, weight.reshape(-1)))
    graph = graph_of(
        f"""g (float[{",".join(map(str, shape))}] x) => (float[] y)
        <float[{turned[-1]},6] w = {{{numbers}}}>
        {{ t = Transpose<perm = [0,2,1]>(x) y = MatMul(t, w) }}"""
    )
    x = floats(*shape)
    numpy.testing.assert_allclose(
        Plan(graph)(x)[0], x.transpose(0, 2, 1) @ weight, rtol=1e-4, atol=1e-5
    )


def test_elements_that_decide_shapes_are_copied():
    graph = graph_of(
        """g (float[6] x, int64[2] s) => (float[a,b] y, int64[1,2] z) <int64[2] k = {1,2}>
        { y = Reshape(x, s) z = Reshape(s, k) }"""
    )
    plan, x, shape = Plan(graph), floats(6), numpy.array([2, 3])
    plan(x, shape)
    shape[:] = [3, 2]
    assert [plan(x, shape)[0].shape, plan(x, shape)[1].tolist()] == [(3, 2), [[3, 2]]]
    again = plan(x, numpy.array([2, 3]))
    assert [again[0].shape, again[1].tolist()] == [(2, 3), [[2, 3]]]


def test_an_output_that_is_an_input_is_a_copy():
    plan = Plan(graph_of("g (float[2] x) => (float[2] y, float[2] x) { y = Neg(x) }"))
    x = mx.np.ones(2)
    for _ in range(2):
        plan(x)[1][0] = 5
        assert x.tolist() == [1, 1]


def test_weights_are_shared_by_plans_and_few_plans_are_kept():
    weight = ",".join(["1"] * 64 * 64)
    graph = graph_of(
        f"g (float[N,64] x) => (float[N,64] y) <float[64,64] w = {{{weight}}}> "
        "{ a = Mul(x, w) y = Identity(a) }".replace("Mul(x, w)", "MatMul(x, w)")
    )
    plan = Plan(graph)
    for rows in range(1, 100):
        assert plan(numpy.ones((rows, 64), "float32"))[0][0, 0].item() == 64
    assert len(plan._program.segments()) <= 32
    (weight,) = plan._program.weights.values()
    assert weight.weight(_onednn.load().Weight).num_packed <= 4
    assert weight.elements.tolist() == [[1] * 64] * 64


@pytest.mark.parametrize("bound", ["", "Clip(a)", "Clip(a, low)", "Relu(a)"])
def test_infinities_stay(bound):
    graph = graph_of(
        f"""g (float[2,2] x) => (float[2,2] y) <float[2,2] w = {{1,0,0,1}}, float low = {{-2}}>
        {{ a = MatMul(x, w) y = {bound or "Identity(a)"} }}"""
    )
    x = numpy.array([[3.402e38, 1], [-1, 2]], "float32")
    expected = {"Clip(a, low)": numpy.maximum(x, -2), "Relu(a)": numpy.maximum(x, 0)}.get(bound, x)
    numpy.testing.assert_allclose(Plan(graph)(x)[0], expected, rtol=1e-6)


def test_a_product_divided_by_zero():
    graph = graph_of(
        """g (float[1,2] x) => (float[1,2] y) <float[2,2] w = {1,0,0,1}, float z = {0}>
        { a = MatMul(x, w) y = Div(a, z) }"""
    )
    assert Plan(graph)(numpy.array([[1, -1]], "float32"))[0].tolist() == [[numpy.inf, -numpy.inf]]


@pytest.mark.parametrize(
    "body",
    [
        "y = Conv<pads = [0]>(x, x)",
        "y = Conv<strides = [0, 0]>(x, x)",
        "y = Conv<group = 0>(x, x)",
        "y = MaxPool<kernel_shape = [1, 1], strides = [0, 0]>(x)",
        "y = DepthToSpace<blocksize = 0>(x)",
        "y = GatherElements<axis = 7>(x, i)",
        "y = GatherElements(x, i)",
    ],
)
def test_what_no_rule_takes_names_its_node(body):
    graph = graph_of(
        "g (float[1,1,2,2] x) => (float[] y) <int64[1,1,1,1] i = {9}> { [bad] " + body + " }"
    )
    with pytest.raises(GraphError, match="node 'bad'"):
        Plan(graph, optimize=False)(floats(1, 1, 2, 2))


def test_batch_normalization_behind_a_column():
    graph = graph_of(
        """g (float[4,3] x) => (float[4,4] y) <float[3,4] w = {1,2,3,4,5,6,7,8,9,1,2,3},
        float[4,1] c = {1,2,3,4}, float[4] s = {1,2,3,4}, float[4] b = {1,1,1,1},
        float[4] m = {1,2,3,4}, float[4] v = {1,1,1,1}>
        { a = Gemm(x, w, c) y = BatchNormalization(a, s, b, m, v) }"""
    )
    x = floats(4, 3)
    numpy.testing.assert_allclose(
        Plan(graph)(x)[0], Plan(graph, optimize=False)(x)[0], rtol=1e-4, atol=1e-4
    )


def test_random_nodes_are_not_made_one():
    graph = graph_of(
        "g (float[200] x) => (float[200] y) { a = Bernoulli(x) b = Bernoulli(x) y = Sub(a, b) }"
    )
    assert numpy.asarray(Plan(graph)(numpy.full(200, 0.5, "float32"))[0]).any()


def test_text():
    plan = Plan(graph_of("g (string[2] x) => (string[2] y) { y = StringConcat(x, x) }"))
    assert plan(["a", "b"])[0].tolist() == ["aa", "bb"]


@pytest.mark.parametrize(
    ("given", "error", "text"),
    [
        ({}, TypeError, "input 'x' is missing"),
        ({"x": None}, TypeError, "input 'x' is missing"),
        ({"y": 1}, TypeError, "no input 'y'"),
        ({"x": numpy.ones((2, 3))}, TypeError, "'x': expected float32, got float64"),
        ({"x": numpy.ones(3, "float32")}, ValueError, r"\(N, 3\), got \(3,\)"),
        ({"x": numpy.ones((2, 4), "float32")}, ValueError, r"\(N, 3\), got \(2, 4\)"),
    ],
)
def test_inputs_that_do_not_fit(given, error, text):
    with pytest.raises(error, match=text):
        Plan(graph_of("g (float[N,3] x) => (float[N,3] y) { y = Neg(x) }")).run(given)


def test_several_threads_plan_and_run():
    graph = graph_of(
        """g (float[N,4] x) => (int64[] n, float[] y)
        { n = NonZero(x) p = Transpose(n) y = GatherND(x, p) }"""
    )
    plan, failures = Plan(graph), []

    def work(number):
        random = numpy.random.default_rng(number)
        for _ in range(20):
            x = numpy.maximum(random.standard_normal((random.integers(1, 5), 4), "float32"), 0)
            n, y = plan(x)
            if not (numpy.array_equal(n, numpy.nonzero(x)) and numpy.array_equal(y, x[x != 0])):
                failures.append(x)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures


@pytest.mark.parametrize(
    "order",
    ["x, float[4] y) => (float[4] p, float[4] q", "y, float[4] x) => (float[4] q, float[4] p"],
)
def test_one_plan_whatever_the_order_of_inputs_and_outputs(order):
    plan = Plan(graph_of(f"g (float[4] {order}) {{ q = Neg(y) h = Abs(x) p = Add(h, q) }}"))
    given = {"x": floats(4), "y": floats(4)}
    results = dict(zip("pq" if order[0] == "x" else "qp", plan.run(given), strict=True))
    numpy.testing.assert_array_equal(results["q"].asnumpy(), -given["y"])
    numpy.testing.assert_array_equal(results["p"].asnumpy(), abs(given["x"]) - given["y"])
    assert plan.compiled(given) is not None


def test_a_run_that_plans_holds_no_other_up():
    plan = Plan(graph_of("g (float[N] x) => (int64[m,n] y) { y = NonZero(x) }"))
    plan(numpy.ones(3, "float32"))
    done = []
    thread = threading.Thread(target=lambda: done.append(plan(numpy.ones(3, "float32"))[0].shape))
    with plan._program._planning:  # as who plans has it
        thread.start()
        thread.join(10)
        assert done == [(1, 3)]


def read_only(x):
    x = x.copy()
    x.flags.writeable = False
    return x


INPUTS = {
    "numpy": lambda x: x,
    "read-only": read_only,
    "strides": lambda x: numpy.repeat(x, 2, axis=-1)[..., ::2],
    "another order": numpy.asfortranarray,
    "mx": mx.np.array,
    "list": lambda x: list(x),
}


@pytest.mark.parametrize("given", INPUTS.values(), ids=INPUTS)
def test_inputs_of_a_shape_that_came_before(given):
    plan = Plan(graph_of("g (float[N,3] x) => (float[N,3] y) { y = Neg(x) }"))
    x = floats(2, 3)
    for _ in range(3):
        assert (plan(given(x))[0].asnumpy() == -x).all()
        assert (plan(x)[0].asnumpy() == -x).all()


def test_a_number_after_an_array_without_axes():
    plan = Plan(graph_of("g (float[] x) => (float[] y) { y = Neg(x) }"))
    for x in (numpy.full((), 2, "float32"), numpy.float32(2)) * 2:
        assert plan(x)[0].item() == -2


# Bodies whose states are of an extent that only a run tells.
LOOPS = {
    "Loop": """g (int64 n, bool c, float[K,3] s) => (float[K,3] last, float[T,K,3] all) {
 last, all = Loop <body = b (int64 i, bool go, float[K,3] before)
  => (bool on, float[K,3] after, float[K,3] given) {
  on = Identity(go) after = Neg(before) given = Abs(after) }> (n, c, s)
}""",
    "Scan": """g (float[K,3] s, float[T,2] x) => (float[K,3] last, float[K,T,3] all) {
 last, all = Scan <num_scan_inputs = 1, scan_output_axes = [1],
  body = b (float[K,3] before, float[2] item) => (float[K,3] after, float[K,3] given) {
  t = ReduceSum<keepdims = 0>(item) after = Add(before, t) given = Abs(after) }> (s, x)
}""",
}


@pytest.mark.parametrize("count", [0, 4])
@pytest.mark.parametrize("operator", LOOPS)
def test_what_a_loop_gives_whose_body_is_not_executed(operator, count):
    state = floats(2, 3)
    given = {
        "Loop": (numpy.array(count), numpy.array(True), state),
        "Scan": (state, floats(count, 2)),
    }
    last, every = Plan(graph_of(LOOPS[operator]))(*given[operator])
    assert every.shape == ((count, 2, 3) if operator == "Loop" else (2, count, 3))
    if not count:
        numpy.testing.assert_array_equal(last, state)
