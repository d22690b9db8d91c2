"""What gives a tensor another shape."""

from __future__ import annotations

import math

import numpy

from ._checked import Checked, check, text

# The axes that inputs have, by operator and position.
_RANKS: dict[str, dict[int, int]] = {
    "AffineGrid": {0: 3, 1: 1},
    "ConstantOfShape": {0: 1},
    "Expand": {1: 1},
    "EyeLike": {0: 2},
    "Gemm": {0: 2, 1: 2},
    "Pad": {1: 1, 3: 1},
    "Reshape": {1: 1},
    "Slice": {1: 1, 2: 1, 3: 1, 4: 1},
    "Tile": {1: 1},
}


@check(*_RANKS)
def _ranks(node: Checked) -> None:
    for index, rank in _RANKS[node.node.op_type].items():
        value = node.value(index)
        if value is not None and len(value.shape) != rank:
            axes = "1 axis" if rank == 1 else f"{rank} axes"
            node.fail(node.name(index), axes, f"shape {text(value.shape)}")


@check("Split", "SplitToSequence")
def _split(node: Checked) -> None:
    x, count = node.value(0), len(node.node.outputs)
    axis = node.get("axis", 0)
    if x is None:
        return
    extent = x.shape[node.axis(axis, len(x.shape))]
    sizes = node.get("split") if 2 <= node.since < 13 else node.ints(1)
    subject = "attribute 'split'" if 2 <= node.since < 13 else node.name(1)
    if node.node.op_type == "SplitToSequence":
        sizes, given = node.ints(1), node.value(1)
        if given is not None and not given.shape:
            node.at_least(1, subject, sizes)
            return
    else:
        parts = node.get("num_outputs")
        if parts is not None and parts != count:
            node.fail("attribute 'num_outputs'", f"{count}, as many as there are outputs", parts)
        if sizes is not None and len(sizes) != count:
            node.fail(subject, f"{count} sizes, as many as there are outputs", list(sizes))
    if sizes is None:
        return
    node.at_least(0, subject, list(sizes))
    if sum(sizes) != extent:
        expected = f"sizes with the sum {extent}, the elements along axis {axis}"
        node.fail(subject, expected, list(sizes))


@check("Slice")
def _slice(node: Checked) -> None:
    x = node.value(0)
    if x is None or node.since < 10:
        return
    starts = node.value(1)
    for index in (2, 3, 4):
        if starts is not None:
            node.shape(index, starts.shape, f"that of {node.name(1)}")
    axes, steps = node.ints(3), node.ints(4)
    if axes is not None:
        node.axes(axes, len(x.shape), node.name(3))
    elif starts is not None and node.value(3) is None and starts.size > len(x.shape):
        node.fail(node.name(1), f"at most {len(x.shape)} elements, one for each axis", starts.size)
    if steps is not None and 0 in steps:
        node.fail(node.name(4), "steps other than 0", steps)


@check("Pad")
def _pad(node: Checked) -> None:
    x = node.value(0)
    if x is None or node.since < 2:
        return
    pads = node.get("pads") if node.since < 11 else node.ints(1)
    subject = "attribute 'pads'" if node.since < 11 else node.name(1)
    axes = node.ints(3) if node.value(3) is not None else list(range(len(x.shape)))
    if axes is None or pads is None:
        return
    axes = node.axes(axes, len(x.shape), node.name(3))
    if len(pads) != 2 * len(axes):
        node.fail(subject, f"{2 * len(axes)} numbers, two for each axis", list(pads))
    if node.since >= 11:
        node.scalar(2)
    for number, axis in enumerate(axes):
        before, after, extent = pads[number], pads[len(axes) + number], x.shape[axis]
        if max(-before, 0) + max(-after, 0) > extent:
            expected = f"no more than {extent} elements taken away along axis {axis}"
            node.fail(subject, expected, (before, after))
        if (before > 0 or after > 0) and not extent and node.get("mode", "constant") != "constant":
            node.fail(node.name(0), f"elements along axis {axis} to pad with", "none")


@check("Range")
def _range(node: Checked) -> None:
    start, limit, delta = (node.scalar(index) for index in range(3))
    if delta is not None and (delta == 0 or delta != delta):
        node.fail(node.name(2), "a step other than 0", delta)
    for index, bound in enumerate((start, limit)):
        if isinstance(bound, float) and not math.isfinite(bound):
            node.fail(node.name(index), "a finite number", bound)


@check("Resize", "Upsample")
def _resize(node: Checked) -> None:
    x = node.value(0)
    if x is None or node.since < 10:
        return
    axes = node.get("axes")
    chosen = list(range(len(x.shape)))
    if axes is not None:
        chosen = node.axes(axes, len(x.shape), "attribute 'axes'")
    at = 2 if node.node.op_type == "Resize" and node.since >= 11 else 1
    given = [
        index
        for index in ((at, 3) if at == 2 else (at,))
        if (value := node.value(index)) is not None and value.shape != (0,)
    ]
    if len(given) != 1:
        node.fail("inputs 'scales' and 'sizes'", "one of them", "both" if given else "neither")
    node.shape(given[0], [len(chosen)], "a number for each axis")
    value = node.value(given[0])
    if value is None or value.known is None:
        return
    elements = numpy.asarray(value.known.elements, "float64")
    least = "positive numbers" if given[0] != 3 else "no negative numbers"
    fits = elements > 0 if given[0] != 3 else elements >= 0
    if not (fits & numpy.isfinite(elements)).all():
        node.fail(node.name(given[0]), least, elements.tolist())


