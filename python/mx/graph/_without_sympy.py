"""Imports onnx_ir without sympy, which it needs for arithmetic on symbolic extents only.

sympy takes a third of the time and of the memory that importing `mx.graph` takes. Where neither is
imported yet, onnx_ir gets a module that stands for sympy: functions that it takes from that while
it is imported are looked up when they are called, and what it asks for later is sympy's. Whoever
else imports sympy, meanwhile on another thread or later, gets sympy.
"""

from __future__ import annotations

import importlib
import importlib.util
import sys
import threading
from collections.abc import Callable
from types import ModuleType
from typing import Any

_IR = "onnx_ir"
_SYMPY = "sympy"


class _Deferred(ModuleType):
    """A module that is imported when something of it is used."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
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


def _import_with(stands_for_sympy: _Deferred) -> bool:
    """Whether onnx_ir could be imported so; where it could not, nothing of it is left."""
    sys.modules[_SYMPY] = stands_for_sympy
    try:
        importlib.import_module(_IR)
    except Exception:  # whatever a version raises that does more with sympy than that
        for name in [name for name in sys.modules if name.split(".")[0] == _IR]:
            del sys.modules[name]
        return False
    finally:
        withdraw(stands_for_sympy)
    return True


def import_onnx_ir() -> None:
    """Raises ModuleNotFoundError where onnx_ir is not installed."""
    is_new = _IR not in sys.modules and _SYMPY not in sys.modules
    if is_new and importlib.util.find_spec(_IR) and _import_with(_Deferred(_SYMPY)):
        return
    importlib.import_module(_IR)
