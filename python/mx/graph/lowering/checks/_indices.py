"""Indices: in bounds, and of shapes that fit what they are of."""

from __future__ import annotations

import numpy

from ._checked import Checked, check, text


@check("TopK")
def _top_k(node: Checked) -> None:
    x = node.value(0)
    k = node.get("k") if node.since < 10 else node.scalar(1)
    if x is None or k is None:
        return
    axis = node.get("axis", -1)
    extent = x.shape[axis] if x.shape else 0
    if not 0 <= k <= extent:
        subject = "attribute 'k'" if node.since < 10 else node.name(1)
        node.fail(subject, f"0 to {extent}, the elements along axis {axis}", k)


@check("Gather")
def _gather(node: Checked) -> None:
    x, axis = node.value(0), node.get("axis", 0)
    if x is not None:
        axis = node.axis(axis, len(x.shape))
        node.indices(1, x.shape[axis], f"axis {axis} of {node.name(0)}")


def _same_axes(node: Checked, axis: int) -> None:
    """Indices have as many axes as what they are of, and no more elements along the others."""
    x, indices = node.value(0), node.value(1)
    if x is None or indices is None:
        return
    fits = len(x.shape) == len(indices.shape) and all(
        own <= extent
        for other, (own, extent) in enumerate(zip(indices.shape, x.shape, strict=True))
        if other != axis
    )
    if not fits:
        expected = f"no more than {text(x.shape)} along all axes but {axis}"
        node.fail(node.name(1), expected, f"shape {text(indices.shape)}")


@check("GatherElements")
def _gather_elements(node: Checked) -> None:
    x = node.value(0)
    if x is not None:
        axis = node.axis(node.get("axis", 0), len(x.shape))
        _same_axes(node, axis)
        node.indices(1, x.shape[axis], f"axis {axis} of {node.name(0)}")


@check("ScatterElements", "Scatter")
def _scatter_elements(node: Checked) -> None:
    _gather_elements(node)
    indices = node.value(1)
    if indices is not None:
        node.shape(2, indices.shape, "that of the indices")


def _check_tuples(node: Checked, batches: int) -> None:
    """The last axis of indices has an index for each of some axes behind so many batches."""
    x, indices = node.value(0), node.value(1)
    if x is None or indices is None:
        return
    if not indices.shape or not 1 <= indices.shape[-1] <= len(x.shape) - batches:
        most = len(x.shape) - batches
        node.fail(node.name(1), f"1 to {most} indices on its last axis", text(indices.shape))
    if indices.known is None or not indices.size:
        return
    elements = indices.known.elements
    for number in range(indices.shape[-1]):
        axis = batches + number
        node.within(1, elements[..., number], x.shape[axis], f"axis {axis} of {node.name(0)}")


@check("GatherND")
def _gather_nd(node: Checked) -> None:
    x, indices, batches = node.value(0), node.value(1), node.get("batch_dims", 0)
    if x is None or indices is None:
        return
    most = min(len(x.shape), len(indices.shape)) - 1
    if not 0 <= batches <= most:
        node.fail("attribute 'batch_dims'", f"0 to {most}", batches)
    if x.shape[:batches] != indices.shape[:batches]:
        expected = f"{text(x.shape[:batches])} as its first axes, those of batches"
        node.fail(node.name(1), expected, text(indices.shape[:batches]))
    _check_tuples(node, batches)


@check("ScatterND")
def _scatter_nd(node: Checked) -> None:
    x, indices = node.value(0), node.value(1)
    if x is not None and indices is not None:
        _check_tuples(node, 0)
        expected = (*indices.shape[:-1], *x.shape[indices.shape[-1] :])
        node.shape(2, expected, "an update for each index")


@check("OneHot")
def _one_hot(node: Checked) -> None:
    indices, depth = node.value(0), node.scalar(1)
    if depth is not None:
        node.at_least(0, node.name(1), depth)
    node.shape(2, [2], "what is off and what is on")
    if indices is not None:
        node.axis(node.get("axis", -1), len(indices.shape) + 1)


@check("Compress")
def _compress(node: Checked) -> None:
    x, condition, axis = node.value(0), node.value(1), node.get("axis")
    if x is None or condition is None:
        return
    extent = x.size if axis is None else x.shape[axis]
    if len(condition.shape) != 1 or condition.shape[0] > extent:
        node.fail(node.name(1), f"one axis of at most {extent} elements", text(condition.shape))


