"""Optimizers of torch whose steps can be nodes of a graph."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy
import torch

from ..._step import Update
from ._optimizer_kinds import KINDS
from ._state import has_step_hooks

# Whatever of an optimizer's settings has another value than this leaves its step to torch.
_PLAIN = {"capturable": False, "differentiable": False}


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
            for parameter in group["params"]:
                name = names.get(id(parameter))
                if name is not None:
                    states = tuple(f"{name}.{one}" for one in self.kind.state(group))
                    found[name] = Update(
                        self.kind.operator,
                        f"settings.{number}",
                        self.kind.num_settings,
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
        for name, value in self.kind.numbers.items():
            if name not in state:
                state[name] = torch.full((), value, dtype=_scalar_dtype())
        found = []
        for name in names:
            if state.get(name) is None:
                first = self.optimizer.defaults.get(self.kind.begins, 0)
                state[name] = torch.full_like(parameter, first, memory_format=torch.preserve_format)
            found.append(state[name])
        return found

    def settings(self, group: int, parameters: Sequence[Any]) -> Any | None:
        """The numbers of a group for the step that comes now; None where parameters of the group
        need different ones, as those that got gradients later."""
        given, kind = self.optimizer.param_groups[group], self.kind
        if not kind.numbers and not given.get("dampening"):
            return numpy.array(kind.settings(given, {"begun": 1.0}))
        states = [self.optimizer.state.get(one, {}) for one in parameters]
        kept = kind.state(given)
        names = [*kind.numbers, "begun"]
        seen = {
            (
                *(float(state.get(name, begin)) for name, begin in kind.numbers.items()),
                float(all(state.get(name) is not None for name in kept)),
            )
            for state in states
        }
        found = [kind.settings(given, dict(zip(names, one, strict=True))) for one in seen]
        return None if any(one != found[0] for one in found) else numpy.array(found[0])

    def note_step(self, groups: Sequence[Sequence[Any]]) -> None:
        """Counts a step that was done of the parameters of each group."""
        if self.kind.numbers:
            for group, parameters in zip(self.optimizer.param_groups, groups, strict=True):
                states = [self.optimizer.state[one] for one in parameters]
                if not states:
                    continue
                torch._foreach_add_([state["step"] for state in states], 1)
                if self.kind.advance is not None:
                    self.kind.advance(group, states)
        # What learning rate schedulers ask for.
        self.optimizer._opt_called = True


def _scalar_dtype() -> Any:
    """The type of numbers in the state, as torch chooses it."""
    is_wide = torch.get_default_dtype() == torch.float64
    return torch.float64 if is_wide else torch.float32
