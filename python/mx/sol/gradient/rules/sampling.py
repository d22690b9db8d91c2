"""Operators that read between elements, by what has rules: a few elements and their weights.

So their gradients for the positions, too, are those of products and sums.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy
import onnx_ir as ir

from ....graph._spec import Dim
from ....importers._builder import dtype_of
from .._rules import Call, Declined, expansion, gradient
from .._writer import Writer

INT64 = ir.DataType.INT64
_HALVES = (ir.DataType.FLOAT16, ir.DataType.BFLOAT16)
# An element's position along an axis, its weight, None for 1, and whether there is such an element.
Tap = tuple[ir.Value, ir.Value | None, ir.Value]
# The coefficient of cubic convolution that ONNX and torch take.
_CUBIC = -0.75


class _Space:
    """The axes behind the first two of a value of shape (N, C, ...), flat.

    Positions are of shape (N, P), a value for each axis.
    """

    def __init__(self, to: Writer, x: ir.Value, rank: int) -> None:
        self._to, self.dtype, self._rank = to, dtype_of(x), rank
        lead = to.Concat(to.extent(x, 0), to.extent(x, 1), [-1], axis=0)
        self._flat = to.Reshape(x, lead)
        self._channels = to.extent(x, 1)
        self._extents = [to.Squeeze(to.extent(x, axis + 2), [0]) for axis in range(rank)]
        self.sizes = [self.number(one) for one in self._extents]

    def number(self, value: ir.Value) -> ir.Value:
        """Integers, or truth values, as numbers of the type of the elements."""
        return self._to.cast(value, self.dtype)

    def limit(self, at: ir.Value, axis: int) -> ir.Value:
        """Positions moved to the nearest one that is inside."""
        to = self._to
        made: ir.Value = to.Min(to.Max(at, 0.0), to.Sub(self.sizes[axis], 1.0))
        return made

    def reflect(self, at: ir.Value, axis: int, aligned: bool) -> ir.Value:
        """Positions reflected at both ends, of the outer elements or of their middles, until they
        are inside."""
        to, size = self._to, self.sizes[axis]
        begin = 0.0 if aligned else -0.5
        length = to.Max(to.Sub(size, 1.0), 1.0) if aligned else size
        far = to.Abs(to.Sub(at, begin))
        count = to.Floor(to.Div(far, length))
        rest = to.Sub(far, to.Mul(count, length))
        is_even = to.Equal(to.Mod(count, to.constant(2.0, self.dtype), fmod=1), 0.0)
        return to.Add(to.Where(is_even, rest, to.Sub(length, rest), dtype=self.dtype), begin)

    def outside(self, at: ir.Value, axis: int, aligned: bool) -> ir.Value:
        """Where positions are beyond the ends of the outer elements, or beyond their middles."""
        to = self._to
        more = 0.0 if aligned else 0.5
        end = to.Sub(self.sizes[axis], 1.0 - more)
        made: ir.Value = to.Or(to.Less(at, -more), to.Greater(at, end))
        return made

    def tap(self, at: ir.Value, weight: ir.Value | None, axis: int) -> Tap:
        """What is read at whole positions: nothing outside."""
        to = self._to
        index = to.cast(at, INT64)
        inside = to.And(to.GreaterOrEqual(index, 0), to.Less(index, self._extents[axis]))
        return to.where(inside, index, 0), weight, inside

    def linear(self, at: ir.Value, axis: int) -> list[Tap]:
        """The two elements around positions."""
        to = self._to
        first = to.Floor(at)
        part = to.Sub(at, first)
        return [
            self.tap(first, to.Add(to.Neg(part), 1.0), axis),
            self.tap(to.Add(first, 1.0), part, axis),
        ]

    def parts(self, taps: Sequence[Sequence[Tap]]) -> Iterator[ir.Value]:
        """The elements of one tap along each axis, times their weights: (N, C, P)."""
        to = self._to
        wide = to.Concat([1], self._channels, [1], axis=0)
        for chosen in itertools.product(*taps):
            index, share, inside = chosen[0]
            for axis, (more, weight, is_there) in enumerate(chosen[1:], 1):
                index = to.Add(to.Mul(index, self._extents[axis]), more)
                share = None if share is None or weight is None else to.Mul(share, weight)
                inside = to.And(inside, is_there)
            indices = to.Expand(to.Unsqueeze(index, [1]), wide)
            found = to.GatherElements(self._flat, indices, axis=2)
            # A weight of 0 would make NaN of what is read instead, if that is infinite.
            found = to.where(to.Unsqueeze(inside, [1]), found, 0.0)
            yield found if share is None else to.Mul(found, to.Unsqueeze(share, [1]))

    def read(self, taps: Sequence[Sequence[Tap]]) -> ir.Value:
        """The sum of all parts."""
        first, *others = self.parts(taps)
        for part in others:
            first = self._to.Add(first, part)
        return first


def _cubic_weights(to: Writer, part: ir.Value) -> list[ir.Value]:
    """Weights of the four elements around positions, by how far these are behind the second one."""
    a = _CUBIC

    def near(x: ir.Value) -> ir.Value:
        inner = to.Sub(to.Mul(x, a + 2), a + 3)
        return to.Add(to.Mul(to.Mul(inner, x), x), 1.0)

    def far(x: ir.Value) -> ir.Value:
        inner = to.Add(to.Mul(to.Sub(to.Mul(x, a), 5 * a), x), 8 * a)
        return to.Sub(to.Mul(inner, x), 4 * a)

    rest = to.Add(to.Neg(part), 1.0)
    return [far(to.Add(part, 1.0)), near(part), near(rest), far(to.Add(rest, 1.0))]


_Rule = Callable[[Writer, Call], ir.Value]


def _in_float32(rule: _Rule) -> _Rule:
    """Has all be in float32 that has fewer bits: positions would be between other elements."""

    def write(to: Writer, call: Call) -> ir.Value:
        dtype = dtype_of(call.x)
        if dtype not in _HALVES:
            return rule(to, call)
        node = ir.Node(
            "",
            call.node.op_type,
            [
                one if one is None or one.dtype not in _HALVES else _cast(to, one)
                for one in call.node.inputs
            ],
            call.node.attributes.values(),
        )
        made = rule(to, Call(node, (None,), ()))
        for index in range(len(node.inputs)):  # which is nowhere
            node.replace_input_with(index, None)
        return to.cast(made, dtype)

    return write


def _cast(to: Writer, value: ir.Value) -> ir.Value:
    made = to.cast(value, ir.DataType.FLOAT)
    made.shape = value.shape
    return made


@expansion("GridSample")
@_in_float32
def _grid_sample(to: Writer, call: Call) -> ir.Value:
    x, grid = call.input(0), call.input(1)
    mode = {"bilinear": "linear", "bicubic": "cubic"}.get(
        given := call.string("mode", "linear"), given
    )
    padding = call.string("padding_mode", "zeros")
    rank = len(call.dims(0)) - 2
    aligned = bool(call.integer("align_corners", 0))
    space = _Space(to, x, rank)
    flat = to.Reshape(grid, to.Concat(to.extent(grid, 0), [-1, rank], axis=0))

    def inside(at: ir.Value, axis: int) -> ir.Value:
        if padding == "reflection":
            at = space.reflect(at, axis, aligned)
        return at if padding == "zeros" else space.limit(at, axis)

    taps = []
    for axis, size in enumerate(space.sizes):
        # The grid has positions along the last axis first.
        part = to.cast(to.Gather(flat, to.constant(rank - 1 - axis, INT64), axis=2), space.dtype)
        half = to.Mul(to.Add(part, 1.0), 0.5)
        if aligned:  # -1 and 1 are the middles of the first and the last element
            at = to.Mul(half, to.Sub(size, 1.0))
        else:  # they are their outer ends
            at = to.Sub(to.Mul(half, size), 0.5)
        if mode == "nearest":
            taps.append([space.tap(inside(to.Round(at), axis), None, axis)])
        elif mode == "linear":
            taps.append(space.linear(inside(at, axis), axis))
        else:
            if padding == "border":
                # Up to the outer ends, what is read is moved inside, and not the position.
                near = space.outside(at, axis, aligned)
                at = to.Where(near, space.limit(at, axis), at, dtype=space.dtype)
            first = to.Floor(at)
            weights = _cubic_weights(to, to.Sub(at, first))
            positions = [inside(to.Add(first, float(step)), axis) for step in (-1, 0, 1, 2)]
            pairs = zip(positions, weights, strict=True)
            taps.append([space.tap(position, weight, axis) for position, weight in pairs])
    shape = [to.extent(x, 0), to.extent(x, 1)]
    shape += [to.extent(grid, axis + 1) for axis in range(rank)]
    return to.Reshape(space.read(taps), to.Concat(*shape, axis=0))


def _numbers_below(to: Writer, extent: ir.Value | int, dtype: ir.DataType) -> ir.Value:
    """0, 1, ... up to an extent, as numbers."""
    if isinstance(extent, int):
        return to.constant(numpy.arange(extent), dtype)
    every = to.Range(to.constant(0, INT64), to.Squeeze(extent), to.constant(1, INT64))
    return to.cast(every, dtype)


@expansion("AffineGrid")
def _affine_grid(to: Writer, call: Call) -> ir.Value:
    """Products of a matrix for each image with the positions of its elements."""
    theta, dtype = call.x, dtype_of(call.x)
    aligned = bool(call.integer("align_corners", 0))
    size = ir.convenience.get_const_tensor(call.input(1))
    if size is None:
        return _affine_grid_of(to, call, aligned)
    extents = [int(extent) for extent in size.numpy()[2:]]
    axes = []
    for extent in extents:
        if aligned:
            axes.append(numpy.linspace(-1, 1, extent))
        else:
            axes.append((2 * numpy.arange(extent) + 1) / extent - 1)
    # The last axis first, then 1 for what is added.
    grid = [*numpy.meshgrid(*axes, indexing="ij")][::-1] + [numpy.ones(extents)]
    points = numpy.stack(grid, -1).reshape(-1, len(extents) + 1)
    made = to.MatMul(to.constant(points, dtype), to.Transpose(theta, perm=[0, 2, 1]))
    shape = to.Concat(to.extent(theta, 0), to.ints([*extents, len(extents)]), axis=0)
    return to.Reshape(made, shape)


def _affine_grid_of(to: Writer, call: Call, aligned: bool) -> ir.Value:
    """The same for a size that is computed."""
    theta, size, dtype = call.x, to.cast(call.input(1), INT64), dtype_of(call.x)
    rank = _static(call.dims(1), "the size")[0] - 2
    wide = to.Slice(size, [2], [2 + rank])
    grid = []
    for axis in range(rank):
        extent = to.Slice(size, [2 + axis], [3 + axis])
        at, count = _numbers_below(to, extent, dtype), to.cast(extent, dtype)
        if aligned:
            at = to.Div(to.Mul(at, 2.0), to.Max(to.Sub(count, 1.0), 1.0))
        else:
            at = to.Div(to.Add(to.Mul(at, 2.0), 1.0), count)
        at = to.Sub(to.Unsqueeze(at, [one for one in range(rank) if one != axis]), 1.0)
        grid.append(to.Reshape(to.Expand(at, wide), [-1, 1]))
    ones = to.Add(to.Mul(grid[0], 0.0), 1.0)
    points = to.Concat(*grid[::-1], ones, axis=1)
    made = to.MatMul(points, to.Transpose(theta, perm=[0, 2, 1]))
    return to.Reshape(made, to.Concat(to.extent(theta, 0), wide, [rank], axis=0))


@expansion("RoiAlign")
@_in_float32
def _roi_align(to: Writer, call: Call) -> ir.Value:
    """The mean, or the maximum, of a few positions in each part of each region."""
    x, regions, batch = call.input(0), call.input(1), call.input(2)
    rows, columns = call.integer("output_height", 1), call.integer("output_width", 1)
    ratio, scale = call.integer("sampling_ratio", 0), call.number("spatial_scale", 1.0)
    half = call.string("coordinate_transformation_mode", "half_pixel") == "half_pixel"
    # Each region reads its own image.
    space = _Space(to, to.Gather(x, batch, axis=0), 2)
    corners = [
        to.Sub(to.Mul(to.Slice(regions, [i], [i + 1], [1]), scale), 0.5 if half else 0.0)
        for i in range(4)
    ]
    left, top, right, bottom = corners
    lines = []
    for begin, end, count in ((top, bottom, rows), (left, right, columns)):
        size = to.Sub(end, begin)
        size = size if half else to.Max(size, 1.0)
        lines.append(_line_of_region(to, begin, size, count, ratio))
    parts = [to.extent(regions, 0), to.extent(x, 1), to.ints([rows]), lines[0].samples]
    shape = to.Concat(*parts, to.ints([columns]), lines[1].samples, axis=0)
    across = to.Concat(*(to.Shape(one.positions, start=1) for one in lines), axis=0)
    wide = to.Concat(to.extent(regions, 0), across, axis=0)
    flat = to.Concat(to.extent(regions, 0), [-1], axis=0)
    at = [
        to.Reshape(to.Expand(to.Unsqueeze(one.positions, [2 - axis]), wide), flat)
        for axis, one in enumerate(lines)
    ]
    # More than one element outside there is nothing; up to there the border counts.
    near = to.And(
        *(
            to.And(to.GreaterOrEqual(one, -1.0), to.LessOrEqual(one, size))
            for one, size in zip(at, space.sizes, strict=True)
        )
    )
    taps = [space.linear(space.limit(one, axis), axis) for axis, one in enumerate(at)]
    is_max = call.string("mode", "avg") == "max"
    # The maximum is one of single elements, times their weights.
    found = to.Max(*space.parts(taps)) if is_max else space.read(taps)
    found = to.Mul(found, space.number(to.Unsqueeze(near, [1])))
    apart = to.Reshape(found, shape)
    if ratio > 0:
        return (to.ReduceMax if is_max else to.ReduceMean)(apart, [3, 5], keepdims=0)
    # Of (regions, channels, rows, samples, columns, samples), those that a region has.
    counts = [to.Unsqueeze(one.counts, [2, 3]) for one in lines]
    masks = [to.Unsqueeze(lines[0].mask, [1, 2, 4, 5]), to.Unsqueeze(lines[1].mask, [1, 2, 3, 4])]
    mask = to.And(*masks)
    total = to.Mul(*counts)
    if is_max:
        lowest = to.constant(numpy.finfo("float32").min, space.dtype)
        apart = to.Where(mask, apart, lowest, dtype=space.dtype)
        most = to.ReduceMax(apart, [3, 5], keepdims=0)
        return to.where(to.Greater(total, 0.0), most, 0.0)
    sums = to.ReduceSum(to.Mul(apart, space.number(mask)), [3, 5], keepdims=0)
    return to.Div(sums, to.Max(total, 1.0))


@dataclass
class _Line:
    """Positions along an axis, for each region: (regions, parts * samples)."""

    positions: ir.Value
    samples: ir.Value  # the most of a part, as a vector
    counts: ir.Value  # those of a region: (regions, 1)
    mask: ir.Value  # which of the most it has: (regions, samples)


def _line_of_region(to: Writer, begin: ir.Value, size: ir.Value, count: int, ratio: int) -> _Line:
    """So many samples of each part, or, of a ratio of 0, about one for each element in it."""
    dtype = dtype_of(begin)
    if ratio > 0:
        shares = [(i + (j + 0.5) / ratio) / count for i in range(count) for j in range(ratio)]
        at = to.Add(begin, to.Mul(size, to.constant([shares], dtype)))
        return _Line(at, to.ints([ratio]), begin, begin)
    number = to.Max(to.Ceil(to.Div(size, float(count))), 0.0)
    most = to.ReduceMax(to.Concat(number, to.constant([[1.0]], dtype), axis=0), keepdims=0)
    turn = _numbers_below(to, to.Unsqueeze(to.cast(most, INT64), [0]), dtype)
    within = to.Div(to.Add(turn, 0.5), to.Max(number, 1.0))
    part = to.constant(numpy.arange(count).reshape(1, count, 1), dtype)
    steps = to.Div(to.Add(to.Unsqueeze(within, [1]), part), float(count))
    flat = to.Concat(to.extent(begin, 0), to.Mul(to.Shape(turn), [count]), axis=0)
    at = to.Add(begin, to.Mul(size, to.Reshape(steps, flat)))
    return _Line(at, to.Shape(turn), number, to.Less(turn, number))


@gradient("MaxRoiPool")
def _max_roi_pool(to: Writer, call: Call) -> Sequence[ir.Value | None]:
    attributes = {name: one.value for name, one in call.node.attributes.items()}
    made = to.own_like("MaxRoiPoolGrad", call.dy, call.x, call.input(1), like=call.x, **attributes)
    return [made, None]


@expansion("DeformConv")
@_in_float32
def _deform_conv(to: Writer, call: Call) -> ir.Value:
    """What each position of a window reads, and the sum of its products with the weight."""
    x, weight, offset = call.input(0), call.input(1), call.input(2)
    bias, mask = call.optional(3), call.optional(4)
    kernel = list(
        call.ints("kernel_shape")
        or _static(call.dims(1)[2:], "there is no kernel_shape, and the weight")
    )
    rank = len(kernel)
    group, sharing = call.integer("group", 1), call.integer("offset_group", 1)
    strides = list(call.ints("strides") or [1] * rank)
    dilations = list(call.ints("dilations") or [1] * rank)
    pads = list(call.ints("pads") or [0] * rank)
    images, channels = to.extent(x, 0), to.extent(x, 1)
    wide = to.Concat(*(to.extent(offset, axis + 2) for axis in range(rank)), axis=0)
    # Channels of each group of offsets are read as images of their own.
    many = images if sharing == 1 else to.Mul(images, [sharing])
    if sharing == 1:
        space = _Space(to, x, rank)
    else:
        extents = [to.extent(x, axis + 2) for axis in range(rank)]
        split = to.Concat(many, to.Div(channels, [sharing]), *extents, axis=0)
        space = _Space(to, to.Reshape(x, split), rank)
    taps = math.prod(kernel)
    apart = to.Reshape(offset, to.Concat(many, [taps, rank, -1], axis=0))
    flat = to.Concat(many, [-1], axis=0)
    positions = []
    for axis, tap in enumerate(numpy.indices(kernel).reshape(rank, -1, 1)):
        moved = to.Gather(apart, to.constant(axis, INT64), axis=2)
        begins = to.constant([tap * dilations[axis] - pads[axis]], space.dtype)
        spots = _spots(to, offset, call.dims(2)[2:], axis, strides[axis])
        at = to.Reshape(to.Add(to.Add(moved, begins), spots), flat)
        positions.append(space.linear(at, axis))
    found = space.read(positions)
    if mask is not None:
        strengths = to.Reshape(mask, to.Concat(many, [1, -1], axis=0))
        found = to.Mul(found, strengths)
    if group == 1:
        columns = to.Concat(images, to.Mul(channels, [taps]), [-1], axis=0)
        matrix = to.Reshape(weight, to.Concat(to.extent(weight, 0), [-1], axis=0))
    else:
        rows = to.Div(to.Mul(channels, [taps]), [group])
        columns = to.Concat(images, [group], rows, [-1], axis=0)
        matrix = to.Reshape(weight, to.Concat([group, -1], rows, axis=0))
    made = to.MatMul(matrix, to.Reshape(found, columns))
    made = to.Reshape(made, to.Concat(images, to.extent(weight, 0), wide, axis=0))
    if bias is not None:
        made = to.Add(made, to.Unsqueeze(bias, [1 + axis for axis in range(rank)]))
    return made


def _spots(to: Writer, offset: ir.Value, dims: Sequence[Dim], axis: int, stride: int) -> ir.Value:
    """Where windows begin along an axis, for each element of the output."""
    dtype, rank = dtype_of(offset), len(dims)
    if all(isinstance(dim, int) for dim in dims):
        spots = numpy.indices([int(str(dim)) for dim in dims])[axis].reshape(-1)
        return to.constant(spots * stride, dtype)
    line = to.Mul(_numbers_below(to, to.extent(offset, axis + 2), dtype), float(stride))
    line = to.Unsqueeze(line, [one for one in range(rank) if one != axis])
    wide = to.Concat(*(to.extent(offset, one + 2) for one in range(rank)), axis=0)
    made: ir.Value = to.Reshape(to.Expand(line, wide), [-1])
    return made


def _static(dims: Sequence[Dim], what: str) -> list[int]:
    known = [dim for dim in dims if isinstance(dim, int)]
    if len(known) < len(dims):
        raise Declined(f"{what} is of a shape that varies")
    return known
