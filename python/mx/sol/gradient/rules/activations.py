"""Gradients of activation functions."""

from __future__ import annotations

import onnx_ir as ir

from .._rules import Call, gradient
from .._writer import Writer


@gradient("Relu")
def _relu(to: Writer, call: Call) -> ir.Value:
    return to.own_like("ReluGrad", call.dy, call.y, like=call.x)


@gradient("Sigmoid")
def _sigmoid(to: Writer, call: Call) -> ir.Value:
    return to.own_like("SigmoidGrad", call.dy, call.y, like=call.x)


@gradient("Tanh")
def _tanh(to: Writer, call: Call) -> ir.Value:
    return to.own_like("TanhGrad", call.dy, call.y, like=call.x)


@gradient("Gelu")
def _gelu(to: Writer, call: Call) -> ir.Value:
    how = call.string("approximate", "none")
    return to.own_like("GeluGrad", call.dy, call.x, like=call.x, approximate=how)


@gradient("Swish")
def _swish(to: Writer, call: Call) -> ir.Value:
    alpha = call.number("alpha", 1.0)
    return to.own_like("SwishGrad", call.dy, call.x, like=call.x, alpha=alpha)


@gradient("Softmax")
def _softmax(to: Writer, call: Call) -> ir.Value:
    axis = call.integer("axis", -1)
    return to.own_like("SoftmaxGrad", call.dy, call.y, like=call.x, axis=axis)


@gradient("LogSoftmax")
def _log_softmax(to: Writer, call: Call) -> ir.Value:
    axis = call.integer("axis", -1)
    return to.own_like("LogSoftmaxGrad", call.dy, call.y, like=call.x, axis=axis)


@gradient("LeakyRelu")
def _leaky_relu(to: Writer, call: Call) -> ir.Value:
    slope = to.Mul(call.dy, call.number("alpha", 0.01))
    return to.where(to.Greater(call.x, 0.0), call.dy, slope)


@gradient("PRelu")
def _prelu(to: Writer, call: Call) -> list[ir.Value | None]:
    slope = call.input(1)
    above = to.Greater(call.x, 0.0)
    d_slope = None
    if call.wants(1):
        d_slope = to.sum_to(to.Mul(call.dy, to.Min(call.x, 0.0)), slope, call.y)
    return [to.where(above, call.dy, to.Mul(call.dy, slope)), d_slope]


@gradient("Elu")
def _elu(to: Writer, call: Call) -> ir.Value:
    steep = to.Mul(call.dy, to.Add(call.y, call.number("alpha", 1.0)))
    return to.where(to.Greater(call.x, 0.0), call.dy, steep)


@gradient("Selu")
def _selu(to: Writer, call: Call) -> ir.Value:
    alpha = call.number("alpha", 1.67326319217681884765625)
    gamma = call.number("gamma", 1.05070102214813232421875)
    steep = to.Mul(call.dy, to.Add(call.y, alpha * gamma))
    return to.where(to.Greater(call.x, 0.0), to.Mul(call.dy, gamma), steep)


@gradient("Celu")
def _celu(to: Writer, call: Call) -> ir.Value:
    alpha = call.number("alpha", 1.0)
    # Below 0 it is alpha * (exp(x / alpha) - 1).
    steep = to.Mul(call.dy, to.Add(to.Mul(call.y, 1 / alpha), 1.0))
    return to.where(to.Greater(call.x, 0.0), call.dy, steep)


@gradient("Softplus")
def _softplus(to: Writer, call: Call) -> ir.Value:
    return to.Mul(call.dy, to.Sigmoid(call.x))


@gradient("Softsign")
def _softsign(to: Writer, call: Call) -> ir.Value:
    share = to.Add(to.Abs(call.x), 1.0)
    return to.Div(call.dy, to.Mul(share, share))


@gradient("ThresholdedRelu")
def _thresholded_relu(to: Writer, call: Call) -> ir.Value:
    return to.where(to.Greater(call.x, call.number("alpha", 1.0)), call.dy, 0.0)


@gradient("HardSigmoid")
def _hard_sigmoid(to: Writer, call: Call) -> ir.Value:
    inside = to.And(to.Greater(call.y, 0.0), to.Less(call.y, 1.0))
    return to.where(inside, to.Mul(call.dy, call.number("alpha", 0.2)), 0.0)


@gradient("HardSwish")
def _hard_swish(to: Writer, call: Call) -> ir.Value:
    slope = to.Add(to.Mul(call.x, 1 / 3), 0.5)
    steep = to.where(to.Greater(call.x, -3.0), to.Mul(call.dy, slope), 0.0)
    return to.where(to.Less(call.x, 3.0), steep, call.dy)


@gradient("Mish")
def _mish(to: Writer, call: Call) -> ir.Value:
    # x * tanh(softplus(x)): its slope is t + x * (1 - t * t) * sigmoid(x).
    t = to.Tanh(to.Softplus(call.x))
    steep = to.Mul(call.x, to.Mul(to.Add(to.Neg(to.Mul(t, t)), 1.0), to.Sigmoid(call.x)))
    return to.Mul(call.dy, to.Add(t, steep))


@gradient("Shrink")
def _shrink(to: Writer, call: Call) -> ir.Value:
    return to.where(to.Greater(to.Abs(call.x), call.number("lambd", 0.5)), call.dy, 0.0)
