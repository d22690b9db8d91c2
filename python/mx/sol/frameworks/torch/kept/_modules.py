"""Modules of torch, their tensors and the examples of their arguments, as text."""

from __future__ import annotations

import os
from collections import OrderedDict
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import torch
from torch.utils import _pytree as pytree

import ffi

from .....cache import _secret
from ...._compiled import as_array
from .._hooks import HOOKS
from ._code import NotDescribedError
from ._description import Description

_content_hash = ffi.get_global_func("mx.acc.models.content_hash")

_TENSORS = (torch.Tensor, torch.nn.Parameter, torch.nn.Buffer)
# What torch.export calls of a module, besides what these call.
_ENTRIES = (
    "forward __call__ eval train parameters named_parameters buffers named_buffers modules"
    " named_modules children named_children state_dict get_submodule get_parameter get_buffer"
).split()
_STATE_HOOKS = ("_state_dict_hooks", "_state_dict_pre_hooks")
# What is described on its own, and what only loading and training look at.
_OTHERWISE = frozenset(
    ("_parameters", "_buffers", "_modules", "_load_state_dict_pre_hooks")
    + ("_load_state_dict_post_hooks", "_forward_hooks_with_kwargs", "_forward_hooks_always_called")
    + ("_forward_pre_hooks_with_kwargs", "_backward_hooks", *HOOKS, *_STATE_HOOKS)
)
# Tensors of fewer bytes are hashed sooner than a thread is told to.
_BYTES_OF_THREAD = 1 << 16


class ModuleDescription(Description):
    """A description of a module with all that it has."""

    def __init__(self, module: Any) -> None:
        super().__init__()
        self._module = module
        self._paths = {id(one): path for path, one in module.named_modules()}
        self._tensors: dict[int, Any] = {}
        self._storages: dict[int, int] = {}
        self._names_of: dict[int, str] = {}
        self._of_state: set[int] = set()  # the identities of parameters and buffers

    def describe(self) -> None:
        """Adds the module. What its code reads is added by `digest`."""
        self.use(_ENTRIES)
        for path, one in self._module.named_modules(remove_duplicate=False):
            self.add("module", path, self._paths[id(one)])
            self._one_module(path, one)

    def example(self, args: Sequence[Any], kwargs: dict[str, Any]) -> None:
        """Adds the arguments: of tensors all but their elements."""
        self.add("arguments")
        self._argument(list(args), "args")
        self._argument(kwargs, "kwargs")

    def contents(self, of_state: bool = True) -> list[tuple[str, str]]:
        """Hashes of the elements of all tensors of the module, by their names; those of parameters
        and buffers if `of_state` says so.

        They hold for the folder of the cache, which has the secret for them.
        """
        key = _secret.words_of(_secret.secret())
        large: list[Any] = []
        small: list[Any] = []
        tensors = {
            number: one
            for number, one in self._tensors.items()
            if of_state or number not in self._of_state
        }
        for one in tensors.values():
            (large if one.nbytes >= _BYTES_OF_THREAD else small).append(one)
        found = {id(one): _hash(one, key) for one in small}
        if large:
            with ThreadPoolExecutor(min(len(large), os.cpu_count() or 1)) as threads:
                hashes = list(threads.map(lambda one: _hash(one, key), large))
            found |= {id(one): told for one, told in zip(large, hashes, strict=True)}
        return [(self._names_of[number], found[number]) for number in tensors]

    # -- modules --

    def _one_module(self, path: str, module: Any) -> None:
        where = f"module {path!r}" if path else "the module"
        own = vars(module)
        self._check_hooks(where, own, is_root=module is self._module)
        if not self.is_new(module):
            return
        if isinstance(module, (torch.jit.ScriptModule, torch.fx.GraphModule)):
            raise NotDescribedError(f"{where} is a {type(module).__name__}")
        if "parametrizations" in own["_modules"]:
            raise NotDescribedError(f"{where} has parametrizations")
        self._class(type(module), where, is_called=False)
        for kind in ("_parameters", "_buffers"):
            for name, tensor in own[kind].items():
                self.add(kind, name)
                if tensor is not None:
                    self._of_state.add(id(tensor))
                    self._tensor(tensor, f"{path}.{name}".strip("."))
        for name, value in own.items():
            if name in _OTHERWISE:
                continue
            if isinstance(value, torch.Tensor):
                self.add("attribute", name)
                self._tensor(value, f"{path}.{name}".strip("."))
            else:
                self.attribute(where, name, value)

    @staticmethod
    def _check_hooks(where: str, own: dict[str, Any], is_root: bool) -> None:
        # A capture leaves the hooks of the outermost module out.
        kinds = _STATE_HOOKS if is_root else (*HOOKS, *_STATE_HOOKS)
        if any(own.get(kind) for kind in kinds):
            raise NotDescribedError(f"{where} has hooks")

    def _tensor(self, tensor: Any, name: str) -> None:
        if type(tensor) not in _TENSORS:
            raise NotDescribedError(f"{name} is a {type(tensor).__name__}")
        if tensor.device.type != "cpu" or tensor.layout != torch.strided or tensor.is_quantized:
            raise NotDescribedError(f"{name} is no dense tensor on the CPU")
        self.add("tensor", name, type(tensor).__name__)
        self._layout(tensor)
        if self.is_new(tensor):
            self._tensors[id(tensor)] = tensor
            self._names_of[id(tensor)] = name
            for key, value in vars(tensor).items():
                self.attribute(name, key, value)

    def _layout(self, tensor: Any) -> None:
        storage = tensor.untyped_storage().data_ptr()
        self.add(
            str(tensor.dtype), tuple(tensor.shape), tensor.stride(), tensor.storage_offset(),
            tensor.requires_grad, tensor.is_conj(), tensor.is_neg(), tensor.is_inference(),
            self._storages.setdefault(storage, len(self._storages)),
        )  # fmt: skip

    def _special(self, value: Any, where: str) -> bool:
        if isinstance(value, torch.nn.Module):
            if id(value) not in self._paths:
                raise NotDescribedError(f"{where} is a module that is not in the model")
            self.add("module", self._paths[id(value)])
            return True
        if isinstance(value, torch.Tensor):
            if id(value) not in self._tensors:
                raise NotDescribedError(f"{where} is a tensor that no module has")
            self.add("tensor", self._names_of[id(value)])
            return True
        return super()._special(value, where)

    # -- examples --

    def _argument(self, value: Any, where: str) -> None:
        kind = type(value)
        if isinstance(value, torch.Tensor):
            if kind not in _TENSORS:
                raise NotDescribedError(f"the example has a {kind.__name__}")
            self.add("tensor", kind.__name__, vars(value).keys() and sorted(vars(value)))
            self._layout(value)
        elif kind in (list, tuple, dict, OrderedDict):
            self.add(kind.__name__, len(value))
            for key, one in value.items() if isinstance(value, dict) else enumerate(value):
                self.value(key, where)
                self._argument(one, where)
        elif kind in pytree.SUPPORTED_NODES:
            raise NotDescribedError(f"the example has a {kind.__name__}")
        else:
            self.value(value, f"the example's {where}")


def _hash(tensor: Any, key: Any) -> str:
    tensor = tensor.detach().resolve_conj().resolve_neg().contiguous()
    # As bytes: arrays have no types for some of torch's.
    array = as_array(tensor.reshape(-1).view(torch.uint8))
    return str(_content_hash(array, key))
