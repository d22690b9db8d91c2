"""Operators that choose elements by positions, which are known or computed."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

from ....graph.lowering._value import Declined
from ._copy import item_type, strides_of
from ._kernel import GenKernel, Spec, make_kernel, signature
from ._movement import Inputs, first
from ._table import Known, emits
from ._target import Target

# Elements that a tile copies at least.
_LEAST = 4096


def _indices(inputs: Inputs) -> tuple[Spec, str]:
    given = inputs[1] if len(inputs) > 1 else None
    if given is None or given.dtype not in ("int32", "int64"):
        raise Declined("positions that are neither int32 nor int64")
    return given, f"{given.dtype}_t"


def _inside(extent: int) -> Iterator[str]:
    """The position in `at`, counted from the end where it is negative; `ok` says if it is inside.

    A function that returns nothing cannot reject a position outside: what it stands for becomes
    bytes of ones, a NaN for types that have one, and never another element of memory.
    """
    yield f"      if (at < 0) at += {extent};"
    yield f"      const int ok = at >= 0 && at < {extent};"


@emits("Gather")
def _gather(target: Target, inputs: Inputs, attributes: dict[str, Any], known: Known) -> GenKernel:
    x, axis = first(inputs), attributes.get("axis", 0)
    indices, index_type = _indices(inputs)
    axis += len(x.shape) if axis < 0 else 0
    kind, extent = item_type(x.dtype), x.shape[axis]
    inner, count = math.prod(x.shape[axis + 1 :]), indices.size
    rows = math.prod(x.shape[:axis]) * count  # of the output, each of `inner` elements
    group = max(1, min(rows, _LEAST // max(inner, 1)))
    lines = [
        f"{signature()} {{",
        "  (void)work;",
        f"  const {kind} *x = in[0];",
        f"  const {index_type} *positions = in[1];",
        f"  {kind} *y = out[0];",
        f"  const int64_t last = end * {group} < {rows} ? end * {group} : {rows};",
        f"  for (int64_t row = begin * {group}; row < last; ++row) {{",
        f"      int64_t at = positions[row % {max(count, 1)}];",
        *_inside(extent),
        f"      if (ok) memcpy(y + row * {inner}, x + (row / {max(count, 1)} * {extent} + at)"
        f" * {inner}, {inner} * sizeof *y);",
        f"      else memset(y + row * {inner}, 0xff, {inner} * sizeof *y);",
        "  }",
        "}",
        "",
    ]
    out = Spec((*x.shape[:axis], *indices.shape, *x.shape[axis + 1 :]), x.dtype)
    return make_kernel("gather", "\n".join(lines), -(-rows // group) if inner else 0, [out])


@emits("GatherElements")
def _gather_elements(
    target: Target, inputs: Inputs, attributes: dict[str, Any], known: Known
) -> GenKernel:
    x, axis = first(inputs), attributes.get("axis", 0)
    indices, index_type = _indices(inputs)
    axis += len(x.shape) if axis < 0 else 0
    if len(x.shape) != len(indices.shape) or any(
        longer > extent
        for n, (longer, extent) in enumerate(zip(indices.shape, x.shape, strict=True))
        if n != axis
    ):
        raise Declined(f"positions of shape {indices.shape} in {x.shape}")
    kind, size = item_type(x.dtype), indices.size
    terms = []
    strides, widths = strides_of(x.shape), strides_of(indices.shape)
    for n, extent in enumerate(indices.shape):
        index = "at" if n == axis else f"i / {max(widths[n], 1)} % {max(extent, 1)}"
        terms.append(f"{index} * {strides[n]}")
    lines = [
        f"{signature()} {{",
        "  (void)work;",
        f"  const {kind} *x = in[0];",
        f"  const {index_type} *positions = in[1];",
        f"  {kind} *y = out[0];",
        f"  const int64_t last = end * {_LEAST} < {size} ? end * {_LEAST} : {size};",
        f"  for (int64_t i = begin * {_LEAST}; i < last; ++i) {{",
        "      int64_t at = positions[i];",
        *_inside(x.shape[axis]),
        f"      y[i] = ok ? x[{' + '.join(terms) or '0'}] : ({kind})-1;",
        "  }",
        "}",
        "",
    ]
    out = Spec(indices.shape, x.dtype)
    return make_kernel("gather_elements", "\n".join(lines), -(-size // _LEAST), [out])
