"""Convolutions and their transposes without vectors of our own: those of float64, of three and more
spatial dimensions, and with weights that are computed.

Each row of the result is summed up in its own memory, one tap of one channel after the other, by a
loop along the row, of which compilers make vectors.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from .....graph.lowering._value import Declined
from .....graph.lowering._windows import extents_out, pads_of
from .._kernel import GenKernel, Spec
from .._table import Known, emits
from .._target import Target
from .._types import type_of
from ..products._window import ints
from ..products.transposed import Axis, axes_of
from ._each import coordinates, each
from ._movement import Inputs, first

# No operators of ONNX: Conv and ConvTranspose for deployments, where nothing is faster.
PLAIN_CONVOLUTION, PLAIN_TRANSPOSED = "ConvPlain", "ConvTransposePlain"


def _shift(axis: Axis, tap: int) -> int:
    """Where a tap meets element 0 of what it steps along."""
    return tap * axis.dilation - axis.pad


def _range(axis: Axis, tap: int, steps: int, limit: int) -> tuple[int, int]:
    """Which of `steps` elements a tap takes, `stride` apart, to one of `limit` elements."""
    shift = _shift(axis, tap)
    begin = max(0, -(shift // axis.stride))
    end = min(steps, (limit - 1 - shift) // axis.stride + 1)
    return begin, max(begin, end)


@emits(PLAIN_CONVOLUTION, since=0)
def _convolution(
    target: Target, inputs: Inputs, attributes: dict[str, Any], known: Known
) -> GenKernel:
    x, w, b = _checked(inputs)
    count = len(x.shape) - 2
    kernel = w.shape[2:]
    if tuple(attributes.get("kernel_shape", kernel)) != tuple(kernel):
        raise Declined(f"kernel_shape {attributes['kernel_shape']} for weights of {w.shape}")
    strides = ints(attributes.get("strides"), count, 1)
    dilations = ints(attributes.get("dilations"), count, 1)
    auto = attributes.get("auto_pad", "NOTSET")
    auto = auto.decode() if isinstance(auto, bytes) else auto
    pads = pads_of(auto, attributes.get("pads"), x.shape[2:], kernel, strides, dilations)
    outs = extents_out(x.shape[2:], kernel, strides, dilations, pads)
    groups = int(attributes.get("group", 1))
    if groups < 1 or w.shape[1] * groups != x.shape[1] or w.shape[0] % groups:
        raise Declined(f"weights of shape {w.shape} for {x.shape[1]} channels")
    if min(outs, default=1) < 1 or min(kernel) < 1:
        raise Declined(f"windows of {kernel} in {x.shape[2:]}")
    sides = zip(x.shape[2:], outs, kernel, strides, dilations, pads[:count], strict=True)
    axes = [Axis(*one) for one in sides]
    result = (x.shape[0], w.shape[0], *outs)
    last = axes[-1]
    ranges = [_range(last, tap, last.out, last.size) for tap in range(last.taps)]
    inner = _index("o", axes, lambda axis, o, t: (f"{o} * {axis.stride} + {t}", "1"))
    line = f"y[j] += tap * from[j * {last.stride} + shift[t]];"
    return _rows(x, b, result, axes, groups, w.shape[1], "m * {depth} + c", inner, ranges, line)


@emits(PLAIN_TRANSPOSED, since=0)
def _transposed(
    target: Target, inputs: Inputs, attributes: dict[str, Any], known: Known
) -> GenKernel:
    x, w, b = _checked(inputs)
    groups = int(attributes.get("group", 1))
    if groups < 1 or w.shape[0] != x.shape[1] or w.shape[0] % groups:
        raise Declined(f"weights of shape {w.shape} for {x.shape[1]} channels")
    axes = axes_of(x, w, attributes)
    result = (x.shape[0], w.shape[1] * groups, *(axis.out for axis in axes))
    last = axes[-1]
    ranges = [_range(last, tap, last.size, last.out) for tap in range(last.taps)]
    inner = _index(
        "o",
        axes,
        lambda axis, o, t: (f"({o} - {t}) / {axis.stride}", f"({o} - {t}) % {axis.stride} == 0"),
    )
    line = f"y[j * {last.stride} + shift[t]] += tap * from[j];"
    depth, each_group = x.shape[1] // groups, w.shape[1]
    weight = f"(m / {each_group} * {depth} + c) * {each_group} + m % {each_group}"
    return _rows(x, b, result, axes, groups, depth, weight, inner, ranges, line)


def _checked(inputs: Inputs) -> tuple[Spec, Spec, Spec | None]:
    x, w = first(inputs), inputs[1]
    b = inputs[2] if len(inputs) > 2 else None
    if w is None or x.dtype not in ("float32", "float64") or len(x.shape) < 3:
        raise Declined(f"a convolution of {x.dtype} {x.shape}")
    if any(one is not None and one.dtype != x.dtype for one in (w, b)):
        raise Declined(f"weights of another type than {x.dtype}")
    if len(w.shape) != len(x.shape):
        raise Declined(f"weights of shape {w.shape} for an input of shape {x.shape}")
    return x, w, b


def _index(name: str, axes: Sequence[Axis], meet: Any) -> list[str]:
    """Lines that find the row of the input which a tap of each axis but the last one reads."""
    lines = []
    for number, axis in enumerate(axes[:-1]):
        at, condition = meet(axis, f"{name}{number}", f"(t{number} * {axis.dilation} - {axis.pad})")
        whole = at.split(" / ")[0]  # where it is negative, so is what it is divided from
        outside = f"{whole} < 0 || {at} >= {axis.size}"
        lines.append(f"if ({outside}{'' if condition == '1' else f' || !({condition})'}) continue;")
        lines.append(f"const int64_t i{number} = {at};")
    return lines


def _rows(
    x: Spec,
    b: Spec | None,
    result: tuple[int, ...],
    axes: Sequence[Axis],
    groups: int,
    depth: int,
    weight: str,
    inner: Sequence[str],
    ranges: Sequence[tuple[int, int]],
    line: str,
) -> GenKernel:
    """The kernel that sums up each row of the result."""
    kind, last = type_of(x.dtype), axes[-1]
    number = kind.memory
    rows = math.prod(result[:-1])
    at = coordinates("row", result[:-1])
    filters = max(result[1] // groups, 1)
    head = [
        "static const int64_t "
        + ", ".join(
            f"{name}[{last.taps}] = {{{', '.join(map(str, items))}}}"
            for name, items in (
                ("shift", [_shift(last, tap) for tap in range(last.taps)]),
                ("low", [begin for begin, _ in ranges]),
                ("high", [end for _, end in ranges]),
            )
        )
        + ";"
    ]
    body = [
        f"const int64_t n = {at[0]}, m = {at[1]};",
        *(f"const int64_t o{k} = {one};" for k, one in enumerate(at[2:])),
        f"{number} *const y = ({number} *)out[0] + row * {last.out};",
        f"const {number} start = {f'((const {number} *)in[2])[m]' if b is not None else '0'};",
        f"for (int64_t j = 0; j < {last.out}; ++j) y[j] = start;",
        f"for (int64_t c = 0; c < {depth}; ++c) {{",
        f"  const {number} *const plane = (const {number} *)in[0]",
        f"      + (n * {x.shape[1]} + m / {filters} * {depth} + c) * {math.prod(x.shape[2:])};",
        f"  const {number} *const taps = (const {number} *)in[1]",
        f"      + ({weight.format(depth=depth)}) * {math.prod(axis.taps for axis in axes)};",
    ]
    pad = "  "
    tap, source = "0", "0"
    for k, axis in enumerate(axes[:-1]):
        body.append(f"{pad}for (int64_t t{k} = 0; t{k} < {axis.taps}; ++t{k}) {{")
        pad += "  "
        body += [f"{pad}{one}" for one in inner[2 * k : 2 * k + 2]]
        tap, source = f"({tap} * {axis.taps} + t{k})", f"({source} * {axis.size} + i{k})"
    body += [
        f"{pad}const {number} *const from = plane + {source} * {last.size};",
        f"{pad}for (int64_t t = 0; t < {last.taps}; ++t) {{",
        f"{pad}  const {number} tap = taps[{tap} * {last.taps} + t];",
        f"{pad}  for (int64_t j = low[t]; j < high[t]; ++j) {line}",
        f"{pad}}}",
    ]
    while len(pad) > 2:
        pad = pad[2:]
        body.append(f"{pad}}}")
    body.append("}")
    size = depth * math.prod(axis.taps for axis in axes) * last.out
    return each(
        "convolution", [Spec(result, x.dtype)], rows, body, index="row", size=size, head=head
    )
