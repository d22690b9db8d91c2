"""The onnx package's own tests of its operators, on the CPU plan."""

import numpy
import onnx
import onnx_ir
import pytest
from onnx import numpy_helper
from onnx.backend.test.case.node import collect_testcases

import mx
from mx.graph import Graph
from mx.graph.plan import Plan

# What cannot give the expected output, and why.
NOT_RUN = {
    "test_bernoulli": "random numbers, which no generator but the reference's own gives",
    "test_image_decoder": "needs Pillow, and decoders differ in the last bit",
}

with pytest.MonkeyPatch.context() as patch:
    patch.setattr("warnings.warn", lambda *_, **__: None)
    with numpy.errstate(all="ignore"):
        CASES = {case.name: case for case in collect_testcases(None)}


def content_of(proto: object) -> object:
    """What a test of the onnx package gives or expects, as plans take it."""
    if isinstance(proto, onnx.TensorProto):
        return numpy_helper.to_array(proto)
    if isinstance(proto, onnx.SequenceProto):
        return numpy_helper.to_list(proto)
    if isinstance(proto, onnx.OptionalProto):
        return numpy_helper.to_optional(proto)
    return proto


def check_equal(got: object, expected: object, rtol: float, atol: float) -> None:
    """Compares tensors and what is made of them; types and shapes exactly."""
    if expected is None or isinstance(expected, (list, tuple)):
        assert (got is None) == (expected is None)
        for one, other in zip(got or (), expected or (), strict=True):
            check_equal(one, other, rtol, atol)
        return
    got, expected = numpy.asarray(got), numpy.asarray(expected)
    assert got.dtype == expected.dtype
    assert got.shape == expected.shape
    if expected.dtype.kind in "OSUbiu":
        numpy.testing.assert_array_equal(got, expected)
    else:
        # Types of few bits are rounded after each step, by whoever takes fewer steps less often:
        # a unit in the last place of the largest number among those that may have been added.
        name = str(expected.dtype)
        unit = {"bfloat16": 2**-7, "float16": 2**-10}.get(
            name, 0 if expected.itemsize > 1 else 0.13
        )
        wide = numpy.complex128 if expected.dtype.kind == "c" else numpy.float64
        exact = expected.astype(wide)
        largest = numpy.abs(exact[numpy.isfinite(exact)]).max(initial=0)
        numpy.testing.assert_allclose(
            got.astype(wide), exact, max(rtol, unit), max(atol, unit * largest)
        )


@pytest.mark.parametrize("name", sorted(CASES))
def test_node(name):
    reason = next((why for begin, why in NOT_RUN.items() if name.startswith(begin)), None)
    if reason:
        pytest.skip(reason)
    case = CASES[name]
    plan = Plan(Graph(onnx_ir.serde.deserialize_model(case.model)))
    for inputs, outputs in case.data_sets:
        got = plan(*map(content_of, inputs))
        for one, expected in zip(got, map(content_of, outputs), strict=True):
            assert isinstance(one, (mx.np.ndarray, numpy.ndarray, list, type(None)))
            check_equal(one, expected, case.rtol, max(case.atol, 1e-6))
