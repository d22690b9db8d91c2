"""Gradients of convolution and pooling."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import onnx_ir as ir

from ....graph.lowering._windows import pads_of
from ....importers._builder import dtype_of
from .._rules import Call, Declined, expansion, gradient
from .._writer import Writer

Grads = list[ir.Value | None]


def window(call: Call, kernel: Sequence[int]) -> dict[str, Any]:
    """Strides, explicit pads and dilations of a node whose windows have these extents."""
    count = len(kernel)
    strides = list(call.ints("strides") or [1] * count)
    dilations = list(call.ints("dilations") or [1] * count)
    how = call.string("auto_pad", "NOTSET")
    # With steps of one element the padding is the same for all extents.
    dims = zip(call.dims(0)[2:], strides, strict=True)
    spatial = [dim if isinstance(dim, int) else 1 - stride for dim, stride in dims]
    if how.startswith("SAME") and min(spatial, default=0) < 0:
        raise Declined(f"auto_pad={how} with strides along an axis that varies")
    pads = pads_of(how, call.ints("pads"), spatial, kernel, strides, dilations)
    return {"strides": strides, "pads": list(pads), "dilations": dilations}


def _varies(call: Call, kernel: Sequence[int]) -> bool:
    """Whether the padding depends on extents that vary."""
    strides = call.ints("strides") or [1] * len(kernel)
    return call.string("auto_pad", "NOTSET").startswith("SAME") and any(
        stride > 1 and not isinstance(dim, int)
        for dim, stride in zip(call.dims(0)[2:], strides, strict=True)
    )


def _padded(to: Writer, call: Call, x: ir.Value, kernel: Sequence[int]) -> ir.Value:
    """An input with the zeros around it that auto_pad means."""
    strides = call.ints("strides") or [1] * len(kernel)
    dilations = call.ints("dilations") or [1] * len(kernel)
    less, more = [], []
    for axis, (size, stride, dilation) in enumerate(zip(kernel, strides, dilations, strict=True)):
        extent = to.extent(x, axis + 2)
        last = to.Mul(to.Div(to.Sub(extent, [1]), [stride]), [stride])
        missing = to.Max(to.Sub(to.Add(last, [(size - 1) * dilation + 1]), extent), [0])
        less.append(to.Div(missing, [2]))
        more.append(to.Sub(missing, less[-1]))
    if call.string("auto_pad", "NOTSET") == "SAME_LOWER":
        less, more = more, less
    axes = list(range(2, 2 + len(kernel)))
    made: ir.Value = to.Pad(x, to.Concat(*less, *more, axis=0), None, axes)
    return made


def _without_pads(call: Call) -> dict[str, Any]:
    """The attributes of a node without those of its padding."""
    left = ("auto_pad", "pads")
    return {name: one.value for name, one in call.node.attributes.items() if name not in left}


@expansion("Conv")
def _conv_of_padded(to: Writer, call: Call) -> ir.Value:
    """The same with the padding in front of it, where that depends on extents that vary."""
    kernel = kernel_of(call)
    if not _varies(call, kernel):
        raise Declined("it has its padding")
    others = call.node.inputs[1:]
    return to.Conv(_padded(to, call, call.x, kernel), *others, **_without_pads(call))


@expansion("AveragePool")
def _average_of_padded(to: Writer, call: Call) -> ir.Value:
    """The same; of windows with padding in them, divided by the share of the others."""
    kernel = kernel_of(call)
    if not _varies(call, kernel):
        raise Declined("it has its padding")
    given = {**_without_pads(call), "count_include_pad": 1}
    mean = to.AveragePool(_padded(to, call, call.x, kernel), **given)
    if call.integer("count_include_pad", 0):
        return mean
    ones = to.Expand(to.constant(1.0, dtype_of(call.x)), to.shape(call.x))
    ones.shape = call.x.shape
    return to.Div(mean, to.AveragePool(_padded(to, call, ones, kernel), **given))


def kernel_of(call: Call) -> list[int]:
    """The extents of the kernel, by the attribute or the weight's shape."""
    given = call.ints("kernel_shape")
    if given:
        return list(given)
    dims = call.dims(1)[2:]
    known = [dim for dim in dims if isinstance(dim, int)]
    if len(known) < len(dims):
        if call.string("auto_pad", "NOTSET").startswith("SAME"):
            raise Declined("its kernel has extents that vary, and it has no kernel_shape")
        return [-1] * len(dims)  # which nobody needs
    return known


