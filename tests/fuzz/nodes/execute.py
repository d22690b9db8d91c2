"""What executes a case, and how what comes of it is compared."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import numpy
import onnx
import onnx_ir

from mx import sol
from mx.graph import Graph, GraphError, Plan, load

from .draw import Case
from .model import model_of

# What tells that a model or what it is given is not supported, or not right.
REJECTIONS = (GraphError, NotImplementedError, TypeError, ValueError)


class Rejected(Exception):
    """It does not execute the case, which it says."""


def by_reference(case: Case) -> list[Any]:
    """The reference implementations of the onnx package."""
    from onnx.reference import ReferenceEvaluator

    model, feeds = model_of(case)
    try:
        with numpy.errstate(all="ignore"):
            return list(ReferenceEvaluator(model).run(None, feeds))
    except Exception as error:
        raise Rejected(_words(error)) from None


def by_onnxruntime(case: Case) -> list[Any]:
    """ONNX Runtime, without what it does to a graph before."""
    onnxruntime = _onnxruntime()
    model, feeds = model_of(case)
    if onnxruntime is None:
        raise Rejected("it is not installed")
    if any(_has_no_type(one) for one in feeds.values()):
        raise Rejected("it takes no such arrays")
    if case.operator in _CRASHES and any(
        numpy.size(one) == 0 for one in case.inputs if one is not None
    ):
        raise Rejected("it would end the process")
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    options.intra_op_num_threads = 1
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    try:
        session = onnxruntime.InferenceSession(
            _with_older_version(model).SerializeToString(), options, ["CPUExecutionProvider"]
        )
        return list(session.run(None, feeds))
    except Exception as error:
        raise Rejected(_words(error)) from None


# Operators that end the process where a tensor has no elements.
_CRASHES = ("InstanceNormalization", "MatMulInteger")


def _has_no_type(one: Any) -> bool:
    many = one if isinstance(one, list) else [one]
    return any(array.dtype.kind == "V" or array.dtype.num >= 256 for array in many)


# The newest version that ONNX Runtime takes.
_NEWEST = 26


def _with_older_version(model: onnx.ModelProto) -> onnx.ModelProto:
    if model.opset_import[0].version <= _NEWEST:
        return model
    copy = onnx.ModelProto()
    copy.CopyFrom(model)
    copy.opset_import[0].version = _NEWEST
    return copy


@functools.cache
def _onnxruntime() -> Any:
    try:
        import onnxruntime
    except ImportError:
        return None
    onnxruntime.set_default_logger_severity(4)
    return onnxruntime


def by_plan(case: Case, named: bool = False) -> list[Any]:
    """A plan of the CPU; with `named` the graph does not say which extents there are."""
    model, feeds = model_of(case, named)
    return _guarded(lambda: Plan(Graph(onnx_ir.from_proto(model)), keep_nan=True).run(feeds))


def by_loaded(case: Case) -> list[Any]:
    """A plan of the model as a file, which is brought to the newest version of operators."""
    model, feeds = model_of(case)
    return _guarded(lambda: Plan(load(model.SerializeToString()), keep_nan=True).run(feeds))


def by_optimized(case: Case) -> list[Any]:
    """What mx.sol makes of the model."""
    model, feeds = model_of(case)

    def run() -> list[Any]:
        found = sol.optimize(Graph(onnx_ir.from_proto(model)))(*feeds.values())
        return list(found) if case.outputs > 1 else [found]

    return _guarded(run)


def by_generated(case: Case) -> list[Any]:
    """A plan that asks for generated code first."""
    from mx.graph.lowering import BACKENDS, Chooser
    from mx.sol.backends.gen import GEN

    model, feeds = model_of(case)
    chooser = Chooser((GEN, *BACKENDS))
    return _guarded(
        lambda: Plan(Graph(onnx_ir.from_proto(model)), chooser=chooser, keep_nan=True).run(feeds)
    )


def by_deployed(case: Case) -> list[Any]:
    """A library in plain C, compiled for the case alone."""
    from mx.sol.backends.gen import Target
    from mx.sol.deployments._lower import lower
    from mx.sol.passes import PASSES
    from mx.sol.passes import run as run_passes
    from tests.sol.deploy.merged import Merged

    model, feeds = model_of(case)
    target = Target.named("c")

    def run() -> list[Any]:
        graph = Graph(onnx_ir.from_proto(model))
        graph.infer()
        run_passes(PASSES.enabled, graph)
        graph.infer()
        return list(Merged([lower(graph, target)], target).call(list(feeds.values())))

    return _guarded(run)


def _guarded(run: Callable[[], Any]) -> list[Any]:
    try:
        return list(run())
    except REJECTIONS as error:
        raise Rejected(_words(error)) from None


def _words(error: Exception) -> str:
    return f"{type(error).__name__}: " + " ".join(str(error).split())[:300]


# How exact a type is, by its name.
_EXACT = {"float16": 4e-3, "bfloat16": 3e-2, "float64": 1e-6, "complex128": 1e-6}


def difference(got: Any, wanted: Any, most: int = 0) -> str:
    """What is different of two outputs, in words; "" for nothing. Integers may differ by `most`."""
    if isinstance(wanted, (list, tuple)) or wanted is None:
        if wanted is None or got is None:
            return "" if got is wanted else f"{type(got).__name__}: expected {wanted}"
        if not isinstance(got, (list, tuple)) or len(got) != len(wanted):
            return f"a sequence of {len(wanted)} items, got {type(got).__name__}"
        return "; ".join(filter(None, map(difference, got, wanted)))
    one, other = numpy.asarray(got), numpy.asarray(wanted)
    if one.dtype.kind in "OSU" and other.dtype.kind in "OSU":
        one, other = one.astype(object), other.astype(object)
    if one.dtype.num >= 256 and other.dtype.itemsize == 1:
        other = other.view(one.dtype)  # as ONNX Runtime gives them
    if one.dtype != other.dtype or one.shape != other.shape:
        return f"{one.dtype}{list(one.shape)}: expected {other.dtype}{list(other.shape)}"
    if one.dtype.kind in "Ob" or one.dtype.kind in "iu":
        where = one != other
        if most and one.dtype.kind in "iu":
            where = numpy.abs(one.astype("int64") - other.astype("int64")) > most
    else:
        where = _far(
            one, other, max(_EXACT.get(one.dtype.name, 2e-4), 0 if one.itemsize > 1 else 0.13)
        )
    if not numpy.any(where):
        return ""
    at = tuple(int(axis[0]) for axis in numpy.nonzero(numpy.atleast_1d(where)))
    pair = (numpy.atleast_1d(array)[at] for array in (one, other))
    count = int(numpy.count_nonzero(where))
    return "{}{}{} of {} at {}: {}: expected {}".format(
        one.dtype, list(one.shape), f" {count}", one.size, list(at), *pair
    )


def _far(one: Any, other: Any, exact: float) -> Any:
    wide = "complex128" if one.dtype.kind == "c" else "float64"
    one, other = one.astype(wide), other.astype(wide)
    with numpy.errstate(all="ignore"):
        finite = numpy.isfinite(other)
        largest = float(numpy.abs(other[finite]).max(initial=0))
        near = numpy.abs(one - other) <= exact * numpy.abs(other) + exact * (
            0.1 * min(largest, 1e3) + 0.01
        )
        # Where one overflows, the other may be as large as its type allows.
        same = (one == other) | (numpy.isnan(one) & numpy.isnan(other))
        return ~(same | (near & finite & numpy.isfinite(one)))


def differences(got: Sequence[Any], wanted: Sequence[Any], most: int = 0) -> str:
    """What is different of several outputs, in words."""
    if len(got) != len(wanted):
        return f"{len(got)} outputs: expected {len(wanted)}"
    for number, pair in enumerate(zip(got, wanted, strict=True)):
        words = difference(*pair, most)
        if words:
            return f"output {number}: {words}"
    return ""
