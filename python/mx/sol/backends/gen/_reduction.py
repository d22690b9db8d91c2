"""What a reduction of a row computes: where it begins, how an element joins, and the end."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy

from ....graph.lowering._value import Declined
from ._algebra import Algebra
from ._frame import Frame
from ._meaning import formula
from ._types import FLOATS, type_of


@dataclass(frozen=True)
class Reduction:
    """A reduction: of each element `term`, joined by `join` from `neutral` on; then `finish`."""

    neutral: str  # 0, 1, lowest or highest
    join: Callable[[Algebra, str, str], str]
    term: Callable[[Algebra, str], str] = lambda a, x: x
    lanes: str = "hsum"  # what joins the lanes of a vector
    root: str = ""  # a function of the result
    mean: bool = False
    floats_only: bool = False


def _add(a: Algebra, x: str, y: str) -> str:
    return f"({x} + {y})"


def _square(a: Algebra, x: str) -> str:
    return f"({x} * {x})"


def _absolute(a: Algebra, x: str) -> str:
    if a.dtype in FLOATS:
        return a.function("fabs", x)
    return formula("absolute", type_of(a.dtype), x)


def _larger(a: Algebra, x: str, y: str) -> str:
    return a.maximum(x, y)


def _smaller(a: Algebra, x: str, y: str) -> str:
    return a.minimum(x, y)


REDUCTIONS = {
    "ReduceSum": Reduction("0", _add),
    "ReduceMean": Reduction("0", _add, mean=True, floats_only=True),
    "ReduceSumSquare": Reduction("0", _add, _square),
    "ReduceL1": Reduction("0", _add, _absolute),
    "ReduceL2": Reduction("0", _add, _square, root="sqrt", floats_only=True),
    "ReduceLogSum": Reduction("0", _add, root="log", floats_only=True),
    "ReduceProd": Reduction("1", lambda a, x, y: f"({x} * {y})", lanes="hprod"),
    "ReduceMax": Reduction("lowest", _larger, lanes="hmax"),
    "ReduceMin": Reduction("highest", _smaller, lanes="hmin"),
}


def start_of(reduction: Reduction, dtype: str) -> float:
    """What a reduction of elements of a type begins with."""
    if reduction.floats_only and dtype not in FLOATS:
        raise Declined(f"of {dtype}")
    if dtype == "bool" and not reduction.neutral.endswith("est"):
        raise Declined("of bool")
    if not reduction.neutral.endswith("est"):
        return float(reduction.neutral)
    sign = -1 if reduction.neutral == "lowest" else 1
    if dtype in FLOATS:
        return sign * math.inf
    if dtype == "bool":
        return 0 if sign < 0 else 1
    info = numpy.iinfo(dtype)
    return int(info.min if sign < 0 else info.max)


def wrapped(frame: Frame, text: str) -> str:
    """A sum or product, which wraps where it is one of integers."""
    kind = type_of(frame.x.dtype)
    return f"({kind.value})({text})" if kind.is_integer else text


def accumulator(frame: Frame) -> str:
    """The C type in which a row is joined: unsigned for integers, whose overflow is defined."""
    if frame.is_vector:
        return "vf"
    return "uint64_t" if type_of(frame.x.dtype).is_integer else frame.value


def finished(frame: Frame, reduction: Reduction, text: str, count: int) -> str:
    """The result of what the elements have been joined to, a single value."""
    if reduction.mean:
        text = f"({text}) / {frame.number(count)}"
    return frame.single(reduction.root, text) if reduction.root else text
