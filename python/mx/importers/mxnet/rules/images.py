"""Enlarging, cutting and sampling images."""

from __future__ import annotations

import onnx_ir as ir

from ..expansion import Expansion
from ..table import Names, Parameters, Shape, optional, register, required


def _images(p: Parameters) -> Names:
    if p.sample_type == "bilinear":
        return ("data", "weight")
    return tuple(f"arg{i}" for i in range(p.num_args))


def _bilinear_kernel(p: Parameters) -> int:
    return int(2 * p.scale - p.scale % 2)


def _enlarging_shapes(p: Parameters, known: dict[str, Shape]) -> dict[str, Shape | None]:
    k = _bilinear_kernel(p)
    return {"weight": (p.num_filter, 1, k, k)} if p.sample_type == "bilinear" else {}


@register(
    "UpSampling",
    "Enlarges images by a whole number: by repeating pixels or with the weights of a filter.",
    [
        required("scale", "int"),
        optional("num_filter", "int", 0),
        required("sample_type", "str", "nearest", "bilinear"),
        optional("multi_input_mode", "str", "concat", "concat", "sum"),
        required("num_args", "int"),
        optional("workspace", "int", 512),
    ],
    _images,
    shapes=_enlarging_shapes,
    initial={"weight": '["bilinear", {}]'},
    variadic=True,
)
def upsampling(x: Expansion) -> ir.Value:
    scale = x.p.scale
    if x.p.sample_type == "bilinear":
        data, weight = x.inputs
        pad = -(-(scale - 1) // 2)
        return x.op(
            "ConvTranspose",
            data,
            weight,
            kernel_shape=[_bilinear_kernel(x.p)] * 2,
            strides=[scale] * 2,
            pads=[pad] * 4,
            group=x.p.num_filter,
        )
    made = [_repeated(x, x.inputs[0], scale)]
    for value in x.inputs[1:]:
        # All become as large as the first, whatever they were.
        factor = scale * x.dimension(x.inputs[0], 2) // x.dimension(value, 2)
        made.append(_repeated(x, value, factor))
    if len(made) == 1:
        return made[0]
    return x.op("Sum", *made) if x.p.multi_input_mode == "sum" else x.op("Concat", *made, axis=1)


def _repeated(x: Expansion, value: ir.Value, scale: int) -> ir.Value:
    scales = x.constant([1.0, 1.0, scale, scale], ir.DataType.FLOAT)
    return x.op(
        "Resize",
        value,
        None,
        scales,
        mode="nearest",
        coordinate_transformation_mode="asymmetric",
        nearest_mode="floor",
    )


def _resized(p: Parameters) -> Names:
    return ("data", "like") if p.mode == "like" else ("data",)


@register(
    "_contrib_BilinearResize2D",
    "Images of another size, between whose pixels is interpolated.",
    [
        optional("height", "int", 1),
        optional("width", "int", 1),
        optional("scale_height", "float"),
        optional("scale_width", "float"),
        optional("mode", "str", "size", "size", "like"),
        optional("align_corners", "bool", True),
    ],
    _resized,
)
def bilinear_resize(x: Expansion) -> ir.Value:
    data = x.inputs[0]
    if x.p.mode == "like":
        height, width = (x.size_along(x.inputs[1], axis) for axis in (2, 3))
    elif x.p.scale_height is not None:
        scales = (x.p.scale_height, x.p.scale_width)
        height, width = (
            x.ints(int(x.dimension(data, 2 + i) * scale)) for i, scale in enumerate(scales)
        )
    else:
        height, width = x.ints(x.p.height), x.ints(x.p.width)
    sizes = x.op("Concat", x.size_along(data, 0), x.size_along(data, 1), height, width, axis=0)
    mode = "align_corners" if x.p.align_corners else "half_pixel"
    return x.op(
        "Resize", data, None, None, sizes, mode="linear", coordinate_transformation_mode=mode
    )


def _cropped(p: Parameters) -> Names:
    return ("data", "crop_like")[: p.num_args] if p.num_args < 3 else ("data", "crop_like", "arg2")


@register(
    "Crop",
    "A part of images: of the size h_w or that of another array, at an offset or in the middle.",
    [
        required("num_args", "int"),
        optional("offset", "ints", (0, 0)),
        optional("h_w", "ints", (0, 0)),
        optional("center_crop", "bool", False),
    ],
    _cropped,
    variadic=True,
)
def crop(x: Expansion) -> ir.Value:
    data = x.inputs[0]
    if x.p.num_args == 1:
        sizes = list(x.p.h_w)
    else:
        sizes = [x.dimension(x.inputs[1], axis) for axis in (2, 3)]
    starts = list(x.p.offset)
    if x.p.center_crop:
        starts = [(x.dimension(data, 2 + i) - n) // 2 for i, n in enumerate(sizes)]
    ends = [start + n for start, n in zip(starts, sizes, strict=True)]
    return x.slice(data, starts, ends, [2, 3])


@register(
    "ROIPooling",
    "The maxima of a grid of pooled_size on regions of images.",
    [required("pooled_size", "ints"), required("spatial_scale", "float")],
    "data rois",
)
def roi_pooling(x: Expansion) -> ir.Value:
    return x.op(
        "MaxRoiPool",
        *x.inputs,
        pooled_shape=x.p.pooled_size,
        spatial_scale=x.p.spatial_scale,
    )


@register(
    "_contrib_ROIAlign",
    "The means of a grid of pooled_size on regions of images, interpolated between pixels.",
    [
        required("pooled_size", "ints"),
        required("spatial_scale", "float"),
        optional("sample_ratio", "int", -1),
        optional("position_sensitive", "bool", False),
        optional("aligned", "bool", False),
    ],
    "data rois",
    aliases="_npx_roi_align",
)
def roi_align(x: Expansion) -> ir.Value:
    data, rois = x.inputs
    if x.p.position_sensitive:
        raise x.error("expected position_sensitive=False")
    image = x.squeeze(x.slice(rois, [0], [1], [1]), 1)
    height, width = x.p.pooled_size
    return x.op(
        "RoiAlign",
        data,
        x.slice(rois, [1], [5], [1]),
        x.cast(image, ir.DataType.INT64),
        coordinate_transformation_mode="half_pixel" if x.p.aligned else "output_half_pixel",
        output_height=height,
        output_width=width,
        sampling_ratio=max(x.p.sample_ratio, 0),
        spatial_scale=x.p.spatial_scale,
    )


@register(
    "BilinearSampler",
    "The data at the positions that a grid of (batch, 2, height, width) has, from -1 to 1.",
    [optional("cudnn_off", "bool", False)],
    "data grid",
)
def bilinear_sampler(x: Expansion) -> ir.Value:
    data, grid = x.inputs
    return x.op(
        "GridSample",
        data,
        x.transpose(grid, [0, 2, 3, 1]),
        mode="linear",
        padding_mode="zeros",
        align_corners=1,
    )


def _grid(x: Expansion, loc: ir.Value, batch: ir.Value, size: tuple[int, ...]) -> ir.Value:
    """(batch, height, width, 2): where the pixels of an image are in one that is transformed."""
    height, width = size
    sizes = x.op("Concat", batch, x.ints(1, height, width), axis=0)
    return x.op("AffineGrid", x.reshape(loc, [-1, 2, 3]), sizes, align_corners=1)


@register(
    "GridGenerator",
    "Where the pixels of target_shape are in an image, from -1 to 1: by an affine transform.",
    [
        required("transform_type", "str", "affine"),
        optional("target_shape", "ints", (0, 0)),
    ],
)
def grid_generator(x: Expansion) -> ir.Value:
    (loc,) = x.inputs
    grid = _grid(x, loc, x.size_along(loc, 0), x.p.target_shape)
    return x.op("Transpose", grid, perm=[0, 3, 1, 2])


@register(
    "SpatialTransformer",
    "The data at the positions that an affine transform gives the pixels of target_shape.",
    [
        optional("target_shape", "ints", (0, 0)),
        required("transform_type", "str", "affine"),
        required("sampler_type", "str", "bilinear"),
        optional("cudnn_off", "bool", False),
    ],
    "data loc",
)
def spatial_transformer(x: Expansion) -> ir.Value:
    data, loc = x.inputs
    return x.op(
        "GridSample",
        data,
        _grid(x, loc, x.size_along(data, 0), x.p.target_shape),
        mode="linear",
        padding_mode="zeros",
        align_corners=1,
    )
