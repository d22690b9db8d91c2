"""Imports of packages without others that they need for few of the things that they do."""

from __future__ import annotations

import contextlib
import importlib
import importlib.util
import sys
import threading
from collections.abc import Callable, Mapping
from types import ModuleType
from typing import Any


class Deferred(ModuleType):
    """Stands for a module, which is imported when something of it is used.

    The thread that has made it gets functions, as long as nobody else has imported the module, that
    look up those of the module when they are called.
    """

    def __init__(self, name: str, instead: Mapping[str, Callable[..., Any]] | None = None) -> None:
        """`instead` has functions that are called first, by the names of those of the module that
        are called where they give None."""
        super().__init__(name)
        self.__spec__ = importlib.util.find_spec(name)  # which others may ask whether it is there
        self._importer = threading.get_ident()
        self._instead = instead or {}

    def __getattr__(self, name: str) -> Any:
        stands_for_it = sys.modules.get(self.__name__) is self
        if stands_for_it and threading.get_ident() == self._importer:
            if name.startswith("__"):
                raise AttributeError(name)
            return self._function(name)
        withdraw(self)
        return getattr(importlib.import_module(self.__name__), name)

    def _function(self, name: str) -> Callable[..., Any]:
        instead = self._instead.get(name)

        def call(*args: Any, **kwargs: Any) -> Any:
            found = None if instead is None else instead(*args, **kwargs)
            if found is not None:
                return found
            if instead is not None:
                withdraw(self)  # what is called while it stands for the module
            return getattr(importlib.import_module(self.__name__), name)(*args, **kwargs)

        return call


# Of two threads that both find it there, one would delete what the other has imported since.
_withdrawing = threading.Lock()


def withdraw(module: ModuleType) -> None:
    """Has the next import of the module's name find what is installed."""
    with _withdrawing:
        if sys.modules.get(module.__name__) is module:
            del sys.modules[module.__name__]


def import_with(name: str, *deferred: Deferred) -> None:
    """Imports a module that finds `deferred` where it imports those that these stand for.

    Whoever else imports one, meanwhile on another thread or later, gets it. As an attribute of the
    package that it is in it stays until then: who imports a module finds those there that it has
    imported.
    """
    for one in deferred:
        sys.modules[one.__name__] = one
        package, _, last = one.__name__.rpartition(".")
        if package:
            setattr(sys.modules[package], last, one)
    try:
        importlib.import_module(name)
    finally:
        for one in deferred:
            withdraw(one)


def try_without(
    name: str, *others: str, instead: Mapping[str, Mapping[str, Callable[..., Any]]] | None = None
) -> None:
    """Imports a module, but not others that it imports, as far as they are not there already.

    `instead` has functions of the others, by their names, that are called first, as of `Deferred`.
    Where that fails it is as if nobody had tried: whoever imports the module later gets all, or the
    error.
    """
    left_out = [one for one in others if one not in sys.modules and importlib.util.find_spec(one)]
    if name in sys.modules or not left_out:
        return
    with contextlib.suppress(Exception):  # whatever a version raises that does more with it
        import_with(name, *(Deferred(one, (instead or {}).get(one)) for one in left_out))
