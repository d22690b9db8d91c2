"""Operators of images and of windows: pools, convolutions, resizing, regions."""

from __future__ import annotations

from typing import Any

import numpy

from .draw import Draw, int64
from .table import cases


def _fit(d: Draw, schema: Any, extents: Any, kernel: Any) -> dict[str, Any]:
    """Strides, dilations and pads with which a window fits."""
    count = len(kernel)
    given: dict[str, Any] = d.given(strides=[d.between(1, 3) for _ in kernel])
    gaps = [1] * count
    if "dilations" in schema.attributes and d.chance(0.4):
        gaps = given["dilations"] = [d.between(1, 3) for _ in kernel]
    for i in range(count):
        while (kernel[i] - 1) * gaps[i] + 1 > extents[i] and kernel[i] > 1:
            kernel[i] -= 1
    auto = d.pick(None, None, None, "NOTSET", "SAME_UPPER", "SAME_LOWER", "VALID")
    if max(gaps) > 1 and auto and (auto.startswith("SAME") or schema.name == "LpPool"):
        auto = None  # the references take windows without gaps for that
    if auto:
        given["auto_pad"] = auto
    if auto in (None, "NOTSET") and d.chance():
        pads = [d.between(0, (kernel[i % count] - 1) * gaps[i % count]) for i in range(2 * count)]
        if schema.name.endswith("Pool"):
            pads = [min(one, kernel[i % count] - 1) for i, one in enumerate(pads)]
        given["pads"] = pads
    return given


def _image(d: Draw, least: int = 1, most: int = 3) -> tuple[int, ...]:
    """A batch of images of some axes."""
    spatial = [d.between(1, 9) for _ in range(d.between(least, most))]
    return (d.between(0 if d.chance(0.05) else 1, 2), d.between(1, 4), *spatial)


@cases("MaxPool", "AveragePool", "LpPool")
def _pool(d: Draw, schema: Any) -> tuple[Any, ...]:
    shape = _image(d)
    # Of NaN the reference makes something else.
    x = d.array(shape, d.dtype(schema), 0.0)
    kernel = [d.between(1, 4) for _ in shape[2:]]
    given = _fit(d, schema, shape[2:], kernel)
    given["kernel_shape"] = kernel
    for name in ("ceil_mode", "count_include_pad"):
        if name in schema.attributes:
            given |= d.given(**{name: d.between(0, 1)})
    if schema.name == "LpPool":
        given |= d.given(p=d.between(1, 3))
    outputs = 1
    if schema.name == "MaxPool" and schema.since_version >= 8:
        given |= d.given(0.3, storage_order=d.between(0, 1))
        outputs = d.pick(1, 2)
    return [x], given, outputs


@cases("GlobalAveragePool", "GlobalMaxPool", "GlobalLpPool")
def _global(d: Draw, schema: Any) -> tuple[Any, ...]:
    given = d.given(p=d.between(1, 3)) if schema.name == "GlobalLpPool" else {}
    return [d.array(_image(d), d.dtype(schema), 0.0)], given


