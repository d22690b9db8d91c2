"""Gradients of Fourier transforms, and of the operators that put frames and patches together."""

from __future__ import annotations

import math

import numpy
import onnx_ir as ir

from ....importers._builder import dtype_of
from .._rules import Call, Declined, expansion, gradient
from .._writer import Writer

INT64 = ir.DataType.INT64
# The version since which DFT has its axis as an input, and another one where there is none.
_AXIS_IS_INPUT = 20


# A number that is known, or an integer without axes that is computed.
Count = int | ir.Value


def _value(to: Writer, number: Count) -> ir.Value:
    return to.constant(number, INT64) if isinstance(number, int) else number


def _count(to: Writer, value: ir.Value) -> Count:
    tensor = ir.convenience.get_const_tensor(value)
    if tensor is not None:
        return int(tensor.numpy().reshape(-1)[0])
    made: ir.Value = to.Reshape(to.cast(value, INT64), to.constant(numpy.zeros(0), INT64))
    return made


def _half(to: Writer, number: Count) -> Count:
    """How many frequencies there are on one side."""
    return number // 2 + 1 if isinstance(number, int) else to.Add(to.Div(number, 2), 1)


def _below(to: Writer, number: Count) -> ir.Value:
    if isinstance(number, int):
        return to.constant(numpy.arange(number), INT64)
    made: ir.Value = to.Range(to.constant(0, INT64), number, to.constant(1, INT64))
    return made


def _complex(to: Writer, x: ir.Value, axis: int) -> ir.Value:
    """Complex numbers of what may be real ones."""
    missing = to.Add(to.Neg(to.extent(x, axis)), [2])
    made: ir.Value = to.Pad(x, to.Concat([0], missing, axis=0), None, [axis])
    return made


def _waves(
    to: Writer, dtype: ir.DataType, used: Count, out: Count, length: Count
) -> tuple[ir.Value, ir.Value]:
    """Matrices of the cosines and sines that a transform of some length multiplies by."""
    if isinstance(used, int) and isinstance(out, int) and isinstance(length, int):
        angles = 2 * math.pi * numpy.outer(numpy.arange(used), numpy.arange(out)) / length
        return to.constant(numpy.cos(angles), dtype), to.constant(numpy.sin(angles), dtype)
    turns = to.Mul(to.Unsqueeze(_below(to, used), [1]), _below(to, out))
    # Of integers, so that long signals keep their digits.
    turns = to.cast(to.Mod(turns, _value(to, length)), dtype)
    around = to.Div(to.Mul(turns, 2 * math.pi), to.cast(_value(to, length), dtype))
    return to.Cos(around), to.Sin(around)


@expansion("DFT")
def _dft(to: Writer, call: Call) -> ir.Value:
    """Products with matrices of cosines and sines along an axis."""
    x, dims, dtype = call.x, call.dims(0), dtype_of(call.x)
    rank, width = len(dims), dims[-1]
    if to.graph.opset_imports.get("", _AXIS_IS_INPUT) < _AXIS_IS_INPUT:
        axis = call.integer("axis", 1) % rank
    else:
        axis = (-2 if call.optional(2) is None else _number(call.optional(2), "the axis")) % rank
    if width not in (1, 2):
        x, width = _complex(to, x, rank - 1), 2
    dim = dims[axis]
    extent: Count = dim if isinstance(dim, int) else to.Squeeze(to.extent(x, axis), [0])
    inverse, onesided = call.integer("inverse", 0), call.integer("onesided", 0)
    of_real = inverse and onesided  # half of what a real signal was transformed to
    length = extent
    if call.optional(1) is not None:
        length = _count(to, call.input(1))
    elif of_real:
        length = 2 * (extent - 1) if isinstance(extent, int) else to.Mul(to.Sub(extent, 1), 2)
    most = _half(to, length) if of_real else length
    if isinstance(extent, int) and isinstance(most, int):
        used: Count = min(extent, most)
    else:
        used = to.Min(_value(to, extent), _value(to, most))
    out = _half(to, length) if onesided and not inverse else length
    cosine, sine = _waves(to, dtype, used, out, length)
    order = [one for one in range(rank - 1) if one != axis] + [axis]
    parts = []
    end = [used] if isinstance(used, int) else to.Unsqueeze(used, [0])
    for index in range(int(width)):
        part = to.Gather(x, to.constant(index, INT64), axis=rank - 1)
        part = to.transpose(part, order)
        if of_real:
            part = to.Mul(to.Slice(part, [0], end, [-1]), _weights(to, dtype, used, length))
        elif not (isinstance(used, int) and used == extent):
            part = to.Slice(part, [0], end, [-1])
        parts.append(part)
    sine = sine if inverse else to.Neg(sine)
    real, imaginary = to.MatMul(parts[0], cosine), to.MatMul(parts[0], sine)
    if len(parts) == 2:
        real = to.Sub(real, to.MatMul(parts[1], sine))
        imaginary = to.Add(imaginary, to.MatMul(parts[1], cosine))
    found = [real] if of_real else [real, imaginary]
    if inverse:
        size = to.cast(_value(to, length), dtype)
        found = [to.Div(one, size) for one in found]
    back = sorted(range(rank - 1), key=order.__getitem__)
    both = [to.Unsqueeze(to.transpose(one, back), [-1]) for one in found]
    return to.Concat(*both, axis=-1) if len(both) > 1 else both[0]


