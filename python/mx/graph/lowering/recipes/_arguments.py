"""Arguments of what makes kernels, as JSON has them, and back."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy

import ffi

from .... import numpy as np
from ....op import TensorSpec, version

_OPERATORS = ("_npi.", "_npx.")
# Types of arrays that are kept.
DTYPES = frozenset("bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 float32 float64".split())


class NotKept(Exception):
    """A recipe cannot have this."""


def encoded(argument: Any, number_of: Callable[[Any], int]) -> Any:
    """An argument as JSON has it; `number_of` gives the number of an array. NotKept for others."""
    if argument is None or isinstance(argument, bool | int | float | str):
        return argument
    if isinstance(argument, tuple | list | ffi.Array):
        items = [encoded(one, number_of) for one in argument]
        return {"tuple": items} if isinstance(argument, tuple) else items
    if isinstance(argument, TensorSpec):
        return {"spec": [list(argument.shape), str(argument.dtype)]}
    if isinstance(argument, np.ndarray):
        return {"array": number_of(argument)}
    if isinstance(argument, numpy.dtype):
        return {"dtype": str(argument)}
    if isinstance(argument, numpy.generic | numpy.ndarray) and argument.ndim == 0:
        if str(argument.dtype) in DTYPES:
            return {"number": [str(argument.dtype), argument.item()]}
    if isinstance(argument, ffi.Function) and argument.name.startswith(_OPERATORS):
        return {"operator": [argument.name, version(argument)]}
    raise NotKept


def decoded(given: Any, arrays: Sequence[Any]) -> Any:
    """What `encoded` has made of an argument, as it was. ValueError for what it never makes, and
    IndexError for an array that is not there."""
    if isinstance(given, list):
        return [decoded(one, arrays) for one in given]
    if not isinstance(given, Mapping):
        return given
    ((kind, content),) = given.items()
    if kind == "tuple":
        return tuple(decoded(one, arrays) for one in content)
    if kind == "spec":
        return TensorSpec(tuple(content[0]), content[1])
    if kind == "array":
        return arrays[content]
    if kind == "dtype":
        return numpy.dtype(content)
    if kind == "number":
        return numpy.asarray(content[1], content[0])
    if kind == "operator" and content[0].startswith(_OPERATORS):
        operator = ffi.get_global_func(content[0])
        if version(operator) == content[1]:
            return operator
    raise ValueError(f"{given!r} is no argument of a kernel")
