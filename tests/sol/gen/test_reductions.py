"""Reductions of generated code against ONNX's reference evaluator."""

from __future__ import annotations

from typing import Any

import numpy
import pytest

from mx.sol.backends.gen import Declined, GroupNode, Spec, Target, emit, emit_group

from .reference import evaluate
from .running import Job, dtype_of, run, spec_of

FLOATS = ("float32", "float64", "float16", "bfloat16")
NAMES = """ReduceSum ReduceMean ReduceSumSquare ReduceL1 ReduceL2 ReduceLogSum ReduceProd ReduceMax
ReduceMin ReduceLogSumExp""".split()
OF_INTEGERS = ("ReduceSum", "ReduceSumSquare", "ReduceL1", "ReduceProd", "ReduceMax", "ReduceMin")
TOLERANCES = {"float32": 1e-5, "float64": 1e-12, "float16": 2e-2, "bfloat16": 1e-1}
INF, NAN = float("inf"), float("nan")


def made(dtype: str, *shape: int) -> Any:
    """Elements whose products stay small."""
    random = numpy.random.default_rng(0)
    if dtype.startswith(("int", "uint")):
        return random.integers(0 if dtype[0] == "u" else -3, 4, shape).astype(dtype)
    return (0.5 + random.random(shape)).astype("float32").astype(dtype_of(dtype))


def special() -> Any:
    """Rows with NaN and infinities."""
    array = made("float32", 5, 35)
    array[0, 3], array[1, 4], array[2, 5] = NAN, INF, -INF
    array[3, :] = -INF
    return array


def cases() -> list[tuple[str, dict[str, Any], list[Any]]]:
    """Operators with attributes and inputs."""
    found: list[tuple[str, dict[str, Any], list[Any]]] = []
    shape = (3, 4, 5, 7)
    for name in NAMES:
        for axes in ([3], [1], [0, 2, 3], [0, 1, 2], [-1, 0], None):
            given = [made("float32", *shape)]
            given += [] if axes is None else [numpy.array(axes, "int64")]
            found.append((name, {}, given))
        found.append((name, {"keepdims": 0}, [made("float32", *shape), numpy.array([1, 2])]))
        for dtype in FLOATS[1:]:
            found.append((name, {}, [made(dtype, 3, 17), numpy.array([1])]))
            found.append((name, {}, [made(dtype, 3, 17), numpy.array([0])]))
        if name not in ("ReduceLogSum", "ReduceLogSumExp"):  # the reference warns of logarithms
            found.append((name, {}, [special(), numpy.array([1])]))
            found.append((name, {}, [special(), numpy.array([0])]))
        found.append((name, {}, [made("float32", 2, 200, 1), numpy.array([1])]))
        found.append((name, {}, [made("float32", 2, 3, 2100), numpy.array([1])]))
        found.append((name, {}, [made("float32", 3, 1), numpy.array([1])]))
    for name in OF_INTEGERS:
        for dtype in ("int8", "uint8", "int32", "int64", "uint64"):
            if name == "ReduceProd" and dtype in ("int8", "uint8"):
                continue
            for axis in (0, 1):
                found.append((name, {}, [made(dtype, 3, 9), numpy.array([axis])]))
    booleans = numpy.arange(12).reshape(3, 4) % 5 == 0
    found += [("ReduceMax", {}, [booleans, numpy.array([axis])]) for axis in (0, 1)]
    found += [("ReduceMin", {}, [booleans, numpy.array([axis])]) for axis in (0, 1)]
    return found


def test_operators():
    jobs, expected, texts = [], [], []
    for name, attributes, inputs in cases():
        known = {1: inputs[1]} if len(inputs) > 1 else {}
        specs = list(map(spec_of, inputs))
        jobs.append(Job(emit(Target.host(), name, specs, attributes, known), inputs))
        # The reference may give another type of integers than ONNX says.
        wanted = numpy.asarray(evaluate(name, inputs, attributes)[0])
        expected.append(wanted.astype(inputs[0].dtype))
        texts.append(f"{name} {attributes} of {specs}, {known}")
    for got, wanted, text in zip(run(jobs), expected, texts, strict=True):
        assert got[0].shape == wanted.shape, text
        assert got[0].dtype == wanted.dtype, text
        tolerance = TOLERANCES.get(str(wanted.dtype), 0)
        numpy.testing.assert_allclose(
            got[0].astype("float64"),
            wanted.astype("float64"),
            rtol=tolerance,
            atol=tolerance,
            err_msg=text,
        )


