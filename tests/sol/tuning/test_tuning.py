"""Backends by measurement: right whichever is chosen, and kept for the next start."""

from __future__ import annotations

import importlib.metadata
import io
import threading
import warnings
from dataclasses import replace

import numpy
import onnx_ir
import pytest

import mx
from benchmarks import models
from mx import sol
from mx.graph import Plan, passes
from mx.graph.lowering import BACKENDS, Backend
from mx.graph.lowering._trial import Common, Cost, Runs
from mx.sol import _registry
from mx.sol.backends.gen import _link
from mx.sol.jits import JitError
from mx.sol.tuning import Choices, _kept, _measure, _tuner, tune
from mx.sol.tuning._choices import all_backends
from mx.sol.tuning._layers import Noted, Recording
from mx.sol.tuning._measure import Slow, Timed, measure
from mx.sol.tuning._progress import Bar
from mx.sol.tuning._select import Site, select
from tests.graph.build import graph_of

SMALL = {
    "resnet50": {"width": 0.1, "size": 32},
    "mobilenet_v2": {"width": 0.1, "size": 32},
    "bert": {"width": 0.1, "layers": 1},
    "lenet": {"width": 0.5},
    "lstm": {"width": 0.1, "sequence": 3},
    "unet": {"width": 0.1, "size": 16},
}
WEIGHT = ", ".join(f"{n % 7 - 3}" for n in range(32))
CHAIN = f"""g (float[2,8] x, float[2,4] z) => (float[2,4] y) <float[8,4] w = {{{WEIGHT}}}>
{{ a = MatMul(x, w) b = Add(a, z) c = Relu(b) d = Softmax(c) y = Mul(d, z) }}"""


def chain():
    return graph_of(CHAIN)


def given(graph, batch: int = 2) -> dict[str, object]:
    return {name: mx.np.asarray(array) for name, array in models.example(graph, batch).items()}


@pytest.fixture
def without_gen(monkeypatch) -> None:
    """Spares tests that are about something else the compiler."""
    monkeypatch.setattr(_measure, "all_backends", lambda: BACKENDS)


