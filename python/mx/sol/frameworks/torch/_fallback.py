"""Modules of which torch executes a part: what cannot be exported, or has no operators."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch

from ....graph import GraphError
from ..._compiled import Compiled
from ..._errors import SolWarning
from .._framework import Source
from ._module import optimized
from ._source import TorchSource

Calls = dict[Any, list[tuple[Any, Any]]]


def in_parts(
    model: Any,
    args: Sequence[Any],
    kwargs: Mapping[str, Any],
    planned: Callable[[Source], Compiled],
    error: Exception,
) -> Any:
    """The model with the modules inside it optimized that can be, and torch for all else.

    Those are tried that are made of other modules, from the outside to the inside. The model
    itself is returned where there is none. A SolWarning says which, and why not all.
    """
    calls = _calls_of(model, args, kwargs)
    names: list[str] = []
    result = _in_parts(model, "", calls, planned, names)
    done = f"all except the modules {', '.join(names)}" if names else "it"
    text = str(error).split("\n")[0]
    warnings.warn(
        f"{type(model).__name__}: torch executes {done}: {text}", SolWarning, stacklevel=4
    )
    return result


def _calls_of(model: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Calls:
    """What the modules inside are called with for the example."""
    calls: Calls = {}

    def note(module: Any, given: Any, named: Any) -> None:
        calls.setdefault(module, []).append((given, named))

    inner = [module for module in model.modules() if module is not model]
    hooks = [module.register_forward_pre_hook(note, with_kwargs=True) for module in inner]
    training = [module for module in model.modules() if module.training]
    model.eval()
    try:
        with torch.no_grad():
            model(*args, **kwargs)
    finally:
        for hook in hooks:
            hook.remove()
        for module in training:
            module.training = True
    return calls


def _in_parts(
    module: Any, path: str, calls: Calls, planned: Callable[[Source], Compiled], names: list[str]
) -> Any:
    """The module with optimized ones in it, itself if there are none."""
    children = dict(module._modules)
    for key, child in module._modules.items():
        if child is None or not child._modules:
            continue
        inside = f"{path}{key}"
        found = _optimized(child, calls.get(child, []), planned)
        if found is None:
            found = _in_parts(child, f"{inside}.", calls, planned, names)
        else:
            names.append(inside)
        children[key] = found
    if all(children[key] is child for key, child in module._modules.items()):
        return module
    # Another module of the class, with the same parameters, buffers and hooks.
    copy = object.__new__(type(module))
    object.__setattr__(copy, "__dict__", {**module.__dict__, "_modules": children})
    return copy


def _optimized(
    module: Any, calls: list[tuple[Any, Any]], planned: Callable[[Source], Compiled]
) -> Any:
    """The module optimized for how it is called, None where that cannot be."""
    if not calls or any(_shapes(call) != _shapes(calls[0]) for call in calls):
        return None
    args, kwargs = calls[0]
    try:
        return optimized(planned(TorchSource(module, tuple(args), dict(kwargs))))
    except (GraphError, NotImplementedError, TypeError, ValueError):
        return None


def _shapes(call: Any) -> list[Any]:
    leaves = torch.utils._pytree.tree_leaves(call)
    return [
        (tuple(leaf.shape), leaf.dtype) if isinstance(leaf, torch.Tensor) else leaf
        for leaf in leaves
    ]
