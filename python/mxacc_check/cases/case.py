"""One call of an operator, as the CPU does it and as a library is asked for it."""

from __future__ import annotations

import inspect
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

import ffi
import mx

from ..plugin import Array


@dataclass(frozen=True)
class Case:
    """One call of an operator: its arguments are arrays of NumPy and values."""

    name: str
    shapes: str
    arguments: tuple[Any, ...]
    keywords: dict[str, Any] = field(default_factory=dict)
    # Sums of many terms are judged by the size of the terms.
    is_sum: bool = False
    # Results are judged by the size of the largest, however small that is.
    is_tiny: bool = False
    # Where -0 is not as good as 0.
    signed_zeros: bool = False
    # Lays the output out otherwise than row-major, as where the user gives `out`.
    layout: str = ""

    @property
    def text(self) -> str:
        arrays = [item for item in flat(self.arguments) if isinstance(item, np.ndarray)]
        types = "+".join(dict.fromkeys(array.dtype.name for array in arrays))
        options = "".join(f", {key}={value}" for key, value in self.keywords.items())
        out = f", out{self.layout}" if self.layout else ""
        return " ".join(filter(None, [self.name, types, self.shapes])) + options + out

    @property
    def dtype(self) -> str:
        """The type that the case is counted under: that of its first array, or of the result."""
        for item in flat(self.arguments):
            if isinstance(item, np.ndarray):
                return str(item.dtype.name)
        return str(self.keywords.get("dtype", "none"))


def flat(arguments: Sequence[Any]) -> Iterator[Any]:
    for item in arguments:
        if isinstance(item, list):
            yield from item
        else:
            yield item


def shapes_of(arguments: Sequence[Any]) -> str:
    """The shapes of the arrays among arguments, in words."""
    arrays = (one for one in flat(arguments) if isinstance(one, np.ndarray))
    return " and ".join(str(one.shape) for one in arrays)


@dataclass(frozen=True)
class Call:
    """A case as the library is asked for it."""

    inputs: dict[str, Array]
    attributes: dict[str, str]


def _json(value: Any) -> str:
    """An attribute's value."""
    if isinstance(value, np.dtype) or (isinstance(value, type) and issubclass(value, np.generic)):
        value = np.dtype(value).name
    return json.dumps(value)


def operator(name: str) -> ffi.Function:
    """The operator that libraries know by that name."""
    of_numpy = ffi.get_global_func(f"_npi.{name}", allow_missing=True)
    return of_numpy or ffi.get_global_func(f"_npx.{name}")


def call_of(case: Case) -> Call:
    """The inputs and attributes of a case, in the order of the operator's parameters."""
    bound = inspect.signature(operator(case.name)).bind(*case.arguments, **case.keywords)
    bound.apply_defaults()
    inputs: dict[str, Array] = {}
    attributes: dict[str, str] = {}
    for name, value in bound.arguments.items():
        if name in ("out", "ctx"):
            continue
        if isinstance(value, (np.ndarray, np.generic)):
            inputs[name] = np.asarray(value)
        elif isinstance(value, list) and value and isinstance(value[0], np.ndarray):
            inputs |= {f"{name}[{number}]": item for number, item in enumerate(value)}
        else:
            attributes[name] = _json(value)
    return Call(inputs, attributes)


def _on_cpu(value: Any) -> Any:
    if isinstance(value, list):
        return [_on_cpu(item) for item in value]
    return mx.np.array(value) if isinstance(value, np.ndarray) else value


def _laid_out(array: Array, layout: str) -> Array:
    """The same elements with other strides."""
    if layout == ".T":
        return np.asfortranarray(array)
    if layout == "[..., ::2]":
        twice: Array = np.repeat(array, 2, -1)
        return twice[..., ::2]
    if layout == "[::-1]":
        turned: Array = np.array(array[::-1])
        return turned[::-1]
    return array


def expected_of(case: Case) -> list[Array]:
    """What the CPU makes of a case. Raises whatever the operator raises."""
    made = operator(case.name)(*map(_on_cpu, case.arguments), **case.keywords)
    results = made if isinstance(made, tuple) else (made,)
    return [_laid_out(np.array(item, order="C"), case.layout) for item in results]