def _per_channel(to: Writer, call: Call) -> ir.Value:
    """The sum over all but the channels."""
    rank = len(call.dims(0))
    return to.sum_over(call.dy, [axis for axis in range(rank) if axis != 1])


@gradient("Conv")
def _conv(to: Writer, call: Call) -> Grads:
    x, weight = call.input(0), call.input(1)
    given = window(call, kernel_of(call))
    given["group"] = call.integer("group", 1)
    d_x = d_w = None
    if call.wants(0):
        d_x = to.own_like("ConvGradInput", call.dy, weight, to.shape(x), like=x, **given)
    if call.wants(1):
        d_w = to.own_like("ConvGradWeight", x, call.dy, to.shape(weight), like=weight, **given)
    return [d_x, d_w, _per_channel(to, call) if call.wants(2) else None]


@expansion("ConvTranspose")
def _with_pads(to: Writer, call: Call) -> ir.Value:
    """The same with the padding that follows from the shape of the output."""
    how, wanted = call.string("auto_pad", "NOTSET"), call.ints("output_shape")
    if not how.startswith("SAME") and not wanted:
        raise Declined("it has its padding")
    kernel = kernel_of(call)
    count = len(kernel)
    if -1 in kernel:
        raise Declined("its kernel has extents that vary, and it has no kernel_shape")
    strides = list(call.ints("strides") or [1] * count)
    dilations = list(call.ints("dilations") or [1] * count)
    more = list(call.ints("output_padding") or [0] * count)
    begins, ends = [], []
    for axis, dim in enumerate(call.dims(0)[2:]):
        missing = (kernel[axis] - 1) * dilations[axis] + 1 + more[axis] - strides[axis]
        if wanted:
            if not isinstance(dim, int):
                raise Declined("output_shape along an axis that varies")
            missing += strides[axis] * dim - list(wanted)[-count:][axis]
        less, rest = max(missing, 0) // 2, (max(missing, 0) + 1) // 2
        more[axis] -= min(missing, 0)
        begins.append(less if how == "SAME_UPPER" else rest)
        ends.append(rest if how == "SAME_UPPER" else less)
    given = {"strides": strides, "dilations": dilations, "output_padding": more}
    group = call.integer("group", 1)
    return to.ConvTranspose(*call.node.inputs, pads=begins + ends, group=group, **given)


@gradient("ConvTranspose")
def _conv_transpose(to: Writer, call: Call) -> Grads:
    """The convolution that this is the gradient of."""
    x, weight = call.input(0), call.input(1)
    kernel = kernel_of(call)
    count = len(kernel)
    given: dict[str, Any] = {
        "strides": list(call.ints("strides") or [1] * count),
        "dilations": list(call.ints("dilations") or [1] * count),
        "pads": list(call.ints("pads") or [0] * 2 * count),
        "group": call.integer("group", 1),
    }
    d_x = d_w = None
    if call.wants(0):
        # More of the output than windows reach is there with output_padding.
        more = list(call.ints("output_padding") or [0] * count)
        cut = [low - high for low, high in zip(given["pads"][count:], more, strict=True)]
        pads = [*given["pads"][:count], *cut]
        dy = call.dy
        if any(pad < 0 for pad in pads):
            pads = [max(pad, 0) for pad in pads]
            ends = [min(one, 0) for one in cut]
            axes = [axis for axis, end in enumerate(ends) if end]
            dy = to.Slice(
                dy, [0] * len(axes), [ends[axis] for axis in axes], [axis + 2 for axis in axes]
            )
        d_x = to.Conv(dy, weight, **{**given, "pads": pads})
    if call.wants(1):
        shape = to.shape(weight)
        d_w = to.own_like("ConvGradWeight", call.dy, x, shape, like=weight, **given)
    return [d_x, d_w, _per_channel(to, call) if call.wants(2) else None]


