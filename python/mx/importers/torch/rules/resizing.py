"""Interpolation and sampling of images."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import onnx_ir as ir

from .._builder import Builder, Size, dtype_of, rank_of
from .._rule import Unsupported, rule


def _resize(
    b: Builder,
    x: ir.Value,
    output_size: Sequence[Size] | None,
    scale_factors: Sequence[float] | None,
    **attributes: object,
) -> ir.Value:
    if 0 in b.result_shape()[2:] or 0 in b.sizes(x)[2:]:
        raise Unsupported("images of no rows or columns")
    corners = attributes["coordinate_transformation_mode"] == "align_corners"
    by_scales = scale_factors is not None and output_size is None and not corners
    # For all axes: what resizes none of them, and what is wanted.
    target: list[Any] = [1.0] * rank_of(x) if by_scales else b.sizes(x)
    wanted: list[Any]
    if by_scales:
        copies = attributes["mode"] != "cubic" or "antialias" in attributes
        wanted = [
            _scale(length, factor, copies=copies)
            for length, factor in zip(b.sizes(x)[2:], scale_factors or (), strict=True)
        ]
    elif output_size is not None:
        wanted = list(output_size)
    else:
        # Corners are aligned with the whole number of elements, whatever the factor is.
        wanted = [_scaled(b, b.size(x, n), by) for n, by in enumerate(scale_factors or (), 2)]

    def resized(x: ir.Value) -> ir.Value:
        if by_scales:
            return b.Resize(x, None, b.constant(target, ir.DataType.FLOAT), **attributes)
        return b.Resize(x, None, None, b.vector(target), **attributes)

    if attributes["mode"] == "nearest" or dtype_of(x) != ir.DataType.UINT8:
        target[2:] = wanted
        return resized(x)
    # Of bytes torch resizes one axis after the other, and makes bytes of what comes each time.
    made = b.cast(x, ir.DataType.FLOAT)
    for axis in reversed(range(len(wanted))):
        target[axis + 2] = wanted[axis]
        made = b.Clip(b.Floor(b.Add(resized(made), 0.5)), 0.0, 255.0)
        target[axis + 2] = 1.0 if by_scales else wanted[axis]
    return b.cast(made, ir.DataType.UINT8)


def _scale(length: Size, factor: float, *, copies: bool) -> float:
    """The factor as float32, rounded so that as many elements are made as torch makes: 0.9 rounded
    down would make 17 of 20, and not 18. Where as many are made, some modes copy them."""
    near = np.float32(factor)
    above = float(near if float(near) >= factor else np.nextafter(near, np.float32(np.inf)))
    if not isinstance(length, int):
        return above
    below = float(near if float(near) <= factor else np.nextafter(near, np.float32(0)))
    size = int(length * factor)
    if copies and size == length:
        return 1.0
    return above if int(length * above) == size else below


def _scaled(b: Builder, length: Size, factor: float) -> Size:
    if isinstance(length, int):
        return int(length * factor)
    product = b.Mul(b.cast(length, ir.DataType.DOUBLE), factor)
    return b.cast(b.Floor(product), ir.DataType.INT64)


@rule("upsample_nearest1d.vec", "upsample_nearest2d.vec", "upsample_nearest3d.vec")
def nearest(
    b: Builder,
    x: ir.Value,
    output_size: Sequence[Size] | None,
    scale_factors: Sequence[float] | None,
) -> ir.Value:
    if not _is_even(b, x, output_size, scale_factors):
        return _chosen(b, x, output_size, scale_factors, 0)
    return _resize(
        b,
        x,
        output_size,
        scale_factors,
        mode="nearest",
        nearest_mode="floor",
        coordinate_transformation_mode="asymmetric",
    )


@rule(
    "_upsample_nearest_exact1d.vec",
    "_upsample_nearest_exact2d.vec",
    "_upsample_nearest_exact3d.vec",
)
def nearest_exact(
    b: Builder,
    x: ir.Value,
    output_size: Sequence[Size] | None,
    scale_factors: Sequence[float] | None,
) -> ir.Value:
    if not _is_even(b, x, output_size, scale_factors):
        return _chosen(b, x, output_size, scale_factors, 0.5)
    return _resize(
        b,
        x,
        output_size,
        scale_factors,
        mode="nearest",
        nearest_mode="round_prefer_ceil",
        coordinate_transformation_mode="half_pixel",
    )


def _is_even(
    b: Builder,
    x: ir.Value,
    output_size: Sequence[Size] | None,
    scale_factors: Sequence[float] | None,
) -> bool:
    """Whether each element is repeated, or every n-th taken, so that no rounding chooses."""
    if output_size is None:
        return all(factor in (0.25, 0.5) or factor % 1 == 0 for factor in scale_factors or ())
    lengths = [(b.size(x, axis), size) for axis, size in enumerate(output_size, 2)]
    return all(
        isinstance(length, int) and isinstance(size, int) and 0 in (length % size, size % length)
        for length, size in lengths
    )


def _chosen(
    b: Builder,
    x: ir.Value,
    output_size: Sequence[Size] | None,
    scale_factors: Sequence[float] | None,
    offset: float,
) -> ir.Value:
    """The elements that torch takes: it multiplies by the inverse, which is rounded otherwise than
    the division of ONNX where a quotient is about a whole number."""
    dtype = ir.DataType.DOUBLE if dtype_of(x) == ir.DataType.DOUBLE else ir.DataType.FLOAT
    for index in range(rank_of(x) - 2):
        length = b.size(x, index + 2)
        factor = scale_factors[index] if scale_factors else None
        size = (output_size or ())[index] if factor is None else _scaled(b, length, factor)
        whole = b.cast(b.scalar(length), dtype)
        step = b.Div(whole, b.cast(b.scalar(size), dtype))
        if factor is not None:
            # Where what is made is as long or twice as long, the factor does not count.
            once, twice = (b.Equal(b.scalar(size), b.scalar(b.times(length, n))) for n in (1, 2))
            counts = b.Or(once, twice) if offset == 0 else b.constant(False, ir.DataType.BOOL)
            step = b.Where(counts, step, b.constant(1 / factor, dtype))
        at = b.cast(b.range(0, size), dtype)
        near = b.cast(b.Floor(b.Mul(b.Add(at, offset) if offset else at, step)), ir.DataType.INT64)
        others = [b.size(x, axis) for axis in range(rank_of(x))]
        x = b.Gather(x, b.Min(near, b.minus(length, 1)), axis=index + 2)
        x.shape = ir.Shape(
            [
                extent if isinstance(extent, int) else None
                for extent in (*others[: index + 2], size, *others[index + 3 :])
            ]
        )
    return x


def _coordinates(align_corners: bool) -> str:
    return "align_corners" if align_corners else "half_pixel"


@rule("upsample_linear1d.vec", "upsample_bilinear2d.vec", "upsample_trilinear3d.vec")
def linear(
    b: Builder,
    x: ir.Value,
    output_size: Sequence[Size] | None,
    align_corners: bool,
    scale_factors: Sequence[float] | None,
) -> ir.Value:
    return _resize(
        b,
        x,
        output_size,
        scale_factors,
        mode="linear",
        coordinate_transformation_mode=_coordinates(align_corners),
    )


@rule("upsample_bicubic2d.vec")
def cubic(
    b: Builder,
    x: ir.Value,
    output_size: Sequence[Size] | None,
    align_corners: bool,
    scale_factors: Sequence[float] | None,
) -> ir.Value:
    return _resize(
        b,
        x,
        output_size,
        scale_factors,
        mode="cubic",
        cubic_coeff_a=-0.75,
        coordinate_transformation_mode=_coordinates(align_corners),
    )


@rule("_upsample_bilinear2d_aa.vec")
def linear_antialiased(
    b: Builder,
    x: ir.Value,
    output_size: Sequence[Size] | None,
    align_corners: bool,
    scale_factors: Sequence[float] | None,
) -> ir.Value:
    if align_corners:
        raise Unsupported("align_corners together with antialias")
    return _resize(
        b,
        x,
        output_size,
        scale_factors,
        mode="linear",
        antialias=1,
        exclude_outside=1,
        coordinate_transformation_mode="half_pixel",
    )


@rule("_upsample_bicubic2d_aa.vec")
def cubic_antialiased(
    b: Builder,
    x: ir.Value,
    output_size: Sequence[Size] | None,
    align_corners: bool,
    scale_factors: Sequence[float] | None,
) -> ir.Value:
    if align_corners:
        raise Unsupported("align_corners together with antialias")
    return _resize(
        b,
        x,
        output_size,
        scale_factors,
        mode="cubic",
        antialias=1,
        exclude_outside=1,
        cubic_coeff_a=-0.5,
        coordinate_transformation_mode="half_pixel",
    )


_SAMPLING = ("linear", "nearest", "cubic")
_PADDING = ("zeros", "border", "reflection")


@rule("grid_sampler_2d", "grid_sampler_3d", "grid_sampler")
def grid_sampler(
    b: Builder,
    x: ir.Value,
    grid: ir.Value,
    interpolation_mode: int,
    padding_mode: int,
    align_corners: bool,
) -> ir.Value:
    if (interpolation_mode, padding_mode) == (2, 1):
        x, grid = _with_edges(b, x, grid, align_corners)
    return b.GridSample(
        x,
        grid,
        mode=_SAMPLING[interpolation_mode],
        padding_mode=_PADDING[padding_mode],
        align_corners=int(align_corners),
    )


def _with_edges(
    b: Builder, x: ir.Value, grid: ir.Value, align_corners: bool
) -> tuple[ir.Value, ir.Value]:
    """An image with its edges repeated twice, and the grid for it.

    Outside of an image torch takes the edge for each element that a cubic needs, and ONNX takes the
    cubic at the edge: on the edges as they are repeated here the two are the same.
    """
    dtype = dtype_of(grid)
    less = int(align_corners)
    shares = []
    for axis in (3, 2):
        length = b.size(x, axis)
        part, whole = (b.scalar(b.plus(length, more - less)) for more in (0, 4))
        shares.append(b.Unsqueeze(b.Div(b.cast(part, dtype), b.cast(whole, dtype)), [0]))
    padded = b.Pad(x, [0, 0, 2, 2, 0, 0, 2, 2], mode="edge")
    return padded, b.Mul(grid, b.Concat(*shares, axis=0))
