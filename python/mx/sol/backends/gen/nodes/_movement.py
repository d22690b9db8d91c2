"""Operators that move elements by strides."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy

from .....graph.lowering._value import Declined
from .._kernel import GenKernel, Spec
from .._table import Known, emits
from .._target import Target
from ._copy import Piece, copy_kernel, strides_of

Inputs = Sequence[Spec | None]


def first(inputs: Inputs) -> Spec:
    """The first input. Declined where it is missing."""
    if not inputs or inputs[0] is None:
        raise Declined("the first input is missing")
    return inputs[0]


def ints(attributes: dict[str, Any], known: Known, name: str, index: int) -> list[int] | None:
    """Numbers that old versions of an operator have as an attribute, and new ones as an input."""
    given = attributes[name] if name in attributes else known.get(index)
    return None if given is None else [int(item) for item in numpy.asarray(given).reshape(-1)]


def needed(inputs: Inputs, known: Known, index: int, what: str) -> None:
    """Declined where an input is given whose elements are not known."""
    if len(inputs) > index and inputs[index] is not None and index not in known:
        raise Declined(f"{what} that depends on the model's inputs")


def _viewed(
    name: str, x: Spec, shape: Sequence[int], strides: Sequence[int], offset: int = 0
) -> GenKernel:
    """A copy of what a view of the input by these strides shows."""
    out = Spec(tuple(shape), x.dtype)
    piece = Piece(0, 0, out.shape, tuple(strides), strides_of(out.shape), offset)
    return copy_kernel(name, [piece], [out])


@emits("Identity")
def _identity(
    target: Target, inputs: Inputs, attributes: dict[str, Any], known: Known
) -> GenKernel:
    x = first(inputs)
    return _viewed("copy", x, x.shape, strides_of(x.shape))


@emits("Transpose")
def _transpose(
    target: Target, inputs: Inputs, attributes: dict[str, Any], known: Known
) -> GenKernel:
    x = first(inputs)
    order = attributes.get("perm") or list(range(len(x.shape)))[::-1]
    strides = strides_of(x.shape)
    return _viewed("transpose", x, [x.shape[n] for n in order], [strides[n] for n in order])


@emits("Expand")
def _expand(target: Target, inputs: Inputs, attributes: dict[str, Any], known: Known) -> GenKernel:
    x, wanted = first(inputs), ints(attributes, known, "shape", 1)
    if wanted is None:
        raise Declined("a shape that depends on the model's inputs")
    shape = numpy.broadcast_shapes(x.shape, tuple(wanted))
    ahead = len(shape) - len(x.shape)
    strides = [
        0 if extent == 1 else stride
        for extent, stride in zip(x.shape, strides_of(x.shape), strict=True)
    ]
    return _viewed("expand", x, shape, [0] * ahead + strides)


@emits("Tile")
def _tile(target: Target, inputs: Inputs, attributes: dict[str, Any], known: Known) -> GenKernel:
    x, repeats = first(inputs), ints(attributes, known, "repeats", 1)
    if repeats is None or len(repeats) != len(x.shape):
        raise Declined("repeats that depend on the model's inputs")
    shape = [n for pair in zip(repeats, x.shape, strict=True) for n in pair]
    strides = [n for stride in strides_of(x.shape) for n in (0, stride)]
    kernel = _viewed("tile", x, shape, strides)
    whole = tuple(n * extent for n, extent in zip(repeats, x.shape, strict=True))
    return _reshaped(kernel, whole)


def _reshaped(kernel: GenKernel, shape: Sequence[int]) -> GenKernel:
    """The same kernel for an output that is called another shape."""
    out = Spec(tuple(shape), kernel.outputs[0].dtype)
    return GenKernel(kernel.symbol, kernel.source, kernel.tiles, (out,))


@emits("Slice")
def _slice(target: Target, inputs: Inputs, attributes: dict[str, Any], known: Known) -> GenKernel:
    x = first(inputs)
    for index in range(1, len(inputs)):
        needed(inputs, known, index, "a slice")
    starts = ints(attributes, known, "starts", 1) or []
    ends = ints(attributes, known, "ends", 2) or []
    axes = ints(attributes, known, "axes", 3)
    axes = list(range(len(starts))) if axes is None else axes
    steps = ints(attributes, known, "steps", 4) or [1] * len(starts)
    shape, strides, offset = list(x.shape), list(strides_of(x.shape)), 0
    for start, end, axis, step in zip(starts, ends, axes, steps, strict=True):
        if step == 0:
            raise Declined("steps of zero")
        extent, stride = x.shape[axis], strides[axis]
        taken = _taken(start, end, step, extent)
        shape[axis], strides[axis] = len(taken), stride * step
        offset += stride * taken.start if len(taken) else 0
    return _viewed("slice", x, shape, strides, offset)


def _taken(start: int, end: int, step: int, extent: int) -> range:
    """The positions along an axis, as ONNX cuts what is outside."""
    start, end = (n + extent if n < 0 else n for n in (start, end))
    if step > 0:
        return range(min(max(start, 0), extent), min(max(end, 0), extent), step)
    return range(min(max(start, 0), extent - 1), min(max(end, -1), extent - 1), step)


@emits("Concat")
def _concat(target: Target, inputs: Inputs, attributes: dict[str, Any], known: Known) -> GenKernel:
    given = [one for one in inputs if one is not None]
    x, axis = first(inputs), attributes["axis"]
    axis += len(x.shape) if axis < 0 else 0
    total = sum(one.shape[axis] for one in given)
    out = Spec((*x.shape[:axis], total, *x.shape[axis + 1 :]), x.dtype)
    inner, begin, pieces = math.prod(x.shape[axis + 1 :]), 0, []
    for number, one in enumerate(given):
        pieces.append(
            Piece(
                number,
                0,
                one.shape,
                strides_of(one.shape),
                strides_of(out.shape),
                0,
                begin * inner,
            )
        )
        begin += one.shape[axis]
    return copy_kernel("concat", pieces, [out])


@emits("Split")
def _split(target: Target, inputs: Inputs, attributes: dict[str, Any], known: Known) -> GenKernel:
    x, axis = first(inputs), attributes.get("axis", 0)
    needed(inputs, known, 1, "a split")
    axis += len(x.shape) if axis < 0 else 0
    sizes = ints(attributes, known, "split", 1)
    if sizes is None:
        if "num_outputs" not in attributes:
            raise Declined("a number of parts that is not told")
        size = -(-x.shape[axis] // attributes["num_outputs"])
        sizes = [
            min(size, max(x.shape[axis] - size * part, 0))
            for part in range(attributes["num_outputs"])
        ]
    if sum(sizes) != x.shape[axis]:
        raise Declined(f"parts of {sizes} of an axis of {x.shape[axis]}")
    inner, begin, pieces, outputs = math.prod(x.shape[axis + 1 :]), 0, [], []
    for number, size in enumerate(sizes):
        out = Spec((*x.shape[:axis], size, *x.shape[axis + 1 :]), x.dtype)
        pieces.append(
            Piece(0, number, out.shape, strides_of(x.shape), strides_of(out.shape), begin * inner)
        )
        outputs.append(out)
        begin += size
    return copy_kernel("split", pieces, outputs)


@emits("DepthToSpace")
def _depth_to_space(
    target: Target, inputs: Inputs, attributes: dict[str, Any], known: Known
) -> GenKernel:
    x, block = first(inputs), attributes["blocksize"]
    n, c, h, w = x.shape
    c //= block * block
    if attributes.get("mode", "DCR") == "DCR":
        shape, order = (n, block, block, c, h, w), (0, 3, 4, 1, 5, 2)
    else:
        shape, order = (n, c, block, block, h, w), (0, 1, 4, 2, 5, 3)
    strides = strides_of(shape)
    kernel = _viewed("depth", x, [shape[i] for i in order], [strides[i] for i in order])
    return _reshaped(kernel, (n, c, h * block, w * block))


@emits("SpaceToDepth")
def _space_to_depth(
    target: Target, inputs: Inputs, attributes: dict[str, Any], known: Known
) -> GenKernel:
    x, block = first(inputs), attributes["blocksize"]
    n, c, h, w = x.shape
    shape = (n, c, h // block, block, w // block, block)
    is_first = attributes.get("mode", "DCR") == "DCR"  # whether the block comes before the channel
    strides, order = strides_of(shape), (0, 3, 5, 1, 2, 4) if is_first else (0, 1, 3, 5, 2, 4)
    kernel = _viewed("space", x, [shape[i] for i in order], [strides[i] for i in order])
    return _reshaped(kernel, (n, c * block * block, h // block, w // block))