@expansion("MaxPool")
def _with_indices(to: Writer, call: Call) -> Sequence[ir.Value]:
    """The same node, which tells where maxima are."""
    has_indices = len(call.node.outputs) > 1 and call.node.outputs[1].name
    by_columns = call.integer("storage_order", 0)
    if has_indices and not by_columns:
        raise Declined("it does already")
    types = [call.x.dtype or ir.DataType.FLOAT, ir.DataType.INT64]
    attributes = {name: one.value for name, one in call.node.attributes.items()}
    by_rows = {**attributes, "storage_order": None}
    made = to.op("MaxPool", call.x, outputs=2, dtype=types, **by_rows)
    if not has_indices:
        return made
    # Indices that count along columns come of the node as it was.
    return [made[0], to.op("MaxPool", call.x, outputs=2, dtype=types, **attributes)[1]]


@gradient("MaxPool")
def _max_pool(to: Writer, call: Call) -> ir.Value:
    indices = call.node.outputs[1]
    return to.own_like("MaxPoolGrad", call.dy, indices, to.shape(call.x), like=call.x)


@gradient("AveragePool")
def _average_pool(to: Writer, call: Call) -> ir.Value:
    kernel = kernel_of(call)
    given = window(call, kernel)
    return to.own_like(
        "AveragePoolGrad",
        call.dy,
        to.shape(call.x),
        like=call.x,
        kernel_shape=kernel,
        ceil_mode=call.integer("ceil_mode", 0),
        count_include_pad=call.integer("count_include_pad", 0),
        **given,
    )


@expansion("GlobalAveragePool")
def _global_average(to: Writer, call: Call) -> ir.Value:
    return to.ReduceMean(call.x, list(range(2, len(call.dims(0)))), keepdims=1)


@expansion("GlobalMaxPool")
def _global_max(to: Writer, call: Call) -> ir.Value:
    return to.ReduceMax(call.x, list(range(2, len(call.dims(0)))), keepdims=1)


@expansion("GlobalLpPool")
def _global_lp(to: Writer, call: Call) -> ir.Value:
    axes = list(range(2, len(call.dims(0))))
    p = call.integer("p", 2)
    if p == 2:
        return to.ReduceL2(call.x, axes, keepdims=1)
    total = to.ReduceSum(to.Pow(to.Abs(call.x), float(p)), axes, keepdims=1)
    return to.Pow(total, 1 / p)


@expansion("LpPool")
def _lp_pool(to: Writer, call: Call) -> ir.Value:
    """The root of a sum of powers, which is a mean that counts padding, times its count."""
    p, kernel = call.integer("p", 2), kernel_of(call)
    count = 1
    for extent in kernel:
        count *= extent
    powers = to.Pow(to.Abs(call.x), float(p))
    if _varies(call, kernel):
        powers = _padded(to, call, powers, kernel)
        given = {name: call.ints(name) for name in ("strides", "dilations")}
    else:
        given = window(call, kernel)
    if call.integer("ceil_mode", 0):
        given["pads"] = _for_last_windows(call, kernel, given)
    mean = to.AveragePool(powers, kernel_shape=kernel, count_include_pad=1, **given)
    return to.Pow(to.Mul(mean, float(count)), 1 / p)


def _for_last_windows(call: Call, kernel: list[int], given: dict[str, Any]) -> list[int]:
    """The padding with which the last windows end in it, as ceil_mode has them."""
    count, pads = len(kernel), list(given["pads"])
    for axis, dim in enumerate(call.dims(0)[2:]):
        stride = given["strides"][axis]
        reach = (kernel[axis] - 1) * given["dilations"][axis] + 1
        if isinstance(dim, int):
            begin = pads[axis]
            size = dim + begin + pads[count + axis]
            last = -((reach - size) // stride) * stride
            # A window does not begin behind all elements.
            last -= stride if last >= dim + begin else 0
            more = max(last + reach - size, 0)
        elif stride > reach or pads[axis] or pads[count + axis]:
            raise Declined("ceil_mode=1 with pads, or gaps, along an axis that varies")
        else:
            more = stride - 1
        pads[count + axis] += more
    return pads


@gradient("MaxUnpool")
def _max_unpool(to: Writer, call: Call) -> ir.Value:
    flat = to.Reshape(call.dy, [-1])
    return to.Reshape(to.Gather(flat, to.Reshape(call.input(1), [-1]), axis=0), to.shape(call.x))
