"""Gradients of optimized models for frameworks that have arrays of their own."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .._compiled import Compiled


class Gradients:
    """Calls of an optimized model that can be differentiated, by inputs and by weights."""

    def __init__(self, compiled: Compiled, weights: Sequence[str]) -> None:
        self.compiled = compiled
        self.weights = list(weights)

    def forward(self, arrays: Sequence[Any], wrt: Sequence[int]) -> GradientCall:
        """Runs the model for inputs with the weights behind them; gradients are wanted for those
        that `wrt` numbers."""
        count = len(self.compiled.inputs)
        return GradientCall(self, self.compiled.run(arrays[:count]))


class GradientCall:
    """One call, until its gradients have been computed."""

    def __init__(self, gradients: Gradients, outputs: Sequence[Any]) -> None:
        self._name = gradients.compiled.source.name
        self.outputs = list(outputs)

    def backward(self, grads: Sequence[Any]) -> list[Any]:
        """The gradients of all inputs and weights, None for those that nothing depends on."""
        raise NotImplementedError(
            f"{self._name}: gradients of models that another framework executes are not"
            " implemented yet"
        )