@cases("Conv", "ConvInteger", "QLinearConv", "DeformConv")
def _conv(d: Draw, schema: Any) -> tuple[Any, ...]:
    name = schema.name
    n, _, *extents = _image(d) if name != "DeformConv" else _image(d, 2, 2)
    group, inside, outside = d.pick(1, 1, 2, 3), d.between(1, 4), d.between(1, 4)
    kernel = [d.between(1, 4) for _ in extents]
    given = _fit(d, schema, extents, kernel)
    if name == "DeformConv":
        given.pop("auto_pad", None)
    given |= {"group": group} if group > 1 else d.given(group=1)
    given |= d.given(kernel_shape=kernel)
    index = {"QLinearConv": 3}.get(name, 1)
    x = d.like(schema, (n, group * inside, *extents))
    w = d.like(schema, (group * outside, inside, *kernel), index)
    filters = group * outside
    if name == "Conv":
        return [x, w, d.maybe(lambda: d.like(schema, (filters,), 2))], given
    if name == "ConvInteger":
        zeros = d.pick((), (1,), (filters,))
        return [
            x, w, d.maybe(lambda: d.like(schema, (), 2)), d.maybe(lambda: d.like(schema, zeros, 3))
        ], given  # fmt: skip
    if name == "QLinearConv":
        each = d.pick((), (1,), (filters,))
        zero = d.like(schema, each, 5)
        bias = d.maybe(lambda: d.array((filters,), "int32", 0.0))
        return [
            x, d.positive((), "float32"), d.like(schema, (), 2),
            w, d.positive(each, "float32"), zero,
            d.positive((), "float32"), d.like(schema, (), 7), bias,
        ], given  # fmt: skip
    steps, gaps = given.get("strides", [1, 1]), given.get("dilations", [1, 1])
    pads = given.setdefault("pads", [0] * 4)
    out = [
        (extents[i] + pads[i] + pads[2 + i] - (kernel[i] - 1) * gaps[i] - 1) // steps[i] + 1
        for i in range(2)
    ]
    groups = d.pick(1, group)
    given |= {"offset_group": groups} if groups > 1 else {}
    size = groups * kernel[0] * kernel[1]
    offset = d.array((n, size * 2, *out), x.dtype.name, 0.0)
    bias = d.maybe(lambda: d.like(schema, (filters,), 3))
    mask = d.maybe(lambda: d.array((n, size, *out), x.dtype.name, 0.0))
    return [x, w, offset, bias, mask], given


@cases("ConvTranspose")
def _transposed(d: Draw, schema: Any) -> tuple[Any, ...]:
    n, _, *extents = _image(d)
    group, inside, outside = d.pick(1, 1, 2, 3), d.between(1, 3), d.between(1, 3)
    kernel = [d.between(1, 4) for _ in extents]
    count = len(kernel)
    given: dict[str, Any] = d.given(strides=[d.between(1, 3) for _ in kernel])
    given |= d.given(0.3, dilations=[d.between(1, 2) for _ in kernel])
    steps, gaps = given.get("strides", [1] * count), given.get("dilations", [1] * count)
    given |= {"group": group} if group > 1 else d.given(group=1)
    given |= d.given(kernel_shape=kernel)
    if d.chance(0.4):
        given["output_padding"] = [d.between(0, max(steps[i], gaps[i]) - 1) for i in range(count)]
    full = [(extents[i] - 1) * steps[i] + (kernel[i] - 1) * gaps[i] + 1 for i in range(count)]
    kind = d.between(0, 5)
    if kind == 0:
        given["auto_pad"] = d.pick("SAME_UPPER", "SAME_LOWER", "VALID", "NOTSET")
    elif kind == 1:
        given["output_shape"] = [d.between(max(1, one - 2), one) for one in full]
        given |= d.given(auto_pad=d.pick("SAME_UPPER", "SAME_LOWER", "NOTSET"))
    elif kind <= 3:
        pads = [d.between(0, 2) for _ in range(2 * count)]
        for i in range(count):
            if pads[i] + pads[count + i] >= full[i]:
                pads[i] = pads[count + i] = 0
        given["pads"] = pads
    x = d.array((n, group * inside, *extents), d.dtype(schema), 0.0)
    w = d.array((group * inside, outside, *kernel), x.dtype.name, 0.0)
    return [x, w, d.maybe(lambda: d.like(schema, (group * outside,), 2))], given


@cases("MaxUnpool")
def _unpool(d: Draw, schema: Any) -> tuple[Any, ...]:
    shape = (1, d.between(1, 3), d.between(1, 3), d.between(1, 3))
    x = d.like(schema, shape)
    steps = [d.between(1, 3) for _ in range(2)]
    given: dict[str, Any] = {"kernel_shape": [d.between(one, one + 1) for one in steps],
                             "strides": steps}  # fmt: skip
    out = [(shape[2 + i] - 1) * steps[i] + given["kernel_shape"][i] for i in range(2)]
    size = shape[1] * out[0] * out[1]
    indices = d.random.permutation(size)[: x.size].reshape(shape).astype("int64")
    inputs = [x, indices]
    if d.chance(0.4):
        more = (1, shape[1], out[0] + d.between(0, 2), out[1] + d.between(0, 2))
        inputs.append(int64(*more))
    return inputs, given, 1, frozenset({2}) if d.chance() else frozenset()


