"""Interpolation and sampling of images."""

from __future__ import annotations

from collections.abc import Sequence

import onnx_ir as ir

from .._builder import Builder, Size
from .._rule import Unsupported, rule


def _resize(
    b: Builder,
    x: ir.Value,
    output_size: Sequence[Size] | None,
    scale_factors: Sequence[float] | None,
    **attributes: object,
) -> ir.Value:
    corners = attributes["coordinate_transformation_mode"] == "align_corners"
    if scale_factors is not None and output_size is None and not corners:
        scales = b.constant([1.0, 1.0, *scale_factors], ir.DataType.FLOAT)
        return b.Resize(x, None, scales, **attributes)
    sizes = output_size
    if sizes is None:
        # Corners are aligned with the whole number of elements, whatever the factor is.
        assert scale_factors is not None
        sizes = [_scaled(b, b.size(x, axis), by) for axis, by in enumerate(scale_factors, 2)]
    whole = b.vector([b.size(x, 0), b.size(x, 1), *sizes])
    return b.Resize(x, None, None, whole, **attributes)


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
    return _resize(
        b,
        x,
        output_size,
        scale_factors,
        mode="nearest",
        nearest_mode="round_prefer_ceil",
        coordinate_transformation_mode="half_pixel",
    )


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
    return b.GridSample(
        x,
        grid,
        mode=_SAMPLING[interpolation_mode],
        padding_mode=_PADDING[padding_mode],
        align_corners=int(align_corners),
    )
