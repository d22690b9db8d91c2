"""The emitters: for each operator of ONNX, what writes a kernel for it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

import numpy

from ....graph.lowering._value import Declined
from ._kernel import GenKernel, Spec
from ._target import Target

Known = Mapping[int, numpy.ndarray[Any, Any]]
# Gets the target, the specs of the inputs (None for one that is not given), the attributes by name,
# and the elements of those inputs that are constants, by position.
Emitter = Callable[[Target, Sequence[Spec | None], dict[str, Any], Known], GenKernel]
AnyEmitter = TypeVar("AnyEmitter", bound=Emitter)

EMITTERS: dict[str, Emitter] = {}
# The version of ONNX's operators from which on emitters have their meaning right; plans ask for
# those that are here, deployments, which bring graphs to the newest version, for all.
SINCE: dict[str, int] = {}


def emits(*operators: str, since: int | None = None) -> Callable[[AnyEmitter], AnyEmitter]:
    """A decorator for the emitter of operators; each raises Declined for what it does not take.

    Its kernel reads all inputs that are given, in order, and then its constants. `since` is the
    version since which the operators mean what it does, None where plans are not to ask for it.
    """

    def add(function: AnyEmitter) -> AnyEmitter:
        if since is not None:
            SINCE.update(dict.fromkeys(operators, since))
        for operator in operators:
            if operator in EMITTERS:
                raise ValueError(f"emits: {operator} has an emitter already")
            EMITTERS[operator] = function
        return function

    return add


def emit(
    target: Target,
    operator: str,
    inputs: Sequence[Spec | None],
    attributes: dict[str, Any] | None = None,
    known: Known | None = None,
) -> GenKernel:
    """The kernel of a node. Declined, with the reason, where there is none for it."""
    if operator not in EMITTERS:
        raise Declined(f"no emitter for {operator}")
    return EMITTERS[operator](target, inputs, dict(attributes or {}), dict(known or {}))
