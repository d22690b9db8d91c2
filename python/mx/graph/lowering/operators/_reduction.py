"""Reductions along axes."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy

from .... import numpy as np
from .._images import is_last, seen_last
from .._lowering import Lowering
from .._value import Declined, Value
from ._backend import rule
from ._elementwise import FLOATS, cast, converted, of_type, widened
from ._pieces import axis_slice

Reduce = Callable[[Lowering, Value, Any, bool], Value]


def _simple(function: Any) -> Reduce:
    def reduce(to: Lowering, x: Value, axes: Any, keep: bool) -> Value:
        made: Value = to.call(function, x, axis=axes, keepdims=keep)
        return cast(to, made, x.dtype)

    return reduce


def _extreme(function: Any, of_nothing: Callable[[str], Any]) -> Reduce:
    def reduce(to: Lowering, x: Value, axes: Any, keep: bool) -> Value:
        if x.size:
            return _simple(function)(to, x, axes, keep)
        shape = numpy.empty(x.shape, "bool").any(axis=axes, keepdims=keep).shape
        made: Value = to.call(np.full, shape, of_nothing(x.dtype), dtype=x.dtype)
        return made

    return reduce


def _lowest(dtype: str) -> Any:
    if dtype in FLOATS:
        return -math.inf
    return False if dtype == "bool" else int(numpy.iinfo(dtype).min)


def _highest(dtype: str) -> Any:
    if dtype in FLOATS:
        return math.inf
    return True if dtype == "bool" else int(numpy.iinfo(dtype).max)


def _sum_of_squares(to: Lowering, x: Value, axes: Any, keep: bool) -> Value:
    return _sum(to, to.call(np.square, x), axes, keep)


def _l1(to: Lowering, x: Value, axes: Any, keep: bool) -> Value:
    return _sum(to, to.call(np.abs, x), axes, keep)


def _l2(to: Lowering, x: Value, axes: Any, keep: bool) -> Value:
    return of_type(to.call(np.sqrt, _sum_of_squares(to, x, axes, keep)), x.dtype)


def _of_floats(reduce: Reduce) -> Reduce:
    """Of integers the result is computed in float64, and loses its fraction."""

    def lower(to: Lowering, x: Value, axes: Any, keep: bool) -> Value:
        if x.dtype in FLOATS:
            return reduce(to, x, axes, keep)
        return converted(to, reduce(to, cast(to, x, "float64"), axes, keep), x.dtype)

    return lower


def _log_sum(to: Lowering, x: Value, axes: Any, keep: bool) -> Value:
    return of_type(to.call(np.log, _sum(to, x, axes, keep)), x.dtype)


def _log_sum_exp(to: Lowering, x: Value, axes: Any, keep: bool) -> Value:
    if x.size == 0:
        return of_type(to.call(np.log, _sum(to, to.call(np.exp, x), axes, keep)), x.dtype)
    largest = to.call(np.max, x, axis=axes, keepdims=True)
    level = to.call(np.where, to.call(np.isfinite, largest), largest, 0.0)
    total = _sum(to, to.call(np.exp, to.call(np.subtract, x, level)), axes, True)
    made: Value = to.call(np.add, to.call(np.log, total), level)
    return of_type(made if keep else to.call(np.squeeze, made, axis=axes), x.dtype)


_sum = _simple(np.sum)
_REDUCTIONS: dict[str, Reduce] = {
    "ReduceSum": _sum,
    "ReduceMean": _simple(np.mean),
    "ReduceMax": _extreme(np.max, _lowest),
    "ReduceMin": _extreme(np.min, _highest),
    "ReduceProd": _simple(np.prod),
    "ReduceSumSquare": _sum_of_squares,
    "ReduceL1": _l1,
    "ReduceL2": _of_floats(_l2),
    "ReduceLogSum": _of_floats(_log_sum),
    "ReduceLogSumExp": _of_floats(_log_sum_exp),
}


# Reductions of one element that give the element, and of parts of one length what they give of all.
_KEEP_ONE = ("ReduceSum", "ReduceMean", "ReduceMax", "ReduceMin", "ReduceProd")


def _of_images(reduce: Reduce) -> Reduce:
    """Images whose channels are last in memory stay in that order, in which others read them, too:
    rows are reduced first, then what they gave, as errors of short sums are smaller."""

    def lower(to: Lowering, x: Value, axes: Any, keep: bool) -> Value:
        is_image = axes is not None and is_last(x) and x.dtype == "float32"
        if not is_image or sorted(axis + 4 * (axis < 0) for axis in axes) != [2, 3]:
            return reduce(to, x, axes, keep)
        made = reduce(to, reduce(to, seen_last(to, x), (2,), False), (1,), False)
        return to.reshape(made, (*x.shape[:2], 1, 1)) if keep else made

    return lower


def _with_axes_input(reduce: Reduce, keeps_one: bool) -> Any:
    def lower(
        to: Lowering,
        x: Value,
        axes: Value | None = None,
        *,
        keepdims: int = 1,
        noop_with_empty_axes: int = 0,
    ) -> Value:
        listed = [] if axes is None else to.ints(axes)
        if not listed and noop_with_empty_axes:
            if keeps_one:
                return x
            raise Declined("no axes, which means nothing is reduced")
        return reduce(to, x, tuple(listed) or None, bool(keepdims))

    return lower


def _with_axes_attribute(reduce: Reduce) -> Any:
    def lower(
        to: Lowering, x: Value, *, axes: Sequence[int] | None = None, keepdims: int = 1
    ) -> Value:
        return reduce(to, x, tuple(axes) if axes else None, bool(keepdims))

    return lower


for _name, _reduce in _REDUCTIONS.items():
    _keeps_one = _name in _KEEP_ONE
    _lowered = _of_images(_reduce) if _keeps_one else _reduce
    rule(_name)(_with_axes_attribute(_lowered))
    rule(_name, since=13 if _name == "ReduceSum" else 18)(_with_axes_input(_lowered, _keeps_one))


def _arg(function: Any) -> Any:
    def lower(
        to: Lowering, x: Value, *, axis: int = 0, keepdims: int = 1, select_last_index: int = 0
    ) -> Value:
        if select_last_index:
            x = axis_slice(to, x, axis, slice(None, None, -1))
        made: Value = to.call(function, x, axis=axis, keepdims=bool(keepdims))
        if select_last_index:
            made = to.call(np.subtract, x.shape[axis] - 1, made)
        return of_type(made, "int64")

    return lower


rule("ArgMax")(_arg(np.argmax))
rule("ArgMin")(_arg(np.argmin))


def _scan(function: Any, neutral: int) -> Any:
    def lower(
        to: Lowering, x: Value, axis: Value, *, exclusive: int = 0, reverse: int = 0
    ) -> Value:
        along = int(to.elements(axis).reshape(()))
        backwards = slice(None, None, -1)
        given = axis_slice(to, x, along, backwards) if reverse else x
        # Sums of few bits do not grow any more before long.
        wide = widened(to, given)
        # Each result has the errors of those before it.
        dtype = "float64" if wide.dtype == "float32" else wide.dtype
        made = cast(to, to.call(function, wide, axis=along, dtype=dtype), x.dtype)
        if exclusive and x.shape[along]:
            shape = list(x.shape)
            shape[along] = 1
            first = to.call(np.full, tuple(shape), neutral, dtype=x.dtype)
            rest = axis_slice(to, made, along, slice(0, x.shape[along] - 1))
            made = to.call(np.concatenate, [first, rest], axis=along)
        return of_type(axis_slice(to, made, along, backwards) if reverse else made, x.dtype)

    return lower


rule("CumSum", since=11)(_scan(np.cumsum, 0))
rule("CumProd", since=26)(_scan(np.cumprod, 1))
