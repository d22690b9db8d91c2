"""Normalizations."""

from __future__ import annotations

import onnx_ir as ir

from ..._training import IN_TRAINING
from ..expansion import Expansion, set_shape
from ..table import Parameters, Shape, optional, register, required

INITIAL = {"moving_mean": '["zero", {}]', "moving_var": '["one", {}]'}
OF_CHANNELS = ("gamma", "beta", "moving_mean", "moving_var")


def _channel_shapes(p: Parameters, known: dict[str, Shape]) -> dict[str, Shape | None]:
    data, axis = known.get("data"), getattr(p, "axis", 1)
    if not data or not -len(data) <= axis < len(data):
        return {}
    return dict.fromkeys(OF_CHANNELS, (data[axis],))


def _swapped(rank: int, a: int, b: int) -> list[int]:
    axes = list(range(rank))
    axes[a], axes[b] = axes[b], axes[a]
    return axes


BATCH_NORM = (
    optional("eps", "float", 1e-3),
    optional("momentum", "float", 0.9),
    optional("fix_gamma", "bool", True),
    optional("use_global_stats", "bool", False),
    optional("output_mean_var", "bool", False),
    optional("axis", "int", 1),
    optional("cudnn_off", "bool", False),
)


def _mean_and_variance(p: Parameters) -> int:
    return 3 if p.output_mean_var else 1


@register(
    "BatchNorm",
    "Normalizes each channel with the moving mean and variance, then scales and shifts it.",
    BATCH_NORM,
    "data gamma beta",
    auxiliary="moving_mean moving_var",
    initial=INITIAL,
    outputs="output mean var",
    visible=_mean_and_variance,
    shapes=_channel_shapes,
    aliases="BatchNorm_v1 CuDNNBatchNorm batch_norm _npx_batch_norm",
)
def batch_norm(x: Expansion) -> tuple[ir.Value, ...]:
    data, gamma, beta, mean, variance = x.inputs
    if x.p.fix_gamma:
        gamma = _ones_like(x, gamma)
    axes = None
    if x.p.axis != 1:
        axis = x.axis(x.p.axis, data)
        axes = _swapped(x.rank(data), 1, axis) if axis != 1 else None
    if axes:
        data = x.transpose(data, axes)
    out = x.op(
        "BatchNormalization",
        *(data, gamma, beta, mean, variance),
        epsilon=x.p.eps,
        momentum=x.p.momentum,
    )
    node = out.producer()
    assert node is not None
    if x.p.use_global_stats:
        node.metadata_props[IN_TRAINING] = ""
    elif x.p.output_mean_var:
        node.metadata_props[IN_TRAINING] = "expected output_mean_var=False"
    if axes:
        out = x.transpose(out, axes)
    if not x.p.output_mean_var:
        return (out,)
    shifted = x.op("Add", variance, x.number(x.p.eps, variance))
    return out, x.op("Identity", mean), x.op("Reciprocal", x.op("Sqrt", shifted))


def _ones_like(x: Expansion, value: ir.Value) -> ir.Value:
    shape = x.shape(value) if value.shape is not None else (None,)
    if all(isinstance(n, int) for n in shape):
        return x.op("Expand", x.number(1, value), x.ints(*x.dimensions(value)))
    return x.op("Expand", x.number(1, value), x.op("Shape", value))


@register(
    "_contrib_SyncBatchNorm",
    "BatchNorm, whose statistics several devices share in training.",
    [*BATCH_NORM, optional("ndev", "int", 1), optional("key", "str", "")],
    "data gamma beta",
    auxiliary="moving_mean moving_var",
    initial=INITIAL,
    outputs="output mean var",
    visible=_mean_and_variance,
    shapes=_channel_shapes,
    aliases="_npx_sync_batch_norm",
)
def sync_batch_norm(x: Expansion) -> tuple[ir.Value, ...]:
    return batch_norm(x)


@register(
    "_contrib_BatchNormWithReLU",
    "BatchNorm and relu in one.",
    BATCH_NORM,
    "data gamma beta",
    auxiliary="moving_mean moving_var",
    initial=INITIAL,
    outputs="output mean var",
    visible=_mean_and_variance,
    shapes=_channel_shapes,
)
def batch_norm_with_relu(x: Expansion) -> tuple[ir.Value, ...]:
    first, *more = batch_norm(x)
    return x.op("Relu", first), *more