@cases("Resize", "Upsample")
def _resize(d: Draw, schema: Any) -> tuple[Any, ...]:
    since = schema.since_version
    rank = d.between(1, 4)
    shape = tuple(d.between(1, 8) for _ in range(rank))
    x = d.like(schema, shape, 0, "float32", "float16", "float64", "uint8", "int8", "int32")
    mode = d.pick("nearest", "linear", "cubic") if since > 10 else d.pick("nearest", "linear")
    given: dict[str, Any] = d.given(mode=mode) if mode == "nearest" else {"mode": mode}
    axes = list(range(rank))
    if since >= 18 and d.chance(0.4):
        axes = d.axes(rank, 1)
        given["axes"] = axes
    if mode != "nearest" and len(axes) > 2:
        shape_scales = [1.0] * (len(axes) - 2) + [
            d.pick(0.5, 0.75, 1.0, 1.5, 2.0, 3.0) for _ in "ab"
        ]
    else:
        shape_scales = [d.pick(0.5, 0.6, 1.0, 1.3, 2.0, 3.0) for _ in axes]
    shape_scales = [
        one if int(shape[axis] * one) >= 1 else 1.0
        for one, axis in zip(shape_scales, axes, strict=True)
    ]
    scales = numpy.array(shape_scales, "float32")
    if schema.name == "Upsample":
        scales = numpy.maximum(scales, 1)
        if since < 9:
            return [x], {**given, "scales": scales.tolist()}
        return [x, scales], given
    if since < 11:
        return [x, scales], given
    coordinates = ["half_pixel", "pytorch_half_pixel", "align_corners", "asymmetric"]
    coordinates += ["tf_crop_and_resize"] + (["half_pixel_symmetric"] if since >= 19 else [])
    coordinates += ["tf_half_pixel_for_nn"] if since < 13 else []
    given |= d.given(
        0.7,
        coordinate_transformation_mode=d.pick(*coordinates),
        nearest_mode=d.pick("round_prefer_floor", "round_prefer_ceil", "floor", "ceil"),
    )
    given |= d.given(0.3, exclude_outside=d.between(0, 1), cubic_coeff_a=-0.5)
    given |= d.given(0.3, extrapolation_value=d.pick(0.0, 3.0))
    if since >= 18:
        given |= d.given(0.3, antialias=d.between(0, 1) if mode != "nearest" else 0)
    roi = None
    if given.get("coordinate_transformation_mode") == "tf_crop_and_resize":
        begins = [d.pick(0.0, 0.2, 0.5, -0.25) for _ in axes]
        ends = [d.pick(1.0, 0.8, 0.6, 1.5) for _ in axes]
        roi = numpy.array(begins + ends, "float32")
    elif since < 13:
        roi = numpy.zeros(0, "float32")
    if d.chance():
        return [x, roi, scales], given
    sizes = int64(*[max(1, round(shape[a] * s)) for a, s in zip(axes, shape_scales, strict=True)])
    if since >= 18:
        given |= d.given(
            0.4, keep_aspect_ratio_policy=d.pick("stretch", "not_larger", "not_smaller")
        )
    return [x, roi, numpy.zeros(0, "float32") if since < 13 else None, sizes], given


@cases("GridSample")
def _grid_sample(d: Draw, schema: Any) -> tuple[Any, ...]:
    since = schema.since_version
    axes = 2 if since < 20 else d.between(2, 3)
    n, c, *extents = _image(d, axes, axes)
    x = d.array((n, c, *extents), d.dtype(schema, 0, "float32", "float64", "float16"), 0.05)
    out = [d.between(1, 4) for _ in extents]
    grid = (d.random.random((n, *out, axes)) * 3 - 1.5).astype(d.dtype(schema, 1))
    if since < 20:
        modes = ["bilinear", "nearest", "bicubic"]
    else:
        modes = ["linear", "nearest"] + (["cubic"] if axes == 2 else [])
    return [x, grid], d.given(
        mode=d.pick(*modes),
        padding_mode=d.pick("zeros", "border", "reflection"),
        align_corners=d.between(0, 1),
    )