@check("MaxUnpool")
def _unpool(node: Checked) -> None:
    indices = node.value(1)
    if indices is not None and indices.known is not None and indices.size:
        node.at_least(0, f"the least of {node.name(1)}", int(indices.known.elements.min()))


@check("SequenceAt", "SequenceErase", "SequenceInsert")
def _sequence(node: Checked) -> None:
    items, operator = node.inputs[0], node.node.op_type
    position = node.scalar(2 if operator == "SequenceInsert" else 1)
    if operator == "SequenceErase" and items == [] and node.value(1) is None:
        node.fail("input 'input_sequence'", "one item or more", "an empty sequence")
    if not isinstance(items, list) or position is None:
        return
    count = len(items)
    most = count if operator == "SequenceInsert" else count - 1
    if not -count <= position <= most:
        allowed = f"{-count} to {most}" if most >= -count else "none"
        node.fail("input 'position'", f"a position of {allowed}, of {count} items", position)


@check("NegativeLogLikelihoodLoss", "SoftmaxCrossEntropyLoss")
def _classes(node: Checked) -> None:
    x, target = node.value(0), node.value(1)
    if x is None or target is None:
        return
    if len(x.shape) < 2:
        node.fail(node.name(0), "2 axes or more", f"shape {text(x.shape)}")
    node.shape(1, [x.shape[0], *x.shape[2:]], "a class for each item")
    node.shape(2, [x.shape[1]], "a number for each class")
    if target.known is None:
        return
    ignored = node.get("ignore_index")
    elements = target.known.elements
    used = elements if ignored is None else elements[elements != ignored]
    if used.size and not (int(used.min()) >= 0 and int(used.max()) < x.shape[1]):
        wrong = int(used.min()) if int(used.min()) < 0 else int(used.max())
        node.fail(node.name(1), f"classes of 0 to {x.shape[1] - 1}", wrong)


@check("ReverseSequence")
def _reversed(node: Checked) -> None:
    x, batch, time = node.value(0), node.get("batch_axis", 1), node.get("time_axis", 0)
    if x is None:
        return
    if {batch, time} != {0, 1}:
        node.fail("attributes 'batch_axis' and 'time_axis'", "0 and 1", (batch, time))
    if len(x.shape) < 2:
        node.fail(node.name(0), "2 axes or more", f"shape {text(x.shape)}")
    node.shape(1, [x.shape[batch]], "a length for each item of the batch")
    lengths = node.ints(1)
    if lengths is not None and not all(0 <= one <= x.shape[time] for one in lengths):
        node.fail(node.name(1), f"lengths of 0 to {x.shape[time]}", lengths)


@check("NonMaxSuppression")
def _suppressed(node: Checked) -> None:
    boxes, scores = node.value(0), node.value(1)
    node.shape(0, [None, None, 4], "the corners of boxes")
    if boxes is not None and scores is not None:
        node.shape(1, [boxes.shape[0], None, boxes.shape[1]], "a score for each class and box")
    iou = node.scalar(3)
    if iou is not None and not 0 <= iou <= 1:
        node.fail(node.name(3), "0 to 1", iou)


# Of a region, how many samples are taken of the image.
_MOST_SAMPLES = 1 << 22


@check("RoiAlign")
def _regions(node: Checked) -> None:
    x, rois = node.value(0), node.value(1)
    if x is None or rois is None:
        return
    node.shape(0, [None] * 4, "images")
    node.shape(1, [None, 4], "the corners of regions")
    node.shape(2, [rois.shape[0]], "an image for each region")
    images = node.value(2)
    if images is not None and images.known is not None and images.size:
        node.at_least(0, node.name(2), int(images.known.elements.min()))
        node.indices(2, x.shape[0], f"the images of {node.name(0)}")
    height, width = node.get("output_height", 1), node.get("output_width", 1)
    node.at_least(1, "attribute 'output_height'", height)
    node.at_least(1, "attribute 'output_width'", width)
    ratio = node.get("sampling_ratio", 0)
    node.at_least(0, "attribute 'sampling_ratio'", ratio)
    samples = float(height * width * ratio * ratio)
    if not ratio and rois.known is not None and rois.size:
        corners = rois.known.elements.astype("float64") * node.get("spatial_scale", 1.0)
        sides = numpy.maximum(corners[:, 2:] - corners[:, :2], 1.0)
        samples = float((sides[:, 0] + width).max() * (sides[:, 1] + height).max())
    if not samples <= _MOST_SAMPLES:
        node.fail(node.name(1), f"regions of at most {_MOST_SAMPLES} samples", f"{samples:g}")
