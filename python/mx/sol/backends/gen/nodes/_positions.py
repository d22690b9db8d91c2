"""Operators that give along each axis elements of fixed positions: padding, nearest neighbours."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy

from .....graph.lowering._value import Declined
from .._kernel import NAME, GenKernel, Spec, make_kernel, signature
from .._table import Known, emits
from .._target import Target
from ._copy import item_type, strides_of
from ._movement import Inputs, first, ints, needed


def positions_kernel(
    name: str, x: Spec, positions: Sequence[Sequence[int]], filler: str
) -> GenKernel:
    """y[i, j, ...] = x[positions[0][i], positions[1][j], ...]; `filler` for a position of -1.

    `filler` is an expression of C: the bits of an element.
    """
    kind = item_type(x.dtype)
    shape = [len(one) for one in positions]
    out, strides = Spec(tuple(shape), x.dtype), strides_of(x.shape)
    tables = [
        f"static const int32_t {NAME}_{axis}[{len(one)}] = {{{', '.join(map(str, one))}}};"
        for axis, one in enumerate(one or [0] for one in positions)
    ]
    *ahead, width = shape or [1]
    rows = math.prod(ahead)
    lines = [f"  const {kind} *x = in[0];", f"  {kind} *y = out[0];"]
    lines += [f"  const {kind} filler = {filler};"]
    lines += ["  for (int64_t row = begin; row < end; ++row) {", "    int64_t from = 0, is_in = 1;"]
    rest = rows
    for axis, extent in enumerate(max(extent, 1) for extent in ahead):
        rest //= extent
        index = f"row / {rest} % {extent}" if rest > 1 else f"row % {extent}"
        lines += ["    {", f"      const int32_t at = {NAME}_{axis}[{index}];"]
        lines += [f"      is_in &= at >= 0, from += at * INT64_C({strides[axis]});", "    }"]
    lines += [f"    {kind} *to = y + row * {width};"]
    lines += [f"    for (int64_t i = 0; i < {width}; ++i) {{"]
    at = f"{NAME}_{len(ahead)}[i]" if shape else "0"
    lines += [f"      const int32_t at = {at};"]
    lines += ["      to[i] = is_in && at >= 0 ? x[from + at] : filler;", "    }", "  }"]
    text = [*tables, f"{signature()} {{", "  (void)work;", *lines, "}", ""]
    return make_kernel(name, "\n".join(text), rows if width else 0, [out])


@emits("Pad")
def _pad(target: Target, inputs: Inputs, attributes: dict[str, Any], known: Known) -> GenKernel:
    x, mode = first(inputs), attributes.get("mode", "constant")
    if isinstance(mode, bytes):
        mode = mode.decode()
    for index in range(1, len(inputs)):
        needed(inputs, known, index, "padding")
    pads = ints(attributes, known, "pads", 1)
    if pads is None:
        raise Declined("padding that is missing")
    axes = ints({}, known, "axes", 3)
    axes = list(range(len(x.shape))) if axes is None else axes
    around = {axis % len(x.shape): (pads[n], pads[len(axes) + n]) for n, axis in enumerate(axes)}
    value = known.get(2, numpy.zeros((), "int8"))
    bits = numpy.asarray(attributes.get("value", value)).reshape(-1)[:1].astype(x.dtype)
    filler = f"UINT64_C({int.from_bytes(bits.tobytes(), 'little')})"
    positions = [
        _padded(extent, *around.get(axis, (0, 0)), mode) for axis, extent in enumerate(x.shape)
    ]
    return positions_kernel("pad", x, positions, f"({item_type(x.dtype)}){filler}")


def _padded(extent: int, before: int, after: int, mode: str) -> list[int]:
    """The positions along an axis with what is around it."""
    wanted = range(-before, extent + after)
    if mode == "constant":
        return [n if 0 <= n < extent else -1 for n in wanted]
    if extent == 0:
        raise Declined(f"padding of an axis of 0 by {mode}")
    if mode == "edge":
        return [min(max(n, 0), extent - 1) for n in wanted]
    if mode == "wrap":
        return [n % extent for n in wanted]
    if mode != "reflect":
        raise Declined(f"padding by {mode}")
    period = max(2 * extent - 2, 1)
    return [min(n % period, period - n % period) if extent > 1 else 0 for n in wanted]
