"""Shapes and element types of operators' outputs, without computing them.

spec = mx.op.TensorSpec(("batch", 3), "float32")
mx.op.infer(mx.np.add, spec, mx.np.ones(3))  # one TensorSpec of shape ("batch", 3)

`register` makes operators of Python functions that tell it, too.
"""

from __future__ import annotations

import inspect
import operator as python_operator
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import BuiltinFunctionType
from typing import Any

import numpy

import ffi
from ffi.roles import ROLES, role_of

from . import _library  # noqa: F401  registers the operators
from .ndarray import _indexing

TensorSpec: Any = ffi.get_class("mx.TensorSpec")

_infer = ffi.get_global_func("mx.op.infer")
_cost = ffi.get_global_func("mx.op.cost")
_version = ffi.get_global_func("mx.op.version")
# Those that Python has a sign for: its operator, ours, and the arguments of either.
_BRACKETS: dict[Any, tuple[ffi.Function, int]] = {
    python_operator.getitem: (ffi.get_global_func("_npi.getitem"), 2),
    python_operator.setitem: (ffi.get_global_func("_npi.setitem"), 3),
}
_define = ffi.get_global_func("mx.op.define")

# Those that a function of Python may say of its parameters.
_ROLES = ("array", "arrays", "attribute")

__all__ = ["Cost", "TensorSpec", "cost", "infer", "register", "version"]


def infer(operator: Any, /, *args: Any, **kwargs: Any) -> Sequence[Any]:
    """The specs of what `operator(*args, **kwargs)` gives, one TensorSpec an output.

    Arguments are those of the call. `operator.getitem` of Python is the operator of a[key]:
    infer(operator.getitem, a, (0, slice(2))), and `operator.setitem` that of a[key] = value, which
    gives a. Where an operator takes an array, also for `out`, a
    TensorSpec will do, whose shape may have names in place of numbers. Equal extents have equal
    texts, however each came about: the running sums of arrays of shapes ("n", "m") and ("m", "n")
    are both of shape ("n*m",). A shape that is told makes a TensorSpec again, and equal ones
    compare equal.

    Raises what the call would raise for these shapes, types, contexts and Python numbers, and
    NotImplementedError where `operator` is none that tells what it gives. What only elements, the
    memory that is left, or devices and their libraries tell is for the call: an index out of
    bounds, MemoryError, arrays that are not on one device.
    """
    operator, args = _meant(operator, args)
    return list(_infer(operator, *_arguments("infer", operator, args, kwargs)))


@dataclass(frozen=True)
class Cost:
    """What a call of an operator costs: numbers, or texts where extents have names."""

    bytes: int | str
    """Of the inputs, in the types that they are converted to, and of the outputs."""
    operations: int | str
    """Multiplications and additions of products; of others one for each element that they take, or
    give where they are elementwise or take none; of views none."""


def cost(operator: Any, /, *args: Any, **kwargs: Any) -> Cost:
    """What `operator(*args, **kwargs)` costs, without computing it.

    Arguments are those of `infer`, which raises the same.
    """
    operator, args = _meant(operator, args)
    return Cost(*_cost(operator, *_arguments("cost", operator, args, kwargs)))


def version(operator: Any, /) -> int:
    """The version of an operator's meaning: a later one may give something else for the same call.

    1 for most operators. Raises TypeError where `operator` is no function, NotImplementedError
    where it is no operator.
    """
    if not isinstance(operator, ffi.Function):
        raise TypeError(f"version: expected an operator, got {type(operator).__name__}")
    return int(_version(operator))


def _arguments(
    name: str, operator: Any, args: Sequence[Any], kwargs: Mapping[str, Any]
) -> list[Any]:
    if not isinstance(operator, ffi.Function):
        raise TypeError(f"{name}: expected an operator, got {type(operator).__name__}")
    return Parameters.of(operator).bind(args, kwargs)


def _meant(operator: Any, args: tuple[Any, ...]) -> tuple[Any, tuple[Any, ...]]:
    """Of Python's operators of a[key] ours, and how a key travels to them."""
    if not isinstance(operator, BuiltinFunctionType) or operator not in _BRACKETS:
        return operator, args
    meant, count = _BRACKETS[operator]
    if len(args) != count:
        raise TypeError(f"{operator.__name__}: expected {count} arguments, got {len(args)}")
    return meant, (args[0], _key(args[1]), *args[2:])


