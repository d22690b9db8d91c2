"""Softmax over an axis before the last one: of rows that lie side by side."""

from __future__ import annotations

import math
from textwrap import indent

from ....graph.lowering._value import Declined
from ._beside import extents, filled, updated
from ._body import TILE, block, row_loop, store
from ._frame import Frame
from ._group import GroupNode
from ._kernel import GenKernel, Spec, make_kernel, signature
from ._target import Target
from ._types import FLOATS, type_of


def emit_softmax_beside(target: Target, x: Spec, axis: int, operator: str) -> GenKernel:
    """The kernel of one softmax. Declined for other types than floats, or nothing to do."""
    if x.dtype not in FLOATS or x.size == 0 or x.shape[axis] == 1:
        raise Declined("no elements to compute, or none of floats")
    before, count, parts, width = extents(x.shape, axis)
    whole = Spec((before, count, parts, width), x.dtype)
    node = GroupNode(operator, (0,))
    frame = Frame(target, [whole], [node], [], None, 0, [1], [], columns=[3])
    lines = [*frame.begin(), *_statements(frame, operator, parts)]
    height = max(1, TILE // frame.columns)
    text = "\n".join(row_loop(frame.rows, height, lines))
    return make_kernel(
        operator.lower(),
        f"{signature()} {{\n{indent(text, '  ')}\n}}\n",
        -(-frame.rows // height),
        [x],
        workspace=width * 16,
    )


def _statements(frame: Frame, operator: str, parts: int) -> list[str]:
    a, width, kind = frame.algebra, frame.width, type_of(frame.x.dtype)
    value = frame.value
    step = parts * width  # from an element of a row to the next one
    count = frame.columns // width
    offset = f"row / {parts} * {count * step} + row % {parts} * {width}"
    lines = [
        f"{value} *const most = ({value} *)work;",
        f"{value} *const sum = most + {width};",
        f"{kind.memory} *const q = ({kind.memory} *)out[0] + {offset};",
        *filled(frame, "most", -math.inf),
        *filled(frame, "sum", 0),
    ]

    def kept(name: str, index: str, rest: str | None) -> str:
        at = f"{name} + {index}"
        if not frame.is_vector:
            return f"*({at})"
        return f"vf_load({at})" if rest is None else f"vf_load_n({at}, {rest})"

    def largest(x: str, index: str, rest: str | None) -> list[str]:
        return [updated(frame, "most", index, rest, lambda most: a.maximum(most, x))]

    def power(x: str, index: str, rest: str | None) -> str:
        below = f"{x} - {kept('most', index, rest)}"
        return f"vf_exp_below({below})" if frame.is_vector else a.function("exp", below)

    def add(x: str, index: str, rest: str | None) -> list[str]:
        term = power(x, index, rest)
        return [updated(frame, "sum", index, rest, lambda total: f"{total} + {term}")]

    def write(x: str, index: str, rest: str | None) -> list[str]:
        factor = kept("sum", index, rest)
        if operator == "LogSoftmax":
            text = f"{x} - {kept('most', index, rest)} - {factor}"
        else:
            text = f"{power(x, index, rest)} * {factor}"
        pointer = f"(q + part * {step})"
        return [store(frame.is_vector, frame.x.dtype, pointer, index, rest, text)]

    log = frame.single("log", "sum[i]")
    end = log if operator == "LogSoftmax" else f"{frame.number(1)} / sum[i]"
    lines += frame.beside(largest) + frame.beside(add)
    lines.append(block(f"for (int64_t i = 0; i < {width}; ++i)", [f"sum[i] = {end};"]))
    return lines + frame.beside(write)
