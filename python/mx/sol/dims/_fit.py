"""An extent as it follows from a dimension that varies, found out by a few lengths of that."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

# Strides of windows divide it, so that so many elements more are whole windows.
_FAR = 2**6 * 3**2 * 5 * 7


def fitted(name: str, length: int, of: Callable[[int], int]) -> str | int | None:
    """The extent that `of` gives for a length, in terms of that dimension's name: "#0", "#1 - 2",
    "(#1 + 1)//2"; a number where it is the same for all lengths, None where it is something else.
    `length` is one that `of` has an extent for, longer ones are tried."""
    own = of(length)
    step = Fraction(of(length + _FAR) - own, _FAR)
    if step.denominator == 1:
        factor = "" if step == 1 else f"{step}*"
        text = _plus(f"{factor}{name}", own - int(step) * length) if step else None
        formula = _linear(int(step), own - int(step) * length)
    elif step.numerator == 1:
        size = step.denominator
        first, last = 1, size  # the number of elements that make the extent one larger
        while first < last:
            middle = (first + last) // 2
            first, last = (first, middle) if of(length + middle) > own else (middle + 1, last)
        more = size * (own + 1) - length - first
        inner = _plus(name, more)
        text = f"({inner})//{size}" if more else f"{inner}//{size}"
        formula = _quotient(size, more)
    else:
        return None
    tried = (1, 2, 3, 7, 10, 32, 97, 2 * _FAR + 1)
    if any(of(length + more) != formula(length + more) for more in tried):
        return None
    return own if text is None else text


def _linear(factor: int, more: int) -> Callable[[int], int]:
    return lambda length: factor * length + more


def _quotient(divisor: int, more: int) -> Callable[[int], int]:
    return lambda length: (length + more) // divisor


def _plus(text: str, number: int) -> str:
    return f"{text} {'+' if number > 0 else '-'} {abs(number)}" if number else text
