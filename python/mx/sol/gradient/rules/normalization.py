"""Gradients of normalization."""

from __future__ import annotations

from collections.abc import Sequence

import onnx_ir as ir

from ....graph._spec import dims_of
from ....importers._builder import dtype_of
from ...operators import DOMAIN
from .._rules import Call, Declined, expansion, gradient
from .._writer import Writer

Grads = list[ir.Value | None]


def _rows(to: Writer, value: ir.Value, rank: int) -> ir.Value:
    """A value for each channel, in a shape that broadcasts along axis 1."""
    made: ir.Value = to.Unsqueeze(value, list(range(1, rank - 1))) if rank > 2 else value
    return made


@expansion("BatchNormalization")
def _batch_norm(to: Writer, call: Call) -> ir.Value | Sequence[ir.Value]:
    x, scale, shift, mean, variance = (call.input(index) for index in range(5))
    epsilon = call.number("epsilon", 1e-5)
    if call.integer("training_mode", 0):
        types = [x.dtype, *[mean.dtype] * 4]
        return to.own(
            "BatchNormTraining",
            x,
            scale,
            shift,
            mean,
            variance,
            types=types,
            epsilon=epsilon,
            momentum=1 - call.number("momentum", 0.9),
            unbiased=0,
        )[: len(call.node.outputs)]
    # Statistics that stay: each channel is multiplied and shifted.
    rank = len(call.dims(0))
    factor = to.Div(scale, to.Sqrt(to.Add(variance, epsilon)))
    offset = to.Sub(shift, to.Mul(mean, factor))
    return to.Add(to.Mul(x, _rows(to, factor, rank)), _rows(to, offset, rank))


@gradient("BatchNormTraining", domain=DOMAIN)
def _batch_norm_training(to: Writer, call: Call) -> Grads:
    x, scale = call.input(0), call.input(1)
    batch_mean, inv_std = call.node.outputs[3:5]
    types = [x.dtype, scale.dtype, scale.dtype]
    return list(to.own("BatchNormGrad", call.dy, x, scale, batch_mean, inv_std, types=types))


def _follows(call: Call, first: int) -> bool:
    """Whether the scale has the shape of the axes from one on."""
    return dims_of(call.input(1).shape) == call.dims(0)[first:]


@expansion("LayerNormalization")
def _with_statistics(to: Writer, call: Call) -> Sequence[ir.Value]:
    """The same node, which gives mean and variance, too."""
    x, axis = call.x, call.integer("axis", -1)
    dtype, rank = dtype_of(x), len(call.dims(0))
    is_whole = len(call.node.outputs) == 3 and all(value.name for value in call.node.outputs)
    # Where something reads them, they have gradients of their own.
    read = any(one.is_graph_output() or one.uses() for one in call.node.outputs[1:])
    has_kernel = _follows(call, axis % rank) and not read
    if is_whole and has_kernel:
        raise Declined("it does already")
    attributes = {name: one.value for name, one in call.node.attributes.items()}
    wide = ir.DataType.FLOAT if call.integer("stash_type", 1) == 1 else dtype
    scale, shift = call.input(1), call.optional(2)
    # Mean and variance are never of float64.
    if has_kernel and wide != ir.DataType.DOUBLE:
        types = [dtype, wide, wide]
        return to.op("LayerNormalization", x, scale, shift, outputs=3, dtype=types, **attributes)
    axes = list(range(axis % rank, rank))
    given = x if dtype == ir.DataType.DOUBLE else to.cast(x, wide)
    mean = to.ReduceMean(given, axes, keepdims=1)
    centered = to.Sub(given, mean)
    variance = to.ReduceMean(to.Mul(centered, centered), axes, keepdims=1)
    inverse = to.Reciprocal(to.Sqrt(to.Add(variance, call.number("epsilon", 1e-5))))
    made = to.Mul(to.cast(to.Mul(centered, inverse), dtype), scale)
    made = made if shift is None else to.Add(made, shift)
    return [made, to.cast(mean, wide), to.cast(inverse, wide)][: len(call.node.outputs)]


@gradient("LayerNormalization")
def _layer_norm(to: Writer, call: Call) -> Grads:
    x, scale = call.input(0), call.input(1)
    types = [x.dtype, scale.dtype, scale.dtype]
    mean, inv_std = call.node.outputs[1:3]
    axis = call.integer("axis", -1)
    return list(to.own("LayerNormGrad", call.dy, x, scale, mean, inv_std, types=types, axis=axis))


def rms_norm_of_one_type(to: Writer, call: Call) -> ir.Value:
    """The same of a scale of another type, computed in the wider one of both and float32."""
    x, scale = call.x, call.input(1)
    if dtype_of(x) == dtype_of(scale):
        raise Declined("both are of one type")
    types = (dtype_of(x), dtype_of(scale))
    wide = ir.DataType.DOUBLE if ir.DataType.DOUBLE in types else ir.DataType.FLOAT
    attributes = {name: one.value for name, one in call.node.attributes.items()}
    made = to.RMSNormalization(to.cast(x, wide), to.cast(scale, wide), **attributes)
    made.shape = x.shape
    return to.cast(made, dtype_of(x))


