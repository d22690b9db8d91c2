"""Executes a module in training, or one that changes its buffers, by plans of its own."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from operator import attrgetter, getitem
from typing import Any

import torch

from ....graph import GraphError
from ..._compiled import Compiled
from ..._training import TrainingPlans
from ._autograd import Version
from ._held import ModuleTree
from ._libraries import give_back_code
from ._loaded import prepare_training
from ._source import TorchSource
from ._surroundings import prevents

_training = attrgetter("training")
_requires_grad = attrgetter("requires_grad")
_kind = attrgetter("requires_grad", "dtype")
Ready = Callable[[Sequence[Any]], Any]
# What says that a call is another one than that before.
NOT_READY = object()
# Versions that are kept; of more the oldest go.
_MOST = 8
# Failures that are kept, which are texts.
_MOST_WITHOUT = 256


class Trainer:
    """The versions of a module by the modes of its modules, by what needs gradients, and by the
    shapes of the arguments. Several threads may call one."""

    def __init__(self, compiled: Compiled) -> None:
        assert isinstance(compiled.source, TorchSource)
        self._compiled, self._source = compiled, compiled.source
        self._tree = ModuleTree(self._source.module)
        self._modules = self._tree.modules
        parameters = [(one._parameters, key) for one in self._modules for key in one._parameters]
        parameters = [(owner, key) for owner, key in parameters if owner[key] is not None]
        self._dicts, self._keys = [one for one, _ in parameters], [key for _, key in parameters]
        self._versions: dict[Any, Version] = {}
        # Why there is no version.
        self._without: dict[Any, str] = {}
        self._lock = threading.Lock()

    def version(self, tensors: Sequence[Any]) -> Version:
        """What executes the module for its tensors, which are of the example's types.

        GraphError for operators without gradients, ValueError for shapes that the model is not
        optimized for.
        """
        key = self._key(tensors)
        version = self._versions.get(key)
        if version is None or not version.is_current():
            with self._lock:
                version = self._versions.get(key)
                if version is None or not version.is_current():
                    version = self._kept(key, self.made(tensors))
        return version

    def version_or_reason(self, tensors: Sequence[Any]) -> Version | str:
        """The version, or why there is none, which is found out once for each combination of modes
        and shapes."""
        key = self._key(tensors)
        why = self._without.get(key)
        if why is not None:
            return why
        try:
            return self.version(tensors)
        except (GraphError, NotImplementedError) as error:
            why = str(error).split("\n")[0]
        with self._lock:
            while len(self._without) >= _MOST_WITHOUT:
                del self._without[next(iter(self._without))]
            self._without[key] = why
        return why

    def _kept(self, key: Any, version: Version) -> Version:
        while len(self._versions) >= _MOST:
            del self._versions[next(iter(self._versions))]
        self._versions[key] = version
        return version

    def forget(self) -> None:
        """Has versions made anew for the next calls."""
        with self._lock:
            self._versions.clear()

    def _key(self, tensors: Sequence[Any]) -> Any:
        if not self._tree.is_same():
            raise TypeError(f"{self._source.name}: {self._tree.difference()}: optimize it again")
        wanted: tuple[bool, ...] = ()
        if torch.is_grad_enabled():
            try:
                of_parameters = list(map(_requires_grad, map(getitem, self._dicts, self._keys)))
            except (AttributeError, KeyError):
                raise TypeError(
                    f"{self._source.name}: a parameter is gone that it had when it was optimized:"
                    " optimize it again"
                ) from None
            wanted = (*map(_requires_grad, tensors), *of_parameters)
        shapes = tuple([tensor.shape for tensor in tensors])
        return shapes, tuple(map(_training, self._modules)), wanted

    def made(self, tensors: Sequence[Any]) -> Version:
        """A version for its tensors, which is not kept."""
        source, compiled = self._source, self._compiled
        shapes = [tuple(tensor.shape) for tensor in tensors]
        compiled.check(tuple(shapes))
        made = source.training_graph(shapes)
        wrt: list[str] = []
        if torch.is_grad_enabled():
            made.check_constants(source.name)
            wrt = [
                name
                for name, tensor in zip(made.arguments, tensors, strict=True)
                if tensor.requires_grad
            ]
            state = dict(source.module.named_parameters(remove_duplicate=False))
            wrt += [
                name
                for name, target in zip(made.state_inputs, made.state, strict=True)
                if target in state and state[target].requires_grad
            ]
        limit = compiled.memory_limit
        plans = TrainingPlans(
            made.graph,
            wrt,
            compiled.context,
            compiled.passes,
            made.stores,
            limit,
            give_back_code,
            prepare_training,
            compiled.training_tuner(),
        )
        return Version(source.module, made, plans, wrt)

    def ready(self, version: Version, tensors: Sequence[Any]) -> Ready:
        """What a call may begin with: it runs the version, if that is the one for the call.

        It is for tensors that are all the arguments of the module. It gives NOT_READY where
        something is not as it was for these.
        """
        modules, dicts, keys = self._modules, self._dicts, self._keys
        modes = list(map(_training, modules))
        grad = torch.is_grad_enabled()
        kinds = list(map(_kind, map(getitem, dicts, keys)))
        told = [_told(x) for x in tensors]
        hooks = self._source.state.all_hooks if self._source.state else []
        is_grad_enabled, is_same = torch.is_grad_enabled, self._tree.is_same
        is_current = version.is_current

        def run(args: Sequence[Any]) -> Any:
            try:
                if (
                    any(hooks)
                    or prevents() != ""
                    or is_grad_enabled() is not grad
                    or not is_same()
                    or not is_current()
                    or list(map(_training, modules)) != modes
                    or list(map(_kind, map(getitem, dicts, keys))) != kinds
                    or [_told(x) for x in args] != told
                ):
                    return NOT_READY
            except (AttributeError, KeyError):
                return NOT_READY
            return version(args)

        return run


def _told(x: Any) -> tuple[Any, ...]:
    return x.shape, x.dtype, x.requires_grad, x.device, x.layout, x.is_neg()