@pytest.fixture
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("MXNET_CACHE", "1")
    monkeypatch.setenv("MXNET_CACHE_DIR", str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.mark.parametrize("name", SMALL)
def test_answers_do_not_depend_on_choices(name) -> None:
    graph = models.MODELS[name](**SMALL[name])
    passes.run(graph)
    inputs = given(graph)
    recording = Recording()
    (expected,) = Plan(graph, optimize=False, chooser=recording).run(inputs)
    expected = expected.asnumpy()
    layers = recording.stop()
    for chosen in (
        {one.layer.position: "mx" for one in layers},
        {one.layer.position: ("mx", "onednn")[n % 2] for n, one in enumerate(layers)},
    ):
        plan = Plan(graph, optimize=False, chooser=Choices(chosen))
        (found,) = plan.run(inputs)
        numpy.testing.assert_allclose(
            found.asnumpy(), expected, rtol=1e-3, atol=1e-4 * abs(expected).max()
        )
        assert {step.backend for step in plan.steps()} >= {"mx"}


def test_a_layer_is_measured_with_what_its_kernel_takes() -> None:
    recording = Recording()
    Plan(chain(), optimize=False, chooser=recording).run(given(chain()))
    product, softmax, *_ = recording.stop()
    assert [one.operator for one in product.chain] == ["Add", "Relu", "Softmax", "Mul"]
    (found,) = measure([Timed(product, 1e-6)])
    assert set(found.costs) >= {"onednn", "mx"}
    # Backends are timed for the same nodes, however many kernels each has for them.
    assert found.length >= product.taken == 2
    assert len(found.costs["mx"].implementations) == 1 + found.length
    assert len(found.costs["onednn"].implementations) == found.length - 1
    assert all(cost.kernel > 0 for cost in found.costs.values())
    assert product.key() != softmax.key()


def noted_of(graph) -> list[Noted]:
    recording = Recording()
    Plan(graph, optimize=False, chooser=recording).run(given(graph))
    return recording.stop()


def test_a_layer_that_reads_a_view_is_measured_with_its_strides() -> None:
    """What a plan would have to copy, or a backend declines, is so in the trial, too, so that the
    plan gets what was measured."""
    graph = graph_of(
        f"""g (float[9,2,8] x) => (float[2,9,4] y) <float[8,4] w = {{{WEIGHT}}}>
        {{ t = Transpose<perm=[1,0,2]>(x) y = MatMul(t, w) }}"""
    )
    product = next(one for one in noted_of(graph) if one.layer.operator == "MatMul")
    plain = replace(product.layer.inputs[0], strides=None)
    assert product.layer.inputs[0].strides == (8, 16, 1)
    assert (
        product.key()
        != replace(
            product, layer=replace(product.layer, inputs=(plain, product.layer.inputs[1]))
        ).key()
    )
    (found,) = measure([Timed(product, 1e-6)])
    assert set(found.costs) >= {"onednn", "mx"}
    expected = Plan(graph, optimize=False).run(given(graph))[0].asnumpy()
    for name, measured in found.costs.items():
        plan = Plan(graph, optimize=False, chooser=Choices({product.layer.position: name}))
        result = plan.run(given(graph))[0].asnumpy()
        numpy.testing.assert_allclose(result, expected, rtol=1e-4, atol=1e-4)
        steps = [step[1] for step in plan.compiled(given(graph)).steps]
        assert steps == list(measured.implementations), name


def test_a_backend_that_is_many_times_slower_is_not_tried_again() -> None:
    product, softmax, *_ = noted_of(chain())
    slow = Slow()
    for _ in range(2):
        assert not slow.has(product, "mx")
        slow.add(product, {"onednn": cost(1), "blas": cost(2), "mx": cost(9)})
    found = {name for name in ("onednn", "blas", "mx", "gen") if slow.has(product, name)}
    assert found == {"mx"} and not slow.has(softmax, "mx")
    (measured,) = measure([Timed(product, 1e-6)], slow)
    assert "mx" not in measured.costs and "slower" in measured.declined["mx"]
    # What a layer has untuned is what others are compared with.
    for _ in range(2):
        slow.add(product, {"onednn": cost(9), "gen": cost(1)})
    assert not slow.has(product, "onednn")
    slow.add(product, {"onednn": cost(1), "mx": cost(2)})
    assert not slow.has(product, "mx")


def test_a_backend_that_is_many_times_slower_for_an_operator_is_not_tried_again() -> None:
    product, softmax, *_ = noted_of(chain())
    others = [
        replace(product, layer=replace(product.layer, attributes={"alpha": n})) for n in range(3)
    ]
    slow = Slow()
    for other in others[:2]:
        slow.add(other, {"onednn": cost(1), "mx": cost(9)})
    assert slow.has(product, "mx") and not slow.has(softmax, "mx")
    slow.add(others[2], {"onednn": cost(1), "mx": cost(2)})
    assert not slow.has(product, "mx")


@pytest.mark.parametrize(
    ("seconds", "there_are", "fit"),
    [
        ([0.01] * 9, 99, [0, 1, 2, 3, 4, 5, 6, 7]),
        ([0.01] * 9, 1, [0, 1]),  # each takes 0.35
        ([0.01] * 9, 0.3, []),
        ([0.5, 0.01, 0.01], 1, [1, 2]),
        ([0.01, 0.5, 0.01], 9, [0, 1, 2]),
    ],
)
def test_layers_that_are_measured_in_time(seconds, there_are, fit) -> None:
    noted = noted_of(chain())[0]
    layers = {str(n): Timed(noted, one) for n, one in enumerate(seconds)}
    assert _measure._that_fit(layers, there_are) == list(map(str, fit))


def test_layers_are_told_of_in_the_order_that_they_came_in() -> None:
    """Whichever was timed first."""
    layers = noted_of(chain())[:2]
    found = [
        [one.length for one in measure([Timed(*one) for one in zip(layers, seconds, strict=True)])]
        for seconds in ((1e-6, 2e-6), (2e-6, 1e-6))
    ]
    assert found[0] == found[1] and len(set(found[0])) == 2


@pytest.mark.parametrize(
    ("count", "before", "after", "is_late", "enough"),
    [
        (0, float("inf"), float("inf"), True, False),
        (1, 100, 90, True, True),
        (1, 100, 90, False, False),
        (1, 100, 97, True, False),  # may be chance
        (1, 90, 100, True, False),
        (2, 100, 97, True, True),
        (2, 90, 100, True, True),
        (1, 200_000, 199_000, True, True),  # long
        (14, 100, 90, False, False),
        (15, 100, 90, False, True),
    ],
)
def test_runs_of_models_as_a_whole(count, before, after, is_late, enough) -> None:
    assert _tuner._are_compared(count, before, after, is_late) == enough


@pytest.mark.parametrize(
    ("times", "give_up", "least", "runs"),
    [
        ([900, 700, 800, 700, 600], 1e9, 2, 4),  # 3 milliseconds
        ([9000, 8000, 7000], 1e9, 2, 2),
        ([9000, 8000, 7000], 1e9, 1, 1),
        ([9000, 8000, 7000], 4000, 2, 1),  # hopeless at once
        ([900, 900, 900, 900], 800, 2, 2),
        ([900, 700, 900, 900], 800, 2, 3),
        ([1] * 3000, 1e9, 2, 200),  # as many more would tell nothing
        ([110_000, 90_000], 1e9, 2, 1),
    ],
)
def test_runs_of_a_trial(times, give_up, least, runs) -> None:
    made = Runs(0.003, give_up, least)
    done = []
    for time in times:
        done.append(made.are_enough())
        made.add(time)
    assert [*done, made.are_enough()].index(True) == runs


def test_trials_share_what_they_read() -> None:
    common = Common()
    x, y = (common.elements((3, 1 << 16), "float32", number) for number in range(2))
    assert common.elements([3, 1 << 16], "float32", 0) is x and not (x == y).asnumpy().all()
    assert abs(float(x.mean())) < 0.1 and 0.9 < float(x.std()) < 1.1
    assert common.elements((2, 3), "int64", 0).tolist() == [[0] * 3] * 2
    common.forget()
    assert common.elements((3, 1 << 16), "float32", 0) is not x


GAINS = """g (float[1,32,16,16] x) => (float[1,32,12,12] y) {
    three = Constant<value_ints=[32,32,3,3]>() a = ConstantOfShape<value=float[1] {0.1}>(three)
    five = Constant<value_ints=[32,32,5,5]>() b = ConstantOfShape<value=float[1] {0.1}>(five)
    p = Conv<kernel_shape=[3,3], pads=[1,1,1,1]>(x, a) q = MaxPool<kernel_shape=[2,2]>(p)
    r = Conv<kernel_shape=[5,5], pads=[2,2,2,2]>(q, b) s = MaxPool<kernel_shape=[2,2]>(r)
    t = Conv<kernel_shape=[3,3], pads=[1,1,1,1]>(s, a) u = MaxPool<kernel_shape=[2,2]>(t)
    v = Conv<kernel_shape=[3,3], pads=[1,1,1,1]>(u, a) y = MaxPool<kernel_shape=[2,2]>(v) }"""


def test_the_layers_with_the_most_to_gain_come_first() -> None:
    graph = graph_of(GAINS)
    passes.run(graph)
    layers = noted_of(graph)
    took = {"Conv": 1e-6, "MaxPool": 1e-7}
    layers = [one for one in layers if one.layer.operator in took]
    times = {one.layer.name: took[one.layer.operator] for one in layers}
    found = [one.noted.layer for one in _tuner._by_gain(layers, times)]
    assert [one.operator for one in found] == ["Conv"] * 4 + ["MaxPool"] * 4
    # What can be computed with fewer multiplications first: the first one cannot, as its input's
    # channels are not last in memory, and the second has windows of 5 x 5.
    convs = [one.layer for one in layers if one.layer.operator == "Conv"]
    order = [convs.index(one) for one in found[:4]]
    assert {*order[:2]} == {2, 3} and {*order[2:]} == {0, 1}


def test_without_a_compiler(monkeypatch) -> None:
    def fails(*args, **kwargs):
        raise JitError("no compiler here")

    monkeypatch.setattr(_link, "compiled", fails)
    recording = Recording()
    Plan(chain(), optimize=False, chooser=recording).run(given(chain()))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", sol.SolWarning)
        found = measure([Timed(one, 1e-6) for one in recording.stop()])
    assert all("gen" not in one.costs for one in found)
    assert "no compiler here" in found[0].declined["gen"] and found[0].costs["mx"].kernel > 0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", sol.SolWarning)
        plan = Plan(chain(), optimize=False, chooser=Choices(dict.fromkeys(range(5), "gen")))
        plan.run(given(chain()))
    assert {step.backend for step in plan.steps()} <= {"onednn", "blas", "mx"}


def test_blas_is_chosen_where_it_was_the_fastest(without_gen, monkeypatch) -> None:
    """And asked for nothing that it has no rule for, whatever is chosen."""
    monkeypatch.setattr(_tuner, "select", lambda sites, margin: [
        "blas" if "blas" in site.costs else site.default for site in sites
    ])  # fmt: skip
    monkeypatch.setattr(_tuner, "_compare", lambda *args: (2.0, 1.0))
    graph = graph_of(CHAIN.replace("float[2,", "float[9,"))
    found, plan = tune(graph, given(graph), "chain", 5.0)
    product, *others = found.layers
    (ours,) = [one for one in product.candidates if one.backend == "blas"]
    assert ours.microseconds > 0 and ours.implementations[0] == "blas.sgemm+add+relu"
    assert found.chosen == {product.position: "blas"} and "blas.sgemm+add+relu" in str(found)
    assert "blas" not in {one.backend for layer in others for one in layer.candidates}
    (expected,) = Plan(graph).run(given(graph))
    numpy.testing.assert_allclose(plan.run(given(graph))[0].asnumpy(), expected.asnumpy(), 1e-5)
    assert [step.backend for step in plan.steps()][:3] == ["blas"] * 3


class Doubling(Backend):
    """A backend of another package, which has a rule for one operator."""

    def __init__(self) -> None:
        super().__init__("doubling")
        self.rule("Abs")(lambda to, x: to.call(mx.np.abs, x))


def test_a_backend_of_another_package(monkeypatch) -> None:
    point = importlib.metadata.EntryPoint("doubling", f"{__name__}:Doubling", "mx.sol.backends")
    monkeypatch.setattr(
        _registry, "points_of", lambda group: [point] if group == point.group else []
    )
    monkeypatch.setattr(importlib.metadata.EntryPoint, "load", _loaded(point))
    all_backends.cache_clear()
    try:
        assert [one.name for one in all_backends()][-1] == "doubling"
        graph = graph_of("g (float[64] x) => (float[64] y) { y = Abs(x) }")
        found, _ = tune(graph, given(graph), "abs", 5.0)
        assert "doubling" in {one.backend for one in found.layers[0].candidates}
        plan = Plan(graph, optimize=False, chooser=Choices({0: "doubling"}))
        plan.run(given(graph))
        assert [step.backend for step in plan.steps()] == ["doubling"]
    finally:
        monkeypatch.undo()
        all_backends.cache_clear()


def _loaded(point):
    """Makes an instance of what one entry point names; others are loaded as they are."""
    load = importlib.metadata.EntryPoint.load
    return lambda self: load(self)() if self == point else load(self)


def test_layers_that_are_alike_have_one_key() -> None:
    text = """g (float[2,4] x) => (float[2,4] y) <float[4,4] v = {%s}, float[4,4] w = {%s}>
    { a = MatMul(x, v) b = Exp(a) c = MatMul(b, w) d = Exp(c) e = MatMul(d, w)
    y = Softmax<axis=0>(e) }"""
    graph = graph_of(text % (", ".join(["1"] * 16), ", ".join(["0.5"] * 16)))
    recording = Recording()
    Plan(graph, optimize=False, chooser=recording).run(given(graph))
    products = [one for one in recording.stop() if one.layer.operator == "MatMul"]
    assert len(products) == 3
    # Another operator behind it is another chance for one kernel.
    assert products[0].key() == products[1].key() != products[2].key()


def cost(kernel: float, into: float = 0.0, out: float = 0.0) -> Cost:
    return Cost(kernel, {0: into} if into else {}, out, ("kernel",))


def sites(*costs: dict[str, Cost]) -> list[Site]:
    """A chain of layers, which have `a` untuned."""
    made = []
    for index, one in enumerate(costs):
        made.append(Site(one, "a", {0: index - 1} if index else {}))
        made[-1].consumers = [index + 1] if index + 1 < len(costs) else []
        made[-1].ends = index + 1 == len(costs)
    return made


@pytest.mark.parametrize(
    ("costs", "labels"),
    [
        ([{"a": cost(10)}], "a"),
        ([{"a": cost(10), "b": cost(5)}], "b"),
        ([{"a": cost(10), "b": cost(9.9)}], "a"),  # may be chance
        ([{"a": cost(10), "b": cost(5, into=6)}], "a"),
        ([{"a": cost(10), "b": cost(5, out=6)}], "a"),
        # Alone, each would pay for bringing values to another order; together they do not.
        ([{"a": cost(10), "b": cost(6, 3, 3)}, {"a": cost(10), "b": cost(6, 3, 3)}], "bb"),
        ([{"a": cost(10), "b": cost(6, 5, 5)}, {"a": cost(10), "b": cost(6, 5, 5)}], "aa"),
        # One in between that is no faster is worth what it spares.
        (
            [
                {"a": cost(9), "b": cost(3, 0, 3)},
                {"a": cost(9), "b": cost(9.5, 3, 3)},
                {"a": cost(9), "b": cost(3, 3, 0)},
            ],
            "bbb",
        ),
        ([{"a": cost(9), "b": cost(8), "c": cost(2)}, {"a": cost(9)}], "ca"),
    ],
)
def test_selection(costs, labels) -> None:
    assert select(sites(*costs), 0.97) == list(labels)


def test_a_margin_that_nothing_keeps() -> None:
    costs = [{"a": cost(10), "b": cost(8)}, {"a": cost(10), "b": cost(5)}]
    assert select(sites(*costs), 0.97) == ["b", "b"]
    assert select(sites(*costs), 0.75) == ["a", "b"]


def test_results_are_kept(without_gen, cache, monkeypatch) -> None:
    first, _ = tune(chain(), given(chain()), "chain", 1.0)
    assert not first.from_cache and first.layers and first.skipped == 0
    entries = sol.cache.entries()
    assert [one.about["graph"] for one in entries].count("chain") == 1
    with monkeypatch.context() as patch:
        patch.setattr(_measure, "measure", None)
        second, _ = tune(chain(), given(chain()), "chain", 1.0)
        assert second.from_cache and second.layers == first.layers
        # Another model with a layer that was measured.
        other = graph_of(CHAIN.replace("=> (float[2,4] y)", "=> (float[2,4] y, float[2,4] c)"))
        with pytest.raises(TypeError):  # of which another layer is new
            tune(other, given(other), "other", 1.0)
        patch.setattr(_kept, "get_num_threads", lambda: 77)
        with pytest.raises(TypeError):
            tune(chain(), given(chain()), "chain", 1.0)
    again, _ = tune(chain(), given(chain()), "chain", 1.0, again=True)
    assert not again.from_cache
    for path in cache.glob("*.compiled"):
        path.write_bytes(path.read_bytes()[:-9])
    with pytest.warns(mx.cache.CacheWarning, match="is removed"):
        damaged, _ = tune(chain(), given(chain()), "chain", 1.0)
    assert not damaged.from_cache


@pytest.mark.parametrize(
    ("measured", "seconds", "from_cache"),
    [(1, 5.0, True), (1, 2.0, True), (1, 6.0, False), (0, 5.0, False)],
)
def test_results_are_kept_where_the_time_was_short(
    without_gen, cache, monkeypatch, measured, seconds, from_cache
) -> None:
    """Whoever gives the same time is told the same, though some of it was left."""
    fit = [0, measured]
    monkeypatch.setattr(_measure, "_that_fit", lambda left, _: list(left)[: fit.pop()])
    first, _ = tune(chain(), given(chain()), "chain", 5.0)
    assert len(first.layers) == measured and first.skipped and first.seconds < 5
    fit = [0]
    found, _ = tune(chain(), given(chain()), "chain", seconds)
    assert found.from_cache == from_cache and found.skipped == first.skipped


def test_results_are_kept_for_a_graph_that_is_read_again(
    without_gen, cache, tmp_path, monkeypatch
) -> None:
    """Files have floats of 32 bits, and graphs that were captured those of Python."""
    graph = graph_of(
        f"""g (float[2,8] x) => (float[2,4] y) <float[8,4] w = {{{WEIGHT}}}>
        {{ h = MatMul(x, w) e = Elu(h) y = Selu<gamma = 2.0>(e) }}"""
    )
    for node, name in zip(list(graph.model.graph)[1:], ("alpha", "alpha"), strict=True):
        node.attributes[name] = onnx_ir.AttrFloat32(name, 0.1)
    graph.save(tmp_path / "model.onnx")
    first, _ = tune(graph, given(graph), "g", 5.0)
    again = mx.graph.load(tmp_path / "model.onnx")
    monkeypatch.setattr(_measure, "measure", None)
    found, _ = tune(again, given(again), "g", 5.0)
    assert first.layers and found.from_cache
    # And each of its layers for other models.
    recording = Recording()
    Plan(again, optimize=False, chooser=recording).run(given(again))
    assert {one.key() for one in recording.stop()} == {one.key() for one in noted_of(graph)}


def test_a_layer_that_one_backend_has_is_told_of(without_gen, cache) -> None:
    text = (
        "g (float[2,64] x) => (float[2,64] y) <int64 a = {1}> { s = CumSum(x, a) y = Softmax(s) }"
    )
    for _ in range(2):  # measured, and from the cache
        found, _ = tune(graph_of(text), given(graph_of(text)), "sums", 5.0)
        sums, softmax = found.layers
        assert (sums.operators, sums.untuned, sums.chosen) == (("CumSum",), "mx", "mx")
        assert [one.backend for one in sums.candidates][:2] == ["mx", "onednn"]
        assert len(softmax.candidates) >= 2
        (row,) = [line for line in str(found).splitlines() if "CumSum" in line]
        assert "the only one that is left" in row and row.endswith("*")


def test_without_a_cache(without_gen) -> None:
    for _ in range(2):
        found, _ = tune(chain(), given(chain()), "chain", 1.0)
        assert not found.from_cache


def test_no_time(without_gen) -> None:
    found, plan = tune(chain(), given(chain()), "chain", 1e-9)
    assert found.skipped >= 2 and not found.layers
    assert plan.run(given(chain()))[0].shape == (2, 4)
    assert "not measured for want of time" in str(found)


@pytest.mark.parametrize(("after", "kept"), [(90.0, True), (110.0, False)])
def test_what_is_not_faster_as_a_whole_is_not_used(without_gen, monkeypatch, after, kept) -> None:
    def choose(sites, margin):
        return ["mx"] * len(sites)

    monkeypatch.setattr(_tuner, "select", choose)
    monkeypatch.setattr(_tuner, "_compare", lambda *args: (100.0, after))
    found, plan = tune(chain(), given(chain()), "chain", 5.0)
    assert found.kept == kept and bool(found.chosen) == kept
    plan.run(given(chain()))
    assert ("onednn" in {step.backend for step in plan.steps()}) == (not kept)
    assert ("changed" in str(found)) == kept


def test_tune_and_report(cache) -> None:
    graph = chain()
    model = sol.optimize(graph)
    inputs = models.example(graph)
    before = model(**inputs)
    found = sol.tune(model, 5.0)
    numpy.testing.assert_allclose(model(**inputs), before, rtol=1e-5, atol=1e-6)
    assert found.layers[0].operators == ("MatMul", "Add", "Relu")
    assert {one.backend for one in found.layers[0].candidates} >= {"onednn", "mx"}
    text = str(sol.report(model))
    assert "Tuning, measured in" in text and "onednn.matmul" in text
    with pytest.raises(ValueError, match="seconds: expected more than 0, got 0"):
        sol.tune(model, 0)
    with pytest.raises(TypeError, match="again: expected True or False, got 'x'"):
        sol.tune(model, again="x")


def test_the_plan_that_was_compared_is_used(without_gen, cache) -> None:
    """None is made once more for the next call, and weights are those of now."""
    torch = pytest.importorskip("torch")
    module = torch.nn.Sequential(torch.nn.Linear(8, 4), torch.nn.Softmax(1)).eval()
    x = torch.ones(2, 8)
    with torch.no_grad():
        fast = sol.optimize(module, x)
        fast(x)
        fast[0].weight.copy_(torch.rand(4, 8))
        sol.tune(fast, 2.0)
        tuned = fast._sol.compiled.version((tuple(x.shape),)).plan
        expected = torch.softmax(torch.nn.functional.linear(x, fast[0].weight, fast[0].bias), 1)
        torch.testing.assert_close(fast(x), expected)
        assert fast._sol.compiled.version((tuple(x.shape),)).plan is tuned
        fast[0].weight.copy_(torch.rand(4, 8))
        expected = torch.softmax(torch.nn.functional.linear(x, fast[0].weight, fast[0].bias), 1)
        torch.testing.assert_close(fast(x), expected)


def test_weights_that_changed_before_tuning_ends_early(without_gen, cache, monkeypatch) -> None:
    """Neither a call behind it nor one of another thread meanwhile has those of before."""
    torch = pytest.importorskip("torch")
    module, x = torch.nn.Linear(8, 4).eval(), torch.ones(2, 8)

    def expected():
        return torch.nn.functional.linear(x, module.weight, module.bias)

    found = []

    def work() -> None:
        with torch.no_grad():
            found.append(torch.allclose(fast(x), expected()))

    def interrupt(*args: object) -> None:
        other.start()
        raise KeyboardInterrupt

    other = threading.Thread(target=work)
    monkeypatch.setattr(_tuner, "_by_gain", interrupt)
    with torch.no_grad():
        fast = sol.optimize(module, x)
        fast(x)
        module.weight.mul_(2)
        with pytest.raises(KeyboardInterrupt):
            sol.tune(fast, 0.1, again=True)
        other.join()
        assert found == [True]
        torch.testing.assert_close(fast(x), expected())


def test_autotune(without_gen, cache) -> None:
    sol.config["autotune"] = True
    try:
        model = sol.optimize(chain())
        model(**models.example(chain()))
        assert not sol.report(model).tuning.from_cache
        assert sol.report(sol.optimize(chain())).tuning.from_cache
    finally:
        del sol.config["autotune"]
    assert sol.report(sol.optimize(chain())).tuning is None


def test_models_of_several_plans_are_not_tuned() -> None:
    model = sol.optimize(graph_of("g (float[4] x) => (int64[1,N] y) { y = NonZero(x) }"))
    assert sol.tune(model, 1.0).layers == ()


def test_progress_bar() -> None:
    stream = io.StringIO()
    bar = Bar(stream)
    bar(0, 4)
    bar(2, 4)
    bar(4, 4)
    drawn = stream.getvalue().split("\r")
    assert "[############............] 2 of 4 layers" in drawn[2]
    assert drawn[-1] == "" and drawn[-2].strip() == ""


@pytest.mark.parametrize("fails", [False, True])
def test_no_plan_keeps_noting_layers(monkeypatch, fails) -> None:
    made: list[Recording] = []

    def record(records: bool) -> Recording:
        made.append(Recording(records))
        return made[0]

    def fail(*_: object) -> None:
        raise JitError("no compiler here")

    graph = graph_of("""g (float[N,2] x) => (int64[2,M] y) { y = NonZero(x) }""")
    monkeypatch.setattr(_tuner, "Recording", record)
    if fails:
        graph = chain()
        monkeypatch.setattr(_tuner, "_by_gain", fail)
        with pytest.raises(JitError):
            tune(graph, given(graph), "failing", 0.1, again=True)
    else:
        inputs = given(graph)
        tuning, plan = tune(graph, inputs, "several plans", 0.1)
        assert not tuning.layers
        plan.run(inputs)
    (recording,) = made
    assert recording._stopped and not recording.layers
