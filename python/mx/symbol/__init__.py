"""`mx.sym`: graphs composed by calls, as in MXNet.

    data = mx.sym.var("data")
    net = mx.sym.FullyConnected(data, num_hidden=10, name="fc")
    net = mx.sym.SoftmaxOutput(net, name="softmax")

Each operator of MXNet that has a rule for ONNX is a function here, by all of its names; `help()` of
it tells its arguments. Arguments that are not given become variables, as `fc_weight`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

# Imports onnx_ir, which the others need, too, without sympy.
import mx.graph  # noqa: F401
from mx.importers.mxnet.table import TABLE

from ._compose import document, signature_of
from ._naming import NameManager, Prefix
from ._symbol import Symbol, apply, arithmetic, group, load, load_json, var

__all__ = [
    "Group",
    "NameManager",
    "Prefix",
    "Symbol",
    "Variable",
    "contrib",
    "full",
    "hypot",
    "linalg",
    "load",
    "load_json",
    "maximum",
    "minimum",
    "pow",
    "var",
]

Variable = var
Group = group
fromjson = load_json

# Functions that have no underscore although their operators do.
_CREATION = {name: f"_{name}" for name in ("zeros", "ones", "arange", "eye", "linspace")}


def _function(name: str, op: str) -> Callable[..., Symbol]:
    def function(*args: Any, **kwargs: Any) -> Symbol:
        return apply(op, args, kwargs)

    operator = TABLE[op]
    function.__name__ = function.__qualname__ = name
    function.__module__ = "mx.symbol"
    function.__doc__ = document(operator)
    function.__signature__ = signature_of(operator)  # type: ignore[attr-defined]
    return function


class _Operators:
    """The operators whose names begin with a prefix, without it."""

    def __init__(self, name: str, *prefixes: str) -> None:
        self.__name__ = f"mx.sym.{name}"
        self._prefixes = prefixes

    def __getattr__(self, name: str) -> Callable[..., Symbol]:
        for prefix in self._prefixes:
            if prefix + name in TABLE and not name.startswith("__"):
                return _function(name, prefix + name)
        raise AttributeError(f"{self.__name__} has no operator {name!r}")

    def __dir__(self) -> list[str]:
        found = [(op, prefix) for op in TABLE for prefix in self._prefixes]
        return sorted(op.removeprefix(prefix) for op, prefix in found if op.startswith(prefix))


contrib = _Operators("contrib", "_contrib_")
linalg = _Operators("linalg", "_linalg_")


def __getattr__(name: str) -> Callable[..., Symbol]:
    op = _CREATION.get(name, name)
    if op not in TABLE:
        raise AttributeError(
            f"module 'mx.symbol' has no attribute {name!r}, and MXNet's operators that have a rule "
            "for ONNX have none such"
        )
    function = _function(name, op)
    globals()[name] = function
    return function


def __dir__() -> list[str]:
    return sorted({*globals(), *_CREATION, *(op for op in TABLE if not op.startswith("_"))})


def full(shape: Sequence[int], val: float, **kwargs: Any) -> Symbol:
    """An array of one value."""
    return apply("_full", (), {"shape": shape, "value": val, **kwargs})


def maximum(left: Symbol | float, right: Symbol | float) -> Symbol:
    """The larger one, element by element, of two symbols or of one and a number."""
    return arithmetic(left, right, "_maximum", "_maximum_scalar", "_maximum_scalar")


def minimum(left: Symbol | float, right: Symbol | float) -> Symbol:
    """The smaller one, element by element, of two symbols or of one and a number."""
    return arithmetic(left, right, "_minimum", "_minimum_scalar", "_minimum_scalar")


def hypot(left: Symbol | float, right: Symbol | float) -> Symbol:
    """sqrt(left * left + right * right), of two symbols or of one and a number."""
    return arithmetic(left, right, "_hypot", "_hypot_scalar", "_hypot_scalar")


def pow(base: Symbol | float, exponent: Symbol | float) -> Symbol:
    """One to the power of the other, of two symbols or of one and a number."""
    return arithmetic(base, exponent, "_power", "_power_scalar", "_rpower_scalar")


power = pow