@cases("RoiAlign")
def _roi_align(d: Draw, schema: Any) -> tuple[Any, ...]:
    n, c, h, w = d.between(1, 2), d.between(1, 3), d.between(2, 8), d.between(2, 8)
    x = d.array((n, c, h, w), d.dtype(schema), 0.05)
    count = d.between(0 if d.chance(0.1) else 1, 4)
    low = d.random.random((count, 2)) * 6 - 1
    rois = numpy.concatenate([low, low + d.random.random((count, 2)) * 8 - 0.5], axis=1)
    given = d.given(
        mode=d.pick("avg", "max"), output_height=d.between(1, 4), output_width=d.between(1, 4),
        sampling_ratio=d.between(0, 3), spatial_scale=d.pick(0.5, 1.0, 2.0),
    )  # fmt: skip
    if schema.since_version >= 16:
        given |= d.given(coordinate_transformation_mode=d.pick("half_pixel", "output_half_pixel"))
    images = d.random.integers(0, n, count).astype("int64")
    return [x, rois.astype(x.dtype), images], given


@cases("MaxRoiPool")
def _roi_pool(d: Draw, schema: Any) -> tuple[Any, ...]:
    n, c, h, w = d.between(1, 2), d.between(1, 3), d.between(2, 8), d.between(2, 8)
    x = d.array((n, c, h, w), d.dtype(schema), 0.05)
    count = d.between(1, 4)
    low = d.random.integers(-1, 6, (count, 2))
    corners = numpy.concatenate([low, low + d.random.integers(-1, 8, (count, 2))], axis=1)
    images = d.random.integers(0, n, (count, 1))
    rois = numpy.concatenate([images, corners], axis=1).astype(x.dtype)
    given = d.given(spatial_scale=d.pick(0.5, 1.0))
    return [x, rois], {"pooled_shape": [d.between(1, 4), d.between(1, 4)], **given}


@cases("AffineGrid")
def _affine(d: Draw, schema: Any) -> tuple[Any, ...]:
    axes = d.between(2, 3)
    size = [d.between(1, 3), d.between(1, 3), *[d.between(1, 4) for _ in range(axes)]]
    theta = d.array((size[0], axes, axes + 1), d.dtype(schema), 0.0)
    return [theta, int64(*size)], d.given(align_corners=d.between(0, 1))


@cases("Col2Im")
def _col2im(d: Draw, schema: Any) -> tuple[Any, ...]:
    axes = d.between(1, 3)
    image = [d.between(2, 6) for _ in range(axes)]
    block = [d.between(1, 3) for _ in range(axes)]
    given = _fit(d, schema, image, block)
    given.pop("auto_pad", None)
    steps, gaps = given.get("strides", [1] * axes), given.get("dilations", [1] * axes)
    pads = given.get("pads", [0] * 2 * axes)
    columns = 1
    for i in range(axes):
        room = image[i] + pads[i] + pads[axes + i] - (block[i] - 1) * gaps[i] - 1
        columns *= room // steps[i] + 1
    size = int(numpy.prod(block))
    x = d.like(schema, (d.between(1, 2), d.between(1, 2) * size, columns))
    return [x, int64(*image), int64(*block)], given


@cases("NonMaxSuppression")
def _suppress(d: Draw, schema: Any) -> tuple[Any, ...]:
    n, classes, boxes = d.between(1, 2), d.between(1, 3), d.between(1, 8)
    low = d.random.random((n, boxes, 2))
    corners = numpy.concatenate([low, low + d.random.random((n, boxes, 2))], axis=2)
    if d.chance(0.3):
        corners = corners[..., [2, 3, 0, 1]]
    scores = d.random.random((n, classes, boxes))
    if d.chance(0.2):
        scores = numpy.round(scores * 2) / 2
    inputs = [corners.astype("float32"), scores.astype("float32")]
    inputs.append(d.maybe(lambda: int64(d.pick(0, 1, 3, 10)), 0.8))
    inputs.append(d.maybe(lambda: numpy.array([d.pick(0.0, 0.3, 0.5, 1.0)], "float32")))
    inputs.append(d.maybe(lambda: numpy.array([d.pick(0.0, 0.25, 0.5)], "float32")))
    return inputs, d.given(center_point_box=d.between(0, 1))