@check("Tile")
def _tile(node: Checked) -> None:
    x, repeats = node.value(0), node.ints(1)
    if x is not None and node.since >= 6:
        node.shape(1, [len(x.shape)], "a number for each axis")
        node.at_least(0, node.name(1), repeats)


@check("ConstantOfShape")
def _filled(node: Checked) -> None:
    node.at_least(0, node.name(0), node.ints(0))
    given = node.get("value")
    if given is not None and numpy.asarray(given).size != 1:
        node.fail("attribute 'value'", "one element", f"{numpy.asarray(given).size}")


@check("Reshape")
def _reshape(node: Checked) -> None:
    x, extents = node.value(0), node.ints(1)
    if x is None or extents is None:
        return
    keeps = not node.get("allowzero", 0)
    subject = node.name(1)
    if min(extents, default=0) < -1 or extents.count(-1) > 1:
        node.fail(subject, "extents of 0 or more, and at most one of -1", extents)
    if not keeps and -1 in extents and 0 in extents:
        node.fail(subject, "not both 0 and -1 where 'allowzero' is set", extents)
    if keeps and any(one == 0 and axis >= len(x.shape) for axis, one in enumerate(extents)):
        node.fail(subject, f"0 only for the {len(x.shape)} axes that there are", extents)
    found = [
        x.shape[axis] if keeps and one == 0 else one for axis, one in enumerate(extents) if one >= 0
    ]
    known = math.prod(one for one in found if one >= 0)
    fits = known == x.size if -1 not in extents else x.size % known == 0 if known else x.size == 0
    if not fits:
        node.fail(subject, f"a shape of {x.size} elements, those of {text(x.shape)}", extents)


@check("Expand")
def _expand(node: Checked) -> None:
    x, extents = node.value(0), node.ints(1)
    if x is None or extents is None:
        return
    node.at_least(0, node.name(1), extents)
    for own, wanted in zip(reversed(x.shape), reversed(extents), strict=False):
        if own != wanted and 1 not in (own, wanted):
            node.fail(node.name(1), f"a shape that {text(x.shape)} broadcasts with", extents)


@check("CumSum", "CumProd")
def _running(node: Checked) -> None:
    x, axis = node.value(0), node.scalar(1)
    if x is not None and axis is not None:
        node.axis(axis, len(x.shape), node.name(1))


@check("SwiGLU")
def _swiglu(node: Checked) -> None:
    x = node.value(0)
    if x is not None:
        node.shape(1, x.shape, f"that of {node.name(0)}")


@check("CenterCropPad")
def _cropped(node: Checked) -> None:
    x, sizes, axes = node.value(0), node.ints(1), node.get("axes")
    if x is None:
        return
    chosen = list(range(len(x.shape)))
    if axes is not None:
        chosen = node.axes(axes, len(x.shape), "attribute 'axes'")
    node.shape(1, [len(chosen)], "an extent for each axis")
    node.at_least(0, node.name(1), sizes)


@check("AffineGrid")
def _grid(node: Checked) -> None:
    theta, size = node.value(0), node.ints(1)
    if theta is None or size is None:
        return
    if len(size) not in (4, 5):
        node.fail(node.name(1), "4 or 5 extents", size)
    node.at_least(1, node.name(1), size)
    node.shape(0, [size[0], len(size) - 2, len(size) - 1], "a matrix for each image")


@check("DepthToSpace", "SpaceToDepth")
def _blocks(node: Checked) -> None:
    x, size = node.value(0), node.get("blocksize", 0)
    if x is None:
        return
    node.at_least(1, "attribute 'blocksize'", size)
    node.shape(0, [None] * 4, "images")
    if node.node.op_type == "DepthToSpace" and x.shape[1] % (size * size):
        node.fail("attribute 'blocksize'", f"a square that divides {x.shape[1]} channels", size)
    if node.node.op_type == "SpaceToDepth" and (x.shape[2] % size or x.shape[3] % size):
        node.fail("attribute 'blocksize'", f"a divisor of {x.shape[2]} and {x.shape[3]}", size)


@check("Gemm")
def _gemm(node: Checked) -> None:
    a, b, c = node.value(0), node.value(1), node.value(2)
    if a is None or b is None:
        return
    rows, inner = a.shape[::-1] if node.get("transA", 0) else a.shape
    other, columns = b.shape[::-1] if node.get("transB", 0) else b.shape
    if inner != other:
        node.fail(node.name(1), f"{inner} rows, the columns of {node.name(0)}", other)
    if c is None or node.since < 7:
        return
    padded = (1,) * (2 - len(c.shape)) + tuple(c.shape)
    if len(padded) != 2 or padded[0] not in (1, rows) or padded[1] not in (1, columns):
        node.fail(node.name(2), f"what broadcasts to {text((rows, columns))}", text(c.shape))


@check("Max", "Mean", "Min", "Sum")
def _together(node: Checked) -> None:
    """Before version 8 these did not broadcast."""
    first = node.value(0)
    for index in range(1, len(node.inputs) if node.since < 8 and first is not None else 0):
        assert first is not None
        node.shape(index, first.shape, f"that of {node.name(0)}")


@check("Add", "And", "Div", "Equal", "Greater", "Less", "Mul", "Or", "Pow", "Sub", "Xor")
def _broadcast(node: Checked) -> None:
    """Before version 7 an attribute said along which axes the second operand lies."""
    a, b, axis = node.value(0), node.value(1), node.get("axis")
    if node.since >= 7 or a is None or b is None or axis is None or b.size == 1:
        return
    last = len(a.shape) - len(b.shape)
    if axis not in (last, -len(b.shape)):
        expected = f"{last}, the last axes: models of version 7 have a shape instead"
        node.fail("attribute 'axis'", expected, axis)
