"""Operators of other domains than ONNX's, which packages on top of this one describe.

Whoever describes one registers its schema with the onnx package, so that inference knows it, and
here what it means: a function of NumPy's arrays, and nodes of other operators where it is short for
some. Plans execute such a node by a rule of a backend, by those nodes, or by that function.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import onnx


@dataclass(frozen=True)
class CustomOperator:
    """What an operator means.

    `reference` gets an array, or None, for each input, and all attributes by name; it returns an
    array for each output. `like` has, by output, the input whose elements are the output's shape.
    """

    domain: str
    name: str
    reference: Callable[..., tuple[Any, ...]]
    body: onnx.FunctionProto | None
    like: dict[int, int]
    attributes: dict[str, Any]  # the default values


_REGISTERED: dict[tuple[str, str], CustomOperator] = {}


def register(operator: CustomOperator) -> None:
    """Makes an operator known. ValueError where its name has another one already."""
    key = (operator.domain, operator.name)
    if key in _REGISTERED:
        raise ValueError(f"register: there is an operator {operator.domain}::{operator.name}")
    _REGISTERED[key] = operator


def find(domain: str, name: str) -> CustomOperator | None:
    """The operator of that name; None where nobody has registered one."""
    return _REGISTERED.get((domain, name))


def rule_name(domain: str, name: str) -> str:
    """What backends have the rule of an operator under: ONNX's by name, others with the domain."""
    return f"{domain}::{name}" if domain not in ("", "ai.onnx") else name
