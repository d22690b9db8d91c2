"""Sequences of modules of which several that follow each other are one optimized module."""

from __future__ import annotations

import functools
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from typing import Any

import torch


class Run:
    """Modules of a sequence, from a position up to another, optimized as one."""

    def __init__(self, first: int, stop: int, module: Any) -> None:
        self.first, self.stop, self.module = first, stop, module


class InRuns:
    """What is mixed into the class of such a sequence.

    It has the modules of the original, so that names of weights and modes are those; the runs are
    beside them.
    """

    __slots__ = ()

    _sol_runs: list[Run]
    # The modules that it had when it was made.
    _sol_modules: list[Any]

    def forward(self, input: Any) -> Any:
        """What the original returns."""
        modules = list(self._modules.values())  # type: ignore[attr-defined]
        given = self._sol_modules
        if len(modules) != len(given) or any(map(_is_other, modules, given)):
            # One was replaced, added or removed, which the runs do not know.
            return super().forward(input)  # type: ignore[misc]
        position, is_training = 0, self.training  # type: ignore[attr-defined]
        for run in self._sol_runs:
            for module in modules[position : run.first]:
                input = module(input)
            if run.module.training is not is_training:
                run.module.training = is_training
            input = run.module(input)
            position = run.stop
        for module in modules[position:]:
            input = module(input)
        return input

    def __getitem__(self, index: Any) -> Any:
        """A module, or a sequence of some, without runs."""
        if not isinstance(index, slice):
            return super().__getitem__(index)  # type: ignore[misc]
        items = list(self._modules.items())  # type: ignore[attr-defined]
        return torch.nn.Sequential(OrderedDict(items[index]))

    def __reduce_ex__(self, protocol: Any) -> Any:
        """What it is made of, as its class has no name that a pickle could have."""
        return _made, (type(self).__mro__[2], self.__dict__)


def in_runs(module: Any, children: dict[str, Any], runs: Sequence[Run]) -> Any:
    """A sequence with the state of another, with these modules in it and these runs."""
    modules = list(children.values())
    noted = {"_modules": children, "_sol_runs": list(runs), "_sol_modules": modules}
    return _made(type(module), {**module.__dict__, **noted})


def runs_of(module: Any, name: str) -> Iterator[tuple[str, Any]]:
    """The optimized modules beside those of a sequence, by the keys they go from and to."""
    for run in module._sol_runs if isinstance(module, InRuns) else ():
        keys = list(module._modules)
        yield f"{name}{'.' if name else ''}{keys[run.first]}-{keys[run.stop - 1]}", run.module


def _made(base: Any, state: dict[str, Any]) -> Any:
    made: Any = object.__new__(_class_of(base))
    object.__setattr__(made, "__dict__", state)
    return made


@functools.lru_cache(maxsize=256)
def _class_of(base: Any) -> Any:
    names = {
        "__slots__": (),
        "__module__": base.__module__,
        "__qualname__": base.__qualname__,
        "__doc__": base.__doc__,
    }
    return type(base)(base.__name__, (InRuns, base), names)


def _is_other(one: Any, other: Any) -> bool:
    return one is not other
