"""Norms over the last axes: layers, root mean squares, instances, groups."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy

from ....graph.lowering._value import Declined
from ._frame import Extras, Frame
from ._group import GroupNode
from ._kernel import Spec


def norm_axes(shape: Sequence[int], node: GroupNode) -> list[int]:
    """The axes that are normalized."""
    if node.operator == "InstanceNormalization":
        if len(shape) < 3:
            raise Declined("no axes behind the channels")
        return list(range(2, len(shape)))
    axis = node.attributes.get("axis", -1)
    if not -len(shape) <= axis < len(shape):
        raise Declined(f"axis {axis} of {len(shape)}")
    return list(range(axis % len(shape), len(shape)))


def _last_axes(node: GroupNode, x: Spec, inputs: Sequence[Spec]) -> Extras:
    found: list[tuple[str, int, tuple[int, ...]]] = []
    for name, number in zip(("scale", "bias"), node.inputs[1:], strict=False):
        if number is None:
            continue
        _check(number, x, inputs)
        shape = inputs[number].shape
        if len(shape) > len(x.shape) or not _broadcasts(shape, x.shape):
            raise Declined("a scale of another shape")
        found.append((name, number, shape))
    return found


def _channels(node: GroupNode, x: Spec, inputs: Sequence[Spec]) -> Extras:
    found: list[tuple[str, int, tuple[int, ...]]] = []
    for name, number in zip(("scale", "bias"), node.inputs[1:], strict=True):
        if number is None:
            raise Declined(f"no {name}")
        _check(number, x, inputs)
        if inputs[number].shape != (x.shape[1],):
            raise Declined(f"a {name} of another shape than the channels")
        found.append((name, number, (x.shape[1],) + (1,) * (len(x.shape) - 2)))
    return found


def _check(number: int, x: Spec, inputs: Sequence[Spec]) -> None:
    if number >= len(inputs):
        raise Declined("a scale that is computed in the group")
    if inputs[number].dtype != x.dtype:
        raise Declined("a scale of another type")


def _broadcasts(shape: tuple[int, ...], whole: tuple[int, ...]) -> bool:
    try:
        return numpy.broadcast_shapes(shape, whole) == whole
    except ValueError:
        return False


# For each operator what its other inputs are.
NORMS: dict[str, Callable[[GroupNode, Spec, Sequence[Spec]], Extras]] = {
    "LayerNormalization": _last_axes,
    "RMSNormalization": _last_axes,
    "InstanceNormalization": _channels,
}


def norm_lines(frame: Frame, node: GroupNode) -> list[str]:
    """The statements for a row."""
    kind = frame.kind
    count = frame.number(max(1, frame.columns))
    epsilon = frame.number(float(numpy.float32(node.attributes.get("epsilon", 1e-5))))
    has_mean = node.operator != "RMSNormalization"

    def add(x: str, rest: str | None, copy: int) -> list[str]:
        return [f"sum{copy} += {frame.counted(x, rest, 0)};"]

    def add_square(x: str, rest: str | None, copy: int) -> list[str]:
        moved = f"({x} - mean)" if has_mean else x
        return [f"squares{copy} += {frame.counted(f'{moved} * {moved}', rest, 0)};"]

    def total(name: str) -> str:
        return frame.one("hsum", frame.joined(name, "{} + {}".format))

    lines = frame.begin()
    squares = frame.accumulators("squares", 0)
    if has_mean:
        lines += [*frame.accumulators("sum", 0), *frame.first(add, frame.unroll)]
        mean = frame.all_lanes(f"({total('sum')}) / {count}")
        lines += [f"const {kind} mean = {mean};", *squares]
        lines += frame.again(add_square, frame.unroll)
    else:
        lines += [*squares, *frame.first(add_square, frame.unroll)]
    variance = f"({total('squares')}) / {count} + {epsilon}"
    inverse = frame.all_lanes(f"{frame.number(1)} / {frame.single('sqrt', variance)}")
    lines.append(f"const {kind} inverse = {inverse};")

    def result(x: str, extra: dict[str, str]) -> str:
        text = f"({x} - mean) * inverse" if has_mean else f"{x} * inverse"
        if "scale" in extra:
            text = f"{text} * {extra['scale']}"
        return f"{text} + {extra['bias']}" if "bias" in extra else text

    return lines + frame.last(result)
