"""The table of rules: which function writes ONNX nodes for which operator of torch."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from .._rules import Unsupported

__all__ = ["Unsupported", "has_rule", "key_of", "rule", "rule_of", "rules"]

Rule = Callable[..., Any]
_Function = TypeVar("_Function", bound=Rule)

_rules: dict[object, Rule] = {}


def rule(*operators: str | Callable[..., Any]) -> Callable[[_Function], _Function]:
    """Makes a function the rule of operators.

    Those of ATen are named as in `"relu"` or `"add.Tensor"`, those of other libraries in full, as
    in `"library.operator.default"`; functions of Python that torch's graphs call, as
    `operator.add`, stand for themselves, and those of torch are named as `"torch.sym_max"`.

    The rule is called with a `Builder` and the operator's own arguments, in which tensors and
    symbolic numbers are values of the graph, and returns the value that the operator gives, or a
    tuple of them.
    """

    def register(function: _Function) -> _Function:
        for operator in operators:
            key = _key_of_name(operator) if isinstance(operator, str) else operator
            if key in _rules:
                raise ValueError(f"the operator {key} has two rules")
            _rules[key] = function
        return function

    return register


def rule_of(target: object) -> Rule | None:
    """The rule of what a node of torch calls."""
    return _rules.get(key_of(target))


def has_rule(target: object) -> bool:
    """Whether an operator has a rule."""
    return key_of(target) in _rules


def rules() -> list[object]:
    """All operators that have rules."""
    return list(_rules)


def all_functions() -> list[Rule]:
    """The functions that are rules."""
    return list(dict.fromkeys(_rules.values()))


def key_of(target: object) -> object:
    """What an operator is called in the table: its full name, or the function itself."""
    if hasattr(target, "_schema") and hasattr(target, "overloadpacket"):
        return str(target)
    if type(target).__module__.startswith("torch._higher_order_ops") or hasattr(
        target, "non_fallthrough_keys"
    ):
        return f"higher_order.{getattr(target, '__name__', target)}"
    if getattr(target, "__module__", "").split(".")[0] == "torch":
        return f"torch.{getattr(target, '__name__', target)}"
    return target


def _key_of_name(name: str) -> str:
    parts = name.split(".")
    if parts[0] in ("higher_order", "torch"):
        return name
    if len(parts) == 1:
        return f"aten.{name}.default"
    return f"aten.{name}" if len(parts) == 2 else name
