"""Activations, softmax and the layers whose outputs are losses."""

from __future__ import annotations

import math
from typing import Any

import onnx_ir as ir

from ..expansion import Expansion
from ..table import Names, Parameters, Shape, optional, register, required, same_shapes

ACTIVATIONS = {
    "relu": "Relu",
    "sigmoid": "Sigmoid",
    "tanh": "Tanh",
    "softrelu": "Softplus",
    "softsign": "Softsign",
    "mish": "Mish",
}


@register(
    "Activation",
    "One of relu, sigmoid, log_sigmoid, tanh, softrelu, softsign and mish.",
    [required("act_type", "str", *ACTIVATIONS, "log_sigmoid")],
    aliases="activation _npx_activation",
)
def activation(x: Expansion) -> ir.Value:
    if x.p.act_type == "log_sigmoid":
        return log_sigmoid(x)
    return x.op(ACTIVATIONS[x.p.act_type], x.inputs[0])


@register("log_sigmoid", "The logarithm of the sigmoid.")
def log_sigmoid(x: Expansion) -> ir.Value:
    negative = x.op("Neg", x.inputs[0])
    return x.op("Neg", x.op("Softplus", negative))


def _leaky_arguments(p: Parameters) -> Names:
    return ("data", "gamma") if p.act_type == "prelu" else ("data",)


def _leaky_shapes(p: Parameters, known: dict[str, Shape]) -> dict[str, Shape | None]:
    data = known.get("data")
    return {} if not data else {"gamma": (data[1] if len(data) > 1 else 1,)}


@register(
    "LeakyReLU",
    "Variants of relu with a slope on the negative side: leaky, prelu, elu, selu, gelu, rrelu.",
    [
        optional("act_type", "str", "leaky", "leaky", "prelu", "elu", "selu", "gelu", "rrelu"),
        optional("slope", "float", 0.25),
        optional("lower_bound", "float", 0.125),
        optional("upper_bound", "float", 0.334),
    ],
    _leaky_arguments,
    shapes=_leaky_shapes,
    initial={"gamma": '["Constant", {"value": 0.25}]'},
    aliases="_npx_leaky_relu",
)
def leaky_relu(x: Expansion) -> ir.Value:
    data = x.inputs[0]
    kind = x.p.act_type
    if kind == "prelu":
        gamma = x.inputs[1]
        if x.rank(gamma) == 1 and x.rank(data) > 2:
            gamma = x.unsqueeze(gamma, *range(1, x.rank(data) - 1))
        return x.op("PRelu", data, gamma)
    if kind == "elu":
        return x.op("Elu", data, alpha=x.p.slope)
    if kind in ("selu", "gelu"):
        return x.op("Selu" if kind == "selu" else "Gelu", data)
    slope = (x.p.lower_bound + x.p.upper_bound) / 2 if kind == "rrelu" else x.p.slope
    return x.op("LeakyRelu", data, alpha=slope)


@register(
    "Dropout",
    "The data itself: elements are dropped in training alone, or always where mode says so.",
    [
        optional("p", "float", 0.5),
        optional("mode", "str", "training", "training", "always"),
        optional("axes", "ints", ()),
        optional("cudnn_off", "bool", False),
    ],
    outputs="output mask",
    visible=lambda p: 1,
    aliases="dropout _npx_dropout",
)
def dropout(x: Expansion) -> tuple[ir.Value, ...]:
    (data,) = x.inputs
    if x.p.mode == "always" and x.p.p > 0:
        if x.p.axes:
            raise x.error("expected no axes in mode 'always': ONNX drops single elements")
        ratio, training = x.number(x.p.p, data), x.constant(True, ir.DataType.BOOL)
        return (x.op("Dropout", data, ratio, training),)
    if x.stops and x.p.axes and x.p.p > 0:
        # Along these axes all elements are dropped, or none.
        axes = {x.axis(axis, data) for axis in x.p.axes}
        rank = x.rank(data)
        is_one = x.constant([axis in axes for axis in range(rank)], ir.DataType.BOOL)
        shape = x.op("Where", is_one, x.ints(*[1] * rank), x.op("Shape", data))
        return (x.op("Mul", data, x.drop(x.op("Expand", x.number(1, data), shape), x.p.p)),)
    return (x.op("Identity", x.drop(data, x.p.p)),)


def _scaled(x: Expansion, data: ir.Value) -> ir.Value:
    if x.p.temperature in (None, 1.0):
        return data
    return x.op("Div", data, x.number(x.p.temperature, data))


SOFTMAX = (
    optional("axis", "int", -1),
    optional("temperature", "float"),
    optional("dtype", "dtype"),
    optional("use_length", "bool", False),
)


def _with_length(p: Parameters) -> Names:
    return ("data", "length") if p.use_length else ("data",)


