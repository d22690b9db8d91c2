"""Convolutions, and what unfolds windows."""

from __future__ import annotations

from collections.abc import Sequence

import onnx_ir as ir

from .._builder import Builder, Size, rank_of, static
from .._rule import rule


def each(values: Sequence[int], count: int) -> list[int]:
    """A setting for each spatial axis, of which torch lets one stand for all."""
    known = static(values, "a setting of the window")
    return known * count if len(known) == 1 else known


@rule("convolution")
def convolution(
    b: Builder,
    x: ir.Value,
    weight: ir.Value,
    bias: ir.Value | None,
    stride: Sequence[int],
    padding: Sequence[Size],
    dilation: Sequence[int],
    transposed: bool,
    output_padding: Sequence[int],
    groups: int,
) -> ir.Value:
    spatial = rank_of(weight) - 2
    pads = each(padding, spatial)  # type: ignore[arg-type]
    settings: dict[str, object] = {
        "strides": each(stride, spatial),
        "pads": pads * 2,
        "dilations": each(dilation, spatial),
        "group": groups,
        "kernel_shape": static(weight.shape or (), "the size of the kernel")[2:],
    }
    if not transposed:
        return b.Conv(x, weight, bias, **settings)
    return b.ConvTranspose(
        x, weight, bias, output_padding=each(output_padding, spatial), **settings
    )


@rule("col2im")
def col2im(
    b: Builder,
    x: ir.Value,
    output_size: Sequence[Size],
    kernel_size: Sequence[int],
    dilation: Sequence[int],
    padding: Sequence[int],
    stride: Sequence[int],
) -> ir.Value:
    unbatched = rank_of(x) == 2
    result = b.Col2Im(
        b.Unsqueeze(x, [0]) if unbatched else x,
        b.vector(output_size),
        b.ints(each(kernel_size, 2)),
        dilations=each(dilation, 2),
        pads=each(padding, 2) * 2,
        strides=each(stride, 2),
    )
    return b.Squeeze(result, [0]) if unbatched else result


@rule("im2col")
def im2col(
    b: Builder,
    x: ir.Value,
    kernel_size: Sequence[int],
    dilation: Sequence[int],
    padding: Sequence[int],
    stride: Sequence[int],
) -> ir.Value:
    if rank_of(x) == 3:
        return b.Squeeze(im2col(b, b.with_axis(x), kernel_size, dilation, padding, stride), [0])
    kernel, gaps, pads, steps = (each(v, 2) for v in (kernel_size, dilation, padding, stride))
    channels = b.size(x, 1)
    lengths = [b.size(x, axis) for axis in (2, 3)]
    if any(pads):
        x = b.Pad(x, [0, 0, *pads, 0, 0, *pads])
    windows = []
    counts: list[Size] = []
    for axis in (0, 1):
        reach = gaps[axis] * (kernel[axis] - 1) + 1
        length = b.plus(lengths[axis], 2 * pads[axis] - reach)
        count: Size = (
            length // steps[axis] + 1
            if isinstance(length, int)
            else b.plus(b.Div(length, steps[axis]), 1)
        )
        counts.append(count)
        first = b.times(b.range(0, count), steps[axis])
        offsets = b.constant([[i * gaps[axis]] for i in range(kernel[axis])], ir.DataType.INT64)
        windows.append(b.Add(offsets, first))
    # Rows, then columns, of each window: N, C, kernel rows, rows, kernel columns, columns.
    gathered = b.Gather(b.Gather(x, windows[0], axis=2), windows[1], axis=4)
    ordered = b.Transpose(gathered, perm=[0, 1, 2, 4, 3, 5])
    rows = b.times(channels, kernel[0] * kernel[1])
    return b.Reshape(ordered, b.vector([0, rows, b.product(counts)]))
