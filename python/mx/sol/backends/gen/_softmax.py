"""Softmax and its logarithm."""

from __future__ import annotations

import math
from collections.abc import Sequence

from ....graph.lowering._value import Declined
from ._frame import Frame
from ._group import GroupNode

SOFTMAX = ("Softmax", "LogSoftmax")


def _axis(shape: Sequence[int], node: GroupNode) -> int:
    if not shape:
        raise Declined("no axes")
    axis: int = node.attributes.get("axis", -1)
    if not -len(shape) <= axis < len(shape):
        raise Declined(f"axis {axis} of {len(shape)}")
    return axis % len(shape)


def is_last(shape: Sequence[int], node: GroupNode) -> bool:
    """Whether it goes over the last axis, but for such of extent 1."""
    return all(extent == 1 for extent in shape[_axis(shape, node) + 1 :])


def softmax_axes(shape: Sequence[int], node: GroupNode) -> list[int]:
    """The axis that it goes over. Declined where that is not the last one."""
    if not is_last(shape, node):
        raise Declined("an axis before the last one")
    return [_axis(shape, node)]


def softmax_lines(frame: Frame, node: GroupNode) -> list[str]:
    """The statements for a row."""
    a, kind = frame.algebra, frame.kind

    def join(x: str, y: str) -> str:
        # A NaN that is lost here comes back by the sum.
        return f"vf_max({x}, {y})" if frame.is_vector else a.maximum(x, y)

    def largest(x: str, rest: str | None, copy: int) -> list[str]:
        return [f"most{copy} = {join(frame.counted(x, rest, -math.inf), f'most{copy}')};"]

    def power(x: str) -> str:
        if frame.is_vector:
            return f"vf_exp_below({x} - top)"
        return a.function("exp", f"{x} - top")

    def add(x: str, rest: str | None, copy: int) -> list[str]:
        return [f"sum{copy} += {frame.counted(x, rest, 0)};"]

    def add_power(x: str, rest: str | None, copy: int) -> list[str]:
        return add(power(x), rest, copy)

    unroll = frame.unroll
    lines = frame.begin() + frame.accumulators("most", -math.inf) + frame.first(largest, unroll)
    most = frame.one("hmax", frame.joined("most", join))
    lines.append(f"const {kind} top = {frame.all_lanes(most)};")
    lines += frame.accumulators("sum", 0)
    whole = frame.one("hsum", frame.joined("sum", "{} + {}".format))
    if node.operator == "LogSoftmax":
        lines += frame.again(add_power, unroll)
        lines.append(f"const {kind} log_sum = {frame.all_lanes(frame.single('log', whole))};")
        return lines + frame.last(lambda x, _: f"{x} - top - log_sum")
    lines += frame.again_keeping(power, add, unroll)
    factor = f"{frame.number(1)} / ({whole})"
    lines.append(f"const {kind} factor = {frame.all_lanes(factor)};")
    return lines + frame.last(lambda x, _: f"{x} * factor")
