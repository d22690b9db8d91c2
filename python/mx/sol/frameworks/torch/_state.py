"""Noticing that a module has changed since it was optimized."""

from __future__ import annotations

import re
import threading
import weakref
from collections.abc import Container, Mapping, Sequence
from itertools import chain
from typing import Any

import torch
from torch.nn.modules import module as _of_all_modules
from torch.optim import optimizer as _of_optimizers
from torch.optim.optimizer import register_optimizer_step_post_hook

from ...._cython.watch import Reader, Watch  # type: ignore[import-not-found]
from ._held import Ties, owner_of, positions_in
from ._hooks import HOOKS

_READER = Reader(torch._C.TensorBase._version, torch._C.TensorBase.data_ptr)
_NUMBER = re.compile(r"_\d+$")


_GLOBAL_HOOKS = (
    _of_all_modules._global_forward_hooks,
    _of_all_modules._global_forward_pre_hooks,
    _of_all_modules._global_backward_hooks,
    _of_all_modules._global_backward_pre_hooks,
)


_COUNTER = "num_batches_tracked"
_states: weakref.WeakSet[State] = weakref.WeakSet()
_lock = threading.Lock()  # of the states


def _note_step(optimizer: Any, args: Any, kwargs: Any) -> None:
    parameters = {id(one) for group in optimizer.param_groups for one in group["params"]}
    with _lock:
        states = list(_states)
    for state in states:
        state.note_step(parameters)


# Once, for all optimizers.
register_optimizer_step_post_hook(_note_step)


def has_step_hooks() -> bool:
    """Whether all optimizers have hooks besides the one of this file."""
    others = len(_of_optimizers._global_optimizer_post_hooks) - 1
    return others > 0 or bool(_of_optimizers._global_optimizer_pre_hooks)


