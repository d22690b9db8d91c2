"""TopK: the largest or smallest elements along an axis, in order."""

from __future__ import annotations

from typing import Any

from .....graph.lowering._value import Declined
from .._kernel import NAME, GenKernel, Spec
from .._table import Known, emits
from .._target import Target
from .._types import type_of
from ._each import around, each
from ._movement import Inputs, first, ints

# Positions in a heap whose first is the one that goes first, until the heap is sorted.
_HEAP = """\
static int NAME_before(const MEMORY *x, int64_t a, int64_t b) {
  const VALUE v = LOAD_A, w = LOAD_B;
  if (BETTER) return 1;
  if (WORSE) return 0;
  return a < b;
}
static void NAME_sink(const MEMORY *x, int64_t *heap, int64_t count, int64_t at) {
  const int64_t moved = heap[at];
  for (;;) {
    int64_t child = 2 * at + 1;
    if (child >= count) break;
    if (child + 1 < count && NAME_before(x, heap[child], heap[child + 1])) ++child;
    if (!NAME_before(x, moved, heap[child])) break;
    heap[at] = heap[child];
    at = child;
  }
  heap[at] = moved;
}"""


@emits("TopK")
def _top_k(target: Target, inputs: Inputs, attributes: dict[str, Any], known: Known) -> GenKernel:
    x, counts = first(inputs), ints(attributes, known, "k", 1)
    if not counts:
        raise Declined("a number of elements that depends on the model's inputs")
    axis = attributes.get("axis", -1)
    if not -len(x.shape) <= axis < len(x.shape):
        raise Declined(f"axis {axis} of {len(x.shape)}")
    axis %= len(x.shape)
    (before, extent, behind), count = around(x.shape, axis), counts[0]
    if not 0 <= count <= extent:
        raise Declined(f"{count} of {extent} elements")
    kind = type_of(x.dtype)
    # A NaN is more than any number.
    more, less = ("v > w", "v < w") if attributes.get("largest", 1) else ("v < w", "v > w")
    if kind.is_float:
        nan_v, nan_w = "(v != v && w == w)", "(w != w && v == v)"
        if not attributes.get("largest", 1):
            nan_v, nan_w = nan_w, nan_v
        more, less = f"{more} || {nan_v}", f"{less} || {nan_w}"
    heap = _HEAP.replace("NAME", NAME).replace("MEMORY", kind.memory).replace("VALUE", kind.value)
    for word, text in {
        "LOAD_A": kind.load(f"x[a * {behind}]"),
        "LOAD_B": kind.load(f"x[b * {behind}]"),
        "BETTER": more,
        "WORSE": less,
    }.items():
        heap = heap.replace(word, text)
    lines = [
        f"const int64_t above = row / {max(behind, 1)}, beside = row % {max(behind, 1)};",
        f"const {kind.memory} *const x = (const {kind.memory} *)in[0]"
        f" + above * {extent * behind} + beside;",
        f"{kind.memory} *const y = ({kind.memory} *)out[0] + above * {count * behind} + beside;",
        f"int64_t *const chosen = (int64_t *)out[1] + above * {count * behind} + beside;",
        f"for (int64_t i = 0; i < {count}; ++i) heap[i] = i;",
        f"for (int64_t i = {count // 2}; i-- > 0;) {NAME}_sink(x, heap, {count}, i);",
        f"for (int64_t i = {count}; i < {extent}; ++i) {{",
        f"  if (!{NAME}_before(x, i, heap[0])) continue;",
        "  heap[0] = i;",
        f"  {NAME}_sink(x, heap, {count}, 0);",
        "}",
        f"for (int64_t i = {count}; i-- > 0;) {{",
        "  const int64_t worst = heap[0];",
        "  heap[0] = heap[i];",
        f"  {NAME}_sink(x, heap, i, 0);",
        f"  y[i * {behind}] = x[worst * {behind}];",
        f"  chosen[i * {behind}] = worst;",
        "}",
    ]
    shape = (*x.shape[:axis], count, *x.shape[axis + 1 :])
    return each(
        "top_k",
        [Spec(shape, x.dtype), Spec(shape, "int64")],
        before * behind if count else 0,
        lines,
        index="row",
        size=4 * extent,
        head=["int64_t *const heap = work;"],
        tables=[heap],
        workspace=-(-8 * count // 64) * 64,
    )