def _key(key: Any) -> Any:
    """A key as it travels; specs stay, as it is the operator that says what it tells of them."""
    items = key if isinstance(key, tuple) else (key,)
    if not any(isinstance(item, TensorSpec) for item in items):
        return _indexing.encode_key(key)
    return tuple(
        item if isinstance(item, TensorSpec) else _indexing.encode_item(item) for item in items
    )


def register(
    name: str,
    *,
    infer: Callable[..., Any],
    override: bool = False,
    roles: Mapping[str, str] | None = None,
    version: int = 1,
) -> Callable[[Callable[..., Any]], Any]:
    """A decorator that registers a Python function as an operator, which tells what it gives.

    `infer` is called with the arguments of a call, in order. In place of arrays it gets
    TensorSpecs, whose shapes may have names in place of numbers, in place of a sequence of arrays a
    tuple of them. A parameter takes an array where its annotation is a class of arrays, ArrayLike,
    or one of them or None, and several where it is a sequence of those; `roles` says it of
    parameters whose annotation does not: "array", "arrays" or "attribute". `infer` returns the
    TensorSpec of what the function returns, or a sequence of one for each array of several.

    `version` is that of its meaning: raise it where the same call gives something else.

    A call asks `infer` first, so that what that raises is what the call raises. The function gets
    its arguments as they are given. Operators named "_npi.name" are functions of mx.np, those named
    "_npx.name" of mx.npx. Returns the operator.

    Raises ValueError where the name is taken and override is false, where `version` is less than 1,
    or where `roles` names no parameter or no role; TypeError where the function is no plain one,
    whose signature tells its parameters, where an annotation cannot be evaluated and `roles` does
    not say what it is of, or where two parameters take several arrays.
    """

    def decorate(function: Callable[..., Any]) -> Any:
        body = ffi.convert(function)
        told = _roles(name, function, body, roles or {})
        operator = _define(name, body, ffi.convert(infer), told, version)
        ffi.register_func(name, operator, override)
        return operator.front_end()

    return decorate


def _roles(name: str, function: Any, body: Any, given: Mapping[str, str]) -> list[int]:
    """The MXNetParamRole of each parameter of a function."""
    known = {param.name: param.role for param in body.info.params}
    for param, role in given.items():
        if param not in known:
            raise ValueError(f"{name}: roles has {param!r}, which is no parameter")
        if role not in _ROLES:
            raise ValueError(f"{name}: roles[{param!r}] expected one of {_ROLES}, got {role!r}")
    annotated = [] if isinstance(function, ffi.Function) else [p for p in known if p not in given]
    for param in annotated:
        try:
            role_of(function, param)
        except Exception as error:
            raise TypeError(
                f"{name}: whether {param!r} takes an array cannot be told from its annotation "
                f"{function.__annotations__[param]!r} ({error}); say it by roles"
            ) from error
    return [ROLES.index(role) for role in {**known, **given}.values()]


@dataclass(frozen=True)
class Parameters:
    """What turns the arguments of a call of an operator into those of its body."""

    signature: inspect.Signature
    defaults: Mapping[str, Any]
    names: Sequence[str]  # of the body's parameters, in order
    inputs: frozenset[str]  # those that are arrays

    @staticmethod
    def of(operator: Any) -> Parameters:
        """Those of an operator."""
        signature = inspect.signature(operator)
        body = [param for param in operator.info.params if not param.front_end]
        bound = signature.bind_partial()
        bound.apply_defaults()
        inputs = frozenset(param.name for param in body if param.role == "array")
        return Parameters(signature, bound.arguments, [param.name for param in body], inputs)

    def bind(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> list[Any]:
        """The arguments as the body gets them; scalars of NumPy keep their types, as in a call."""
        bound = {**self.defaults, **self.signature.bind(*args, **kwargs).arguments}
        return [
            numpy.asarray(bound[name])
            if isinstance(bound[name], numpy.generic) and name in self.inputs
            else bound[name]
            for name in self.names
        ]
