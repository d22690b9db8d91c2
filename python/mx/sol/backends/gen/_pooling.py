"""Pooling: the largest or the mean element of windows that move over the last axes."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from ....graph.lowering._value import Declined
from ....graph.lowering._windows import extents_out, pads_of
from ._kernel import GenKernel, Spec, make_kernel, signature
from ._movement import Inputs, first
from ._table import Known, emits
from ._target import Target

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


def _windows(x: Spec, attributes: dict[str, Any]) -> _Windows:
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


def _loops(windows: _Windows, body: Sequence[str], start: Sequence[str]) -> Iterator[str]:
    """Over all windows of a plane, and inside of each, where it lies in the plane: `body`.

    There, `at` is the position of the element in the plane; `o` counts the windows.
    """
    axes = range(len(windows.spatial))
    yield "    int64_t o = 0;"
    for n in axes:
        yield f"    for (int64_t o{n} = 0; o{n} < {windows.counts[n]}; ++o{n}) {{"
        step, gap, extent = windows.strides[n], windows.dilations[n], windows.spatial[n]
        size = windows.kernel[n]
        yield f"      const int64_t b{n} = o{n} * {step} - {windows.before[n]};"
        if windows.before[n]:
            yield f"      const int64_t f{n} = b{n} < 0 ? (-b{n} + {gap - 1}) / {gap} : 0;"
        else:
            yield f"      const int64_t f{n} = 0;"
        if (windows.counts[n] - 1) * step - windows.before[n] + (size - 1) * gap < extent:
            yield f"      const int64_t e{n} = {size};"
        else:
            yield f"      const int64_t room{n} = ({extent} - b{n} + {gap - 1}) / {gap};"
            yield f"      const int64_t e{n} = room{n} < {size} ? room{n} : {size};"
    yield from (f"      {line}" for line in start)
    at = "0"
    for n in axes:
        yield f"      for (int64_t k{n} = f{n}; k{n} < e{n}; ++k{n}) {{"
        at = f"({at}) * {windows.spatial[n]} + b{n} + k{n} * {windows.dilations[n]}"
    yield f"        const int64_t at = {at};"
    yield from (f"        {line}" for line in body)
    yield from ("      }" for _ in axes)


def _closed(windows: _Windows, finish: Sequence[str]) -> Iterator[str]:
    yield from (f"      {line}" for line in finish)
    yield "      ++o;"
    yield from ("    }" for _ in windows.spatial)


def _kernel(name: str, x: Spec, lines: Sequence[str], outputs: Sequence[Spec]) -> GenKernel:
    """A kernel of which each tile is a plane: one channel of one item."""
    kind, size = _FLOATS[x.dtype], math.prod(x.shape[2:])
    text = [
        f"{signature()} {{",
        "  (void)work;",
        "  for (int64_t plane = begin; plane < end; ++plane) {",
        f"    const {kind} *x = (const {kind} *)in[0] + plane * {size};",
        f"    {kind} *y = ({kind} *)out[0] + plane * {math.prod(outputs[0].shape[2:])};",
        *lines,
        "  }",
        "}",
        "",
    ]
    return make_kernel(name, "\n".join(text), max(math.prod(x.shape[:2]), 1), outputs)


@emits("MaxPool", since=8)
def _max_pool(
    target: Target, inputs: Inputs, attributes: dict[str, Any], known: Known
) -> GenKernel:
    x = first(inputs)
    windows, kind = _windows(x, attributes), _FLOATS[x.dtype]
    out = Spec((*x.shape[:2], *windows.counts), x.dtype)
    start = [f"{kind} most = -INFINITY;"]
    body = ["most = x[at] > most || x[at] != x[at] ? x[at] : most;"]
    lines = [*_loops(windows, body, start), *_closed(windows, ["y[o] = most;"])]
    return _kernel("max_pool", x, lines, [out])


@emits("AveragePool")
def _average_pool(
    target: Target, inputs: Inputs, attributes: dict[str, Any], known: Known
) -> GenKernel:
    x = first(inputs)
    windows, kind = _windows(x, attributes), _FLOATS[x.dtype]
    out = Spec((*x.shape[:2], *windows.counts), x.dtype)
    counted = []
    for n, extent in enumerate(windows.spatial):
        if attributes.get("count_include_pad", 0):
            # Padding counts; what is behind it, where a window reaches that far, does not.
            room = f"({extent + windows.after[n]} - b{n} + {windows.dilations[n] - 1})"
            room = f"{room} / {windows.dilations[n]}"
            size = windows.kernel[n]
            counted.append(f"({room} < {size} ? {room} : {size})")
        else:
            counted.append(f"(e{n} - f{n})")
    lines = [
        *_loops(windows, ["sum += x[at];"], [f"{kind} sum = 0;"]),
        *_closed(windows, [f"y[o] = sum / ({kind})({' * '.join(counted)});"]),
    ]
    return _kernel("average_pool", x, lines, [out])


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
        f"    {kind} most = x[0];",
        f"    for (int64_t i = 1; i < {size}; ++i)",
        "      most = x[i] > most || x[i] != x[i] ? x[i] : most;",
        "    y[0] = most;",
    ]
    return _kernel("global_max_pool", x, lines, [_one_each(x)])


def _dense(x: Spec) -> tuple[str, int]:
    size = math.prod(x.shape[2:])
    if x.dtype not in _FLOATS or not size or len(x.shape) < 3:
        raise Declined(f"{x.dtype} {list(x.shape)}")
    return _FLOATS[x.dtype], size


def _one_each(x: Spec) -> Spec:
    return Spec((*x.shape[:2], *(1,) * (len(x.shape) - 2)), x.dtype)
