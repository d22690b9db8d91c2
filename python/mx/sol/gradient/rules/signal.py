"""Gradients of Fourier transforms, and of the operators that put frames and patches together."""

from __future__ import annotations

import math

import numpy
import onnx_ir as ir

from ....graph._spec import dims_of
from ....importers._builder import dtype_of
from .._rules import Call, Declined, expansion, gradient
from .._writer import Writer

INT64 = ir.DataType.INT64
# The version since which DFT has its axis as an input, and another one where there is none.
_AXIS_IS_INPUT = 20


@expansion("DFT")
def _dft(to: Writer, call: Call) -> ir.Value:
    """Products with matrices of cosines and sines, along an axis of known extent."""
    x, dims = call.x, call.dims(0)
    rank, width = len(dims), dims[-1]
    if to.graph.opset_imports.get("", _AXIS_IS_INPUT) < _AXIS_IS_INPUT:
        axis = call.integer("axis", 1) % rank
    else:
        axis = (-2 if call.optional(2) is None else _number(call.optional(2), "the axis")) % rank
    extent = dims[axis]
    if not isinstance(extent, int) or width not in (1, 2):
        raise Declined("an axis, or numbers, of an extent that varies")
    length = extent
    if call.optional(1) is not None:
        length = _number(call.optional(1), "dft_length")
    inverse, onesided = call.integer("inverse", 0), call.integer("onesided", 0)
    if inverse and onesided:
        raise Declined("onesided=1 with inverse=1")
    used = min(extent, length)
    out = length // 2 + 1 if onesided else length
    angles = 2 * math.pi * numpy.outer(numpy.arange(used), numpy.arange(out)) / length
    scale = 1 / length if inverse else 1.0
    cosine = to.constant(numpy.cos(angles) * scale, dtype_of(x))
    sine = to.constant(numpy.sin(angles) * (scale if inverse else -scale), dtype_of(x))
    order = [one for one in range(rank - 1) if one != axis] + [axis]
    parts = []
    for index in range(int(width)):
        part = to.Gather(x, to.constant(index, INT64), axis=rank - 1)
        part = to.transpose(part, order)
        parts.append(part if used == extent else to.Slice(part, [0], [used], [-1]))
    real, imaginary = to.MatMul(parts[0], cosine), to.MatMul(parts[0], sine)
    if len(parts) == 2:
        real = to.Sub(real, to.MatMul(parts[1], sine))
        imaginary = to.Add(imaginary, to.MatMul(parts[1], cosine))
    back = sorted(range(rank - 1), key=order.__getitem__)
    both = [to.Unsqueeze(to.transpose(one, back), [-1]) for one in (real, imaginary)]
    return to.Concat(*both, axis=-1)


@expansion("STFT")
def _stft(to: Writer, call: Call) -> ir.Value:
    """The transform of frames, which are rows of the signal, times a window."""
    signal, dims = call.x, call.dims(0)
    step = _number(call.input(1), "frame_step")
    window = call.optional(2)
    count = dims[1]
    if not isinstance(count, int) or (len(dims) == 3 and dims[2] != 1):
        raise Declined("a signal whose length varies, or of complex numbers")
    if call.optional(3) is not None:
        length = _number(call.optional(3), "frame_length")
    else:
        known = None if window is None else dims_of(window.shape)
        if not known or not isinstance(known[0], int):
            raise Declined("frames whose length is not known")
        length = known[0]
    frames = (count - length) // step + 1
    rows = step * numpy.arange(frames)[:, None] + numpy.arange(length)
    flat = to.Reshape(signal, to.Concat(to.extent(signal, 0), [count], axis=0))
    cut = to.Gather(flat, to.constant(rows, INT64), axis=1)
    if window is not None:
        cut = to.Mul(cut, window)
    out = length // 2 + 1 if call.integer("onesided", 1) else length
    angles = 2 * math.pi * numpy.outer(numpy.arange(length), numpy.arange(out)) / length
    parts = [
        to.MatMul(cut, to.constant(matrix, dtype_of(signal)))
        for matrix in (numpy.cos(angles), -numpy.sin(angles))
    ]
    return to.Concat(*(to.Unsqueeze(part, [-1]) for part in parts), axis=-1)


@gradient("Col2Im")
def _col2im(to: Writer, call: Call) -> list[ir.Value | None]:
    """What came at the element to which each one was added; 0 for those in the padding."""
    image = _numbers(call.input(1), "image_shape")
    block = _numbers(call.input(2), "block_shape")
    count = len(image)
    strides = list(call.ints("strides") or [1] * count)
    dilations = list(call.ints("dilations") or [1] * count)
    pads = list(call.ints("pads") or [0] * 2 * count)
    # Of each axis, the padded position that an element of a block reads, for each block.
    axes = []
    for i in range(count):
        reach = (block[i] - 1) * dilations[i] + 1
        blocks = (image[i] + pads[i] + pads[count + i] - reach) // strides[i] + 1
        positions = dilations[i] * numpy.arange(block[i])[:, None]
        axes.append(positions + strides[i] * numpy.arange(blocks) - pads[i])
    index = numpy.zeros([1] * (2 * count), "int64")
    inside = numpy.ones([1] * (2 * count), bool)
    for i, positions in enumerate(axes):
        shape = [1] * (2 * count)
        shape[i], shape[count + i] = positions.shape
        index = index * image[i] + positions.reshape(shape)
        valid = (positions >= 0) & (positions < image[i])
        inside = inside & valid.reshape(shape)
    index = numpy.where(inside, index, 0).reshape(-1)
    flat = to.Reshape(call.dy, to.Concat(to.extent(call.dy, 0), to.extent(call.y, 1), [-1], axis=0))
    read = to.Gather(flat, to.constant(index, INT64), axis=2)
    kept = to.constant(inside.reshape(-1).astype(float), dtype_of(call.dy))
    return [to.Reshape(to.Mul(read, kept), to.shape(call.x)), None, None]


@gradient("Det")
def _det(to: Writer, call: Call) -> ir.Value:
    """The matrix of cofactors, which is the determinant's gradient."""
    cofactors = to.own_like("Cofactors", call.x, like=call.x)
    return to.Mul(to.Unsqueeze(call.dy, [-1, -2]), cofactors)


def _numbers(value: ir.Value | None, what: str) -> list[int]:
    tensor = None if value is None else ir.convenience.get_const_tensor(value)
    if tensor is None:
        raise Declined(f"{what} is computed")
    return [int(item) for item in tensor.numpy().reshape(-1)]


def _number(value: ir.Value | None, what: str) -> int:
    return _numbers(value, what)[0]
