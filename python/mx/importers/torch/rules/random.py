"""Elements that are random, and values that no gradient goes through."""

from __future__ import annotations

from collections.abc import Sequence

import onnx_ir as ir

from ..._training import DOMAIN
from .._builder import Builder, Size, dtype_of
from .._rule import rule


def uniform(
    b: Builder,
    size: Sequence[Size],
    dtype: ir.DataType | None = None,
    low: float = 0.0,
    high: float = 1.0,
) -> ir.Value:
    """Random numbers from `low` to below `high`."""
    dtype = b.out if dtype is None else dtype
    if b.training:  # they follow from the seed of a call, as dropout does
        return b.cast(b.training.uniform(b, size, low, high), dtype)
    drawn = b.RandomUniformLike(b.full(size or [1], 0, dtype), low=low, high=high)
    return drawn if size else b.reshape(drawn, [])  # onnx's reference draws no 0-d arrays


def gaussian(b: Builder, size: Sequence[Size], mean: float = 0.0, scale: float = 1.0) -> ir.Value:
    """Random numbers that are normally distributed."""
    if b.training:
        return b.cast(b.training.normal(b, size, mean, scale), b.out)
    drawn = b.RandomNormalLike(b.full(size or [1], 0, b.out), mean=mean, scale=scale)
    return drawn if size else b.reshape(drawn, [])


@rule("native_dropout")
def dropout(b: Builder, x: ir.Value, p: float, train: bool | None) -> tuple[ir.Value, ir.Value]:
    if not train or p == 0:
        return x, b.full(b.sizes(x), True, ir.DataType.BOOL)
    return _dropped(b, x, p)


def dropped(b: Builder, x: ir.Value, p: float) -> ir.Value:
    """The value with a part of its elements set to zero, and the others made larger by as much."""
    result, _ = _dropped(b, x, p)
    result.shape = x.shape
    return result


def _dropped(b: Builder, x: ir.Value, p: float) -> tuple[ir.Value, ir.Value]:
    types = [dtype_of(x), ir.DataType.BOOL]
    if b.training:
        seed = b.training.stream(b)
        result, mask = b.op(
            "DropoutTraining", x, seed, ratio=float(p), domain=DOMAIN, outputs=2, dtype=types
        )
    else:
        ratio, on = b.constant(p, ir.DataType.FLOAT), b.constant(True, ir.DataType.BOOL)
        result, mask = b.op("Dropout", x, ratio, on, outputs=2, dtype=types)
    return result, mask


@rule("bernoulli.p")
def bernoulli(b: Builder, x: ir.Value, p: float = 0.5) -> ir.Value:
    if b.training:
        return b.cast(_dropped(b, x, 1 - p)[1], dtype_of(x))
    return b.cast(b.Less(uniform(b, b.sizes(x), ir.DataType.FLOAT), p), dtype_of(x))


@rule("detach", "detach_")
def detach(b: Builder, x: ir.Value) -> ir.Value:
    is_constant = b.training is None or dtype_of(x).is_integer()
    return x if is_constant else b.op("StopGradient", x, domain=DOMAIN)[0]
