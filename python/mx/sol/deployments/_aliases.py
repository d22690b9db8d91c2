"""Operators that give the elements of their input in the same order: no kernel has to run."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, Final

import numpy

from ...graph.lowering._value import Declined

Shape = tuple[int, ...]
# Stands for the elements of an input that is given, where they are not known.
UNKNOWN: Final = object()

# Gets the shape, the elements of the other inputs, and the attributes.
Rule = Callable[[Shape, Sequence[Any], dict[str, Any]], Shape | None]


def alias_shape(
    operator: str, shape: Shape, others: Sequence[Any], attributes: dict[str, Any]
) -> Shape | None:
    """The shape in which a node gives its first input; None where it does something else to it.

    `others` are the elements of the other inputs: None where one is missing, UNKNOWN where they
    are computed. Declined where the node needs elements that are not known, or a shape does not
    fit.
    """
    rule = _RULES.get(operator)
    made = None if rule is None else rule(shape, others, attributes)
    if made is not None and math.prod(made) != math.prod(shape):
        raise Declined(f"{list(shape)} cannot be given the shape {list(made)}")
    return made


def has_alias(operator: str) -> bool:
    """Whether nodes of an operator may be the memory of their input."""
    return operator in _RULES


# What errors call the numbers that are an input.
_WORDS = {
    "shape": "a shape that is",
    "axes": "axes that are",
    "pads": "pads that are",
}


def _ints(others: Sequence[Any], index: int, attributes: dict[str, Any], name: str) -> Any:
    """Numbers that old versions of an operator have as an attribute, and new ones as an input.

    None where they are missing; Declined where they are computed from elements.
    """
    if name in attributes:
        return attributes[name]
    found = None if len(others) <= index else others[index]
    if found is UNKNOWN:
        raise Declined(f"{_WORDS[name]} computed from elements")
    return found


def _reshape(shape: Shape, others: Sequence[Any], attributes: dict[str, Any]) -> Shape:
    wanted = _ints(others, 0, attributes, "shape")
    if wanted is None:
        raise Declined("the shape is missing")
    extents = [int(extent) for extent in numpy.asarray(wanted).reshape(-1)]
    if not attributes.get("allowzero", 0):
        extents = [
            shape[axis] if extent == 0 and axis < len(shape) else extent
            for axis, extent in enumerate(extents)
        ]
    if -1 in extents:
        rest = math.prod(extent for extent in extents if extent != -1)
        extents[extents.index(-1)] = math.prod(shape) // rest if rest else 0
    return tuple(extents)


def _flatten(shape: Shape, others: Sequence[Any], attributes: dict[str, Any]) -> Shape:
    axis = attributes.get("axis", 1)
    axis = axis + len(shape) if axis < 0 else axis
    return math.prod(shape[:axis]), math.prod(shape[axis:])


def _squeeze(shape: Shape, others: Sequence[Any], attributes: dict[str, Any]) -> Shape:
    axes = _ints(others, 0, attributes, "axes")
    if axes is None:
        return tuple(extent for extent in shape if extent != 1)
    gone = {int(axis) % len(shape) for axis in numpy.asarray(axes).reshape(-1)}
    return tuple(extent for axis, extent in enumerate(shape) if axis not in gone)


def _unsqueeze(shape: Shape, others: Sequence[Any], attributes: dict[str, Any]) -> Shape:
    given = _ints(others, 0, attributes, "axes")
    if given is None:
        raise Declined("the axes are missing")
    axes = numpy.asarray(given).reshape(-1)
    rank = len(shape) + len(axes)
    new, rest = {int(axis) % rank for axis in axes}, iter(shape)
    return tuple(1 if axis in new else next(rest) for axis in range(rank))


def _same(shape: Shape, others: Sequence[Any], attributes: dict[str, Any]) -> Shape:
    return shape


def _transpose(shape: Shape, others: Sequence[Any], attributes: dict[str, Any]) -> Shape | None:
    order = attributes.get("perm") or list(range(len(shape)))[::-1]
    moved = [axis for axis in order if shape[axis] != 1]
    return tuple(shape[axis] for axis in order) if moved == sorted(moved) else None


def _expand(shape: Shape, others: Sequence[Any], attributes: dict[str, Any]) -> Shape | None:
    wanted = _ints(others, 0, attributes, "shape")
    if wanted is None or numpy.broadcast_shapes(shape, tuple(wanted)) != shape:
        return None
    return shape


def _pad(shape: Shape, others: Sequence[Any], attributes: dict[str, Any]) -> Shape | None:
    pads = _ints(others, 0, attributes, "pads")
    return None if pads is None or numpy.any(pads) else shape


def _reduce(shape: Shape, others: Sequence[Any], attributes: dict[str, Any]) -> Shape | None:
    axes = _ints(others, 0, attributes, "axes")
    if not attributes.get("noop_with_empty_axes", 0):
        return None
    return shape if axes is None or not numpy.size(axes) else None


_RULES: dict[str, Rule] = {
    "Reshape": _reshape,
    "Flatten": _flatten,
    "Squeeze": _squeeze,
    "Unsqueeze": _unsqueeze,
    "Identity": _same,
    "Transpose": _transpose,
    "Expand": _expand,
    "Pad": _pad,
    **dict.fromkeys(("ReduceSum", "ReduceMean", "ReduceMax", "ReduceMin", "ReduceProd"), _reduce),
}
