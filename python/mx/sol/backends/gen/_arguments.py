"""ArgMax and ArgMin: where along an axis the largest or smallest element is."""

from __future__ import annotations

from collections.abc import Sequence
from textwrap import indent
from typing import Any

from ....graph.lowering._value import Declined
from ._beside import extents
from ._body import TILE, block, row_loop
from ._kernel import GenKernel, Spec, make_kernel, signature
from ._table import Known, emits
from ._target import Target
from ._types import type_of


def _emit(operator: str, inputs: Sequence[Spec | None], attributes: dict[str, Any]) -> GenKernel:
    x = inputs[0]
    if x is None or not x.shape or x.size == 0:
        raise Declined("no axes, or no elements")
    axis = attributes.get("axis", 0)
    if not -len(x.shape) <= axis < len(x.shape):
        raise Declined(f"axis {axis} of {len(x.shape)}")
    axis %= len(x.shape)
    before, count, parts, width = extents(x.shape, axis)
    kind = type_of(x.dtype)
    sign = ">" if operator == "ArgMax" else "<"
    takes_last = bool(attributes.get("select_last_index", 0))
    better = f"v {sign}{'=' if takes_last else ''} best[i]"
    if kind.is_float:  # a NaN is more than any number: the first one, or the last one
        better += " || v != v" if takes_last else " || (v != v && best[i] == best[i])"
    step = parts * width
    inner = [
        f"const {kind.value} v = {kind.load(f'p[k * {step} + i]')};",
        f"const int is_better = {better};",
        "best[i] = is_better ? v : best[i];",
        "q[i] = is_better ? k : q[i];",
    ]
    over = f"for (int64_t i = 0; i < {width}; ++i)"
    lines = [
        f"const {kind.memory} *const p = (const {kind.memory} *)in[0] + "
        f"row / {parts} * {count * step} + row % {parts} * {width};",
        f"int64_t *const q = (int64_t *)out[0] + row * {width};",
        block(over, [f"best[i] = {kind.load('p[i]')};", "q[i] = 0;"]),
        block(f"for (int64_t k = 1; k < {count}; ++k)", [block(over, inner)]),
    ]
    rows = before * parts
    height = max(1, TILE // (count * width))
    head = f"{kind.value} *const best = ({kind.value} *)work;"
    text = "\n".join([head, *row_loop(rows, height, lines)])
    kept = attributes.get("keepdims", 1)
    shape = [*x.shape[:axis], *([1] if kept else []), *x.shape[axis + 1 :]]
    return make_kernel(
        operator.lower(),
        f"{signature()} {{\n{indent(text, '  ')}\n}}\n",
        -(-rows // height),
        [Spec(tuple(shape), "int64")],
        workspace=width * 8,
    )


@emits("ArgMax", since=12)
def _arg_max(
    target: Target, inputs: Sequence[Spec | None], attributes: dict[str, Any], known: Known
) -> GenKernel:
    return _emit("ArgMax", inputs, attributes)


@emits("ArgMin", since=12)
def _arg_min(
    target: Target, inputs: Sequence[Spec | None], attributes: dict[str, Any], known: Known
) -> GenKernel:
    return _emit("ArgMin", inputs, attributes)
