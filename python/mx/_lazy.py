"""Modules of mx that are imported when they are first used.

A `__getattr__` of mx would make each look-up of its names slow, that of `mx.np` too. So such a
module is an attribute of mx from the start, one that the first look-up in it replaces.
"""

from __future__ import annotations

from importlib import import_module
from types import ModuleType
from typing import Any


class LazyModule(ModuleType):
    """Stands for a module in the names of a package until something in it is looked up."""

    def __init__(self, name: str, names: dict[str, Any]) -> None:
        super().__init__(name, f"{name}, which is imported when it is first used.")
        self._names = names

    def __getattr__(self, name: str) -> Any:
        return getattr(self._load(), name)

    def __dir__(self) -> list[str]:
        return dir(self._load())

    def _load(self) -> ModuleType:
        """Imports the module; it takes all names that this one has in the package."""
        own = self.__dict__
        module = import_module(own["__name__"])
        names = own["_names"]
        for name in [name for name, value in names.items() if value is self]:
            names[name] = module
        return module
