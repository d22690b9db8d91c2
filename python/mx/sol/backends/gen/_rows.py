"""Kernels that need a row of elements before they give the first: softmax, norms, reductions.

Elementwise nodes in front are computed when a row is read first, and kept in memory of the thread;
those behind it when the results are written.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from textwrap import indent
from typing import Any

from ....graph.lowering._value import Declined
from ._body import TILE, row_loop
from ._frame import Frame
from ._group import Expressions, GroupNode
from ._kernel import GenKernel, Spec, make_kernel, signature
from ._normalization import NORMS, norm_axes, norm_lines
from ._softmax import SOFTMAX, is_last, softmax_axes, softmax_lines
from ._softmax_beside import emit_softmax_beside
from ._table import Known, emits
from ._target import Target
from ._types import FLOATS

ROW_OPERATORS = frozenset((*NORMS, *SOFTMAX))


def emit_rows(
    target: Target,
    inputs: Sequence[Spec],
    nodes: Sequence[GroupNode],
    outputs: Sequence[int],
    known: Known | None,
    index: int,
) -> GenKernel:
    """One kernel of the operator over rows at `index` and elementwise nodes around it.

    Declined where a node behind it reads another value of those in front than the operator does,
    or where the group is not taken.
    """
    operator = nodes[index].operator
    is_norm = operator in NORMS
    x = _main(inputs, nodes, index)
    if x.dtype not in FLOATS:
        raise Declined(f"rows of {x.dtype}")
    if len(nodes) == 1 and not is_norm and not is_last(x.shape, nodes[0]):
        return emit_softmax_beside(target, x, nodes[0].attributes["axis"] % len(x.shape), operator)
    axes = (norm_axes if is_norm else softmax_axes)(x.shape, nodes[index])
    extra = NORMS[operator](nodes[index], x, inputs) if is_norm else []
    frame = Frame(target, inputs, nodes, outputs, known, index, axes, extra, operator == "Softmax")
    body = (norm_lines if is_norm else softmax_lines)(frame, nodes[index])
    height = max(1, min(frame.rows, TILE // max(1, frame.columns)))
    lines = row_loop(frame.rows, height, body)
    head = [*([] if frame.workspace else ["(void)work;"])]
    text = "\n".join([*head, *lines])
    return make_kernel(
        "_".join(node.operator for node in nodes)[:40].lower(),
        f"{signature()} {{\n{indent(text, '  ')}\n}}\n",
        -(-frame.rows // height) if frame.columns else 0,
        [frame.spec(number) for number in outputs],
        workspace=frame.workspace,
    )


def _main(inputs: Sequence[Spec], nodes: Sequence[GroupNode], index: int) -> Spec:
    """The spec of what the operator over rows goes over."""
    number = nodes[index].inputs[0]
    if number is None:
        raise Declined("no first input")
    return Expressions(inputs, nodes[:index]).output(number)


def _group_normalization(
    target: Target, inputs: Sequence[Spec | None], attributes: dict[str, Any], known: Known
) -> GenKernel:
    """As a norm of layers of the groups, in which each channel has its scale."""
    x, scale, bias = (*inputs, None, None, None)[:3]
    groups = attributes["num_groups"]
    if x is None or scale is None or bias is None or len(x.shape) < 3 or x.size == 0:
        raise Declined("no axes behind the channels, or no elements")
    batch, channels = x.shape[:2]
    if groups < 1 or channels % groups or scale.shape != (channels,) or bias.shape != (channels,):
        raise Declined("channels that are no groups")
    of_each = channels // groups
    whole = Spec((batch, groups, of_each, x.size // (batch * channels)), x.dtype)
    small = [Spec((groups, of_each, 1), one.dtype) for one in (scale, bias)]
    taken = {name: value for name, value in attributes.items() if name == "epsilon"}
    node = GroupNode("LayerNormalization", (0, 1, 2), {**taken, "axis": 2})
    kernel = emit_rows(target, [whole, *small], [node], [3], known, 0)
    return replace(kernel, outputs=(x,))


def _emitter(operator: str) -> Any:
    def emit_one(
        target: Target, inputs: Sequence[Spec | None], attributes: dict[str, Any], known: Known
    ) -> GenKernel:
        given = [spec for spec in inputs if spec is not None]
        numbers = iter(range(len(given)))
        read = tuple(None if spec is None else next(numbers) for spec in inputs)
        node = GroupNode(operator, read, attributes)
        return emit_rows(target, given, [node], [len(given)], None, 0)

    return emit_one


_SINCE = {"Softmax": 13, "LogSoftmax": 13, "LayerNormalization": 17, "RMSNormalization": 23}
for _name in ROW_OPERATORS:
    emits(_name, since=_SINCE.get(_name, 6))(_emitter(_name))
emits("GroupNormalization", since=21)(_group_normalization)
