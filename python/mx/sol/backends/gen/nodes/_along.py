"""Operators that go along an axis: running sums, the first largest element, parts turned round."""

from __future__ import annotations

from typing import Any

from .....graph.lowering._value import Declined
from .._kernel import GenKernel
from .._table import Known, emits
from .._target import Target
from .._types import type_of
from ._copy import item_type
from ._each import around, coordinates, each, position
from ._movement import Inputs, first, ints


def _axis(axis: int, rank: int) -> int:
    if not -rank <= axis < rank:
        raise Declined(f"axis {axis} of {rank}")
    return axis % rank


def _running(operator: str) -> Any:
    sign, start = {"CumSum": ("+", "0"), "CumProd": ("*", "1")}[operator]

    def emit_one(
        target: Target, inputs: Inputs, attributes: dict[str, Any], known: Known
    ) -> GenKernel:
        x, axes = first(inputs), ints({}, known, "axis", 1)
        if not axes:
            raise Declined("an axis that depends on the model's inputs")
        if x.dtype == "bool":
            raise Declined("bool")
        before, extent, behind = around(x.shape, _axis(axes[0], len(x.shape)))
        kind = type_of(x.dtype)
        wide = "" if kind.is_float else "(uint64_t)"
        # Each result has the errors of those before it.
        sums = "double" if kind.is_float else kind.value
        joined = f"({sums})({wide}total {sign} {wide}v)"
        if not kind.is_float:  # of few bits, sums would not grow any more before long
            joined = kind.rounded(joined)
        at = f"{extent} - 1 - k" if attributes.get("reverse", 0) else "k"
        steps = [f"const {kind.value} v = {kind.load('x[at]')};", f"total = {joined};"]
        stored = f"y[at] = {kind.store(f'({kind.value})total')};"
        if attributes.get("exclusive", 0):
            steps = [steps[0], stored, steps[1]]
        else:
            steps = [*steps, stored]
        lines = [
            f"const int64_t from = row / {max(behind, 1)} * {extent * behind} + row %"
            f" {max(behind, 1)};",
            f"const {kind.memory} *const x = (const {kind.memory} *)in[0] + from;",
            f"{kind.memory} *const y = ({kind.memory} *)out[0] + from;",
            f"{sums} total = {start};",
            f"for (int64_t k = 0; k < {extent}; ++k) {{",
            f"  const int64_t at = ({at}) * {behind};",
            *(f"  {line}" for line in steps),
            "}",
        ]
        rows = before * behind if extent else 0
        return each(operator.lower(), [x], rows, lines, index="row", size=extent)

    return emit_one


for _name in ("CumSum", "CumProd"):
    emits(_name)(_running(_name))


@emits("Hardmax")
def _hardmax(target: Target, inputs: Inputs, attributes: dict[str, Any], known: Known) -> GenKernel:
    x = first(inputs)
    before, extent, behind = around(x.shape, _axis(attributes.get("axis", -1), len(x.shape)))
    kind = type_of(x.dtype)
    lines = [
        f"const int64_t from = row / {max(behind, 1)} * {extent * behind} + row %"
        f" {max(behind, 1)};",
        f"const {kind.memory} *const x = (const {kind.memory} *)in[0] + from;",
        f"{kind.memory} *const y = ({kind.memory} *)out[0] + from;",
        f"{kind.value} best = {kind.load('x[0]')};",
        "int64_t chosen = 0;",
        f"for (int64_t k = 1; k < {extent}; ++k) {{",
        f"  const {kind.value} v = {kind.load(f'x[k * {behind}]')};",
        "  if (v > best || (v != v && best == best)) best = v, chosen = k;",
        "}",
        f"for (int64_t k = 0; k < {extent}; ++k)",
        f"  y[k * {behind}] = {kind.store(f'({kind.value})(k == chosen)')};",
    ]
    rows = before * behind if extent else 0
    return each("hardmax", [x], rows, lines, index="row", size=2 * extent)


@emits("ReverseSequence")
def _reverse(target: Target, inputs: Inputs, attributes: dict[str, Any], known: Known) -> GenKernel:
    x, lengths = first(inputs), inputs[1]
    batch = _axis(attributes.get("batch_axis", 1), len(x.shape))
    time = _axis(attributes.get("time_axis", 0), len(x.shape))
    if lengths is None or lengths.dtype != "int64" or lengths.shape != (x.shape[batch],):
        raise Declined("lengths that are missing, or of another type or shape")
    kind, at = item_type(x.dtype), coordinates("i", x.shape)
    t, b = at[time], at[batch]
    at[time] = "back"
    lines = [
        f"const int64_t t = {t}, length = ((const int64_t *)in[1])[{b}];",
        f"const int64_t back = t < length && length <= {x.shape[time]} ? length - 1 - t : t;",
        f"(({kind} *)out[0])[i] = ((const {kind} *)in[0])[{position(at, x.shape)}];",
    ]
    return each("reverse_sequence", [x], x.size, lines)
