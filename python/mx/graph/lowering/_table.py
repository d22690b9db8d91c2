"""The rules of a backend: how it lowers a node of each operator."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

from ._value import Declined, Value

# A rule gets the Lowering, the inputs by position (None for one that is not given) and the
# attributes by name, and returns the Value of the output, or a sequence of those.
Rule = Callable[..., Any]
# Gets a Layer, and returns the microseconds that it would take; None where that is not known.
Estimate = Callable[[Any], "float | None"]
AnyRule = TypeVar("AnyRule", bound=Rule)


@dataclass
class Backend:
    """A source of kernels: its name in reports, its rules, and what it tells of their cost."""

    name: str
    rules: dict[str, list[tuple[int, Rule]]] = field(default_factory=dict)
    loses_nan: frozenset[str] = frozenset()  # operators whose kernels make a number of a NaN
    # Whether it has rules for a few operators alone, and is not asked for others.
    is_narrow: bool = False
    # By operator; of those for which other backends have kernels, too, that may be faster.
    estimates: dict[str, Estimate] = field(default_factory=dict)

    def rule(self, *operators: str, since: int = 1) -> Callable[[AnyRule], AnyRule]:
        """A decorator for the rule of operators, as they are since a version of ONNX's set."""

        def add(function: AnyRule) -> AnyRule:
            for operator in operators:
                versions = self.rules.setdefault(operator, [])
                versions.append((since, function))
                versions.sort(key=lambda entry: entry[0])
            return function

        return add

    def is_asked(self, operator: str) -> bool:
        """Whether it may have a kernel for nodes of an operator, or a reason why not to tell."""
        return not self.is_narrow or operator in self.rules

    def estimate(self, layer: Any) -> float | None:
        """Microseconds that a Layer would take, if this backend has a kernel for it; None where
        nothing is known of that. Nothing is made or run for it."""
        found = self.estimates.get(layer.operator)
        return None if found is None else found(layer)

    def saves(self, layer: Any) -> float:
        """The part of the time of other kernels that one of this backend is expected to save for a
        Layer; 0.0 where nothing is known of that. Layers of which more is expected are measured
        before others."""
        return 0.0

    def cost(self, *operators: str) -> Callable[[Estimate], Estimate]:
        """A decorator for the estimate of operators."""

        def add(function: Estimate) -> Estimate:
            self.estimates.update(dict.fromkeys(operators, function))
            return function

        return add

    def lower(
        self,
        to: Any,
        operator: str,
        version: int,
        inputs: Sequence[Value | None],
        attributes: dict[str, Any],
    ) -> list[Value]:
        """The outputs of a node. Declined where there is no rule for it, or the rule says so."""
        self.check_nan(to, operator)
        chosen = None
        for since, rule in self.rules.get(operator, ()):
            if since <= version:
                chosen = rule
        if chosen is None:
            raise Declined("no rule for this operator")
        missing = tuple([value is None for value in inputs])
        reason = _reason(chosen, missing, tuple(attributes))
        if reason is not None:
            raise Declined(reason)
        result = chosen(to, *inputs, **attributes)
        return [result] if isinstance(result, Value) else list(result)

    def check_nan(self, to: Any, operator: str) -> None:
        """Declined for an operator that loses NaN, where that is not to be."""
        if to.keep_nan and operator in self.loses_nan:
            raise Declined("its kernel would make a number of a NaN")


def _takes(rule: Rule, missing: tuple[bool, ...], attributes: tuple[str, ...]) -> bool:
    """Whether a rule certainly takes them; a signature tells more where it may not."""
    code = getattr(rule, "__code__", None)
    if code is None or code.co_posonlyargcount or hasattr(rule, "__wrapped__"):
        return False
    if code.co_flags & (inspect.CO_VARARGS | inspect.CO_VARKEYWORDS):
        return False
    count, given = code.co_argcount, 1 + len(missing)
    needed = count - len(rule.__defaults__ or ())
    if not needed <= given <= count or any(missing[: needed - 1]):
        return False
    defaults = rule.__kwdefaults__ or {}
    by_name = code.co_varnames[count : count + code.co_kwonlyargcount]
    allowed = {*code.co_varnames[given:count], *by_name}
    return allowed.issuperset(attributes) and {*defaults, *attributes}.issuperset(by_name)


@functools.lru_cache(maxsize=4096)
def _reason(rule: Rule, missing: tuple[bool, ...], attributes: tuple[str, ...]) -> str | None:
    """Why a rule does not take so many inputs, of which some are missing, or these attributes."""
    if _takes(rule, missing, attributes):  # in a tenth of the time
        return None
    signature = inspect.signature(rule)
    try:
        signature.bind(None, *missing, **dict.fromkeys(attributes))
    except TypeError as error:
        return str(error)
    for parameter, is_missing in zip(
        list(signature.parameters.values())[1:], missing, strict=False
    ):
        is_needed = parameter.default is parameter.empty
        if is_missing and is_needed and parameter.kind is parameter.POSITIONAL_OR_KEYWORD:
            return f"the input {parameter.name!r} is missing"
    return None