@expansion("RMSNormalization")
def _rms_norm(to: Writer, call: Call) -> ir.Value:
    x, scale, axis = call.x, call.input(1), call.integer("axis", -1)
    if dtype_of(x) != dtype_of(scale):
        return rms_norm_of_one_type(to, call)
    wide = ir.DataType.DOUBLE if x.dtype == ir.DataType.DOUBLE else ir.DataType.FLOAT
    epsilon = call.number("epsilon", 1e-5)
    if not _follows(call, axis % len(call.dims(0))):
        axes = list(range(axis % len(call.dims(0)), len(call.dims(0))))
        mean = to.ReduceMean(to.Mul(x, x), axes, keepdims=1)
        return to.Mul(to.Div(x, to.Sqrt(to.Add(mean, epsilon))), scale)
    types = [x.dtype, wide]
    return to.own("RMSNormTraining", x, scale, types=types, axis=axis, epsilon=epsilon)[0]


@gradient("RMSNormTraining", domain=DOMAIN)
def _rms_norm_training(to: Writer, call: Call) -> Grads:
    x, scale = call.input(0), call.input(1)
    types = [x.dtype, scale.dtype]
    axis = call.integer("axis", -1)
    inverse = call.node.outputs[1]
    return list(to.own("RMSNormGrad", call.dy, x, scale, inverse, types=types, axis=axis))


@expansion("MeanVarianceNormalization")
def _mean_variance_norm(to: Writer, call: Call) -> ir.Value:
    axes = list(call.ints("axes") or (0, 2, 3))
    dtype = dtype_of(call.x)
    x = call.x if dtype == ir.DataType.DOUBLE else to.cast(call.x, ir.DataType.FLOAT)
    centered = to.Sub(x, to.ReduceMean(x, axes, keepdims=1))
    variance = to.ReduceMean(to.Mul(centered, centered), axes, keepdims=1)
    return to.cast(to.Div(centered, to.Add(to.Sqrt(variance), 1e-9)), dtype)


@expansion("InstanceNormalization")
def _instance_norm(to: Writer, call: Call) -> ir.Value:
    x, rank = call.x, len(call.dims(0))
    axes = list(range(2, rank))
    centered = to.Sub(x, to.ReduceMean(x, axes, keepdims=1))
    variance = to.ReduceMean(to.Mul(centered, centered), axes, keepdims=1)
    inverse = to.Reciprocal(to.Sqrt(to.Add(variance, call.number("epsilon", 1e-5))))
    normal = to.Mul(centered, inverse)
    scale, shift = (_rows(to, call.input(index), rank) for index in (1, 2))
    return to.Add(to.Mul(normal, scale), shift)


@expansion("LRN")
def _lrn(to: Writer, call: Call) -> ir.Value:
    """x / (bias + alpha / size * sum of squares of near channels) ** beta."""
    size = call.integer("size", 1)
    before, rank = (size - 1) // 2, len(call.dims(0))
    pads = [0] * (2 * rank)
    pads[1], pads[rank + 1] = before, size - 1 - before
    squares = to.Pad(to.Mul(call.x, call.x), pads)
    channels = to.extent(call.x, 1)
    total: ir.Value | None = None
    for first in range(size):
        end = to.Add(channels, [first])
        part = to.Slice(squares, [first], end, [1])
        total = part if total is None else to.Add(total, part)
    assert total is not None
    inside = to.Add(to.Mul(total, call.number("alpha", 1e-4) / size), call.number("bias", 1.0))
    return to.Div(call.x, to.Pow(inside, call.number("beta", 0.75)))


@expansion("Dropout")
def _with_mask(to: Writer, call: Call) -> Sequence[ir.Value]:
    """The same node, which gives its mask, too."""
    if call.optional(2) is None or (len(call.node.outputs) > 1 and call.node.outputs[1].name):
        raise Declined("there is nothing to give, or it does already")
    types = [dtype_of(call.x), ir.DataType.BOOL]
    attributes = {name: one.value for name, one in call.node.attributes.items()}
    inputs = [call.optional(index) for index in range(3)]
    return to.op("Dropout", *inputs, outputs=2, dtype=types, **attributes)


@gradient("Dropout")
def _dropout(to: Writer, call: Call) -> ir.Value:
    training, ratio = call.optional(2), call.optional(1)
    if training is None:
        return call.dy
    assert call.dy.dtype is not None
    share = to.constant(0.5, call.dy.dtype) if ratio is None else to.cast(ratio, call.dy.dtype)
    one = to.constant(1.0, call.dy.dtype)
    scale = to.Where(training, to.Reciprocal(to.Sub(one, share)), one, dtype=call.dy.dtype)
    return to.where(call.node.outputs[1], to.Mul(call.dy, scale), 0.0)


@gradient("DropoutTraining", domain=DOMAIN)
def _dropout_training(to: Writer, call: Call) -> ir.Value:
    ratio = call.number("ratio", 0.5)
    return to.own_like("DropoutGrad", call.dy, call.node.outputs[1], like=call.x, ratio=ratio)
