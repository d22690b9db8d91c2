"""Arrays that are made of numbers, random ones too."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import onnx_ir as ir

from .._builder import Builder, Number, Size, static
from .._dtypes import FLOATS
from .._rule import rule
from .random import gaussian, uniform

_INT64 = ir.DataType.INT64
_RANGES = FLOATS | {ir.DataType.INT16, ir.DataType.INT32, _INT64}


@rule("full")
def full(
    b: Builder, size: Sequence[Size], fill_value: Number | ir.Value, *, dtype: object = None
) -> ir.Value:
    if isinstance(fill_value, ir.Value):
        return b.expand(b.cast(fill_value, b.out), size)
    return b.full(size, fill_value, b.out)


@rule("full_like", "fill.Scalar", "fill.Tensor")
def full_like(
    b: Builder, x: ir.Value, fill_value: Number | ir.Value, *, dtype: object = None
) -> ir.Value:
    return full(b, b.sizes(x), fill_value)


@rule("scalar_tensor")
def scalar_tensor(b: Builder, value: Number | ir.Value, *, dtype: object = None) -> ir.Value:
    return b.cast(value, b.out)


@rule("empty.memory_format", "empty_permuted", "empty_strided", "zeros")
def empty(
    b: Builder, size: Sequence[Size], order: object = None, *, dtype: object = None
) -> ir.Value:
    """What is not set has zeros, so that results repeat."""
    return b.full(size, 0, b.out)


@rule("ones")
def ones(b: Builder, size: Sequence[Size], *, dtype: object = None) -> ir.Value:
    return b.full(size, 1, b.out)


@rule("empty_like", "zeros_like")
def empty_like(b: Builder, x: ir.Value, *, dtype: object = None) -> ir.Value:
    return b.full(b.sizes(x), 0, b.out)


@rule("ones_like")
def ones_like(b: Builder, x: ir.Value, *, dtype: object = None) -> ir.Value:
    return b.full(b.sizes(x), 1, b.out)


@rule("arange.start_step")
def arange(
    b: Builder,
    start: Number | ir.Value,
    end: Number | ir.Value,
    step: Number | ir.Value = 1,
    *,
    dtype: object = None,
) -> ir.Value:
    limits = (start, end, step)
    if not any(isinstance(limit, ir.Value) for limit in limits):
        import torch

        known = torch.arange(start, end, step, dtype=b.results[0].dtype)
        if known.numel() <= 4096:
            values = known.float() if b.out == ir.DataType.BFLOAT16 else known
            return b.constant(values.numpy(), b.out)
    computed = b.out if b.out in _RANGES else _INT64
    return b.Range(*(b.cast(limit, computed) for limit in limits))


@rule("arange.start")
def arange_start(
    b: Builder, start: Number | ir.Value, end: Number | ir.Value, *, dtype: object = None
) -> ir.Value:
    return arange(b, start, end)


@rule("arange")
def arange_end(b: Builder, end: Number | ir.Value, *, dtype: object = None) -> ir.Value:
    return arange(b, 0, end)


@rule("tril_indices")
def tril_indices(
    b: Builder, row: int, col: int, offset: int = 0, *, dtype: object = None
) -> ir.Value:
    rows, columns = static([row, col], "the shape")
    return b.constant(np.stack(np.tril_indices(rows, offset, columns)), b.out)


@rule("triu_indices")
def triu_indices(
    b: Builder, row: int, col: int, offset: int = 0, *, dtype: object = None
) -> ir.Value:
    rows, columns = static([row, col], "the shape")
    return b.constant(np.stack(np.triu_indices(rows, offset, columns)), b.out)


@rule("rand")
def rand(b: Builder, size: Sequence[Size], *, dtype: object = None) -> ir.Value:
    return uniform(b, size)


@rule("rand_like")
def rand_like(b: Builder, x: ir.Value, *, dtype: object = None) -> ir.Value:
    return uniform(b, b.sizes(x))


@rule("randn")
def randn(b: Builder, size: Sequence[Size], *, dtype: object = None) -> ir.Value:
    return gaussian(b, size)


@rule("randn_like")
def randn_like(b: Builder, x: ir.Value, *, dtype: object = None) -> ir.Value:
    return gaussian(b, b.sizes(x))


@rule("randperm")
def randperm(b: Builder, n: Size, *, dtype: object = None) -> ir.Value:
    keys = uniform(b, [n], ir.DataType.FLOAT)
    order = b.op("TopK", keys, b.vector([n]), outputs=2, dtype=[ir.DataType.FLOAT, _INT64])[1]
    return b.cast(order, b.out)


@rule("normal.float_float")
def normal(
    b: Builder,
    mean: float,
    std: float,
    size: Sequence[Size],
    *,
    generator: object = None,
    dtype: object = None,
) -> ir.Value:
    return gaussian(b, size, float(mean), float(std))


@rule("exponential")
def exponential(b: Builder, x: ir.Value, lambd: float = 1.0, generator: object = None) -> ir.Value:
    drawn = uniform(b, b.sizes(x))
    return b.Div(b.Neg(b.Log(b.Sub(b.constant(1, b.out), drawn))), float(lambd))
