"""Operators that choose elements by positions, which are known or computed."""

from __future__ import annotations

import math
from typing import Any

from .....graph.lowering._value import Declined
from .._kernel import GenKernel, Spec
from .._table import Known, emits
from .._target import Target
from ._copy import item_type, strides_of
from ._each import around, coordinates, each, inside
from ._movement import Inputs, first


def positions_of(inputs: Inputs, index: int = 1) -> tuple[Spec, str]:
    """The input that has positions, and its element type in C. Declined where that is none."""
    given = inputs[index] if len(inputs) > index else None
    if given is None or given.dtype not in ("int32", "int64"):
        raise Declined("positions that are neither int32 nor int64")
    return given, f"{given.dtype}_t"


def _pointers(kind: str, index_type: str) -> list[str]:
    return [
        f"const {kind} *const x = in[0];",
        f"const {index_type} *const positions = in[1];",
        f"{kind} *const y = out[0];",
    ]


@emits("Gather")
def _gather(target: Target, inputs: Inputs, attributes: dict[str, Any], known: Known) -> GenKernel:
    x, axis = first(inputs), attributes.get("axis", 0)
    indices, index_type = positions_of(inputs)
    axis += len(x.shape) if axis < 0 else 0
    (before, extent, inner), count = around(x.shape, axis), max(indices.size, 1)
    lines = [
        f"int64_t at = positions[row % {count}];",
        *inside(extent),
        f"if (ok) memcpy(y + row * {inner}, x + (row / {count} * {extent} + at) * {inner},"
        f" {inner} * sizeof *y);",
        f"else memset(y + row * {inner}, 0xff, {inner} * sizeof *y);",
    ]
    return each(
        "gather",
        [Spec((*x.shape[:axis], *indices.shape, *x.shape[axis + 1 :]), x.dtype)],
        before * indices.size if inner else 0,
        lines,
        index="row",
        size=inner,
        head=_pointers(item_type(x.dtype), index_type),
    )


def check_positions(indices: Spec, x: Spec, axis: int) -> None:
    """Declined for shapes of positions along an axis that do not fit those of a tensor."""
    if len(x.shape) != len(indices.shape) or any(
        longer > extent
        for n, (longer, extent) in enumerate(zip(indices.shape, x.shape, strict=True))
        if n != axis
    ):
        raise Declined(f"positions of shape {indices.shape} in {x.shape}")


@emits("GatherElements")
def _gather_elements(
    target: Target, inputs: Inputs, attributes: dict[str, Any], known: Known
) -> GenKernel:
    x, axis = first(inputs), attributes.get("axis", 0)
    indices, index_type = positions_of(inputs)
    axis += len(x.shape) if axis < 0 else 0
    check_positions(indices, x, axis)
    kind, at = item_type(x.dtype), coordinates("i", indices.shape)
    at[axis] = "at"
    from_ = " + ".join(f"({n}) * {m}" for n, m in zip(at, strides_of(x.shape), strict=True))
    lines = [
        "int64_t at = positions[i];",
        *inside(x.shape[axis]),
        f"y[i] = ok ? x[{from_}] : ({kind})-1;",
    ]
    out, head = Spec(indices.shape, x.dtype), _pointers(kind, index_type)
    return each("gather_elements", [out], indices.size, lines, head=head)


def slices_of(x: Spec, indices: Spec, batch: int) -> tuple[int, list[str]]:
    """How many elements each part of a tensor has that a row of positions names; and statements
    for where it begins, `from`, of the number of the row, and whether it is inside, `ok`."""
    if not indices.shape or not 0 <= batch < len(indices.shape):
        raise Declined(f"positions of shape {indices.shape}")
    length = indices.shape[-1]
    if batch + length > len(x.shape):
        raise Declined(f"positions of shape {indices.shape} in {x.shape}")
    strides = strides_of(x.shape)
    ahead = max(math.prod(indices.shape[batch:-1]), 1)  # rows for an element of the batch
    whole = math.prod(x.shape[batch:])
    begin = f"row / {ahead} * INT64_C({whole})" if batch else "0"
    lines = [f"int64_t from = {begin};", "int is_in = 1;"]
    for n in range(length):
        lines += ["{", f"  int64_t at = positions[row * {length} + {n}];"]
        lines += [f"  {line}" for line in inside(x.shape[batch + n])]
        lines += [f"  is_in &= ok, from += ok ? at * {strides[batch + n]} : 0;", "}"]
    return math.prod(x.shape[batch + length :]), lines


@emits("GatherND")
def _gather_nd(
    target: Target, inputs: Inputs, attributes: dict[str, Any], known: Known
) -> GenKernel:
    x, batch = first(inputs), attributes.get("batch_dims", 0)
    indices, index_type = positions_of(inputs)
    inner, lines = slices_of(x, indices, batch)
    lines += [
        f"if (is_in) memcpy(y + row * {inner}, x + from, {inner} * sizeof *y);",
        f"else memset(y + row * {inner}, 0xff, {inner} * sizeof *y);",
    ]
    shape = (*indices.shape[:-1], *x.shape[batch + indices.shape[-1] :])
    return each(
        "gather_nd",
        [Spec(shape, x.dtype)],
        math.prod(indices.shape[:-1]) if inner else 0,
        lines,
        index="row",
        size=inner,
        head=_pointers(item_type(x.dtype), index_type),
    )
