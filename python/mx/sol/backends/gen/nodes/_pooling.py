"""Pooling: the largest or the mean element of windows that move over the last axes."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from .....graph.lowering._value import Declined
from .....graph.lowering._windows import extents_out, pads_of
from .._kernel import NAME, GenKernel, Spec, make_kernel, signature
from .._table import Known, emits
from .._target import Target
from ._movement import Inputs, first

_FLOATS = {"float32": "float", "float64": "double"}


@dataclass(frozen=True)
class _Windows:
    """Windows over the axes behind the first two, of any number."""

    spatial: tuple[int, ...]
    counts: tuple[int, ...]
    kernel: tuple[int, ...]
    strides: tuple[int, ...]
    dilations: tuple[int, ...]
    before: tuple[int, ...]  # padding
    after: tuple[int, ...]


def windows_of(x: Spec, attributes: dict[str, Any]) -> _Windows:
    """The windows of a pooling operator. Declined for what kernels do not take."""
    spatial, kernel = x.shape[2:], attributes["kernel_shape"]
    axes = len(spatial)
    strides = attributes.get("strides") or [1] * axes
    dilations = attributes.get("dilations") or [1] * axes
    auto_pad = attributes.get("auto_pad", "NOTSET")
    pads = pads_of(auto_pad, attributes.get("pads"), spatial, kernel, strides, dilations)
    if min(pads, default=0) < 0 or x.dtype not in _FLOATS or not axes:
        raise Declined(f"{x.dtype} {list(x.shape)}, or negative pads")
    counts = extents_out(spatial, kernel, strides, dilations, pads)
    if attributes.get("ceil_mode", 0) and auto_pad in ("NOTSET", ""):
        for axis in range(axes):
            room = spatial[axis] + pads[axis] + pads[axes + axis]
            reach = (kernel[axis] - 1) * dilations[axis] + 1
            count = -(-(room - reach) // strides[axis]) + 1
            # No window begins behind the elements and what is in front of them.
            is_behind = (count - 1) * strides[axis] >= spatial[axis] + pads[axis]
            counts[axis] = count - is_behind
    if min(counts, default=1) < 1:
        raise Declined("no window fits")
    parts = (spatial, counts, kernel, strides, dilations, pads[:axes], pads[axes:])
    return _Windows(*map(tuple, parts))


def _plane(windows: _Windows, kind: str, is_max: bool, with_pads: bool) -> Iterator[str]:
    """All windows of a plane, a row of them at a time.

    The rows that a window reaches are combined to one first, with vectors, and then the elements
    along that, a tap of the windows at a time, so that no branch depends on elements.
    """
    width, last = windows.spatial[-1], len(windows.spatial) - 1
    count = windows.counts[last]
    rows = math.prod(windows.counts[:-1])
    yield f"    for (int64_t row = 0; row < {rows}; ++row, y += {count}) {{"
    yield from _bounds(windows)
    start = "-INFINITY" if is_max else "0"
    yield f"      for (int64_t j = 0; j < {width}; ++j) rows[j] = {start};"
    at = "0"
    for n in range(last):
        yield f"      for (int64_t k{n} = f{n}; k{n} < e{n}; ++k{n})"
        at = f"({at}) * {windows.spatial[n]} + b{n} + k{n} * {windows.dilations[n]}"
    yield "      {"
    yield f"        const {kind} *from = x + ({at}) * {width};"
    yield f"        for (int64_t j = 0; j < {width}; ++j)"
    yield f"          {_combined('rows[j]', 'from[j]', is_max)}"
    yield "      }"
    yield f"      for (int64_t o = 0; o < {count}; ++o) y[o] = {start};"
    for tap in range(windows.kernel[last]):
        begin, end, offset = _reach(windows, tap)
        if begin < end:
            yield f"      for (int64_t o = {begin}; o < {end}; ++o)"
            element = f"rows[o * {windows.strides[last]} + ({offset})]"
            yield f"        {_combined('y[o]', element, is_max)}"
    if not is_max:
        counted = [_counted(windows, n, with_pads) for n in range(last)]
        yield f"      const int64_t lines = {' * '.join(counted) or '1'};"
        yield f"      for (int64_t o = 0; o < {count}; ++o)"
        yield f"        y[o] /= ({kind})(lines * {NAME}_widths[o]);"
    yield "    }"


def _combined(result: str, element: str, is_max: bool) -> str:
    if not is_max:
        return f"{result} += {element};"
    return f"{result} = {element} > {result} || {element} != {element} ? {element} : {result};"


def _bounds(windows: _Windows) -> Iterator[str]:
    """Of each axis but the last, where a window begins (b) and which of its taps are inside."""
    rest = math.prod(windows.counts[:-1])
    for n, count in enumerate(windows.counts[:-1]):
        step, gap, extent = windows.strides[n], windows.dilations[n], windows.spatial[n]
        size = windows.kernel[n]
        rest //= count
        index = f"row / {rest} % {count}" if rest > 1 else f"row % {count}"
        yield f"      const int64_t b{n} = {index} * {step} - {windows.before[n]};"
        yield f"      const int64_t f{n} = b{n} < 0 ? (-b{n} + {gap - 1}) / {gap} : 0;"
        yield f"      const int64_t room{n} = ({extent} - b{n} + {gap - 1}) / {gap};"
        yield f"      const int64_t e{n} = room{n} < {size} ? room{n} : {size};"


def _reach(windows: _Windows, tap: int) -> tuple[int, int, int]:
    """The windows of which a tap along the last axis is inside: first, end, offset of the tap."""
    step, extent = windows.strides[-1], windows.spatial[-1]
    offset = tap * windows.dilations[-1] - windows.before[-1]
    begin = max(0, -(offset // step))
    end = min(windows.counts[-1], -(-(extent - offset) // step))
    return begin, end, offset


def _counted(windows: _Windows, n: int, with_pads: bool) -> str:
    """How many elements along an axis a mean is of; of padding, what is behind it never counts."""
    if not with_pads:
        return f"(e{n} - f{n})"
    gap, size = windows.dilations[n], windows.kernel[n]
    room = f"({windows.spatial[n] + windows.after[n]} - b{n} + {gap - 1}) / {gap}"
    return f"({room} < {size} ? {room} : {size})"


def _widths(windows: _Windows, with_pads: bool) -> list[int]:
    """The same for the windows along the last axis."""
    before = windows.before[-1] if with_pads else 0
    end = windows.spatial[-1] + (windows.after[-1] if with_pads else 0)
    begins = [n * windows.strides[-1] - windows.before[-1] for n in range(windows.counts[-1])]
    taps = [tap * windows.dilations[-1] for tap in range(windows.kernel[-1])]
    return [sum(-before <= begin + tap < end for tap in taps) for begin in begins]


def _pool(name: str, inputs: Inputs, attributes: dict[str, Any], is_max: bool) -> GenKernel:
    x = first(inputs)
    windows, kind = windows_of(x, attributes), _FLOATS[x.dtype]
    with_pads = bool(attributes.get("count_include_pad", 0))
    head = []
    if not is_max:
        widths = ", ".join(map(str, _widths(windows, with_pads)))
        head = [f"static const int32_t {NAME}_widths[{windows.counts[-1]}] = {{{widths}}};"]
    lines = [f"    {kind} *restrict rows = work;", *_plane(windows, kind, is_max, with_pads)]
    size = 8 if kind == "double" else 4
    out = Spec((*x.shape[:2], *windows.counts), x.dtype)
    workspace = -(-windows.spatial[-1] * size // 64) * 64
    return _kernel(name, x, lines, [out], head, workspace)


def _kernel(
    name: str,
    x: Spec,
    lines: Sequence[str],
    outputs: Sequence[Spec],
    head: Sequence[str] = (),
    workspace: int = 0,
) -> GenKernel:
    """A kernel of which each tile is a plane: one channel of one item."""
    kind, size = _FLOATS[x.dtype], math.prod(x.shape[2:])
    text = [
        *head,
        f"{signature()} {{",
        "  (void)work;",
        "  for (int64_t plane = begin; plane < end; ++plane) {",
        f"    const {kind} *restrict x = (const {kind} *)in[0] + plane * {size};",
        f"    {kind} *restrict y = ({kind} *)out[0] + plane * {math.prod(outputs[0].shape[2:])};",
        *lines,
        "  }",
        "}",
        "",
    ]
    tiles = math.prod(x.shape[:2])
    return make_kernel(name, "\n".join(text), tiles, outputs, workspace=workspace)


@emits("MaxPool", since=8)
def _max_pool(
    target: Target, inputs: Inputs, attributes: dict[str, Any], known: Known
) -> GenKernel:
    return _pool("max_pool", inputs, attributes, True)


@emits("AveragePool")
def _average_pool(
    target: Target, inputs: Inputs, attributes: dict[str, Any], known: Known
) -> GenKernel:
    return _pool("average_pool", inputs, attributes, False)


@emits("GlobalAveragePool")
def _global_average_pool(
    target: Target, inputs: Inputs, attributes: dict[str, Any], known: Known
) -> GenKernel:
    x = first(inputs)
    kind, size = _dense(x)
    lines = [
        f"    {kind} sums[16] = {{0}};",
        "    int64_t i = 0;",
        f"    for (; i + 16 <= {size}; i += 16)",
        "      for (int j = 0; j < 16; ++j) sums[j] += x[i + j];",
        f"    for (; i < {size}; ++i) sums[i % 16] += x[i];",
        "    for (int step = 8; step > 0; step /= 2)",
        "      for (int j = 0; j < step; ++j) sums[j] += sums[j + step];",
        f"    y[0] = sums[0] / {size};",
    ]
    return _kernel("global_average_pool", x, lines, [_one_each(x)])


@emits("GlobalMaxPool")
def _global_max_pool(
    target: Target, inputs: Inputs, attributes: dict[str, Any], known: Known
) -> GenKernel:
    x = first(inputs)
    kind, size = _dense(x)
    lines = [
        f"    {kind} most[16];",
        "    for (int j = 0; j < 16; ++j) most[j] = -INFINITY;",
        "    int64_t i = 0;",
        f"    for (; i + 16 <= {size}; i += 16)",
        "      for (int j = 0; j < 16; ++j)",
        f"        {_combined('most[j]', 'x[i + j]', True)}",
        f"    for (; i < {size}; ++i) {_combined('most[i % 16]', 'x[i]', True)}",
        f"    for (int j = 1; j < 16; ++j) {_combined('most[0]', 'most[j]', True)}",
        "    y[0] = most[0];",
    ]
    return _kernel("global_max_pool", x, lines, [_one_each(x)])


def _dense(x: Spec) -> tuple[str, int]:
    size = math.prod(x.shape[2:])
    if x.dtype not in _FLOATS or not size or len(x.shape) < 3:
        raise Declined(f"{x.dtype} {list(x.shape)}")
    return _FLOATS[x.dtype], size


def _one_each(x: Spec) -> Spec:
    return Spec((*x.shape[:2], *(1,) * (len(x.shape) - 2)), x.dtype)
