"""Extents of windows that move over the last axes of a tensor."""

from __future__ import annotations

from collections.abc import Sequence


def pads_of(
    auto_pad: str,
    pads: Sequence[int] | None,
    spatial: Sequence[int],
    kernel: Sequence[int],
    strides: Sequence[int],
    dilations: Sequence[int],
) -> list[int]:
    """The padding before and behind each axis, beginnings first, as ONNX's auto_pad means it."""
    axes = len(spatial)
    if auto_pad in ("NOTSET", ""):
        return list(pads) if pads else [0] * (2 * axes)
    if auto_pad == "VALID":
        return [0] * (2 * axes)
    begins, ends = [], []
    for extent, size, stride, dilation in zip(spatial, kernel, strides, dilations, strict=True):
        out = -(-extent // stride)
        missing = max((out - 1) * stride + (size - 1) * dilation + 1 - extent, 0)
        less, more = missing // 2, missing - missing // 2
        begins.append(less if auto_pad == "SAME_UPPER" else more)
        ends.append(more if auto_pad == "SAME_UPPER" else less)
    return begins + ends


def extents_out(
    spatial: Sequence[int],
    kernel: Sequence[int],
    strides: Sequence[int],
    dilations: Sequence[int],
    pads: Sequence[int],
) -> list[int]:
    """How many windows there are along each axis."""
    axes = len(spatial)
    return [
        (spatial[i] + pads[i] + pads[axes + i] - (kernel[i] - 1) * dilations[i] - 1) // strides[i]
        + 1
        for i in range(axes)
    ]
