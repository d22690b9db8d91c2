"""Gradients of weights of convolutions are written in the order of axes that is asked for."""

from __future__ import annotations

import itertools
from typing import Any

import numpy
import onnx_ir
import pytest

from mx import _onednn
from mx.graph import Graph, Plan
from mx.sol.operators import DOMAIN, OPERATORS, VERSION
from tests.sol.gradient.test_kernels import CONVOLUTIONS, f, has_onednn, ints, result_shape

KEPT = "part of the kernel before"
# The order of axes of weights in TensorFlow, by their number.
LAST = {3: [2, 1, 0], 4: [2, 3, 1, 0], 5: [2, 3, 4, 1, 0]}
ORDERS: dict[str, tuple[str, list[int] | None]] = {
    "channels last": ("two axes", LAST[4]),
    "one axis": ("one axis", LAST[3]),
    "three axes": ("three axes", LAST[5]),
    "pointwise": ("pointwise", LAST[4]),
    "odd channels": ("odd channels", LAST[4]),
    "one channel": ("one channel", LAST[4]),
    "a first layer": ("a first layer", LAST[4]),
    "strides": ("strides that leave some out", LAST[4]),
    "groups": ("groups", LAST[4]),
    "groups, reversed": ("groups", None),
    "more out than in": ("depthwise, more out", LAST[4]),
    "depthwise": ("depthwise", [2, 3, 0, 1]),
    "no items": ("no items", LAST[4]),
    "not moved": ("two axes", [0, 1, 2, 3]),
    **{
        "".join(map(str, order)): ("uneven pads", list(order))
        for order in itertools.permutations(range(4))
    },
}


def plan_of(inputs: list[Any], attributes: dict[str, Any], order: Any, gives: str) -> Plan:
    """The plan of a gradient, its Transpose, and what `gives` says besides."""
    values = [
        onnx_ir.Value(
            name=f"x{number}",
            type=onnx_ir.TensorType(onnx_ir.DataType.from_numpy(array.dtype)),
            shape=onnx_ir.Shape(array.shape),
        )
        for number, array in enumerate(inputs)
    ]
    made = onnx_ir.node("ConvGradWeight", values, attributes, domain=DOMAIN, name="gradient")
    kept = {} if order is None else {"perm": order}
    turned = onnx_ir.node("Transpose", made.outputs, kept, name="turned")
    nodes, outputs = [made, turned], [turned.outputs[0]]
    if gives == "both":
        outputs.append(made.outputs[0])
    elif gives == "two of it":
        nodes.append(onnx_ir.node("Neg", made.outputs, name="other"))
        outputs.append(nodes[-1].outputs[0])
    elif gives == "what follows":
        nodes.append(onnx_ir.node("Neg", turned.outputs, name="other"))
        outputs = [nodes[-1].outputs[0]]
    for number, value in enumerate(outputs):
        value.name = f"y{number}"
    opset = {"": 23, DOMAIN: VERSION}
    graph = onnx_ir.Graph(values, outputs, nodes=nodes, opset_imports=opset, name="gradient")
    return Plan(Graph(onnx_ir.Model(graph, ir_version=10)), optimize=False)


def compare(found: Any, wanted: Any) -> None:
    array = numpy.asarray(found)
    assert array.dtype == wanted.dtype and array.shape == wanted.shape
    bound = 1e-5 * max(1.0, float(numpy.abs(wanted).max(initial=0)))
    numpy.testing.assert_allclose(array, wanted, rtol=1e-5, atol=bound)


def given(of: str, dtype: str = "float32") -> tuple[list[Any], dict[str, Any], Any]:
    x, weight, attributes = CONVOLUTIONS[of]
    gradient = f(*result_shape(x, weight, attributes)).astype(dtype)
    inputs = [f(*x).astype(dtype), gradient, ints(*weight)]
    return inputs, attributes, OPERATORS["ConvGradWeight"].reference(*inputs, **attributes)


@pytest.mark.skipif(not has_onednn(), reason="oneDNN is not there")
@pytest.mark.parametrize(("of", "order"), ORDERS.values(), ids=ORDERS)
def test_a_gradient_is_written_in_the_order_behind_it(of: str, order: list[int] | None) -> None:
    inputs, attributes, wanted = given(of)
    plan = plan_of(inputs, attributes, order, "it")
    compare(plan(*inputs)[0], wanted.transpose(order))
    steps = plan.steps()
    if of in ("depthwise", "no items"):  # which have kernels of their own
        return
    assert [step.backend for step in steps] == ["onednn", "onednn"]
    assert steps[1].reasons == (KEPT,)
    names = [f"x{number}" for number in range(3)]
    timed = plan.profile(dict(zip(names, inputs, strict=True))).steps
    assert not [step for step in timed if "copy" in step.implementation], timed


GIVES = {
    "the gradient is an output": ("both", lambda dw, turned: [turned, dw], False),
    "another node reads it": ("two of it", lambda dw, turned: [turned, -dw], False),
    "a node reads the transposed one": ("what follows", lambda dw, turned: [-turned], True),
}


@pytest.mark.skipif(not has_onednn(), reason="oneDNN is not there")
@pytest.mark.parametrize(("gives", "expected", "is_one"), GIVES.values(), ids=GIVES)
def test_only_a_gradient_that_nothing_else_reads(gives: str, expected: Any, is_one: bool) -> None:
    inputs, attributes, wanted = given("two axes")
    plan = plan_of(inputs, attributes, LAST[4], gives)
    for found, one in zip(plan(*inputs), expected(wanted, wanted.transpose(LAST[4])), strict=True):
        compare(found, one)
    assert (plan.steps()[1].reasons == (KEPT,)) is is_one


@pytest.mark.parametrize("of", ["two axes", "groups", "depthwise", "three axes"])
def test_gradients_of_float64(of: str) -> None:
    inputs, attributes, wanted = given(of, "float64")
    order = LAST[wanted.ndim]
    compare(plan_of(inputs, attributes, order, "it")(*inputs)[0], wanted.transpose(order))


@pytest.mark.skipif(not has_onednn(), reason="oneDNN is not there")
@pytest.mark.parametrize(
    "order", [[], [0, 1, 2], [0, 1, 2, 4], [0, 1, 2, 2], [-1, 0, 1, 2], [0, 1, 2, 3, 4]]
)
def test_an_order_that_has_not_each_axis_once(order: list[int]) -> None:
    made = _onednn.load()
    x, dy = made.Input((1, 3, 5, 5), "float32"), made.Input((1, 4, 3, 3), "float32")
    with pytest.raises(ValueError, match=r"order: expected each of 4 axes once, got \("):
        made.convolution_weight_gradient(x, dy, (4, 3, 3, 3), order=order)