def _weights(to: Writer, dtype: ir.DataType, used: Count, length: Count) -> ir.Value:
    """How often each frequency of one side is there: twice, but the first, and half the length."""
    row = _below(to, used)
    alone = to.Or(to.Equal(row, 0), to.Equal(to.Mul(row, 2), _value(to, length)))
    return to.Add(to.Neg(to.cast(alone, dtype)), 2.0)


@expansion("STFT")
def _stft(to: Writer, call: Call) -> ir.Value:
    """The transform of frames, which are rows of the signal, times a window."""
    signal, dims, dtype = call.x, call.dims(0), dtype_of(call.x)
    step, window = _count(to, call.input(1)), call.optional(2)
    width = dims[2] if len(dims) == 3 else 1
    if width not in (1, 2):
        signal, width = _complex(to, signal, 2), 2
    if call.optional(3) is not None:
        length = _count(to, call.input(3))
    elif window is not None:
        length = _count(to, to.extent(window, 0))
    else:
        raise Declined("it has neither frame_length nor a window")
    count = _count(to, to.extent(signal, 1))
    if isinstance(count, int) and isinstance(step, int) and isinstance(length, int):
        frames = (count - length) // step + 1
        rows = to.constant(step * numpy.arange(frames)[:, None] + numpy.arange(length), INT64)
    else:
        steps, lengths = _value(to, step), _value(to, length)
        many = to.Add(to.Div(to.Sub(_value(to, count), lengths), steps), 1)
        begins = to.Mul(_below(to, many), steps)
        rows = to.Add(to.Unsqueeze(begins, [1]), _below(to, length))
    out = _half(to, length) if call.integer("onesided", 1) else length
    cosine, sine = _waves(to, dtype, length, out, length)
    parts = []
    for index in range(int(width)):
        flat = signal
        if len(dims) == 3:
            flat = to.Gather(signal, to.constant(index, INT64), axis=2)
        cut = to.Gather(flat, rows, axis=1)
        parts.append(cut if window is None else to.Mul(cut, window))
    real, imaginary = to.MatMul(parts[0], cosine), to.Neg(to.MatMul(parts[0], sine))
    if len(parts) == 2:
        real = to.Add(real, to.MatMul(parts[1], sine))
        imaginary = to.Add(imaginary, to.MatMul(parts[1], cosine))
    return to.Concat(to.Unsqueeze(real, [-1]), to.Unsqueeze(imaginary, [-1]), axis=-1)


@gradient("Col2Im")
def _col2im(to: Writer, call: Call) -> list[ir.Value | None]:
    """What came at the element to which each one was added; 0 for those in the padding."""
    given = [ir.convenience.get_const_tensor(call.input(index)) for index in (1, 2)]
    if given[0] is None or given[1] is None:
        return [_read_back(to, call, *_read_by(to, call)), None, None]
    image, block = ([int(one) for one in tensor.numpy()] for tensor in given if tensor is not None)
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
    read = to.constant(index, INT64)
    kept = to.constant(inside.reshape(-1).astype(float), dtype_of(call.dy))
    return [_read_back(to, call, read, kept), None, None]


def _read_back(to: Writer, call: Call, index: ir.Value, kept: ir.Value) -> ir.Value:
    """The elements of what came at flat positions of the image, times 0 or 1."""
    flat = to.Reshape(call.dy, to.Concat(to.extent(call.dy, 0), to.extent(call.y, 1), [-1], axis=0))
    read = to.Gather(flat, index, axis=2)
    made: ir.Value = to.Reshape(to.Mul(read, kept), to.shape(call.x))
    return made


def _read_by(to: Writer, call: Call) -> tuple[ir.Value, ir.Value]:
    """The same positions, and whether each is inside, for shapes that are computed."""
    count = call.dims(1)[0]
    if not isinstance(count, int):
        raise Declined("the number of axes of the image is not known")
    strides = list(call.ints("strides") or [1] * count)
    dilations = list(call.ints("dilations") or [1] * count)
    pads = list(call.ints("pads") or [0] * 2 * count)
    index, inside = to.constant(0, INT64), to.constant(True, ir.DataType.BOOL)
    for i in range(count):
        item = to.constant(i, INT64)
        image, block = (to.Gather(call.input(one), item, axis=0) for one in (1, 2))
        reach = to.Add(to.Mul(to.Sub(block, 1), dilations[i]), 1)
        room = to.Sub(to.Add(image, pads[i] + pads[count + i]), reach)
        begins = to.Mul(_below(to, to.Add(to.Div(room, strides[i]), 1)), strides[i])
        taps = to.Sub(to.Mul(_below(to, block), dilations[i]), pads[i])
        positions = to.Add(to.Unsqueeze(taps, [1]), begins)
        others = [axis for axis in range(2 * count) if axis not in (i, count + i)]
        positions = to.Unsqueeze(positions, others) if others else positions
        index = to.Add(to.Mul(index, image), positions)
        valid = to.And(to.GreaterOrEqual(positions, 0), to.Less(positions, image))
        inside = to.And(inside, valid)
    kept = to.Reshape(to.cast(inside, dtype_of(call.dy)), [-1])
    return to.Reshape(to.where(inside, index, 0), [-1]), kept


@gradient("Det")
def _det(to: Writer, call: Call) -> ir.Value:
    """The matrix of cofactors, which is the determinant's gradient."""
    cofactors = to.own_like("Cofactors", call.x, like=call.x)
    return to.Mul(to.Unsqueeze(call.dy, [-1, -2]), cofactors)


def _number(value: ir.Value | None, what: str) -> int:
    tensor = None if value is None else ir.convenience.get_const_tensor(value)
    if tensor is None:
        raise Declined(f"{what} is computed")
    return int(tensor.numpy().reshape(-1)[0])
