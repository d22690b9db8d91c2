"""Tensors of a module as arrays of plans, and arrays that a call keeps until its backward."""

from __future__ import annotations

import weakref
from collections.abc import Iterable, Mapping, Sequence
from operator import getitem, is_
from typing import Any

import numpy
import torch

from ..._compiled import as_array

_data_ptr = torch.Tensor.data_ptr


class StateArrays:
    """Parameters and buffers of a module, by their names; the arrays share memory with them."""

    def __init__(self, module: Any, names: Sequence[str]) -> None:
        self._module_name = type(module).__name__
        self._names = list(names)
        owners = [owner_of(module, name) for name in names]
        self._dicts, self._keys = [owner for owner, _ in owners], [key for _, key in owners]
        self.tensors: list[Any] = list(map(getitem, self._dicts, self._keys))
        self._spec = [(tensor.dtype, tensor.shape) for tensor in self.tensors]
        self._pointers: list[int] = []
        self.arrays: list[Any] = []
        self._take()

    def look(self) -> list[Any]:
        """The arrays of the tensors that the module has now.

        TypeError where one has another type or shape than before, or is gone.
        """
        try:
            now = list(map(getitem, self._dicts, self._keys))
            if not (
                all(map(is_, now, self.tensors)) and list(map(_data_ptr, now)) == self._pointers
            ):
                self.tensors = now
                self._check()
                self._take()
        except (KeyError, AttributeError):
            raise TypeError(
                f"{self._module_name}: a parameter or buffer of {self._names} is gone: optimize the"
                " model again"
            ) from None
        return self.arrays

    def _take(self) -> None:
        self._pointers = list(map(_data_ptr, self.tensors))
        self.arrays = [as_array(tensor.detach()) for tensor in self.tensors]

    def _check(self) -> None:
        for name, tensor, (dtype, shape) in zip(self._names, self.tensors, self._spec, strict=True):
            if tensor.dtype != dtype or tensor.shape != shape or tensor.device.type != "cpu":
                raise TypeError(
                    f"the weight {name!r} is {tensor.dtype} {tuple(tensor.shape)} on"
                    f" {tensor.device} now, and was {dtype} {tuple(shape)} on cpu when the model"
                    " was optimized: optimize it again"
                )


class Constants:
    """Tensors that are no parameters or buffers, of which a plan has the elements that they had
    when it was made: attributes of modules, and tensors that functions have from elsewhere."""

    def __init__(self, module: Any, tensors: Mapping[str, Any]) -> None:
        self.named = dict(tensors)
        self._seen = list(tensors.values())
        found = [_attribute_of(module, name, one) for name, one in tensors.items()]
        self._dicts, self._keys = [owner for owner, _ in found], [key for _, key in found]
        self._told = list(map(_told, self._seen))

    @property
    def tensors(self) -> list[Any]:
        """As they were when the plan was made."""
        return self._seen

    def is_same(self) -> bool:
        """Whether all of them are what they were."""
        if not self._seen:
            return True
        now = list(map(dict.get, self._dicts, self._keys))
        return all(map(is_, now, self._seen)) and list(map(_told, now)) == self._told


def _told(tensor: Any) -> tuple[int, int, bool]:
    version = 0 if tensor.is_inference() else tensor._version
    pointer = tensor.data_ptr() if tensor.layout == torch.strided else 0
    return pointer, version, tensor.requires_grad


def _attribute_of(module: Any, name: str, tensor: Any) -> tuple[dict[str, Any], str]:
    """Where a tensor is found again: at its name in the module, if it is there."""
    path, _, key = name.rpartition(".")
    try:
        attributes = module.get_submodule(path).__dict__
    except AttributeError:
        attributes = {}
    return (attributes, key) if attributes.get(key) is tensor else ({key: tensor}, key)


