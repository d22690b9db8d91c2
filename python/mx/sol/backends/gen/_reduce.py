"""Kernels of reductions: sums, means, extremes and their like, with elementwise nodes in front."""

from __future__ import annotations

import math
from collections.abc import Sequence
from textwrap import indent
from typing import Any

from ....graph.lowering._value import Declined
from ._beside import filled, updated
from ._body import TILE, block, row_loop
from ._frame import Frame
from ._group import Expressions, GroupNode
from ._kernel import GenKernel, Spec, make_kernel, signature
from ._reduction import (
    REDUCTIONS,
    accumulator,
    finished,
    start_of,
    wrapped,
)
from ._table import Known, emits
from ._target import Target
from ._types import FLOATS, type_of

REDUCE = frozenset((*REDUCTIONS, "ReduceLogSumExp"))


def emit_reduction(
    target: Target,
    inputs: Sequence[Spec],
    nodes: Sequence[GroupNode],
    known: Known | None,
) -> GenKernel:
    """The kernel of a reduction, the last of `nodes`, with elementwise nodes in front.

    Declined for nodes behind it, for axes that are not known, and where there are no elements.
    """
    node = nodes[-1]
    assert node.inputs[0] is not None
    x = Expressions(inputs, nodes[:-1]).output(node.inputs[0])
    if x.size == 0:
        raise Declined("no elements")
    axes = axes_of(node, x, known or {})
    result = _result(x, axes, bool(node.attributes.get("keepdims", 1)))
    long = [axis for axis, extent in enumerate(x.shape) if extent > 1]
    index = len(nodes) - 1
    reduced = [axis for axis in long if axis in axes]
    if not long or long[-1] in axes:
        frame = Frame(target, inputs, nodes, [], known, index, reduced or axes[-1:], [])
        body, work = _row(frame, node), frame.workspace
    else:
        last = [axis for axis in long if axis > max(reduced, default=-1)]
        frame = Frame(target, inputs, nodes, [], known, index, reduced, [], columns=last)
        body, work = _columns(frame, node), frame.width * 16
    height = max(1, min(frame.rows, TILE // max(1, frame.columns)))
    text = "\n".join(row_loop(frame.rows, height, [*frame.begin(), *body]))
    head = "" if work else "(void)work;\n"
    return make_kernel(
        "_".join(one.operator for one in nodes)[:40].lower(),
        f"{signature()} {{\n{indent(head + text, '  ')}\n}}\n",
        -(-frame.rows // height),
        [result],
        workspace=work,
    )


def axes_of(node: GroupNode, x: Spec, known: Known) -> list[int]:
    """The axes that are reduced, from attributes or a constant input. Declined for others."""
    axes = node.attributes.get("axes")
    if axes is None and len(node.inputs) > 1 and node.inputs[1] is not None:
        if node.inputs[1] not in known:
            raise Declined("axes that are computed")
        axes = [int(axis) for axis in known[node.inputs[1]].reshape(-1)]
    if not axes:
        if node.attributes.get("noop_with_empty_axes", 0):
            raise Declined("no axes")
        return list(range(len(x.shape)))
    if any(not -len(x.shape) <= axis < len(x.shape) for axis in axes):
        raise Declined(f"axes {list(axes)} of {len(x.shape)}")
    return sorted({axis % len(x.shape) for axis in axes})


def _result(x: Spec, axes: Sequence[int], keeps: bool) -> Spec:
    shape = [
        1 if axis in axes else extent
        for axis, extent in enumerate(x.shape)
        if keeps or axis not in axes
    ]
    return Spec(tuple(shape), x.dtype)


def _stored(frame: Frame, value: str, at: str) -> str:
    kind = type_of(frame.x.dtype)
    return f"(({kind.memory} *)out[0])[{at}] = {kind.store(value)};"


def _row(frame: Frame, node: GroupNode) -> list[str]:
    """The statements for a row that lies in one piece, or several."""
    if node.operator == "ReduceLogSumExp":
        return _row_of_powers(frame)
    reduction = REDUCTIONS[node.operator]
    start = start_of(reduction, frame.x.dtype)

    def use(x: str, rest: str | None, copy: int) -> list[str]:
        term = frame.counted(reduction.term(frame.algebra, x), rest, start)
        return [f"total{copy} = {reduction.join(frame.algebra, f'total{copy}', term)};"]

    first = frame.algebra.number(start)
    lines = [f"{accumulator(frame)} total{n} = {first};" for n in range(frame.unroll)]
    lines += frame.first(use, frame.unroll)
    joined = frame.joined("total", lambda x, y: reduction.join(frame.algebra, x, y))
    value = wrapped(frame, frame.one(reduction.lanes, joined))
    return [*lines, _stored(frame, finished(frame, reduction, value, frame.columns), "row")]


def _row_of_powers(frame: Frame) -> list[str]:
    """The logarithm of the sum of powers, as of what is below the largest one."""
    _check_float(frame)
    a, kind = frame.algebra, frame.kind

    def largest(x: str, rest: str | None, copy: int) -> list[str]:
        return [f"most{copy} = {a.maximum(f'most{copy}', frame.counted(x, rest, -math.inf))};"]

    def add(x: str, rest: str | None, copy: int) -> list[str]:
        power = a.function("exp", f"({x} - top)")
        return [f"sum{copy} += {frame.counted(power, rest, 0)};"]

    lines = frame.accumulators("most", -math.inf) + frame.first(largest, frame.unroll)
    most = frame.one("hmax", frame.joined("most", a.maximum))
    lines += [
        f"const {frame.value} highest = {most};",
        f"const {frame.value} near = isinf(highest) ? 0 : highest;",
        f"const {kind} top = {frame.all_lanes('near')};",
        *frame.accumulators("sum", 0),
        *frame.again(add, frame.unroll),
    ]
    total = frame.one("hsum", frame.joined("sum", "{} + {}".format))
    return [*lines, _stored(frame, f"{frame.single('log', total)} + near", "row")]


def _check_float(frame: Frame) -> None:
    if frame.x.dtype not in FLOATS:
        raise Declined(f"of {frame.x.dtype}")


def _columns(frame: Frame, node: GroupNode) -> list[str]:
    """The statements for rows side by side, which are joined in memory of the thread."""
    reduction = REDUCTIONS.get(node.operator)
    if reduction is None:
        return _columns_of_powers(frame)
    start = start_of(reduction, frame.x.dtype)
    kind = "float" if frame.is_vector else accumulator(frame)
    lines = [f"{kind} *const total = ({kind} *)work;", *filled(frame, "total", start)]

    def use(x: str, index: str, rest: str | None) -> list[str]:
        term = reduction.term(frame.algebra, x)
        return [
            updated(frame, "total", index, rest, lambda t: reduction.join(frame.algebra, t, term))
        ]

    lines += frame.beside(use)
    count = frame.columns // frame.width
    value = finished(frame, reduction, wrapped(frame, "total[i]"), count)
    stored = _stored(frame, value, f"row * {frame.width} + i")
    return [*lines, block(f"for (int64_t i = 0; i < {frame.width}; ++i)", [stored])]


def _columns_of_powers(frame: Frame) -> list[str]:
    _check_float(frame)
    a = frame.algebra
    kind = "float" if frame.is_vector else frame.value
    lines = [
        f"{kind} *const most = ({kind} *)work;",
        f"{kind} *const sum = most + {frame.width};",
        *filled(frame, "most", -math.inf),
        *filled(frame, "sum", 0),
    ]
    lines += frame.beside(
        lambda x, index, rest: [
            updated(frame, "most", index, rest, lambda most: a.maximum(most, x))
        ]
    )
    near = ["most[i] = isinf(most[i]) ? 0 : most[i];"]
    lines.append(block(f"for (int64_t i = 0; i < {frame.width}; ++i)", near))

    def add(x: str, index: str, rest: str | None) -> list[str]:
        at = f"most + {index}"
        top = f"*({at})"
        if frame.is_vector:
            top = f"vf_load({at})" if rest is None else f"vf_load_n({at}, {rest})"
        power = a.function("exp", f"({x} - {top})")
        return [updated(frame, "sum", index, rest, lambda total: f"{total} + {power}")]

    lines += frame.beside(add)
    value = f"{frame.single('log', 'sum[i]')} + most[i]"
    stored = _stored(frame, value, f"row * {frame.width} + i")
    return [*lines, block(f"for (int64_t i = 0; i < {frame.width}; ++i)", [stored])]


def _emitter(operator: str) -> Any:
    def emit_one(
        target: Target, inputs: Sequence[Spec | None], attributes: dict[str, Any], known: Known
    ) -> GenKernel:
        x, axes = (*inputs, None)[:2]
        if x is None:
            raise Declined("no input")
        given = [spec for spec in (x, axes) if spec is not None]
        node = GroupNode(operator, tuple(range(len(given))), attributes)
        return emit_reduction(target, given, [node], known)

    return emit_one


for _name in REDUCE:
    emits(_name, since=11)(_emitter(_name))
