"""Operators by name, and what calls of them come to."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from typing import Any

import ffi
import mx


def elementwise() -> Iterator[tuple[str, Any]]:
    """Operators of one or two arrays and out, which tell."""
    for space in (mx.np, mx.npx):
        for name in space.__all__:
            function = getattr(space, name)
            if not isinstance(function, ffi.Function):
                continue
            if list(inspect.signature(function).parameters) in (["x", "out"], ["x1", "x2", "out"]):
                yield name, function


ELEMENTWISE = dict(elementwise())


def arity(function: Any) -> int:
    return len(inspect.signature(function).parameters) - 1


def operator(name: str) -> Any:
    return getattr(mx.np, name, None) or getattr(mx.npx, name)


def arguments(text: str) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Those of a call; a(...) makes an array of a shape."""

    def take(*args: Any, **attributes: Any) -> Any:
        return args, attributes

    def a(*shape: int, dtype: str = "float32") -> Any:
        return mx.np.ones(shape, dtype=dtype)

    return eval(f"take({text})", {"take": take, "a": a})


def outcome(function: Any, *args: Any, **attributes: Any) -> Any:
    """The shape and type of what a call gives, or the class and text of what it raises."""
    try:
        made = function(*args, **attributes)
    except Exception as error:
        return type(error), str(error)
    made = made[0] if isinstance(made, (list, tuple)) else made
    return tuple(made.shape), made.dtype


def shapes(specs: Any) -> list[tuple[Any, ...]]:
    return [tuple(spec.shape) for spec in specs]
