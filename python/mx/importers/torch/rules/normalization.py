"""Normalizations, kept whole."""

from __future__ import annotations

from collections.abc import Sequence

import onnx_ir as ir

from ..._training import DOMAIN
from .._builder import Builder, Size, dtype_of, rank_of
from .._rule import Unsupported, rule
from .random import detach
from .reduction import variance


def _or_filled(
    b: Builder, weight: ir.Value | None, shape: Sequence[Size], value: int, dtype: ir.DataType
) -> ir.Value:
    """The weight, or one number for all channels where there is none."""
    return b.full(shape, value, dtype) if weight is None else weight


@rule("layer_norm")
def layer_norm(
    b: Builder,
    x: ir.Value,
    normalized_shape: Sequence[Size],
    weight: ir.Value | None = None,
    bias: ir.Value | None = None,
    eps: float = 1e-5,
    cudnn_enable: bool = True,
) -> ir.Value:
    return native_layer_norm(b, x, normalized_shape, weight, bias, eps, 1)[0]


@rule("native_layer_norm")
def native_layer_norm(
    b: Builder,
    x: ir.Value,
    normalized_shape: Sequence[Size],
    weight: ir.Value | None,
    bias: ir.Value | None,
    eps: float,
    outputs: int = 3,
) -> Sequence[ir.Value]:
    scale = _or_filled(b, weight, normalized_shape, 1, dtype_of(x))
    axis = -len(normalized_shape)
    result, *statistics = b.op(
        "LayerNormalization",
        x,
        scale,
        bias,
        axis=axis,
        epsilon=eps,
        outputs=outputs,
        dtype=[dtype_of(x), ir.DataType.FLOAT, ir.DataType.FLOAT][:outputs],
    )
    # torch has no gradients of these.
    return result, *(detach(b, one) for one in statistics)


@rule("rms_norm")
def rms_norm(
    b: Builder,
    x: ir.Value,
    normalized_shape: Sequence[Size],
    weight: ir.Value | None = None,
    eps: float | None = None,
) -> ir.Value:
    import torch

    scale = _or_filled(b, weight, normalized_shape, 1, dtype_of(x))
    small = torch.finfo(x.meta["torch"].dtype).eps if eps is None else eps
    return b.RMSNormalization(x, scale, axis=-len(normalized_shape), epsilon=float(small))


@rule("_fused_rms_norm")
def fused_rms_norm(
    b: Builder,
    x: ir.Value,
    normalized_shape: Sequence[Size],
    weight: ir.Value | None,
    eps: float | None,
) -> tuple[ir.Value]:
    return (rms_norm(b, x, normalized_shape, weight, eps),)


@rule("group_norm")
def group_norm(
    b: Builder,
    x: ir.Value,
    num_groups: int,
    weight: ir.Value | None = None,
    bias: ir.Value | None = None,
    eps: float = 1e-5,
    cudnn_enabled: bool = True,
) -> ir.Value:
    channels = [b.size(x, 1)]
    return b.GroupNormalization(
        x,
        _or_filled(b, weight, channels, 1, dtype_of(x)),
        _or_filled(b, bias, channels, 0, dtype_of(x)),
        num_groups=num_groups,
        epsilon=eps,
    )


@rule("native_group_norm")
def native_group_norm(
    b: Builder,
    x: ir.Value,
    weight: ir.Value | None,
    bias: ir.Value | None,
    n: Size,
    c: Size,
    hw: Size,
    group: int,
    eps: float,
) -> tuple[ir.Value, ir.Value, ir.Value]:
    result = group_norm(b, x, group, weight, bias, eps)
    members = c // group * hw if isinstance(c, int) and isinstance(hw, int) else -1
    groups = b.reshape(x, [n, group, members])
    groups.shape = ir.Shape([1, group, 1])
    spread, average = variance(b, groups, 2, 0, False)
    return result, average, b.Reciprocal(b.Sqrt(b.Add(spread, eps)))


@rule("instance_norm")
def instance_norm(
    b: Builder,
    x: ir.Value,
    weight: ir.Value | None,
    bias: ir.Value | None,
    running_mean: ir.Value | None,
    running_var: ir.Value | None,
    use_input_stats: bool,
    momentum: float,
    eps: float,
    cudnn_enabled: bool,
) -> ir.Value:
    channels = [b.size(x, 1)]
    scale = _or_filled(b, weight, channels, 1, dtype_of(x))
    offset = _or_filled(b, bias, channels, 0, dtype_of(x))
    if use_input_stats:
        if running_mean is not None:
            raise Unsupported("statistics that it keeps while it trains")
        return b.InstanceNormalization(x, scale, offset, epsilon=eps)
    return b.BatchNormalization(x, scale, offset, running_mean, running_var, epsilon=eps)