def arguments() -> list[tuple[str, dict[str, Any], Any]]:
    """ArgMax and ArgMin with attributes and inputs: equal elements, NaN."""
    found: list[tuple[str, dict[str, Any], Any]] = []
    for name in ("ArgMax", "ArgMin"):
        for last in (0, 1):
            for axis in (0, 1, -1):
                attributes = {"axis": axis, "select_last_index": last, "keepdims": last}
                found.append((name, attributes, made("int32", 3, 5, 4)))
            found.append((name, {"axis": 1, "select_last_index": last}, special()))
            found.append((name, {"axis": 0, "select_last_index": last}, special()))
        found += [(name, {"axis": 1}, made(dtype, 3, 9)) for dtype in (*FLOATS, "uint8", "int64")]
        found.append((name, {}, made("float32", 3, 2100)))
    return found


def test_arguments():
    jobs, expected, texts = [], [], []
    for name, attributes, x in arguments():
        jobs.append(Job(emit(Target.host(), name, [spec_of(x)], attributes), [x]))
        expected.append(evaluate(name, [x], attributes)[0])
        texts.append(f"{name} {attributes} of {spec_of(x)}")
    for got, wanted, text in zip(run(jobs), expected, texts, strict=True):
        numpy.testing.assert_array_equal(got[0], wanted, err_msg=text)


@pytest.mark.parametrize("name", ["ReduceSum", "ReduceLogSumExp"])
def test_many_columns_are_cut(name):
    specs = [Spec((64, 1000000), "float32"), Spec((1,), "int64")]
    kernel = emit(Target.host(), name, specs, {}, {1: numpy.array([0])})
    assert kernel.workspace <= 16 * 1024 and kernel.tiles == 1000


def test_chain_in_front_of_columns():
    """What is reduced lies in parts of columns, operands that are broadcast, too."""
    x, y, z = made("float32", 2, 3, 2100), made("float32", 2100), made("float32", 2, 1, 1)
    specs = [*map(spec_of, (x, y, z)), Spec((1,), "int64")]
    nodes = [
        GroupNode("Add", (0, 1)),
        GroupNode("Mul", (4, 2)),
        GroupNode("ReduceMax", (5, 3), {"keepdims": 0}),
    ]
    kernel = emit_group(Target.host(), specs, nodes, [6], {3: numpy.array([1])})
    ((got,),) = run([Job(kernel, [x, y, z, numpy.array([1])])])
    numpy.testing.assert_allclose(got, ((x + y) * z).max(1), rtol=1e-6)


def test_chain_in_front():
    """What is reduced may be computed in the kernel: the variance of two tensors' sum."""
    x, y = made("float32", 3, 37), made("float32", 37)
    specs = [Spec((3, 37), "float32"), Spec((37,), "float32"), Spec((1,), "int64")]
    nodes = [
        GroupNode("Add", (0, 1)),
        GroupNode("Mul", (3, 3)),
        GroupNode("ReduceMean", (4, 2), {"keepdims": 0}),
    ]
    kernel = emit_group(Target.host(), specs, nodes, [5], {2: numpy.array([1])})
    ((got,),) = run([Job(kernel, [x, y, numpy.array([1])])])
    numpy.testing.assert_allclose(got, ((x + y) ** 2).mean(1), rtol=1e-6)


@pytest.mark.parametrize(
    ("name", "shape", "dtype", "known", "reason"),
    [
        ("ReduceSum", (2, 3), "float32", {}, "axes that are computed"),
        ("ReduceSum", (2, 3), "float32", {1: numpy.array([2])}, "of 2"),
        ("ReduceSum", (2, 0), "float32", {1: numpy.array([1])}, "no elements"),
        ("ReduceMean", (2, 3), "int32", {1: numpy.array([1])}, "of int32"),
        ("ReduceLogSumExp", (2, 3), "int32", {1: numpy.array([1])}, "of int32"),
        ("ReduceSum", (2, 3), "bool", {1: numpy.array([1])}, "of bool"),
    ],
)
def test_declined(name, shape, dtype, known, reason):
    specs = [Spec(shape, dtype), Spec((1,), "int64")]
    with pytest.raises(Declined, match=reason):
        emit(Target.host(), name, specs, {}, known)