@register(
    "LayerNorm",
    "Normalizes along one axis, then scales and shifts along it.",
    [
        optional("axis", "int", -1),
        optional("eps", "float", 1e-5),
        optional("output_mean_var", "bool", False),
    ],
    "data gamma beta",
    outputs="output mean std",
    visible=_mean_and_variance,
    shapes=_channel_shapes,
    aliases="layer_norm _npx_layer_norm",
)
def layer_norm(x: Expansion) -> tuple[ir.Value, ...]:
    data, gamma, beta = x.inputs
    axes = None
    if x.p.axis != -1:
        axis, rank = x.axis(x.p.axis, data), x.rank(data)
        axes = _swapped(rank, axis, rank - 1) if axis != rank - 1 else None
    if axes:
        data = x.transpose(data, axes)
    if not x.p.output_mean_var:
        out = x.op("LayerNormalization", data, gamma, beta, axis=-1, epsilon=x.p.eps)
        return (x.transpose(out, axes) if axes else out,)
    mean = x.op("ReduceMean", data, x.ints(-1), keepdims=1)
    centered = x.op("Sub", data, mean)
    variance = x.op("ReduceMean", x.op("Mul", centered, centered), x.ints(-1), keepdims=1)
    std = x.op("Sqrt", x.op("Add", variance, x.number(x.p.eps, variance)))
    out = x.op("Add", x.op("Mul", x.op("Div", centered, std), gamma), beta)
    found = (out, mean, std)
    return tuple(x.transpose(value, axes) if axes else value for value in found)


@register(
    "InstanceNorm",
    "Normalizes each channel of each instance, then scales and shifts it.",
    [optional("eps", "float", 1e-3)],
    "data gamma beta",
    shapes=_channel_shapes,
    aliases="instance_norm _npx_instance_norm",
)
def instance_norm(x: Expansion) -> ir.Value:
    return x.op("InstanceNormalization", *x.inputs, epsilon=x.p.eps)


@register(
    "GroupNorm",
    "Normalizes groups of channels of each instance, then scales and shifts channels or groups.",
    [
        optional("num_groups", "int", 1),
        optional("eps", "float", 1e-5),
        optional("output_mean_var", "bool", False),
    ],
    "data gamma beta",
    outputs="output mean std",
    visible=_mean_and_variance,
    shapes=_channel_shapes,
    aliases="group_norm _npx_group_norm",
)
def group_norm(x: Expansion) -> tuple[ir.Value, ...]:
    data, gamma, beta = x.inputs
    if x.p.output_mean_var:
        raise x.error("expected output_mean_var=False, which has no form in ONNX")
    channels, groups = x.dimension(data, 1), x.p.num_groups
    if x.shape(gamma) == (groups,) and groups != channels:
        # Until 2.0 they were of groups, not of channels.
        each = x.ints(1, channels // groups)
        gamma, beta = (
            x.reshape(x.op("Tile", x.unsqueeze(value, 1), each), [channels])
            for value in (gamma, beta)
        )
    out = x.op("GroupNormalization", data, gamma, beta, num_groups=groups, epsilon=x.p.eps)
    # It is a function of ONNX, of which shapes are not inferred node by node.
    set_shape(out, x.shape(data))
    if data.dtype is not None:
        out.dtype = data.dtype
    return (out,)


@register(
    "L2Normalization",
    "Divides by the square root of the sum of squares of an instance, of channels or in space.",
    [
        optional("eps", "float", 1e-10),
        optional("mode", "str", "instance", "instance", "channel", "spatial"),
    ],
)
def l2_normalization(x: Expansion) -> ir.Value:
    (data,) = x.inputs
    if x.p.mode == "channel":
        axes: tuple[int, ...] = (1,)
    else:
        axes = tuple(range(1 if x.p.mode == "instance" else 2, x.rank(data)))
    squares = x.op("ReduceSum", x.op("Mul", data, data), x.ints(*axes), keepdims=1)
    return x.op("Div", data, x.op("Sqrt", x.op("Add", squares, x.number(x.p.eps, data))))


@register(
    "LRN",
    "Normalizes each element with the squares of its neighbours in other channels.",
    [
        optional("alpha", "float", 1e-4),
        optional("beta", "float", 0.75),
        optional("knorm", "float", 2.0),
        required("nsize", "int"),
    ],
    aliases="lrn",
)
def lrn(x: Expansion) -> ir.Value:
    return x.op("LRN", x.inputs[0], alpha=x.p.alpha, beta=x.p.beta, bias=x.p.knorm, size=x.p.nsize)