@rule("_native_batch_norm_legit_no_training")
def batch_norm(
    b: Builder,
    x: ir.Value,
    weight: ir.Value | None,
    bias: ir.Value | None,
    mean: ir.Value,
    variance: ir.Value,
    momentum: float,
    eps: float,
) -> tuple[ir.Value]:
    channels = [b.size(x, 1)]
    scale = _or_filled(b, weight, channels, 1, dtype_of(mean))
    offset = _or_filled(b, bias, channels, 0, dtype_of(mean))
    return (b.BatchNormalization(x, scale, offset, mean, variance, epsilon=eps),)


def _for_training(
    b: Builder,
    x: ir.Value,
    weight: ir.Value | None,
    bias: ir.Value | None,
    mean: ir.Value | None,
    variance: ir.Value | None,
    momentum: float,
    eps: float,
) -> tuple[ir.Value, ...]:
    """One node that keeps what its gradient needs: as `_native_batch_norm_legit_functional`."""
    channels = [b.size(x, 1)]
    kept = dtype_of(x) if mean is None else dtype_of(mean)
    result, new_mean, new_variance, average, inverse = b.op(
        "BatchNormTraining",
        x,
        _or_filled(b, weight, channels, 1, kept),
        _or_filled(b, bias, channels, 0, kept),
        _or_filled(b, mean, channels, 0, kept),
        _or_filled(b, variance, channels, 1, kept),
        domain=DOMAIN,
        epsilon=eps,
        momentum=momentum,
        outputs=5,
        dtype=[dtype_of(x), *[kept] * 4],
    )
    return result, average, inverse, new_mean, new_variance


def _of_batch(
    b: Builder, x: ir.Value, weight: ir.Value | None, bias: ir.Value | None, eps: float
) -> tuple[ir.Value, ir.Value, ir.Value, ir.Value]:
    """Normalized by the batch's own statistics; their mean, inverse spread and variance."""
    axes = [axis for axis in range(rank_of(x)) if axis != 1]
    spread, average = variance(b, x, axes, 0, False)
    channels = [b.size(x, 1)]
    scale = _or_filled(b, weight, channels, 1, dtype_of(x))
    offset = _or_filled(b, bias, channels, 0, dtype_of(x))
    result = b.BatchNormalization(x, scale, offset, average, spread, epsilon=eps)
    return result, average, b.Reciprocal(b.Sqrt(b.Add(spread, eps))), spread


@rule("_native_batch_norm_legit.no_stats")
def batch_norm_without_statistics(
    b: Builder,
    x: ir.Value,
    weight: ir.Value | None,
    bias: ir.Value | None,
    training: bool,
    momentum: float,
    eps: float,
) -> tuple[ir.Value, ...]:
    if b.training:
        return _for_training(b, x, weight, bias, None, None, momentum, eps)[:3]
    return _of_batch(b, x, weight, bias, eps)[:3]


@rule("_native_batch_norm_legit_functional", "_native_batch_norm_legit")
def batch_norm_training(
    b: Builder,
    x: ir.Value,
    weight: ir.Value | None,
    bias: ir.Value | None,
    mean: ir.Value,
    variance: ir.Value,
    training: bool,
    momentum: float,
    eps: float,
) -> tuple[ir.Value | None, ...]:
    if not training:
        return (
            *batch_norm(b, x, weight, bias, mean, variance, momentum, eps),
            None,
            None,
            mean,
            variance,
        )
    if b.training:
        return _for_training(b, x, weight, bias, mean, variance, momentum, eps)
    result, average, inverse, spread = _of_batch(b, x, weight, bias, eps)
    # The running variance is that of a sample, of n - 1.
    count = b.scalar(b.product(b.size(x, i) for i in range(rank_of(x)) if i != 1), dtype_of(x))
    sample = b.Div(b.Mul(spread, count), b.Sub(count, 1))
    running = [
        b.Add(b.Mul(old, 1 - momentum), b.Mul(b.cast(new, dtype_of(old)), momentum))
        for old, new in ((mean, average), (variance, sample))
    ]
    return result, average, inverse, *running
