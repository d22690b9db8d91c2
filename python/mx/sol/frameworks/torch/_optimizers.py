"""Optimizers of torch whose steps can be nodes of a graph."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy
import torch

from ..._step import Update
from ._state import has_step_hooks

# Whatever of an optimizer's settings has another value than this leaves its step to torch.
_PLAIN = {"amsgrad": False, "capturable": False, "differentiable": False, "dampening": 0}


@dataclass(frozen=True)
class Kind:
    """A class of optimizers."""

    operator: str
    # What it keeps for a parameter, by the names that these have in `optimizer.state`; zeros before
    # the first step.
    state: Callable[[Mapping[str, Any]], tuple[str, ...]]
    # The numbers of a group for its step number t, from 1 on.
    settings: Callable[[Mapping[str, Any], int], list[float]]
    counts: bool  # whether the state has the number of steps
    attributes: Callable[[Mapping[str, Any]], dict[str, int]]


def _sgd_settings(group: Mapping[str, Any], t: int) -> list[float]:
    return [float(group["lr"]), float(group["momentum"]), float(group["weight_decay"])]


def _adam_settings(group: Mapping[str, Any], t: int) -> list[float]:
    beta1, beta2 = (float(beta) for beta in group["betas"])
    numbers = [float(group["lr"]), beta1, beta2, group["eps"], group["weight_decay"]]
    return [*numbers, 1 - beta1**t, math.sqrt(1 - beta2**t)]


def _sgd_attributes(group: Mapping[str, Any]) -> dict[str, int]:
    return {"nesterov": int(group["nesterov"]), "maximize": int(group["maximize"])}


def _adam_attributes(group: Mapping[str, Any]) -> dict[str, int]:
    decoupled = int(group.get("decoupled_weight_decay", False))
    return {"decoupled": decoupled, "maximize": int(group["maximize"])}


def _velocity(group: Mapping[str, Any]) -> tuple[str, ...]:
    return ("momentum_buffer",) if group["momentum"] else ()


def _moments(group: Mapping[str, Any]) -> tuple[str, ...]:
    return ("exp_avg", "exp_avg_sq")


_ADAM = Kind("AdamStep", _moments, _adam_settings, True, _adam_attributes)
KINDS = {
    torch.optim.SGD: Kind("SGDStep", _velocity, _sgd_settings, False, _sgd_attributes),
    torch.optim.Adam: _ADAM,
    torch.optim.AdamW: _ADAM,
}


class Optimizer:
    """An optimizer, of which a graph does the step."""

    def __init__(self, optimizer: Any) -> None:
        self.optimizer = optimizer
        self.kind = KINDS[type(optimizer)]

    def signature(self) -> Any | None:
        """What of the optimizer its nodes depend on; None where torch has to do the step."""
        own = self.optimizer
        if own._optimizer_step_pre_hooks or own._optimizer_step_post_hooks or has_step_hooks():
            return None
        found = []
        for group in self.optimizer.param_groups:
            if any(group.get(name, plain) != plain for name, plain in _PLAIN.items()):
                return None
            attributes = tuple(self.kind.attributes(group).items())
            found.append((attributes, self.kind.state(group), tuple(map(id, group["params"]))))
        return tuple(found)

    def updates(self, names: Mapping[int, str]) -> dict[str, Update]:
        """The nodes for parameters, of which `names` has the names by their identities."""
        found = {}
        for number, group in enumerate(self.optimizer.param_groups):
            count = len(self.kind.settings(group, 1))
            for parameter in group["params"]:
                name = names.get(id(parameter))
                if name is not None:
                    states = tuple(f"{name}.{one}" for one in self.kind.state(group))
                    found[name] = Update(
                        self.kind.operator,
                        f"settings.{number}",
                        count,
                        states,
                        self.kind.attributes(group),
                    )
        return found

    def states(self, group: int, parameter: Any) -> list[Any]:
        """What it keeps for a parameter, made where it is not there yet."""
        names = self.kind.state(self.optimizer.param_groups[group])
        if not names:
            return []
        state = self.optimizer.state[parameter]
        if self.kind.counts and "step" not in state:
            state["step"] = torch.zeros((), dtype=torch.float32)
        found = []
        for name in names:
            if state.get(name) is None:
                state[name] = torch.zeros_like(parameter, memory_format=torch.preserve_format)
            found.append(state[name])
        return found

    def settings(self, group: int, parameters: Sequence[Any]) -> Any | None:
        """The numbers of a group for the step that comes now; None where some parameters of the
        group have done other numbers of steps than others, as those that got gradients later."""
        number = 0
        if self.kind.counts:
            numbers = {float(self.optimizer.state[one]["step"]) for one in parameters}
            if len(numbers) > 1:
                return None
            number = int(numbers.pop())
        return numpy.array(self.kind.settings(self.optimizer.param_groups[group], number + 1))

    def note_step(self, parameters: Sequence[Any]) -> None:
        """Counts a step that was done."""
        if self.kind.counts:
            torch._foreach_add_([self.optimizer.state[one]["step"] for one in parameters], 1)
        # What learning rate schedulers ask for.
        self.optimizer._opt_called = True