def _beyond(x: Expansion, data: ir.Value, axis: int) -> ir.Value:
    """True where the position along an axis is the length of its row or more."""
    positions = x.op(
        "Range",
        x.constant(0, ir.DataType.INT64),
        x.squeeze(x.size_along(data, axis), 0),
        x.constant(1, ir.DataType.INT64),
    )
    lengths = x.unsqueeze(x.cast(x.inputs[1], ir.DataType.INT64), axis)
    after = x.rank(data) - 1 - axis
    if after:
        positions = x.unsqueeze(positions, *range(1, after + 1))
    return x.op("GreaterOrEqual", positions, lengths)


def _softmax(x: Expansion, data: ir.Value, op_type: str) -> ir.Value:
    data = _scaled(x, data)
    if not x.p.use_length:
        return x.cast(x.op(op_type, data, axis=x.p.axis), x.p.dtype)
    axis = x.axis(x.p.axis, data)
    beyond = _beyond(x, data, axis)
    hidden = x.op("Where", beyond, x.number(-math.inf, data), data)
    out = x.op(op_type, hidden, axis=axis)
    return x.cast(x.op("Where", beyond, x.number(0, data), out), x.p.dtype)


@register(
    "softmax",
    "The softmax along an axis.",
    SOFTMAX,
    _with_length,
    dtypes={"length": "int32"},
    aliases="_npx_softmax",
)
def softmax(x: Expansion) -> ir.Value:
    return _softmax(x, x.inputs[0], "Softmax")


@register(
    "log_softmax",
    "The logarithm of the softmax along an axis.",
    SOFTMAX,
    _with_length,
    dtypes={"length": "int32"},
    aliases="_npx_log_softmax",
)
def log_softmax(x: Expansion) -> ir.Value:
    return _softmax(x, x.inputs[0], "LogSoftmax")


MASKED = (
    optional("axis", "int", -1),
    optional("temperature", "float", 1.0),
    optional("normalize", "bool", True),
)


def _masked(x: Expansion, op_type: str, instead: float) -> ir.Value:
    data, mask = x.inputs
    keep = x.cast(mask, ir.DataType.BOOL)
    scaled = _scaled(x, data)
    hidden = x.op("Where", keep, scaled, x.number(-math.inf, data))
    return x.op("Where", keep, x.op(op_type, hidden, axis=x.p.axis), x.number(instead, data))


@register(
    "masked_softmax",
    "The softmax along an axis of what mask has as true; 0 elsewhere.",
    MASKED,
    "data mask",
    dtypes={"mask": "bool"},
    aliases="_npx_masked_softmax",
)
def masked_softmax(x: Expansion) -> ir.Value:
    return _masked(x, "Softmax", 0)


@register(
    "masked_log_softmax",
    "The logarithm of the softmax along an axis of what mask has as true; -inf elsewhere.",
    MASKED,
    "data mask",
    dtypes={"mask": "bool"},
    aliases="_npx_masked_log_softmax",
)
def masked_log_softmax(x: Expansion) -> ir.Value:
    return _masked(x, "LogSoftmax", -math.inf)


@register("softmin", "The softmax of the negative data.", SOFTMAX, _with_length)
def softmin(x: Expansion) -> ir.Value:
    return _softmax(x, x.op("Neg", x.inputs[0]), "Softmax")


@register(
    "SoftmaxActivation",
    "The softmax of each instance, or along the channels.",
    [optional("mode", "str", "instance", "instance", "channel")],
)
def softmax_activation(x: Expansion) -> ir.Value:
    if x.p.mode == "channel":
        return x.op("Softmax", x.inputs[0], axis=1)
    return _softmax_of_instances(x)


def _softmax_of_instances(x: Expansion) -> ir.Value:
    (data, *_) = x.inputs
    if data.shape is not None and len(data.shape) <= 2:
        return x.op("Softmax", data, axis=-1)
    flat = x.op("Softmax", x.op("Flatten", data, axis=1), axis=1)
    return x.op("Reshape", flat, x.op("Shape", data))


def _label_shapes(p: Parameters, known: dict[str, Shape]) -> dict[str, Shape | None]:
    data = known.get("data")
    if not data:
        return {}
    if p.multi_output:
        rest = data[2:]
        return {"label": (data[0], *(_product(rest) if len(rest) != 1 else rest))}
    return {"label": data[:-1] if p.preserve_shape else data[:1]}


def _product(dimensions: Shape) -> Shape:
    numbers = [n for n in dimensions if isinstance(n, int)]
    return (math.prod(numbers) if len(numbers) == len(dimensions) else None,)


