"""Pooling, kept whole where ONNX has it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod

import numpy as np
import onnx_ir as ir

from .._builder import Builder, Size, dtype_of, rank_of, shape_of, static
from .._dtypes import FLOATS
from .._rule import Unsupported, rule
from .convolution import each

_INT64 = ir.DataType.INT64


def _batched(
    b: Builder, x: ir.Value, spatial: int, write: Callable[[ir.Value], Sequence[ir.Value]]
) -> Sequence[ir.Value]:
    """What `write` gives for images with a batch axis, which torch lets be left out."""
    if rank_of(x) == spatial + 2:
        return write(x)
    return [b.Squeeze(result, [0]) for result in write(b.with_axis(x))]


def _max_pool(
    b: Builder,
    spatial: int,
    outputs: int,
    x: ir.Value,
    kernel_size: Sequence[int],
    stride: Sequence[int] = (),
    padding: Sequence[int] = (0,),
    dilation: Sequence[int] = (1,),
    ceil_mode: bool = False,
) -> Sequence[ir.Value]:
    if dtype_of(x) not in FLOATS | {ir.DataType.INT8, ir.DataType.UINT8}:
        raise Unsupported(f"elements of {dtype_of(x).name.lower()}")
    kernel = each(kernel_size, spatial)

    def write(x: ir.Value) -> Sequence[ir.Value]:
        results = b.op(
            "MaxPool",
            x,
            kernel_shape=kernel,
            strides=each(stride or kernel, spatial),
            pads=each(padding, spatial) * 2,
            dilations=each(dilation, spatial),
            ceil_mode=int(ceil_mode),
            outputs=outputs,
            dtype=[dtype_of(x), _INT64][:outputs],
        )
        if outputs == 1:
            return results
        # ONNX counts from the first element of the batch, torch from that of the channel.
        size = b.product(b.size(x, axis) for axis in range(2, 2 + spatial))
        return results[0], b.Mod(results[1], b.scalar(size))

    return _batched(b, x, spatial, write)


def _avg_pool(
    b: Builder,
    spatial: int,
    x: ir.Value,
    kernel_size: Sequence[int],
    stride: Sequence[int] = (),
    padding: Sequence[int] = (0,),
    ceil_mode: bool = False,
    count_include_pad: bool = True,
    divisor_override: int | None = None,
) -> ir.Value:
    kernel = each(kernel_size, spatial)
    pads = each(padding, spatial)
    if dtype_of(x) not in FLOATS:
        raise Unsupported("averages of integers")
    if divisor_override is not None and ceil_mode:
        raise Unsupported("divisor_override together with ceil_mode")

    def write(x: ir.Value) -> Sequence[ir.Value]:
        result = b.AveragePool(
            x,
            kernel_shape=kernel,
            strides=each(stride or kernel, spatial),
            pads=pads * 2,
            ceil_mode=int(ceil_mode),
            count_include_pad=int(count_include_pad or divisor_override is not None),
        )
        if divisor_override is not None:
            result = b.Mul(result, prod(kernel) / divisor_override)
        return [result]

    return _batched(b, x, spatial, write)[0]


def _register(spatial: int) -> None:
    """Pooling over so many axes."""

    @rule(f"max_pool{spatial}d")
    def max_pool(b: Builder, x: ir.Value, *args: object, **kwargs: object) -> ir.Value:
        return _max_pool(b, spatial, 1, x, *args, **kwargs)[0]  # type: ignore[arg-type]

    @rule(f"max_pool{spatial}d_with_indices")
    def max_pool_with_indices(
        b: Builder, x: ir.Value, *args: object, **kwargs: object
    ) -> Sequence[ir.Value]:
        return _max_pool(b, spatial, 2, x, *args, **kwargs)  # type: ignore[arg-type]

    @rule(f"avg_pool{spatial}d")
    def avg_pool(b: Builder, x: ir.Value, *args: object, **kwargs: object) -> ir.Value:
        return _avg_pool(b, spatial, x, *args, **kwargs)  # type: ignore[arg-type]

    @rule(f"adaptive_avg_pool{spatial}d")
    def adaptive_avg_pool(b: Builder, x: ir.Value, output_size: Sequence[Size]) -> ir.Value:
        return _adaptive_avg_pool(b, spatial, x, output_size)

    @rule(f"adaptive_max_pool{spatial}d")
    def adaptive_max_pool(
        b: Builder, x: ir.Value, output_size: Sequence[Size]
    ) -> Sequence[ir.Value]:
        return _adaptive_max_pool(b, spatial, x, output_size)

    if spatial > 1:
        rule(f"_adaptive_avg_pool{spatial}d")(adaptive_avg_pool)


for _spatial in (1, 2, 3):
    _register(_spatial)


def _windows(length: int, count: int) -> list[tuple[int, int]]:
    """Where the windows of an adaptive pooling begin and end."""
    return [(i * length // count, -(-(i + 1) * length // count)) for i in range(count)]


def _even(lengths: Sequence[int], counts: Sequence[int]) -> bool:
    return all(count and length % count == 0 for length, count in zip(lengths, counts, strict=True))


def _adaptive_avg_pool(
    b: Builder, spatial: int, x: ir.Value, output_size: Sequence[Size]
) -> ir.Value:
    if all(count == 1 for count in output_size):
        return _batched(b, x, spatial, lambda x: [b.GlobalAveragePool(x)])[0]
    lengths = static(shape_of(x)[-spatial:], "the size of the image")
    counts = static(output_size, "the size of the result")
    if _even(lengths, counts):
        kernel = [length // count for length, count in zip(lengths, counts, strict=True)]
        return _avg_pool(b, spatial, x, kernel)
    # A product with the weights of each element in each window, axis after axis.
    rank = rank_of(x)
    for axis, (length, count) in enumerate(zip(lengths, counts, strict=True), rank - spatial):
        weights = np.zeros((length, count))
        for i, (start, end) in enumerate(_windows(length, count)):
            weights[start:end, i] = 1 / (end - start)
        order = [i for i in range(rank) if i != axis] + [axis]
        product = b.MatMul(b.transpose(x, order), b.constant(weights, dtype_of(x)))
        x = b.transpose(product, sorted(range(rank), key=order.__getitem__))
    return x


def _adaptive_max_pool(
    b: Builder, spatial: int, x: ir.Value, output_size: Sequence[Size]
) -> Sequence[ir.Value]:
    lengths = static(shape_of(x)[-spatial:], "the size of the image")
    counts = static(output_size, "the size of the result")
    if _even(lengths, counts):
        kernel = [length // count for length, count in zip(lengths, counts, strict=True)]
        return _max_pool(b, spatial, 2, x, kernel)
    if any(length == 0 for length in lengths):
        raise Unsupported("an image without elements")
    # The elements of each window along a last axis, the last of a shorter one several times, and
    # where they are in the image.
    rank = rank_of(x)
    where = np.arange(prod(lengths)).reshape(lengths)
    elements = x
    for i, (length, count) in enumerate(zip(lengths, counts, strict=True)):
        windows = _windows(length, count)
        longest = max((end - start for start, end in windows), default=1)
        taken = np.array(
            [[min(start + j, end - 1) for j in range(longest)] for start, end in windows],
            dtype=np.int64,
        ).reshape(count, longest)
        where = where.take(taken, axis=2 * i)
        elements = b.Gather(elements, b.constant(taken, _INT64), axis=rank - spatial + 2 * i)
    order = [2 * i for i in range(spatial)] + [2 * i + 1 for i in range(spatial)]
    batch = list(range(rank - spatial))
    elements = b.transpose(elements, batch + [len(batch) + axis for axis in order])
    windows_of = [b.size(x, axis) for axis in batch] + counts
    members = prod(where.shape[1::2])
    elements = b.Reshape(elements, b.vector([*windows_of, members]))
    # The first of equal elements, which has the gradient; of several NaN the last one.
    first = b.ArgMax(elements, axis=rank, keepdims=1)
    if dtype_of(x).is_floating_point():
        unknown = b.cast(b.IsNaN(elements), _INT64)
        last = b.ArgMax(unknown, axis=rank, keepdims=1, select_last_index=1)
        first = b.Where(b.GatherElements(b.IsNaN(elements), last, axis=rank), last, first)
    chosen = b.Squeeze(b.GatherElements(elements, first, axis=rank), [-1])
    table = b.constant(where.transpose(order).reshape([*counts, members]), _INT64)
    table = b.Expand(table, b.Shape(elements))
    return chosen, b.Squeeze(b.GatherElements(table, first, axis=rank), [-1])
