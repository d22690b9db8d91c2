"""Resize: along each axis the elements near a position, weighted."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

import numpy

from .....graph.lowering._taps import Kind, Positions, extents_of, taps_of
from .....graph.lowering._value import Declined
from .._kernel import NAME, GenKernel, Spec, make_kernel, signature
from .._table import Known, emits
from .._target import Target
from ._copy import strides_of
from ._movement import Inputs, first, ints, needed
from ._positions import positions_kernel

_FLOATS = {"float32": "float", "float64": "double"}
# Of each axis: indices and weights, or None where it stays as it is.
Axes = list[list[tuple[Positions, Positions]] | None]


@emits("Resize")
def _resize(target: Target, inputs: Inputs, attributes: dict[str, Any], known: Known) -> GenKernel:
    x = first(inputs)
    for index, one in enumerate(inputs):
        if index >= 2 and one is not None and one.size:  # old versions have empty ones for none
            needed(inputs, known, index, "an extent")
    kind = Kind.of(attributes)
    chosen = [axis % len(x.shape) for axis in attributes.get("axes", range(len(x.shape)))]
    wanted = dict(zip(chosen, _extents(x, chosen, attributes, known), strict=True))
    taps: list[Any] = [None] * len(x.shape)
    for axis, (extent, factor) in wanted.items():
        if factor != 1 or extent != x.shape[axis]:
            taps[axis] = taps_of(kind, extent, x.shape[axis], factor)
    if kind.mode == "nearest":
        return positions_kernel("resize", x, _positions(x, taps), "0")
    if x.dtype not in _FLOATS:
        raise Declined(f"weighted elements of type {x.dtype}")
    return _weighted(x, taps)


def _extents(
    x: Spec, axes: Sequence[int], attributes: dict[str, Any], known: Known
) -> list[tuple[int, float]]:
    """The extents of the result, and by what they are larger."""
    factors = None
    if 2 in known and known[2].size:
        factors = [float(factor) for factor in known[2].reshape(-1)]
    return extents_of(
        [x.shape[axis] for axis in axes],
        ints({}, known, "sizes", 3) or None,
        factors,
        attributes.get("keep_aspect_ratio_policy", "stretch"),
    )


def _positions(x: Spec, taps: Sequence[Any]) -> list[list[int]]:
    return [
        list(range(extent)) if one is None else [int(index) for index in one[0][0]]
        for extent, one in zip(x.shape, taps, strict=True)
    ]


def _weighted(x: Spec, taps: Axes) -> GenKernel:
    """Each row of the result: the sum of rows of the input, and then of elements along it."""
    shape = tuple(
        extent if one is None else len(one[0][0]) for extent, one in zip(x.shape, taps, strict=True)
    )
    if not shape:
        raise Declined("a tensor without axes")
    strides, width, kind = strides_of(x.shape), x.shape[-1], _FLOATS[x.dtype]
    rows = math.prod(shape[:-1])
    lines = [
        f"  const {kind} *x = in[0];",
        f"  {kind} *y = ({kind} *)out[0] + begin * {shape[-1]};",
    ]
    lines += [f"  {kind} *sums = work;"]
    lines += [f"  for (int64_t row = begin; row < end; ++row, y += {shape[-1]}) {{"]
    rest, ahead = rows, []
    for axis, extent in enumerate(max(extent, 1) for extent in shape[:-1]):
        rest //= extent
        index = f"row / {rest} % {extent}" if rest > 1 else f"row % {extent}"
        lines += [f"    const int64_t i{axis} = {index};"]
        if taps[axis] is not None:
            ahead.append(axis)
    fixed = [f"i{n} * INT64_C({strides[n]})" for n in range(len(shape) - 1) if taps[n] is None]
    lines += [f"    memset(sums, 0, {width} * sizeof *sums);"]
    base, weight = fixed, []
    for axis in ahead:
        count = len(taps[axis] or ())
        lines += [f"    for (int t{axis} = 0; t{axis} < {count}; ++t{axis})"]
        at = f"t{axis} * {shape[axis]} + i{axis}"
        base = [*base, f"{NAME}_i{axis}[{at}] * INT64_C({strides[axis]})"]
        weight.append(f"{NAME}_w{axis}[{at}]")
    lines += ["    {", f"      const {kind} *from = x + {' + '.join(base) or '0'};"]
    lines += [f"      const {kind} weight = {' * '.join(weight) or '1'};"]
    lines += [f"      for (int64_t j = 0; j < {width}; ++j) sums[j] += weight * from[j];", "    }"]
    lines += list(_along(taps[-1], shape[-1], len(shape) - 1, kind))
    text = [*_tables(taps, kind), f"{signature()} {{", *lines, "  }", "}", ""]
    return make_kernel(
        "resize",
        "\n".join(text),
        rows if shape[-1] else 0,
        [Spec(shape, x.dtype)],
        workspace=-(-numpy.dtype(x.dtype).itemsize * max(width, 1) // 64) * 64,
    )


def _along(
    taps: Sequence[tuple[Positions, Positions]] | None, extent: int, axis: int, kind: str
) -> Iterator[str]:
    """What makes a row of the result of the sums."""
    if taps is None:
        yield f"    memcpy(y, sums, {extent} * sizeof *y);"
        return
    yield f"    for (int64_t j = 0; j < {extent}; ++j) {{"
    yield f"      {kind} sum = 0;"
    yield f"      for (int t = 0; t < {len(taps)}; ++t)"
    at = f"[t * {extent} + j]"
    yield f"        sum += {NAME}_w{axis}{at} * sums[{NAME}_i{axis}{at}];"
    yield "      y[j] = sum;"
    yield "    }"


def _tables(taps: Axes, kind: str) -> Iterator[str]:
    end = "f" if kind == "float" else ""
    for axis, one in enumerate(taps):
        if one is not None:
            count = len(one) * len(one[0][0])
            indices = numpy.concatenate([index for index, _ in one]).astype("int64")
            weights = numpy.concatenate([weight for _, weight in one]).astype(
                "float32" if end else "float64"
            )
            yield f"static const int32_t {NAME}_i{axis}[{max(count, 1)}] = {{"
            yield f"    {', '.join(map(str, indices)) or '0'}}};"
            yield f"static const {kind} {NAME}_w{axis}[{max(count, 1)}] = {{"
            yield f"    {', '.join(f'{float(w)!r}{end}' for w in weights) or '0'}}};"
