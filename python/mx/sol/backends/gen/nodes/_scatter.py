"""Operators that write elements at positions, which are known or computed, of a copy of a tensor.

Several positions may be the same: rows are written one after the other, by one thread.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from .....graph.lowering._value import Declined
from .._kernel import GenKernel, Spec
from .._table import Known, emits
from .._target import Target
from .._types import FLOATS, type_of
from ._copy import item_type
from ._each import around, coordinates, inside, position, whole
from ._gather import check_positions, positions_of, slices_of
from ._movement import Inputs, first


def _operands(inputs: Inputs) -> tuple[Spec, Spec]:
    """The tensor and what is written. Declined where the one is missing or of another type."""
    x, updates = first(inputs), inputs[2] if len(inputs) > 2 else None
    if updates is None or updates.dtype != x.dtype:
        raise Declined("updates that are missing, or of another type")
    return x, updates


def joined(reduction: str, dtype: str, old: str, new: str) -> str:
    """The statement that writes an element, or joins it with what is there."""
    if reduction == "none":
        return f"{old} = {new};"
    kind = type_of(dtype)
    a, b = kind.load(old), kind.load(new)
    sign = {"add": "+", "mul": "*"}.get(reduction)
    if dtype == "bool":
        raise Declined(f"reduction {reduction} of bool")
    if sign is not None:
        wide = "" if dtype in FLOATS else "(uint64_t)"
        return f"{old} = {kind.store(f'({kind.value})({wide}{a} {sign} {wide}{b})')};"
    if reduction not in ("min", "max"):
        raise Declined(f"reduction {reduction}")
    better = f"{b} {'<' if reduction == 'min' else '>'} {a}"
    if dtype in FLOATS:  # NaN stays, and comes
        better += f" || {b} != {b}"
    return f"if ({better}) {old} = {new};"


def _head(x: Spec, index_type: str, copies: bool = True) -> list[str]:
    # The type of elements where they are joined; else one as large, which more types have.
    kind = type_of(x.dtype).memory if copies else item_type(x.dtype)
    return [
        f"{kind} *const y = out[0];",
        f"const {index_type} *const positions = in[1];",
        f"const {kind} *const updates = in[2];",
        f"memcpy(y, in[0], {x.size} * sizeof *y);",
    ]


@emits("ScatterElements", "Scatter")
def _scatter_elements(
    target: Target, inputs: Inputs, attributes: dict[str, Any], known: Known
) -> GenKernel:
    (x, updates), axis = _operands(inputs), attributes.get("axis", 0)
    indices, index_type = positions_of(inputs)
    axis += len(x.shape) if axis < 0 else 0
    check_positions(indices, x, axis)
    if indices.shape != updates.shape:
        raise Declined(f"positions of shape {indices.shape} for {updates.shape}")
    reduction, at = attributes.get("reduction", "none"), coordinates("i", indices.shape)
    at[axis] = "at"
    to = f"y[{position(at, x.shape)}]"
    lines = [
        "int64_t at = positions[i];",
        *inside(x.shape[axis]),
        "if (!ok) continue;",
        joined(reduction, x.dtype, to, "updates[i]"),
    ]
    return _written("scatter_elements", x, index_type, indices.size, lines, reduction, "i")


@emits("ScatterND")
def _scatter_nd(
    target: Target, inputs: Inputs, attributes: dict[str, Any], known: Known
) -> GenKernel:
    x, updates = _operands(inputs)
    indices, index_type = positions_of(inputs)
    inner, lines = slices_of(x, indices, 0)
    if updates.shape != (*indices.shape[:-1], *x.shape[indices.shape[-1] :]):
        raise Declined(f"updates of shape {updates.shape}")
    reduction = attributes.get("reduction", "none")
    lines += ["if (!is_in) continue;"]
    if reduction == "none":
        lines += [f"memcpy(y + from, updates + row * {inner}, {inner} * sizeof *y);"]
    else:
        lines += [f"for (int64_t j = 0; j < {inner}; ++j) {{"]
        lines += [joined(reduction, x.dtype, "y[from + j]", f"updates[row * {inner} + j]"), "}"]
    rows = math.prod(indices.shape[:-1])
    return _written("scatter_nd", x, index_type, rows, lines, reduction, "row")


def _written(
    name: str,
    x: Spec,
    index_type: str,
    count: int,
    lines: Sequence[str],
    reduction: str,
    index: str,
) -> GenKernel:
    loop = [f"for (int64_t {index} = 0; {index} < {count}; ++{index}) {{"]
    text = [*_head(x, index_type, reduction != "none"), *loop, *(f"  {one}" for one in lines), "}"]
    return whole(name, [x], text)


@emits("TensorScatter")
def _tensor_scatter(
    target: Target, inputs: Inputs, attributes: dict[str, Any], known: Known
) -> GenKernel:
    x, update = first(inputs), inputs[1]
    if update is None or update.dtype != x.dtype:
        raise Declined("updates that are missing, or of another type")
    axis = attributes.get("axis", -2)
    axis += len(x.shape) if axis < 0 else 0
    before, extent, inner = around(x.shape, axis)
    length, batch = update.shape[axis], x.shape[0]
    is_circular = attributes.get("mode", "linear") == "circular"
    given = len(inputs) > 2 and inputs[2] is not None
    start = f"((const int64_t *)in[2])[row / {max(before // max(batch, 1), 1)}]" if given else "0"
    turn = max(extent, 1)
    next_at = "(int64_t)((uint64_t)begin_at + (uint64_t)t)"
    at = f"({next_at} % {turn} + {turn}) % {turn}" if is_circular else next_at
    kind = item_type(x.dtype)
    return whole(
        "tensor_scatter",
        [x],
        [
            f"{kind} *const y = out[0];",
            f"const {kind} *const updates = in[1];",
            f"memcpy(y, in[0], {x.size} * sizeof *y);",
            f"for (int64_t row = 0; row < {before}; ++row) {{",
            f"  const int64_t begin_at = {start};",
            f"  for (int64_t t = 0; t < {length}; ++t) {{",
            f"    const int64_t at = {at};",
            f"    if (at < 0 || at >= {extent}) continue;",
            f"    memcpy(y + (row * {extent} + at) * {inner},",
            f"           updates + (row * {length} + t) * {inner}, {inner} * sizeof *y);",
            "  }",
            "}",
        ],
    )
