"""Modules of which torch executes a part: what cannot be exported, or has no operators."""

from __future__ import annotations

import math
import re
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch

from ....graph import GraphError
from ..._compiled import Compiled
from .._cut import failing, grouped, reason_of, tell
from ._calls import SHARES, Call, calls_of, shares
from ._captured import HOW_TO
from ._module import optimized
from ._runs import Run, in_runs
from ._source import TorchSource

# A layer without others inside is optimized alone from so many multiplications on: of fewer, what a
# plan saves in a call is not worth capturing the layer.
_LEAST = 1 << 12


def in_parts(
    model: Any,
    args: Sequence[Any],
    kwargs: Mapping[str, Any],
    planned: Callable[..., Compiled],
    error: Exception,
) -> Any:
    """The model with the modules inside it optimized that can be, and torch for all else.

    Those are tried that are made of other modules, from the outside to the inside, those that
    follow each other in a sequence as one, and layers that compute enough to be worth a call. The
    model itself is returned where there is none. A SolWarning says which, and why not all.
    """
    cut = _Cut(calls_of(model, args, kwargs), planned)
    result = cut.inside(model, "", reason_of(error).removesuffix(HOW_TO))
    tell(type(model).__name__, "torch", cut.parts, cut.reasons, stacklevel=4)
    return result


