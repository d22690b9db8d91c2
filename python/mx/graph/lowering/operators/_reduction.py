"""Reductions along axes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from .... import numpy as np
from .._lowering import Lowering
from .._value import Declined, Value
from ._backend import rule
from ._elementwise import cast, of_type

Reduce = Callable[[Lowering, Value, Any, bool], Value]


def _simple(function: Any) -> Reduce:
    def reduce(to: Lowering, x: Value, axes: Any, keep: bool) -> Value:
        made: Value = to.call(function, x, axis=axes, keepdims=keep)
        return cast(to, made, x.dtype)

    return reduce


def _sum_of_squares(to: Lowering, x: Value, axes: Any, keep: bool) -> Value:
    return _sum(to, to.call(np.square, x), axes, keep)


def _l1(to: Lowering, x: Value, axes: Any, keep: bool) -> Value:
    return _sum(to, to.call(np.abs, x), axes, keep)


def _l2(to: Lowering, x: Value, axes: Any, keep: bool) -> Value:
    return of_type(to.call(np.sqrt, _sum_of_squares(to, x, axes, keep)), x.dtype)


def _log_sum(to: Lowering, x: Value, axes: Any, keep: bool) -> Value:
    return of_type(to.call(np.log, _sum(to, x, axes, keep)), x.dtype)


_sum = _simple(np.sum)
_REDUCTIONS: dict[str, Reduce] = {
    "ReduceSum": _sum,
    "ReduceMean": _simple(np.mean),
    "ReduceMax": _simple(np.max),
    "ReduceMin": _simple(np.min),
    "ReduceProd": _simple(np.prod),
    "ReduceSumSquare": _sum_of_squares,
    "ReduceL1": _l1,
    "ReduceL2": _l2,
    "ReduceLogSum": _log_sum,
}


def _with_axes_input(reduce: Reduce) -> Any:
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
    rule(_name)(_with_axes_attribute(_reduce))
    rule(_name, since=13 if _name == "ReduceSum" else 18)(_with_axes_input(_reduce))


def _arg(function: Any) -> Any:
    def lower(
        to: Lowering, x: Value, *, axis: int = 0, keepdims: int = 1, select_last_index: int = 0
    ) -> Value:
        if select_last_index:
            raise Declined("the last of equal elements")
        made: Value = to.call(function, x, axis=axis, keepdims=bool(keepdims))
        return of_type(made, "int64")

    return lower


rule("ArgMax")(_arg(np.argmax))
rule("ArgMin")(_arg(np.argmin))


@rule("CumSum", since=11)
def _cumsum(to: Lowering, x: Value, axis: Value, *, exclusive: int = 0, reverse: int = 0) -> Value:
    if exclusive or reverse:
        raise Declined("exclusive or reversed sums")
    made: Value = to.call(np.cumsum, x, axis=int(to.elements(axis)))
    return of_type(made, x.dtype)
