"""How the modules inside a model are called for an example, and what no plan does of a call."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import torch
from torch.utils import _pytree as pytree

from ._modes import in_mode

# What torch itself keeps in a module.
_OWN = frozenset(vars(torch.nn.Module()))
SHARES = "what it returns has memory in common with its arguments, weights or other results"


class Call:
    """What a module was called with for the example."""

    def __init__(self, module: Any, args: Any, kwargs: Any, made: Any, beside: str) -> None:
        self.args, self.kwargs = args, kwargs
        # What the call does besides returning something.
        self.beside = beside
        leaves, outputs = pytree.tree_leaves((args, kwargs)), _tensors(made)
        self.elements = max((one.numel() for one in outputs), default=0)  # of what it gave
        self.specs = [
            (tuple(leaf.shape), leaf.dtype) if isinstance(leaf, torch.Tensor) else repr(leaf)
            for leaf in leaves
        ]
        # The memory of what it took, which the arguments keep in use, of weights, and of results.
        self._taken = set(_memory_of(_tensors((args, kwargs))))
        self._given = _memory_of(outputs)
        inner = [_tensors(list(_attributes(one).values())) for one in module.modules()]
        weights = [*module.parameters(), *module.buffers()]
        self._held = set(_memory_of([*weights, *itertools.chain.from_iterable(inner)]))


def shares(calls: Sequence[Call]) -> bool:
    """Whether what is written to a result of modules that follow each other is seen elsewhere,
    which it is not where a plan has made the result."""
    given = calls[-1]._given
    others = calls[0]._taken.union(*[one._held for one in calls])
    return len(set(given)) < len(given) or not others.isdisjoint(given)


def calls_of(model: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> dict[Any, list[Call]]:
    """The calls of the modules inside for the example, which leave everything as it was: the
    example, buffers, attributes, and random numbers."""
    calls: dict[Any, list[Call]] = {}
    begun: list[tuple[Any, Any]] = []
    held = {module: _attributes(module) for module in model.modules()}

    def begin(module: Any, given: Any, named: Any) -> None:
        begun.append((module, _copied((given, named))))

    def end(module: Any, given: Any, named: Any, made: Any) -> None:
        # Those that were begun behind it have ended in an error that the model has caught.
        while begun:
            begun_one, taken = begun.pop()
            if begun_one is module:
                beside = _beside(module, held[module], taken, (given, named))
                calls.setdefault(module, []).append(Call(module, taken[0], taken[1], made, beside))
                return

    inner = [module for module in model.modules() if module is not model]
    hooks = [module.register_forward_pre_hook(begin, with_kwargs=True) for module in inner]
    hooks += [module.register_forward_hook(end, with_kwargs=True) for module in inner]
    buffers = {name: one.clone() for name, one in model.named_buffers()}
    devices = range(torch.cuda.device_count()) if torch.cuda.is_initialized() else []
    try:
        with in_mode(model, False), torch.no_grad(), torch.random.fork_rng(list(devices)):
            given = pytree.tree_map_only(torch.Tensor, torch.clone, (tuple(args), dict(kwargs)))
            torch.func.functional_call(model, buffers, *given)
    finally:
        for hook in hooks:
            hook.remove()
        for module, before in held.items():
            _put_back(module, before)
    return calls


def _memory_of(tensors: Iterable[Any]) -> list[int]:
    """Where the elements of tensors are."""
    return [
        one.untyped_storage().data_ptr()
        for one in tensors
        if one.layout is torch.strided and one.device.type != "meta" and one.numel()
    ]


def _tensors(tree: Any) -> list[Any]:
    return [one for one in pytree.tree_leaves(tree) if isinstance(one, torch.Tensor)]


def _copied(tree: Any) -> Any:
    """Other lists and dicts with the same tensors."""
    return pytree.tree_map(lambda one: one, tree)


def _is_same(one: Any, other: Any) -> bool:
    """Whether lists and dicts have the very same things in them."""
    (leaves, structure), (others, wanted) = pytree.tree_flatten(one), pytree.tree_flatten(other)
    return structure == wanted and all(map(_is, leaves, others))


def _is(one: Any, other: Any) -> bool:
    return one is other


def _attributes(module: Any) -> dict[str, tuple[Any, Any]]:
    """The attributes of a module that are not torch's, with copies of the lists and dicts."""
    found = {name: one for name, one in vars(module).items() if name not in _OWN}
    return {name: (one, _copied(one)) for name, one in found.items()}


def _beside(module: Any, before: dict[str, tuple[Any, Any]], taken: Any, given: Any) -> str:
    """What a call has done to the attributes of its module and to its arguments."""
    after = _attributes(module)
    for name in before.keys() | after.keys():
        (one, was), (other, now) = before.get(name, (None, None)), after.get(name, (None, None))
        if one is not other or name not in before or not _is_same(was, now):
            return f"the attribute {name!r} of {type(module).__name__} is set in a call"
    if not _is_same(taken, given):
        return "it changes a list or a dict among its arguments"
    return ""


def _put_back(module: Any, before: dict[str, tuple[Any, Any]]) -> None:
    for name in [one for one in vars(module) if one not in _OWN and one not in before]:
        del module.__dict__[name]
    for name, (one, was) in before.items():
        if type(one) is list:
            one[:] = was
        elif type(one) is dict:
            one.clear()
            one.update(was)
        module.__dict__[name] = one
