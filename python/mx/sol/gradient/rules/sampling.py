"""Operators that read between elements, written by what has rules: four elements and their weights.

So their gradients for the positions, too, are those of products and sums.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy
import onnx_ir as ir

from ....importers._builder import dtype_of
from .._rules import Call, Declined, expansion, gradient
from .._writer import Writer

INT64 = ir.DataType.INT64


def _scalar(to: Writer, x: ir.Value, axis: int) -> ir.Value:
    """An extent of a value as an integer without axes."""
    made: ir.Value = to.Squeeze(to.extent(x, axis), [0])
    return made


class _Plane:
    """The last two axes of a value of shape (N, C, H, W), flat."""

    def __init__(self, to: Writer, x: ir.Value) -> None:
        self._to, self.dtype = to, dtype_of(x)
        lead = to.Concat(to.extent(x, 0), to.extent(x, 1), [-1], axis=0)
        self._flat = to.Reshape(x, lead)
        self.channels = to.extent(x, 1)
        self.height, self.width = _scalar(to, x, 2), _scalar(to, x, 3)

    def number(self, integer: ir.Value) -> ir.Value:
        """An integer as a number of the type of the elements."""
        return self._to.cast(integer, self.dtype)

    def limit(self, row: ir.Value, column: ir.Value) -> tuple[ir.Value, ir.Value]:
        """Positions moved to the nearest one that is inside."""
        to = self._to
        ends = [to.Sub(self.number(extent), 1) for extent in (self.height, self.width)]
        rows, columns = (
            to.Min(to.Max(at, 0.0), end) for at, end in zip((row, column), ends, strict=True)
        )
        return rows, columns

    def read(self, row: ir.Value, column: ir.Value) -> ir.Value:
        """The elements at whole positions of shape (N, P), 0 outside: (N, C, P)."""
        to = self._to
        rows, columns = to.cast(row, INT64), to.cast(column, INT64)
        inside = to.And(
            to.And(to.GreaterOrEqual(rows, 0), to.Less(rows, self.height)),
            to.And(to.GreaterOrEqual(columns, 0), to.Less(columns, self.width)),
        )
        index = to.where(inside, to.Add(to.Mul(rows, self.width), columns), 0)
        wide = to.Concat([1], self.channels, [1], axis=0)
        indices = to.Expand(to.Unsqueeze(index, [1]), wide)
        found = to.GatherElements(self._flat, indices, axis=2)
        made: ir.Value = to.Mul(found, self.number(to.Unsqueeze(inside, [1])))
        return made

    def between(self, row: ir.Value, column: ir.Value) -> ir.Value:
        """The elements at positions between whole ones, of shape (N, P), linearly: (N, C, P)."""
        to = self._to
        top, left = to.Floor(row), to.Floor(column)
        down, right = to.Sub(row, top), to.Sub(column, left)
        total: ir.Value | None = None
        for below in (False, True):
            for beside in (False, True):
                a = down if below else to.Add(to.Neg(down), 1.0)
                b = right if beside else to.Add(to.Neg(right), 1.0)
                share = to.Unsqueeze(to.Mul(a, b), [1])
                at = (to.Add(top, float(below)), to.Add(left, float(beside)))
                part = to.Mul(self.read(*at), share)
                total = part if total is None else to.Add(total, part)
        assert total is not None
        return total


@expansion("GridSample")
def _grid_sample(to: Writer, call: Call) -> ir.Value:
    x, grid = call.input(0), call.input(1)
    mode = call.string("mode", "linear")
    padding = call.string("padding_mode", "zeros")
    if len(call.dims(0)) != 4 or mode not in ("linear", "nearest", "bilinear"):
        raise Declined(f"mode={mode} with {len(call.dims(0))} axes")
    if padding not in ("zeros", "border"):
        raise Declined(f"padding_mode={padding}")
    plane = _Plane(to, x)
    flat = to.Reshape(grid, to.Concat(to.extent(grid, 0), [-1, 2], axis=0))
    aligned = call.integer("align_corners", 0)
    positions = []
    for index, extent in ((1, plane.height), (0, plane.width)):
        part = to.cast(to.Gather(flat, to.constant(index, INT64), axis=2), plane.dtype)
        size = plane.number(extent)
        if aligned:  # -1 and 1 are the middles of the first and the last element
            positions.append(to.Mul(to.Mul(to.Add(part, 1.0), 0.5), to.Sub(size, 1.0)))
        else:  # they are their outer ends
            positions.append(to.Sub(to.Mul(to.Mul(to.Add(part, 1.0), 0.5), size), 0.5))
    row, column = positions
    if padding == "border":
        row, column = plane.limit(row, column)
    if mode == "nearest":
        found = plane.read(to.Round(row), to.Round(column))
    else:
        found = plane.between(row, column)
    shape = [to.extent(x, 0), to.extent(x, 1), to.extent(grid, 1), to.extent(grid, 2)]
    return to.Reshape(found, to.Concat(*shape, axis=0))


@expansion("AffineGrid")
def _affine_grid(to: Writer, call: Call) -> ir.Value:
    """Products of a matrix for each image with the positions of its elements."""
    theta = call.x
    size = ir.convenience.get_const_tensor(call.input(1))
    if size is None:
        raise Declined("the size is computed")
    extents = [int(extent) for extent in size.numpy()[2:]]
    axes = []
    for extent in extents:
        if call.integer("align_corners", 0):
            axes.append(numpy.linspace(-1, 1, extent))
        else:
            axes.append((2 * numpy.arange(extent) + 1) / extent - 1)
    # The last axis first, then 1 for what is added.
    grid = [*numpy.meshgrid(*axes, indexing="ij")][::-1] + [numpy.ones(extents)]
    points = numpy.stack(grid, -1).reshape(-1, len(extents) + 1)
    made = to.MatMul(to.constant(points, dtype_of(theta)), to.Transpose(theta, perm=[0, 2, 1]))
    shape = to.Concat(to.extent(theta, 0), to.ints([*extents, len(extents)]), axis=0)
    return to.Reshape(made, shape)


@expansion("RoiAlign")
def _roi_align(to: Writer, call: Call) -> ir.Value:
    """The mean, or the maximum, of a few positions in each part of each region."""
    x, regions, batch = call.input(0), call.input(1), call.input(2)
    rows, columns = call.integer("output_height", 1), call.integer("output_width", 1)
    ratio, scale = call.integer("sampling_ratio", 0), call.number("spatial_scale", 1.0)
    half = call.string("coordinate_transformation_mode", "half_pixel") == "half_pixel"
    mode = call.string("mode", "avg")
    if ratio <= 0:
        raise Declined("sampling_ratio=0, by which elements of regions decide what is read")
    if mode != "avg":
        raise Declined(f"mode={mode}")
    # Each region reads its own image.
    images = to.Gather(x, batch, axis=0)
    plane = _Plane(to, images)
    corners = [
        to.Sub(to.Mul(to.Slice(regions, [i], [i + 1], [1]), scale), 0.5 if half else 0.0)
        for i in range(4)
    ]
    left, top, right, bottom = corners
    positions = []
    for begin, end, count in ((top, bottom, rows), (left, right, columns)):
        size = to.Sub(end, begin)
        size = size if half else to.Max(size, 1.0)
        steps = [(i + (j + 0.5) / ratio) / count for i in range(count) for j in range(ratio)]
        offsets = to.constant([steps], dtype_of(x))
        positions.append(to.Add(begin, to.Mul(size, offsets)))
    down, across = rows * ratio, columns * ratio
    shape = to.Concat(to.extent(regions, 0), [down, across], axis=0)
    row = to.Expand(to.Unsqueeze(positions[0], [2]), shape)
    column = to.Expand(to.Unsqueeze(positions[1], [1]), shape)
    flat = to.Concat(to.extent(regions, 0), [down * across], axis=0)
    row, column = to.Reshape(row, flat), to.Reshape(column, flat)
    # More than one element outside there is nothing; up to there the border counts.
    near = to.And(
        to.And(to.GreaterOrEqual(row, -1.0), to.LessOrEqual(row, plane.number(plane.height))),
        to.And(to.GreaterOrEqual(column, -1.0), to.LessOrEqual(column, plane.number(plane.width))),
    )
    found = plane.between(*plane.limit(row, column))
    found = to.Mul(found, plane.number(to.Unsqueeze(near, [1])))
    parts = [to.extent(regions, 0), to.extent(x, 1), to.ints([rows, ratio, columns, ratio])]
    return to.ReduceMean(to.Reshape(found, to.Concat(*parts, axis=0)), [3, 5], keepdims=0)


@gradient("MaxRoiPool")
def _max_roi_pool(to: Writer, call: Call) -> Sequence[ir.Value | None]:
    attributes = {name: one.value for name, one in call.node.attributes.items()}
    made = to.own_like("MaxRoiPoolGrad", call.dy, call.x, call.input(1), like=call.x, **attributes)
    return [made, None]


@expansion("DeformConv")
def _deform_conv(to: Writer, call: Call) -> ir.Value:
    """What each position of a window reads, and the sum of its products with the weight."""
    x, weight, offset = call.input(0), call.input(1), call.input(2)
    bias, mask = call.optional(3), call.optional(4)
    kernel = _static(call.dims(1)[2:], "the kernel")
    out = _static(call.dims(2)[2:], "the output")
    if len(kernel) != 2 or call.integer("group", 1) != 1 or call.integer("offset_group", 1) != 1:
        raise Declined("groups, or other than two axes")
    strides = list(call.ints("strides") or [1, 1])
    dilations = list(call.ints("dilations") or [1, 1])
    pads = list(call.ints("pads") or [0, 0, 0, 0])
    plane = _Plane(to, x)
    taps, spots = kernel[0] * kernel[1], out[0] * out[1]
    begins: list[list[list[float]]] = [[], []]
    for tap in range(taps):
        at = (tap // kernel[1], tap % kernel[1])
        grid = [(i, j) for i in range(out[0]) for j in range(out[1])]
        for axis in (0, 1):
            first = at[axis] * dilations[axis] - pads[axis]
            begins[axis].append([float(spot[axis] * strides[axis] + first) for spot in grid])
    apart = to.Reshape(offset, to.Concat(to.extent(x, 0), [taps, 2, spots], axis=0))
    flat = to.Concat(to.extent(x, 0), [taps * spots], axis=0)
    positions = []
    for axis in (0, 1):
        moved = to.Gather(apart, to.constant(axis, INT64), axis=2)
        moved = to.Add(moved, to.constant([begins[axis]], plane.dtype))
        positions.append(to.Reshape(moved, flat))
    found = plane.between(*positions)
    shape = [to.extent(x, 0), to.extent(x, 1), to.ints([taps, spots])]
    columns = to.Reshape(found, to.Concat(*shape, axis=0))
    if mask is not None:
        columns = to.Mul(
            columns, to.Reshape(mask, to.Concat(to.extent(x, 0), [1, taps, spots], axis=0))
        )
    rows = to.Reshape(columns, to.Concat(to.extent(x, 0), [-1, spots], axis=0))
    matrix = to.Reshape(weight, to.Concat(to.extent(weight, 0), [-1], axis=0))
    made = to.MatMul(matrix, rows)
    if bias is not None:
        made = to.Add(made, to.Unsqueeze(bias, [1]))
    shape = [to.extent(x, 0), to.extent(weight, 0), to.ints(out)]
    return to.Reshape(made, to.Concat(*shape, axis=0))


def _static(dims: Sequence[object], what: str) -> list[int]:
    known = [dim for dim in dims if isinstance(dim, int)]
    if len(known) < len(dims):
        raise Declined(f"{what} is of a shape that varies")
    return known