LOSS = (
    optional("grad_scale", "float", 1.0),
    optional("ignore_label", "float", -1.0),
    optional("multi_output", "bool", False),
    optional("use_ignore", "bool", False),
    optional("preserve_shape", "bool", False),
    optional("normalization", "str", "null", "null", "batch", "valid"),
    optional("out_grad", "bool", False),
    optional("smooth_alpha", "float", 0.0),
)


@register(
    "SoftmaxOutput",
    "The softmax, whose gradient in training is that of the cross entropy with label.",
    LOSS,
    "data label",
    shapes=_label_shapes,
    only_training="label",
    aliases="Softmax",
)
def softmax_output(x: Expansion) -> ir.Value:
    data = x.inputs[0]
    if x.p.multi_output:
        return x.op("Softmax", data, axis=1)
    if x.p.preserve_shape:
        return x.op("Softmax", data, axis=-1)
    return _softmax_of_instances(x)


def _regression_shapes(p: Parameters, known: dict[str, Shape]) -> dict[str, Shape | None]:
    data = known.get("data")
    if not data:
        return {}
    return {"label": data[:1] if len(data) == 2 and data[1] == 1 else data}


def _svm_shapes(p: Parameters, known: dict[str, Shape]) -> dict[str, Shape | None]:
    return {"label": known["data"][:1]} if "data" in known else {}


SCALE = (optional("grad_scale", "float", 1.0),)


@register(
    "LinearRegressionOutput",
    "The data, whose gradient in training is that of the squared error.",
    SCALE,
    "data label",
    shapes=_regression_shapes,
    only_training="label",
)
def linear_regression_output(x: Expansion) -> ir.Value:
    return x.op("Identity", x.inputs[0])


@register(
    "MAERegressionOutput",
    "The data, whose gradient in training is that of the absolute error.",
    SCALE,
    "data label",
    shapes=_regression_shapes,
    only_training="label",
)
def mae_regression_output(x: Expansion) -> ir.Value:
    return x.op("Identity", x.inputs[0])


@register(
    "LogisticRegressionOutput",
    "The sigmoid, whose gradient in training is that of the cross entropy with label.",
    SCALE,
    "data label",
    shapes=_regression_shapes,
    only_training="label",
)
def logistic_regression_output(x: Expansion) -> ir.Value:
    return x.op("Sigmoid", x.inputs[0])


@register(
    "SVMOutput",
    "The data, whose gradient in training is that of a support vector machine.",
    [
        optional("margin", "float", 1.0),
        optional("regularization_coefficient", "float", 1.0),
        optional("use_linear", "bool", False),
    ],
    "data label",
    shapes=_svm_shapes,
    only_training="label",
)
def svm_output(x: Expansion) -> ir.Value:
    return x.op("Identity", x.inputs[0])


@register(
    "softmax_cross_entropy",
    "The sum of the cross entropies of rows of data with the classes in label.",
    (),
    "data label",
    shapes=_svm_shapes,
)
def softmax_cross_entropy(x: Expansion) -> ir.Value:
    data, label = x.inputs
    index = x.unsqueeze(x.cast(label, ir.DataType.INT64), 1)
    picked = x.op("GatherElements", x.op("LogSoftmax", data, axis=1), index, axis=1)
    total = x.op("ReduceSum", x.op("Neg", picked), keepdims=0)
    return x.reshape(total, [1])


def _same(name: str, doc: str, parameters: Any = (), **more: Any) -> None:
    register(name, doc, parameters, **more)(lambda x: x.op("Identity", x.inputs[0]))


_same(
    "MakeLoss",
    "The data, which training takes as a loss.",
    [
        optional("grad_scale", "float", 1.0),
        optional("valid_thresh", "float", 0.0),
        optional("normalization", "str", "null", "null", "batch", "valid"),
    ],
)
_same("make_loss", "The data, which training takes as a loss.")


@register("BlockGrad", "The data, through which no gradient goes.", aliases="stop_gradient")
def block_grad(x: Expansion) -> ir.Value:
    return x.stop(x.inputs[0]) if x.stops else x.op("Identity", x.inputs[0])


_same("_copy", "The data.", aliases="identity _npi_copy _np_copy")
_same(
    "IdentityAttachKLSparseReg",
    "The data, whose activations training keeps sparse.",
    [
        optional("sparseness_target", "float", 0.1),
        optional("penalty", "float", 0.001),
        optional("momentum", "float", 0.9),
    ],
    auxiliary="moving_avg",
    shapes=lambda p, known: {"moving_avg": known["data"][1:2]} if "data" in known else {},
)
_same(
    "_identity_with_attr_like_rhs",
    "The first argument.",
    arguments="lhs rhs",
    shapes=same_shapes,
)
_same(
    "_contrib_gradientmultiplier",
    "The data, whose gradient is multiplied in training.",
    [optional("scalar", "float", 1.0), optional("is_int", "bool", True)],
)
