"""Imports of packages without others that they need for few of the things that they do."""

from __future__ import annotations

import contextlib
import importlib
import importlib.util
import sys
import threading
from collections.abc import Callable
from types import ModuleType
from typing import Any


class Deferred(ModuleType):
    """Stands for a module, which is imported when something of it is used.

    The thread that has made it gets functions, as long as nobody else has imported the module, that
    look up those of the module when they are called.
    """

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.__spec__ = importlib.util.find_spec(name)  # which others may ask whether it is there
        self._importer = threading.get_ident()

    def __getattr__(self, name: str) -> Any:
        stands_for_it = sys.modules.get(self.__name__) is self
        if stands_for_it and threading.get_ident() == self._importer:
            if name.startswith("__"):
                raise AttributeError(name)
            return self._function(name)
        withdraw(self)
        return getattr(importlib.import_module(self.__name__), name)

    def _function(self, name: str) -> Callable[..., Any]:
        def call(*args: Any, **kwargs: Any) -> Any:
            return getattr(importlib.import_module(self.__name__), name)(*args, **kwargs)

        return call


def withdraw(module: ModuleType) -> None:
    """Has the next import of the module's name find what is installed."""
    if sys.modules.get(module.__name__) is module:
        del sys.modules[module.__name__]


def import_with(name: str, deferred: Deferred) -> None:
    """Imports a module that finds `deferred` where it imports the one that this stands for.

    Whoever else imports that, meanwhile on another thread or later, gets it.
    """
    sys.modules[deferred.__name__] = deferred
    try:
        importlib.import_module(name)
    finally:
        withdraw(deferred)


def try_without(name: str, other: str) -> None:
    """Imports a module, but not the other one that it imports, if neither is there already.

    Where that fails it is as if nobody had tried: whoever imports the module later gets both, or
    the error.
    """
    if name in sys.modules or other in sys.modules or not importlib.util.find_spec(other):
        return
    with contextlib.suppress(Exception):  # whatever a version raises that does more with it
        import_with(name, Deferred(other))