class Ties:
    """Parameters and buffers that have several names in a module, and one in its graphs."""

    def __init__(self, module: Any) -> None:
        first: dict[int, str] = {}
        self._names: list[tuple[str, str]] = []
        for each in (module.named_parameters, module.named_buffers):
            for name, tensor in each(remove_duplicate=False):
                known = first.setdefault(id(tensor), name)
                if known != name:
                    self._names.append((known, name))
        self._pairs = [[owner_of(module, name) for name in names] for names in self._names]

    def locations(self) -> list[tuple[dict[str, Any], str]]:
        """The dictionaries that they are in, and their keys there."""
        return [location for pair in self._pairs for location in pair]

    def broken(self) -> str:
        """Which of them is two weights now, for an error; "" where none is."""
        for names, pair in zip(self._names, self._pairs, strict=True):
            one, other = (owner.get(key) for owner, key in pair)
            if one is not other:
                return (
                    f"{names[0]!r} and {names[1]!r} were one weight when the model was optimized,"
                    " and are two now"
                )
        return ""


def positions_in(modules: Iterable[Any]) -> list[tuple[dict[str, Any], str]]:
    """Where modules have others: the dictionaries, and the keys there. Of lists of modules also
    where the next one would be, and their dictionaries, which change where one is deleted."""
    found = []
    for one in modules:
        found += [(one._modules, key) for key in one._modules]
        if isinstance(one, torch.nn.Sequential | torch.nn.ModuleList):
            found += [(one._modules, str(len(one._modules))), (one.__dict__, "_modules")]
    return found


class ModuleTree:
    """The modules in a module, to notice that one is new or in the position of another, or that
    what they shared is two weights."""

    def __init__(self, module: Any) -> None:
        self.modules = list(module.modules())
        self._ties = Ties(module)
        inner = positions_in(self.modules)
        self._dicts, self._keys = [one for one, _ in inner], [key for _, key in inner]
        self._seen = list(map(dict.get, self._dicts, self._keys))

    def is_same(self) -> bool:
        """Whether all of them are where they were."""
        now = map(dict.get, self._dicts, self._keys)
        return all(map(is_, now, self._seen)) and not self._ties.broken()

    def difference(self) -> str:
        """What is not the same, for an error."""
        return self._ties.broken() or "a module is new or another than when the model was optimized"


def owner_of(module: Any, name: str) -> tuple[dict[str, Any], str]:
    """The dictionary that a parameter or buffer is in, and its key there."""
    path, _, key = name.rpartition(".")
    owner = module.get_submodule(path)
    return (owner._parameters if key in owner._parameters else owner._buffers), key


class _Keeper(numpy.ndarray[Any, Any]):
    """The memory of a tensor, and what lives as long as that does."""

    kept: Sequence[Any] | None


_keepers: weakref.WeakValueDictionary[int, _Keeper] = weakref.WeakValueDictionary()


def keep(arrays: Sequence[Any]) -> Any:
    """A tensor that keeps arrays alive.

    autograd frees the tensors that a function has saved when it has used them, and lets hooks
    store and compute them again; all that holds for the arrays then, for the price of one tensor.
    """
    keeper = numpy.empty(1, numpy.uint8).view(_Keeper)
    keeper.kept = arrays
    tensor = torch.from_numpy(keeper)
    _keepers[tensor.data_ptr()] = keeper
    return tensor


def kept_by(tensor: Any) -> Sequence[Any]:
    """The arrays that a tensor of `keep` keeps."""
    keeper = _keepers.get(tensor.data_ptr())
    if keeper is None:
        raise RuntimeError(
            "sol: what a model has saved for its backward was copied: hooks for saved tensors may"
            " store and compute them again, but not copy them, in optimized models"
        )
    if keeper.kept is None:
        raise RuntimeError(
            "sol: what a model has saved for its backward was given up by one that began: call"
            " backward with retain_graph=True to call it again"
        )
    return keeper.kept


def give_up(tensor: Any) -> None:
    """Has the arrays that a tensor of `keep` keeps read no more."""
    _keepers[tensor.data_ptr()].kept = None
