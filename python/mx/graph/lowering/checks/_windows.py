"""Windows that move over axes: convolutions and pools."""

from __future__ import annotations

from collections.abc import Sequence

from .._windows import pads_of
from ._checked import Checked, check, text


def _numbers(
    node: Checked, attribute: str, count: int, least: int, default: Sequence[int]
) -> list[int]:
    """An attribute with so many numbers, none less than that."""
    given = node.get(attribute)
    if not given:
        return list(default)
    subject = f"attribute {attribute!r}"
    if len(given) != count:
        node.fail(subject, f"{count} numbers", list(given))
    node.at_least(least, subject, list(given))
    return list(given)


def _spatial(node: Checked) -> tuple[int, ...] | None:
    """The axes that windows move over; None where there is no such tensor."""
    x = node.value(0)
    if x is None:
        return None
    if len(x.shape) < 3:
        node.fail(node.name(0), "3 axes or more", f"shape {text(x.shape)}")
    return x.shape[2:]


def _check_fit(
    node: Checked, spatial: Sequence[int], kernel: Sequence[int], least_pad: int = 0
) -> None:
    """Strides, dilations and pads are as they may be, and a window fits."""
    count = len(spatial)
    steps = _numbers(node, "strides", count, 1, [1] * count)
    gaps = _numbers(node, "dilations", count, 1, [1] * count)
    pads = _numbers(node, "pads", 2 * count, least_pad, [0] * (2 * count))
    around = pads_of(node.get("auto_pad", "NOTSET"), pads, spatial, kernel, steps, gaps)
    for axis in range(count):
        room = spatial[axis] + around[axis] + around[count + axis]
        reach = (kernel[axis] - 1) * gaps[axis] + 1
        # A last window of which a part is beyond the end may be the first one, too.
        beyond = steps[axis] - 1 if room and node.get("ceil_mode") else 0
        if reach > room + beyond:
            node.fail(
                f"the window along axis {2 + axis}",
                f"at most {room} elements, those of {node.name(0)} with pads",
                reach,
            )


@check("MaxPool", "AveragePool", "LpPool")
def _pool(node: Checked) -> None:
    spatial = _spatial(node)
    if spatial is None:
        return
    if not node.get("kernel_shape"):
        node.fail("attribute 'kernel_shape'", f"{len(spatial)} numbers", "none")
    kernel = _numbers(node, "kernel_shape", len(spatial), 1, ())
    _check_fit(node, spatial, kernel)
    node.at_least(1, "attribute 'p'", node.get("p"))


@check("GridSample")
def _sampled(node: Checked) -> None:
    spatial, x = _spatial(node), node.value(0)
    if spatial is not None and x is not None:
        positions = [x.shape[0], *[None] * len(spatial), len(spatial)]
        node.shape(1, positions, "positions of as many axes for each image")


@check("GlobalLpPool")
def _global_pool(node: Checked) -> None:
    node.at_least(1, "attribute 'p'", node.get("p"))


@check("MaxUnpool")
def _unpool(node: Checked) -> None:
    spatial = _spatial(node)
    if spatial is None:
        return
    count = len(spatial)
    _numbers(node, "kernel_shape", count, 1, ())
    _numbers(node, "strides", count, 1, ())
    _numbers(node, "pads", 2 * count, 0, ())
    x = node.value(0)
    assert x is not None
    node.shape(1, x.shape, "that of the elements")


def _check_groups(node: Checked, channels: int, filters: int, of_group: int, w: int) -> None:
    group = node.get("group", 1)
    node.at_least(1, "attribute 'group'", group)
    if filters % group:
        node.fail(
            "attribute 'group'", f"a divisor of {filters}, the filters of {node.name(w)}", group
        )
    if channels != of_group * group:
        node.fail(
            node.name(w),
            f"filters of {channels} channels in {group} groups, as {node.name(0)} has",
            of_group,
        )


def _check_kernel(node: Checked, w: int, kernel: tuple[int, ...], count: int) -> None:
    """The filters have the axes of the image, of at least an element, as the attribute says."""
    if len(kernel) != count:
        node.fail(node.name(w), f"{2 + count} axes", 2 + len(kernel))
    node.at_least(1, f"the window of {node.name(w)}", list(kernel))
    given = node.get("kernel_shape")
    if given and tuple(given) != kernel:
        node.fail("attribute 'kernel_shape'", f"{list(kernel)}, as {node.name(w)}", list(given))


