"""The operators of an array: which registered function each one calls."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy

import ffi

from .._registry import front_end

# The function for `__add__`, `__radd__` and `__iadd__`, by their common part.
ARITHMETIC = {
    "add": "add",
    "sub": "subtract",
    "mul": "multiply",
    "truediv": "divide",
    "floordiv": "floor_divide",
    "mod": "remainder",
    "pow": "power",
    "matmul": "matmul",
    "and": "bitwise_and",
    "or": "bitwise_or",
    "xor": "bitwise_xor",
    "lshift": "left_shift",
    "rshift": "right_shift",
}
COMPARISONS = {
    "__lt__": "less",
    "__le__": "less_equal",
    "__eq__": "equal",
    "__ne__": "not_equal",
    "__gt__": "greater",
    "__ge__": "greater_equal",
}
UNARY = {
    "__neg__": "negative",
    "__pos__": "positive",
    "__abs__": "absolute",
    "__invert__": "invert",
}

PLAIN_OPERANDS = frozenset({bool, int, float, complex, list, tuple, numpy.ndarray})
OPERAND_CLASSES = (ffi.NDArray, numpy.ndarray, numpy.generic, int, float, complex, list, tuple)


def is_operand(value: Any) -> bool:
    """Whether an operator takes value; if not, Python asks the other operand."""
    kind = type(value)
    if kind in PLAIN_OPERANDS:
        return True
    is_known = isinstance(value, OPERAND_CLASSES) or hasattr(kind, "__dlpack__")
    return is_known and is_plain(value)


def is_plain(value: Any) -> bool:
    """Whether value is defined by its elements alone, since operators here use nothing else.

    A masked array, a matrix or another class derived from NumPy's array has more, which would be
    lost. RuntimeError for a tensor that records gradients.
    """
    if isinstance(value, numpy.ndarray):
        return type(value) in (numpy.ndarray, numpy.memmap)
    if getattr(value, "requires_grad", False) is True:
        raise RuntimeError(
            f"a {type(value).__name__} that requires grad and an mx.np.ndarray: gradients would be "
            "lost; pass tensor.detach()"
        )
    return True


def forward(function: Callable[..., Any]) -> Callable[[Any, Any], Any]:
    """The method for self + other."""

    def method(self: Any, other: Any, /) -> Any:
        return function(self, other) if is_operand(other) else NotImplemented

    return method


def reflected(function: Callable[..., Any]) -> Callable[[Any, Any], Any]:
    """The method for other + self."""

    def method(self: Any, other: Any, /) -> Any:
        return function(other, self) if is_operand(other) else NotImplemented

    return method


def in_place(function: Callable[..., Any]) -> Callable[[Any, Any], Any]:
    """The method for self += other, which keeps the object, its shape and its dtype."""

    def method(self: Any, other: Any, /) -> Any:
        if not is_operand(other):
            return NotImplemented
        function(self, other, out=self)
        return self

    return method


def power(self: Any, other: Any, modulus: Any = None, /) -> Any:
    """self ** other, without a modulus. The exponent 2 is `square`, as in NumPy."""
    if modulus is not None or not is_operand(other):
        return NotImplemented
    if type(other) is int and other == 2:
        return _square(self)
    return _power(self, other)


def division(self: Any, other: Any, /) -> Any:
    """divmod(self, other)."""
    if not is_operand(other):
        return NotImplemented
    return _floor_divide(self, other), _remainder(self, other)


def reflected_division(self: Any, other: Any, /) -> Any:
    """divmod(other, self)."""
    if not is_operand(other):
        return NotImplemented
    return _floor_divide(other, self), _remainder(other, self)


_power = front_end("power")
_square = front_end("square")
_floor_divide = front_end("floor_divide")
_remainder = front_end("remainder")


def _special() -> dict[str, Any]:
    """Every operator method by its name."""
    methods: dict[str, Any] = {}
    for stem, name in ARITHMETIC.items():
        function = front_end(name)
        methods[f"__{stem}__"] = forward(function)
        methods[f"__r{stem}__"] = reflected(function)
        methods[f"__i{stem}__"] = in_place(function)
    methods |= {special: forward(front_end(name)) for special, name in COMPARISONS.items()}
    methods |= {special: front_end(name) for special, name in UNARY.items()}
    methods["__pow__"] = power
    methods["__divmod__"] = division
    methods["__rdivmod__"] = reflected_division
    methods["__hash__"] = None
    return methods


SPECIAL = _special()
