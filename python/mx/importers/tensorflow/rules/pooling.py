"""Pooling, and what resizes images."""

from __future__ import annotations

import onnx_ir as ir

from ..._builder import dtype_of, rank_of, shape_of
from ..._layout import permuted
from .._call import Builder, Call, Unsupported, rule
from .convolution import behind_images, explicit, first, is_last, last, pads_of, spatial
from .random import training_norm


@rule("MaxPool", "MaxPool3D", "AvgPool", "AvgPool3D")
def pool(b: Builder, call: Call) -> ir.Value:
    x = call[0]
    images = permuted(b, x, first(rank_of(x))) if is_last(call) else x
    ends = [0, -1] if is_last(call) else [0, 1]
    if any(call.op.get_attr("ksize")[axis] != 1 for axis in ends):
        raise Unsupported("windows over the batch or the channels")
    kernel, strides = spatial(call, "ksize"), spatial(call, "strides")
    settings = explicit(
        pads_of(call, len(kernel)), shape_of(images)[2:], kernel, strides, [1] * len(kernel)
    )
    name = "MaxPool" if call.op.type.startswith("Max") else "AveragePool"
    result = b.op(name, images, kernel_shape=kernel, strides=strides, **settings)[0]
    return behind_images(b, call, result)


@rule("MaxPoolV2")
def max_pool(b: Builder, call: Call) -> ir.Value:
    raise Unsupported("windows that are computed")


@rule("ResizeBilinear", "ResizeNearestNeighbor")
def resize(b: Builder, call: Call) -> ir.Value:
    images = permuted(b, call[0], first(4))
    size = call.known(1)
    if size is None:
        raise Unsupported("a size that is computed")
    nearest = call.op.type == "ResizeNearestNeighbor"
    if call.attr("align_corners"):
        position, rounding = "align_corners", "round_prefer_ceil"
    elif call.attr("half_pixel_centers"):
        position, rounding = "half_pixel", "round_prefer_ceil"
    else:
        position, rounding = "asymmetric", "floor"
    result = b.Resize(
        images,
        None,
        None,
        b.vector([*b.sizes(images)[:2], *(int(one) for one in size)]),
        coordinate_transformation_mode=position,
        mode="nearest" if nearest else "linear",
        nearest_mode=rounding if nearest else None,
    )
    shape = call.shape()
    result.shape = ir.Shape([shape[axis] for axis in first(4)])
    return permuted(b, result, last(4))


@rule("DepthToSpace", "SpaceToDepth")
def blocks(b: Builder, call: Call) -> ir.Value:
    images = permuted(b, call[0], first(4)) if is_last(call) else call[0]
    size = call.attr("block_size")
    if call.op.type == "DepthToSpace":
        return behind_images(b, call, b.DepthToSpace(images, blocksize=size, mode="DCR"))
    return behind_images(b, call, b.SpaceToDepth(images, blocksize=size))


@rule("LRN")
def local_response(b: Builder, call: Call) -> ir.Value:
    radius = int(call.attr("depth_radius"))
    size = 2 * radius + 1
    result = b.LRN(
        permuted(b, call[0], first(4)),
        size=size,
        alpha=float(call.attr("alpha")) * size,
        beta=float(call.attr("beta")),
        bias=float(call.attr("bias")),
    )
    shape = call.shape()
    result.shape = ir.Shape([shape[axis] for axis in first(4)])
    return permuted(b, result, last(4))


@rule("FusedBatchNorm", "FusedBatchNormV2", "FusedBatchNormV3")
def batch_norm(b: Builder, call: Call) -> list[ir.Value]:
    x = call[0]
    images = permuted(b, x, first(rank_of(x))) if is_last(call) else x
    epsilon = float(call.attr("epsilon"))
    if call.attr("is_training"):
        if b.training is None:
            raise Unsupported("statistics of the batch: the model is in training mode")
        return _of_batch(b, call, images, epsilon)
    result = b.BatchNormalization(images, *call.inputs[1:5], epsilon=epsilon)
    return [behind_images(b, call, result)]


def _of_batch(b: Builder, call: Call, images: ir.Value, epsilon: float) -> list[ir.Value]:
    """Normalized by the statistics of the batch, and the moving ones with a share of these."""
    share = float(call.attr("exponential_avg_factor"))
    scale, offset, *given = call.inputs[1:5]
    if share == 1:  # then there may be none of before
        given = [b.full(b.sizes(scale), 0, dtype_of(scale))] * 2
    values = [images, scale, offset, *given]
    result, mean, variance = training_norm(b, values, share, epsilon, unbiased=True)
    return [behind_images(b, call, result), mean, variance]
