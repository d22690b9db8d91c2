"""Gradients of convolution and pooling."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import onnx_ir as ir

from ....graph.lowering._windows import pads_of
from .._rules import Call, Declined, expansion, gradient
from .._writer import Writer

Grads = list[ir.Value | None]


def window(call: Call, kernel: Sequence[int]) -> dict[str, Any]:
    """Strides, explicit pads and dilations of a node whose windows have these extents."""
    count = len(kernel)
    strides = list(call.ints("strides") or [1] * count)
    dilations = list(call.ints("dilations") or [1] * count)
    how = call.string("auto_pad", "NOTSET")
    spatial = [dim if isinstance(dim, int) else -1 for dim in call.dims(0)[2:]]
    if how.startswith("SAME") and -1 in spatial:
        raise Declined(f"auto_pad={how} of a shape that varies")
    pads = pads_of(how, call.ints("pads"), spatial, kernel, strides, dilations)
    return {"strides": strides, "pads": list(pads), "dilations": dilations}


def kernel_of(call: Call) -> list[int]:
    """The extents of the kernel, by the attribute or the weight's shape."""
    given = call.ints("kernel_shape")
    if given:
        return list(given)
    dims = call.dims(1)[2:]
    known = [dim for dim in dims if isinstance(dim, int)]
    if len(known) < len(dims):
        if call.string("auto_pad", "NOTSET").startswith("SAME"):
            raise Declined("the extents of the kernel are not known")
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


@gradient("ConvTranspose")
def _conv_transpose(to: Writer, call: Call) -> Grads:
    """The convolution that this is the gradient of."""
    x, weight = call.input(0), call.input(1)
    kernel = kernel_of(call)
    count = len(kernel)
    if call.string("auto_pad", "NOTSET") not in ("NOTSET", "VALID") or call.ints("output_shape"):
        raise Declined("its padding is told by the shape of the output")
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
    if len(call.node.outputs) > 1 and call.node.outputs[1].name:
        raise Declined("it does already")
    if call.integer("storage_order", 0):
        raise Declined("columns first")
    types = [call.x.dtype or ir.DataType.FLOAT, ir.DataType.INT64]
    attributes = {name: one.value for name, one in call.node.attributes.items()}
    return to.op("MaxPool", call.x, outputs=2, dtype=types, **attributes)


@gradient("MaxPool")
def _max_pool(to: Writer, call: Call) -> ir.Value:
    if call.integer("storage_order", 0):
        raise Declined("indices in column-major order")
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
    if call.integer("ceil_mode", 0):
        raise Declined("ceil_mode=1")
    count = 1
    for extent in kernel:
        count *= extent
    powers = to.Pow(to.Abs(call.x), float(p))
    given = window(call, kernel)
    mean = to.AveragePool(powers, kernel_shape=kernel, count_include_pad=1, **given)
    return to.Pow(to.Mul(mean, float(count)), 1 / p)


@gradient("MaxUnpool")
def _max_unpool(to: Writer, call: Call) -> ir.Value:
    flat = to.Reshape(call.dy, [-1])
    return to.Reshape(to.Gather(flat, to.Reshape(call.input(1), [-1]), axis=0), to.shape(call.x))