class State:
    """The weights of a module, the modules in it, and what they were when last looked at."""

    def __init__(self, module: Any) -> None:
        self._root = module
        owners = dict(module.named_modules(remove_duplicate=False))
        self._modules = list(owners.values())
        self._root_hooks = [getattr(module, kind) for kind in HOOKS]
        self._inner_hooks = [getattr(one, kind) for one in self._modules[1:] for kind in HOOKS]
        self.all_hooks = [*self._root_hooks, *_GLOBAL_HOOKS, *self._inner_hooks]
        # Weights by the names that graphs have for them, with the dictionary that each is in.
        self._weights_in: dict[str, tuple[dict[str, Any], str]] = {}
        # What graphs call them, by the names that the module has for them.
        self.names: dict[str, str] = {}
        self._constants: dict[str, Any] = {}
        # Modules in others, to notice that one is new or in the position of another.
        self._modules_in = positions_in(owners.values())
        # A call in training mode writes running_mean without a new version, and counts itself.
        self._counters_in = [
            (one._buffers, _COUNTER) for one in set(self._modules) if _has_counter(one._buffers)
        ]
        self.ties = Ties(module)
        self._weights: list[Any] = []
        self._steps = [0]  # of optimizers that have a weight; those that are fused count no version
        self.watch: Watch | None = None
        with _lock:
            _states.add(self)

    def add(self, names: Sequence[str], constants: Mapping[str, Any]) -> None:
        """Has the weights of a graph watched, too; `constants` are tensors that are no weights.

        What had changed before is still told afterwards.
        """
        had_changed = self.watch is not None and self.has_changed()
        tensors = dict(
            chain(
                self._root.named_parameters(remove_duplicate=False),
                self._root.named_buffers(remove_duplicate=False),
            )
        )
        for name in names:
            target = target_of(name, tensors, constants)
            if target in tensors:
                self.names[target] = name
                self._weights_in[name] = owner_of(self._root, target)
            elif target in constants:
                self._constants[name] = constants[target]
        self._names = list(self._weights_in)
        found = [*self._weights_in.values(), *self._counters_in, *self._modules_in]
        found += self.ties.locations()
        self._dicts, self._keys = [owner for owner, _ in found], [key for _, key in found]
        self._spec = [(tensor.dtype, tensor.shape) for tensor in self.weights()]
        self.look()
        if had_changed:
            self._steps[0] += 1

    def _objects(self) -> list[Any]:
        return [owner.get(key) for owner, key in zip(self._dicts, self._keys, strict=True)]

    def weights(self) -> list[Any]:
        """The parameters and buffers that the graph has."""
        return self._objects()[: len(self._names)]

    def look(self) -> None:
        """Takes the state as it is now for the one that `check` compares with."""
        self._seen = self._objects()
        self._weights = self._seen[: len(self._names)]
        self._watched = self._seen[: len(self._names) + len(self._counters_in)]
        self.watch = self._watch(self.all_hooks, self._modules)
        self._watch_but_for_hooks = self._watch([], self._modules)
        self._watch_weights = self._watch([], [])
        # That `check` does not tell from now on.
        self.was_converted = bool(self.converted())

    def check(self) -> str:
        """What keeps a plan of the state from being used, in a word, "" where nothing does."""
        assert self.watch is not None
        found: str = self.watch.check()
        return found

    def check_but_for_hooks(self) -> str:
        """The same where hooks do not matter."""
        found: str = self._watch_but_for_hooks.check()
        return found

    def has_changed(self) -> bool:
        """Whether weights are others, or have been written, in whatever mode modules are."""
        return bool(self._watch_weights.check())

    def _watch(self, hooks: Sequence[Any], modules: Sequence[Any]) -> Watch:
        """What compares the state with what it is now."""
        return Watch(
            _READER,
            hooks=hooks,
            modules=modules,
            locations=list(zip(self._dicts, self._keys, strict=True)),
            seen=self._seen,
            # Tensors made in inference mode count no versions.
            counted=[tensor for tensor in self._watched if not tensor.is_inference()],
            weights=self._weights,
            contents=self._uncounted_contents(),
            steps=self._steps,
        )

    def _uncounted_contents(self) -> list[Any]:
        """The bytes of buffers that may be a running_mean of which nothing counts the calls."""
        pairs = zip(self._weights_in.values(), self._weights, strict=True)
        return [
            # With one more axis those with gaps can be seen as bytes, too.
            tensor.detach().unsqueeze(-1).view(torch.uint8).numpy()
            for (owner, _), tensor in pairs
            if not isinstance(tensor, torch.nn.Parameter)
            and not _has_counter(owner)
            and tensor.dim() == 1
            and tensor.is_floating_point()
            and tensor.device.type == "cpu"
            and tensor.layout == torch.strided
        ]

    def note_step(self, parameters: set[int]) -> None:
        """Is told of each step of an optimizer, with the identities of what it writes."""
        if not parameters.isdisjoint(map(id, self._weights)):
            self._steps[0] += 1

    def has_outer_hooks(self) -> bool:
        """Whether the module itself has hooks, which torch calls around forward."""
        return any(self._root_hooks) or any(_GLOBAL_HOOKS)

    def has_inner_hooks(self) -> bool:
        """Whether a module inside has hooks, which a compiled model does not call."""
        return any(self._inner_hooks) or any(_GLOBAL_HOOKS)

    def needs_gradients(self, inputs: Sequence[Any]) -> bool:
        """Whether autograd would record a call."""
        weights = (owner.get(key) for owner, key in self._weights_in.values())
        tensors = chain(inputs, weights)
        return any(tensor is not None and tensor.requires_grad for tensor in tensors)

    def replaced_module(self) -> str | None:
        """The name of a module that is another one now, new or gone."""
        key: str
        for key, now, before in zip(self._keys, self._objects(), self._seen, strict=True):
            is_module = any(isinstance(one, torch.nn.Module | dict) for one in (before, now))
            if now is not before and (is_module or now is None):
                return key
        return None

    def converted(self) -> dict[Any, Any]:
        """The data types that weights of the CPU have now, by those they had, as `module.to(dtype)`
        leaves them; none where something else has changed, too."""
        found: dict[Any, Any] = {}
        for tensor, (dtype, shape) in zip(self.weights(), self._spec, strict=True):
            if tensor is None or tensor.shape != shape or tensor.device.type != "cpu":
                return {}
            if found.setdefault(dtype, tensor.dtype) != tensor.dtype:
                return {}
        return {old: new for old, new in found.items() if old != new}

    def current(self) -> dict[str, Any]:
        """The weights by name. TypeError where one has another type or shape, or left the CPU."""
        tensors = self.weights()
        for name, tensor, (dtype, shape) in zip(self._names, tensors, self._spec, strict=True):
            if tensor.dtype != dtype or tensor.shape != shape or tensor.device.type != "cpu":
                on = "" if tensor.device.type == "cpu" else f" on {tensor.device}"
                raise TypeError(
                    f"the weight {name!r} is {tensor.dtype} {tuple(tensor.shape)}{on} now, and was"
                    f" {dtype} {tuple(shape)}{on and ' on cpu'} when the model was optimized:"
                    " optimize it again"
                )
        return {**dict(zip(self._names, tensors, strict=True)), **self._constants}


def target_of(name: str, tensors: Container[str], constants: Container[str]) -> str:
    """What a module calls a weight of its graph."""
    # One that has the name of an input got a number in the graph.
    return name if name in tensors or name in constants else _NUMBER.sub("", name)


def has_hooks(modules: Sequence[Any], parameters: Sequence[Any]) -> bool:
    """Whether anything has hooks that torch would call in a step of training."""
    return (
        any(_GLOBAL_HOOKS)
        or any(getattr(one, kind) for one in modules for kind in HOOKS)
        or any(one._backward_hooks or one._post_accumulate_grad_hooks for one in parameters)
    )


def _has_counter(buffers: Mapping[str, Any]) -> bool:
    return buffers.get(_COUNTER) is not None
