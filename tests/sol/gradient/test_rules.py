"""Every rule against finite differences in float64, and against torch."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from typing import Any

import numpy
import onnx
import pytest

from mx.graph import OPSET, Graph, Plan
from mx.sol.gradient import coverage, training
from mx.sol.gradient._rules import EXPANSIONS, GRAPH_RULES, RULES, WITHOUT

from .cases import CASES, Case

torch = pytest.importorskip("torch")

from . import cases_elementwise, cases_layers, cases_movement, cases_sampling  # noqa: E402, F401


class Trained:
    """A graph that is trained, as plans: planned once for all that is asked of it."""

    def __init__(self, graph: Graph, wrt: list[str], memory_limit: int | None = None) -> None:
        self._wrt = wrt
        self._outputs = [one.name for one in graph.outputs]
        self._made = training(graph, wrt, memory_limit=memory_limit)
        self.forward = Plan(self._made.forward, optimize=False)

    @functools.cached_property
    def _backward(self) -> Plan:
        return Plan(self._made.backward, optimize=False)

    def gradients(self, feeds: Mapping[str, Any], dy: Mapping[str, Any]) -> Any:
        """The outputs, and the gradients by name, with zeros for those that are not there."""
        made, values = self._made, dict(feeds)
        outputs = self.forward.run({name: feeds[name] for name in self.forward.input_names})
        values.update(zip((one.name for one in made.forward.outputs), outputs, strict=True))
        values.update({f"grad.{name}": array for name, array in dy.items()})
        found = self._backward.run({name: values[name] for name in self._backward.input_names})
        named = dict(zip((one.name for one in made.backward.outputs), found, strict=True))
        grads = {
            name: numpy.asarray(named[made.grads[name]])
            if name in made.grads
            else numpy.zeros_like(feeds[name])
            for name in self._wrt
        }
        return [numpy.asarray(values[name]) for name in self._outputs], grads


def gradients(
    graph: Graph,
    feeds: Mapping[str, Any],
    wrt: list[str],
    dy: Mapping[str, Any],
    memory_limit: int | None = None,
) -> Any:
    """The outputs and the gradients of a graph that nothing else is asked of."""
    return Trained(graph, wrt, memory_limit).gradients(feeds, dy)


def wrt_of(case: Case) -> list[str]:
    """The inputs of a case that it is differentiated by."""
    return [f"i{index}" for index in case.wrt]


@functools.cache
def trained(name: str) -> Trained:
    """A case with extents that are known, for all tests of it."""
    return Trained(CASES[name].graph(), wrt_of(CASES[name]))


def weights_of(case: Case, plan: Plan) -> dict[str, Any]:
    """What outputs of floating-point numbers are multiplied by before they are summed."""
    random = numpy.random.default_rng(5)
    outputs = [numpy.asarray(array) for array in plan.run(case.feeds())][: case.outputs]
    return {
        f"o{index}": random.standard_normal(array.shape).astype(array.dtype) * (index < case.scored)
        for index, array in enumerate(outputs)
        if array.dtype.kind == "f"
    }


@pytest.mark.parametrize("name", [name for name, case in CASES.items() if case.smooth])
def test_finite_differences(name: str) -> None:
    case, plan = CASES[name], trained(name).forward
    dy = weights_of(case, plan)
    _, grads = trained(name).gradients(case.feeds(), dy)

    def total(feeds: Mapping[str, Any]) -> float:
        outputs = (numpy.asarray(array) for array in plan.run(feeds))
        named = {f"o{index}": array for index, array in enumerate(outputs)}
        return sum(
            float((named[key].astype("float64") * weight).sum()) for key, weight in dy.items()
        )

    step, close = (1e-2, 1e-2) if case.is_narrow else (1e-5, 1e-5)
    random = numpy.random.default_rng(7)
    for key in wrt_of(case):
        feeds = case.feeds()
        assert grads[key].shape == feeds[key].shape
        for _ in range(3):
            way = random.standard_normal(feeds[key].shape)
            moved = [feeds[key] + sign * step * way for sign in (1, -1)]
            ends = [total({**feeds, key: one.astype(feeds[key].dtype)}) for one in moved]
            slope = (ends[0] - ends[1]) / (2 * step)
            found = float((grads[key] * way).sum())
            assert found == pytest.approx(slope, rel=close, abs=0.1 * close), key


@pytest.mark.parametrize("name", [name for name, case in CASES.items() if case.executed])
def test_outputs_stay_the_same(name: str) -> None:
    case = CASES[name]
    outputs = Plan(case.graph(), optimize=False).run(case.feeds())
    for found, wanted in zip(trained(name).forward.run(case.feeds()), outputs, strict=False):
        array = numpy.asarray(wanted)
        # The reference of some operators computes in float32 whatever it gets.
        numpy.testing.assert_allclose(numpy.asarray(found), array, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("name", [name for name, case in CASES.items() if case.torch is not None])
def test_torch(name: str) -> None:
    case = CASES[name]
    assert case.torch is not None
    given = [
        None if array is None else torch.tensor(array, requires_grad=index in case.wrt)
        for index, array in enumerate(case.inputs)
    ]
    result = case.torch(*given)
    # Outputs that torch's function does not give are not differentiated.
    several = result if isinstance(result, (tuple, list)) else [result]
    outputs = {f"o{i}": one for i, one in enumerate(several)}
    dy = weights_of(case, trained(name).forward)
    dy = {key: weight * (key in outputs) for key, weight in dy.items()}
    found, grads = trained(name).gradients(case.feeds(), dy)
    scores = [torch.tensor(dy[key]).reshape(one.shape) for key, one in outputs.items()]
    torch.autograd.backward(list(outputs.values()), scores)
    for one, wanted in zip(found, outputs.values(), strict=False):
        told = wanted.detach().numpy().reshape(one.shape)
        numpy.testing.assert_allclose(one, told, rtol=1e-4, atol=1e-5)
    for index in case.wrt:
        wanted = given[index].grad
        wanted = torch.zeros_like(given[index]) if wanted is None else wanted
        # Some of them compute a part in float32, as ONNX says.
        numpy.testing.assert_allclose(grads[f"i{index}"], wanted.numpy(), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("operator", ["Max", "Min"])
def test_extremes_of_nan(operator: str) -> None:
    nan = numpy.nan
    arrays = [numpy.array([nan, 1, nan, 2, 3.0]), numpy.array([nan, nan, 3, 2, 1.0])]
    graph = Case(operator, tuple(arrays), {}, None, 1, (), (), "", True, 1).graph()
    feeds = {f"i{index}": array for index, array in enumerate(arrays)}
    _, grads = gradients(graph, feeds, list(feeds), {"o0": numpy.ones(5)})
    tensors = [torch.tensor(array, requires_grad=True) for array in arrays]
    (torch.maximum if operator == "Max" else torch.minimum)(*tensors).sum().backward()
    for found, tensor in zip(grads.values(), tensors, strict=True):
        numpy.testing.assert_array_equal(found, tensor.grad)


# Of these the elements of another input decide a shape, or a parameter has to be known before.
_STATIC = {"DeformConv", "CausalConvWithState", "LinearAttention"}
_STATIC |= {"Conv-3", "ConvTranspose-3", "ReduceProd", "ReduceProd-2"}
_STATIC |= {"DFT-4", "DFT-6"}  # of which onnx infers that they keep their length


@pytest.mark.parametrize("name", [name for name in CASES if name not in _STATIC])
def test_extents_that_vary(name: str) -> None:
    case = CASES[name]
    dy = weights_of(case, trained(name).forward)
    _, wanted = trained(name).gradients(case.feeds(), dy)
    _, grads = gradients(case.graph(dynamic=True), case.feeds(), wrt_of(case), dy)
    for key in wrt_of(case):
        numpy.testing.assert_allclose(grads[key], wanted[key], rtol=1e-5, atol=1e-6)


def test_every_operator_of_onnx_is_in_one_list() -> None:
    every = {
        schema.name
        for schema in onnx.defs.get_all_schemas_with_history()
        if schema.domain == "" and schema.since_version <= OPSET
    }
    lists = coverage()
    assert every - {name for names in lists.values() for name in names} == set()
    assert not {*RULES, *EXPANSIONS, *GRAPH_RULES} & WITHOUT.keys()
    assert lists["error"] == ()


def test_every_operator_with_a_gradient_has_a_case() -> None:
    tested = {case.operator for case in CASES.values()}
    tested |= {"If", "Loop", "Scan"}  # in test_control_flow.py
    tested |= {"Optional", "OptionalGetElement", "ConcatFromSequence"}  # in test_sequences.py
    tested |= {f"Sequence{name}" for name in ("At", "Construct", "Erase", "Insert", "Map")}
    tested |= {"SplitToSequence"}
    # Graphs of these versions have none of them.
    tested |= {"Scatter", "Upsample"}
    lists = coverage()
    assert {*lists["rule"], *lists["body"]} - tested == set()