@check("Conv", "ConvInteger", "QLinearConv")
def _convolution(node: Checked) -> None:
    w, bias = {"QLinearConv": (3, 8), "ConvInteger": (1, 99)}.get(node.node.op_type, (1, 2))
    spatial, x, weight = _spatial(node), node.value(0), node.value(w)
    if spatial is None or x is None or weight is None:
        return
    _check_kernel(node, w, weight.shape[2:], len(spatial))
    _check_groups(node, x.shape[1], weight.shape[0], weight.shape[1], w)
    _check_fit(node, spatial, weight.shape[2:])
    node.shape(bias, [weight.shape[0]], "a number for each filter")


@check("ConvTranspose")
def _transposed(node: Checked) -> None:
    spatial, x, weight = _spatial(node), node.value(0), node.value(1)
    if spatial is None or x is None or weight is None:
        return
    count, group = len(spatial), node.get("group", 1)
    _check_kernel(node, 1, weight.shape[2:], count)
    node.at_least(1, "attribute 'group'", group)
    if x.shape[1] % group:
        node.fail("attribute 'group'", f"a divisor of {x.shape[1]}, the channels", group)
    if weight.shape[0] != x.shape[1]:
        node.fail(node.name(1), f"{x.shape[1]} filters, as {node.name(0)} has", weight.shape[0])
    node.shape(2, [weight.shape[1] * group], "a number for each channel that it gives")
    steps = _numbers(node, "strides", count, 1, [1] * count)
    gaps = _numbers(node, "dilations", count, 1, [1] * count)
    pads = _numbers(node, "pads", 2 * count, 0, [0] * (2 * count))
    more = _numbers(node, "output_padding", count, 0, [0] * count)
    for axis in range(count):
        limit = max(steps[axis], gaps[axis])
        if more[axis] >= limit:
            node.fail(
                "attribute 'output_padding'",
                f"less than {limit}, the stride or the dilation, along axis {2 + axis}",
                more[axis],
            )
        reach = (weight.shape[2 + axis] - 1) * gaps[axis] + 1
        extent = (spatial[axis] - 1) * steps[axis] + reach + more[axis]
        taken = pads[axis] + pads[count + axis]
        if spatial[axis] and extent < taken and not node.get("output_shape"):
            node.fail(f"pads along axis {2 + axis}", f"at most {extent}", taken)
    wanted = node.get("output_shape")
    if wanted:
        if len(wanted) not in (count, 2 + count):
            node.fail("attribute 'output_shape'", f"{count} numbers", list(wanted))
        node.at_least(1, "attribute 'output_shape'", list(wanted))


@check("DeformConv")
def _deformed(node: Checked) -> None:
    spatial, x, weight, offset = _spatial(node), node.value(0), node.value(1), node.value(2)
    if spatial is None or x is None or weight is None or offset is None:
        return
    _check_kernel(node, 1, weight.shape[2:], len(spatial))
    _check_groups(node, x.shape[1], weight.shape[0], weight.shape[1], 1)
    _check_fit(node, spatial, weight.shape[2:])
    groups, size = node.get("offset_group", 1), 1
    node.at_least(1, "attribute 'offset_group'", groups)
    if x.shape[1] % groups:
        node.fail("attribute 'offset_group'", f"a divisor of {x.shape[1]}, the channels", groups)
    for extent in weight.shape[2:]:
        size *= extent
    outside = [None] * len(spatial)
    both = groups * size * len(spatial)
    node.shape(2, [x.shape[0], both, *outside], "an offset for each axis of each element")
    node.shape(3, [weight.shape[0]], "a number for each filter")
    node.shape(4, [x.shape[0], groups * size, *outside], "a number for each element")


@check("Col2Im")
def _columns(node: Checked) -> None:
    x, image, block = node.value(0), node.ints(1), node.ints(2)
    if x is None or image is None or block is None:
        return
    count = len(image)
    node.at_least(1, node.name(1), image)
    node.at_least(1, node.name(2), block)
    if len(block) != count:
        node.fail(node.name(2), f"{count} numbers", block)
    steps = _numbers(node, "strides", count, 1, [1] * count)
    gaps = _numbers(node, "dilations", count, 1, [1] * count)
    pads = _numbers(node, "pads", 2 * count, 0, [0] * (2 * count))
    size = columns = 1
    for axis in range(count):
        room = image[axis] + pads[axis] + pads[count + axis]
        reach = (block[axis] - 1) * gaps[axis] + 1
        if reach > room:
            node.fail(f"the block along axis {axis}", f"at most {room} elements", reach)
        size *= block[axis]
        columns *= (room - reach) // steps[axis] + 1
    if len(x.shape) != 3 or x.shape[1] % size:
        node.fail(node.name(0), f"3 axes, the second of a multiple of {size}", text(x.shape))
    node.shape(0, [None, None, columns], "a column for each block")
