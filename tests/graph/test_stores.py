"""Plans that write outputs to the memory of inputs."""

from __future__ import annotations

import resource
from pathlib import Path

import numpy
import pytest

import mx
from mx.graph import Plan

from .build import graph_of

INPUTS = "float[3,3] a, float[3,3] b, float[3,3] c"
# Nodes, the outputs, and which of them are written to which inputs.
CASES = {
    "in place": ("x = Add(a, b)", "", {"x": "a"}),
    "read before": ("y = Mul(a, b) x = Add(a, c)", "y", {"x": "a"}),
    "read after": ("x = Add(a, b) y = Mul(a, c)", "y", {"x": "a"}),
    "read by the same step, twice": ("x = MatMul(a, a)", "", {"x": "a"}),
    "a view is read after": ("t = Transpose(a) x = Add(a, b) y = Mul(t, c)", "y", {"x": "a"}),
    "used after": ("x = Add(a, b) y = Mul(x, c)", "y", {"x": "a"}),
    "swapped": ("x = Identity(b) z = Identity(a)", "", {"x": "a", "z": "b"}),
    "turned": (
        "x = Transpose(b) z = Transpose(a) y = Add(a, b)",
        "y",
        {"x": "a", "z": "b"},
    ),
    "one for two": ("x = Add(a, b) z = Identity(x)", "", {"x": "a", "z": "b"}),
    "an output, too": ("x = Add(a, b) y = Identity(x) z = Relu(a)", "y, z", {"x": "a"}),
    "an input as it is": ("x = Identity(b) y = Add(a, b)", "y", {"x": "a"}),
    "a constant": (
        "k = Constant<value_float = 2.0>() s = Shape(a) x = Expand(k, s)",
        "",
        {"x": "a"},
    ),
    "in several plans": (
        "n = NonZero(a) s = ReduceSum(n) f = Cast<to = 1>(s) x = Add(a, f) y = Mul(a, b)"
        " z = Sub(b, a)",
        "y",
        {"x": "a", "z": "b"},
    ),
}


def plans(case: str) -> tuple[Plan, Plan, list[str], dict[str, str]]:
    nodes, outputs, stores = CASES[case]
    every = [*filter(None, outputs.split(", ")), *stores]
    text = f"g ({INPUTS}) => ({', '.join('float[3,3] ' + name for name in every)}) {{ {nodes} }}"
    graph = graph_of(text)
    return Plan(graph), Plan(graph, stores=stores), every, stores


@pytest.mark.parametrize("strided", [False, True])
@pytest.mark.parametrize("case", CASES)
def test_inputs_get_outputs(case: str, strided: bool) -> None:
    plain, storing, outputs, stores = plans(case)
    random = numpy.random.default_rng(1)
    given = {name: random.standard_normal((3, 3)).astype("float32") for name in "abc"}
    for _ in range(2):
        before = {name: array.copy() for name, array in given.items()}
        expected = dict(zip(outputs, map(numpy.asarray, plain.run(before)), strict=True))
        if strided:
            given = {name: numpy.asfortranarray(array) for name, array in given.items()}
        found = storing.run({name: mx.np.from_dlpack(array) for name, array in given.items()})
        for name, array in zip([n for n in outputs if n not in stores], found, strict=True):
            numpy.testing.assert_array_equal(numpy.asarray(array), expected[name])
        for name, array in given.items():
            source = [output for output, to in stores.items() if to == name]
            wanted = expected[source[0]] if source else before[name]
            numpy.testing.assert_array_equal(array, wanted)


@pytest.mark.parametrize(
    ("stores", "text"),
    [
        ({"y": "a"}, "no output 'y' or input 'a'"),
        ({"x": "d"}, "no output 'x' or input 'd'"),
        ({"x": "a", "z": "a"}, "two outputs are written to one input"),
        ({"s": "a"}, "expected the type of "),
    ],
)
def test_what_cannot_be_stored(stores, text) -> None:
    outputs = "float[3,3] x, float[3,3] z, float s"
    nodes = "x = Add(a, b) z = Add(b, c) s = ReduceSum<keepdims = 0>(a)"
    graph = graph_of(f"g ({INPUTS}) => ({outputs}) {{ {nodes} }}")
    with pytest.raises(ValueError, match=text):
        Plan(graph, stores=stores)


def test_builders_reject_stores() -> None:
    for stores, text in (
        ([(0, 0), (1, 0)], "two values are stored to one input"),
        ([(0, 5)], "no input number 5"),
        ([(2, 0)], "is float32\\(2,\\), a value that is stored there float32\\(3,\\)"),
    ):
        builder = mx.graph.lowering._lowering._PlanBuilder()
        for extent in (2, 2, 3):
            builder.add_input((extent,), "float32")
        with pytest.raises(ValueError, match=text):
            builder.build_storing([], stores)


def test_large_outputs_are_kept_of_one_plan() -> None:
    megabytes, plans = 16, []
    begin = resident()
    for more in range(12):
        rows = megabytes * 4096 + more
        graph = graph_of(f"g (float[{rows},64] a) => (float[{rows},64] x) {{ x = Add(a, a) }}")
        given = mx.np.ones((rows, 64), dtype="float32")
        plan = Plan(graph).compiled({"a": given})
        assert plan is not None
        plan.run([given])
        plans.append(plan)
        del given
    assert resident() - begin < 6 * megabytes << 20


def resident() -> int:
    """Bytes of memory that the process has."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * resource.getpagesize()


@pytest.mark.parametrize("rows", [64, 16384], ids=["told to", "large"])
def test_outputs_that_nobody_has_are_written_again(rows: int) -> None:
    graph = graph_of(f"g (float[{rows},64] a) => (float[{rows},64] x) {{ x = Add(a, a) }}")
    given = mx.np.ones((rows, 64), dtype="float32")
    plan = Plan(graph).compiled({"a": given})
    assert plan is not None
    if rows == 64:
        plan.keep_outputs()
    (kept,) = plan.run([given])
    (other,) = plan.run([given * 2])
    pointer = numpy.asarray(other).ctypes.data
    assert kept.tolist() == [[2.0] * 64] * rows and other.tolist() == [[4.0] * 64] * rows
    del other
    (again,) = plan.run([given * 3])
    assert numpy.asarray(again).ctypes.data == pointer
    view = again[0]
    del again
    (fresh,) = plan.run([given])
    assert view.tolist() == [6.0] * 64 and fresh.tolist() == kept.tolist()


def test_large_outputs_come_in_turns_to_who_has_the_last_one() -> None:
    rows = 16384
    graph = graph_of(f"g (float[{rows},64] a) => (float[{rows},64] x) {{ x = Add(a, a) }}")
    given = mx.np.ones((rows, 64), dtype="float32")
    plan = Plan(graph).compiled({"a": given})
    assert plan is not None
    (last,) = plan.run([given])
    pointers = set()
    for n in range(2, 8):
        (result,) = plan.run([given * n])
        assert last.tolist()[0][0] == 2.0 * (n - 1)
        pointers.add(numpy.asarray(result).ctypes.data)
        last = result
    assert len(pointers) == 2
