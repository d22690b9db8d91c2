"""Tables of rules: which function writes ONNX nodes for which operator of a framework."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

Rule = Callable[..., Any]
_Function = TypeVar("_Function", bound=Rule)


class Unsupported(Exception):
    """An operator has a rule, which has no ONNX nodes for these arguments; the text says why."""


class Rules:
    """The rules of one framework, by the names of its operators."""

    def __init__(self) -> None:
        self._rules: dict[str, Rule] = {}

    def __call__(self, *operators: str) -> Callable[[_Function], _Function]:
        """Makes a function the rule of operators."""

        def register(function: _Function) -> _Function:
            for name in operators:
                if name in self._rules:
                    raise ValueError(f"the operator {name} has two rules")
                self._rules[name] = function
            return function

        return register

    def get(self, name: str) -> Rule | None:
        """The rule of an operator, None where it has none."""
        return self._rules.get(name)

    def names(self) -> list[str]:
        """All operators that have rules."""
        return sorted(self._rules)