class _Cut:
    """A model on its way into parts."""

    def __init__(self, calls: dict[Any, list[Call]], planned: Callable[..., Compiled]) -> None:
        self._calls, self._planned = calls, planned
        # The paths of what is optimized, and why other modules are not.
        self.parts: list[str] = []
        self.reasons: list[str] = []
        # What modules have become: one that has several names stays one.
        self._made: dict[Any, Any] = {}

    def inside(self, module: Any, path: str, why: str) -> Any:
        """A module that cannot be optimized, `why` says the reason, with optimized ones in it;
        itself if there are none."""
        children, runs = dict(module._modules), []
        before = len(self.reasons)
        # A sequence that is never called is one whose modules the model itself calls.
        if _is_sequence(module) and (not path or module in self._calls):
            runs = self._sequence(children, path, why)
        else:
            for key, child in module._modules.items():
                if child is not None:
                    children[key] = self._child(child, f"{path}{key}")
        # What is wrong with a module inside was said there.
        keys = "|".join(map(re.escape, children))
        if why and (len(self.reasons) == before or not re.search(f"module '({keys})['.]", why)):
            self.reasons.append(f"module {path[:-1]!r}: {why}" if path else why)
        if runs:
            return in_runs(module, children, runs)
        if all(children[key] is child for key, child in module._modules.items()):
            return module
        # Another module of the class, with the same parameters, buffers and hooks.
        copy = object.__new__(type(module))
        object.__setattr__(copy, "__dict__", {**module.__dict__, "_modules": children})
        return copy

    def _child(self, child: Any, path: str) -> Any:
        """A module inside another: optimized, or with optimized ones in it, or itself."""
        if child not in self._made:
            self._made[child] = self._first_of(child, path)
        return self._made[child]

    def _first_of(self, child: Any, path: str) -> Any:
        if not child._modules and not self._is_worth_a_call(child):
            return child
        if child in self._calls:
            found = self._optimized(child, [child])
            if not isinstance(found, str):
                self.parts.append(path)
                return found
            return self._rejected(child, path, found)
        if isinstance(child, torch.jit.ScriptModule):
            return child
        # What is never called itself, as a ModuleList, says nothing of those inside.
        return self.inside(child, f"{path}.", "")

    def _rejected(self, child: Any, path: str, why: str) -> Any:
        if child._modules and not isinstance(child, torch.jit.ScriptModule):
            return self.inside(child, f"{path}.", why)
        self.reasons.append(f"module {path!r}: {why}")
        return child

    def _sequence(self, children: dict[str, Any], path: str, why: str) -> list[Run]:
        """The runs of a sequence; modules of `children` that are alone are replaced there."""
        keys, modules = list(children), list(children.values())
        made: dict[tuple[int, int], Any] = {}

        def attempt(first: int, stop: int) -> str:
            if (first, stop) in made:
                return _reason(made[first, stop])
            named = OrderedDict(zip(keys[first:stop], modules[first:stop], strict=True))
            alone = modules[first]
            module = alone if stop - first == 1 else torch.nn.Sequential(named)
            if module is not alone:
                module.training = alone.training
            found = made[first, stop] = self._optimized(module, modules[first:stop])
            return _reason(found)

        def blamed(why: str) -> int | None:
            named = re.search(r"module '([^'.]+)", why)
            return keys.index(named[1]) if named and named[1] in keys else None

        bad = failing(len(modules), why, attempt, blamed)
        numbers = range(len(modules))
        runs = []
        for is_apart, group in grouped([[n] for n in numbers], [[n + 1] for n in numbers], bad):
            first, stop = group[0], group[-1] + 1
            if stop - first == 1 and self._is_cheap(modules[first], bad.get(first, "")):
                continue
            if is_apart:
                children[keys[first]] = self._rejected(
                    modules[first], f"{path}{keys[first]}", bad[first]
                )
            elif stop - first == 1:
                attempt(first, stop)
                children[keys[first]] = made[first, stop]
                self.parts.append(f"{path}{keys[first]}")
            elif attempt(first, stop):
                self.reasons.append(f"modules of {path[:-1]!r}: {made[first, stop]}")
            else:
                runs.append(Run(first, stop, made[first, stop]))
                self.parts.append(f"{path}{keys[first]}-{keys[stop - 1]}")
        return runs

    def _is_cheap(self, module: Any, why: str) -> bool:
        """Whether torch may as well execute a module, which nothing is to be said of."""
        return why in ("", SHARES) and not module._modules and not self._is_worth_a_call(module)

    def _is_worth_a_call(self, module: Any) -> bool:
        """Whether a module without others inside computes enough: one of the user's, of which no
        more is known, and a layer with a matrix or kernels for floats that multiplies so often."""
        calls = self._calls.get(module)
        if calls is None:
            return False
        if not type(module).__module__.startswith("torch."):
            return True
        weights = [one for one in module.parameters() if one.dim() > 1]
        tensors = torch.utils._pytree.tree_leaves((calls[0].args, calls[0].kwargs))
        given = [one for one in tensors if isinstance(one, torch.Tensor)]
        if not weights or not all(one.is_floating_point() for one in given):
            return False
        count = sum(math.prod(one.shape[1:]) for one in weights) * calls[0].elements
        return bool(count >= _LEAST)

    def _optimized(self, module: Any, run: Sequence[Any]) -> Any:
        """The module, made of those in `run` that follow each other, optimized for how the first of
        them is called, or why that cannot be."""
        every = [self._calls.get(one, []) for one in run]
        calls = every[0]
        if not all(every):
            return "it is not called for the example"
        if any(call.specs != calls[0].specs for call in calls):
            return "it is called with several shapes or types of arguments"
        for one in module.modules():
            for call in self._calls.get(one, []):
                if call.beside:
                    return call.beside
        try:
            source = TorchSource(module, tuple(calls[0].args), dict(calls[0].kwargs))
            found = optimized(self._planned(source))
        except (GraphError, NotImplementedError, TypeError, ValueError) as error:
            return reason_of(error).removesuffix(HOW_TO)
        return SHARES if any(map(shares, zip(*every, strict=False))) else found


def _reason(found: Any) -> str:
    return found if isinstance(found, str) else ""


def _is_sequence(module: Any) -> bool:
    """Whether a module calls those inside it one after the other, and each is one."""
    plain, kind = torch.nn.Sequential, type(module)
    is_plain = kind.forward is plain.forward and kind.__iter__ is plain.__iter__
    inside = module._modules.values()
    return is_plain and "forward" not in module.__dict__ and all(x is not None for x in inside)
