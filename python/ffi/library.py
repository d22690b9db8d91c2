"""Loading libraries of operators that were built outside this package."""

from __future__ import annotations

import os

from .enums import forget_enums, get_enum
from .object import get_class
from .registry import get_global_func

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from types import ModuleType
    from typing import Any

    from ._backend import core
else:
    # The class without the module `types`, whose import takes a while.
    ModuleType = type(os)

_load = get_global_func("ffi.LoadLibrary")


class Module(ModuleType):
    """What a library has registered: functions, and C++ classes as `get_class` gives them.

    Each is an attribute under the last part of its registered name, so that `demo.add` is
    `module.add`, and an item under its whole name, `module["demo.add"]`. A last part that several
    names share is no attribute. Enums that C++ registered beside them are attributes too. Iteration
    goes over the registered names, sorted. `__file__` is the library's path.
    """

    __file__: str

    def __init__(
        self,
        name: str,
        path: str,
        functions: dict[str, core.Function],
        class_keys: Iterable[str],
        enum_names: Iterable[str],
    ) -> None:
        super().__init__(name, f"What {path} has registered.")
        self.__file__ = path
        self.__functions__ = functions
        self.__names__ = sorted({*functions, *class_keys})
        self.__enum_names__ = tuple(enum_names)
        by_last: dict[str, list[str]] = {}
        for full_name in self.__names__:
            by_last.setdefault(full_name.rpartition(".")[2], []).append(full_name)
        self.__last_parts__ = by_last
        for last, (full_name, *others) in by_last.items():
            is_special = last.startswith("__") and last.endswith("__")
            if full_name in functions and not others and not is_special:
                setattr(self, last, functions[full_name])

    def __getitem__(self, name: str) -> Any:
        if name in self.__functions__:
            return self.__functions__[name]
        if name not in self.__names__:
            raise KeyError(f"{self.__file__} has registered nothing as {name!r}")
        # Not kept: register_class may put another class in its place.
        return get_class(name)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") and name.endswith("__"):
            raise AttributeError(f"module {self.__name__!r} has no attribute {name!r}")
        shared = self.__last_parts__.get(name, ())
        if len(shared) == 1:
            return self[shared[0]]
        for enum_name in self.__enum_names__:
            if enum_name.rpartition(".")[2] == name:
                setattr(self, name, get_enum(enum_name))
                return self.__dict__[name]
        if shared:
            raise AttributeError(
                f"{name!r} is the last part of several names in {self.__file__}: "
                f"{', '.join(shared)}; write module[{shared[0]!r}]"
            )
        has = ", ".join(self.__names__) or "nothing"
        raise AttributeError(f"{self.__file__} has registered no {name!r}; it has registered {has}")

    def __contains__(self, name: object) -> bool:
        return name in self.__names__

    def __iter__(self) -> Iterator[str]:
        return iter(self.__names__)

    def __len__(self) -> int:
        return len(self.__names__)

    def __dir__(self) -> Iterable[str]:
        own = {
            name
            for name in vars(self)
            if name not in ("__functions__", "__names__", "__enum_names__")
        }
        unique = {last for last, names in self.__last_parts__.items() if len(names) == 1}
        enums = {name.rpartition(".")[2] for name in self.__enum_names__}
        return sorted((own | unique | enums) - {"__last_parts__"})

    def _ipython_key_completions_(self) -> list[str]:
        return list(self)

    def __repr__(self) -> str:
        return f"<ffi.Module {self.__name__!r} from {self.__file__!r}, {len(self)} names>"

    def __reduce__(self) -> Any:
        return load_library, (self.__file__,)


_modules: dict[int, Module] = {}


def load_library(path: str | os.PathLike[str]) -> Module:
    """Loads a library of operators and returns what it has registered.

    A relative path counts from the current folder. Loading the same file again returns the same
    Module. A library is never unloaded, so everything that came from it stays valid.

    Raises FileNotFoundError, IsADirectoryError or PermissionError where the file cannot be read,
    and ImportError, with the reason, where it cannot be loaded: it is no shared library or one for
    another architecture, a symbol or a library that it needs is missing, it was built for another
    version of the ABI, a name that it registers is taken, or its MXNetLibraryInit failed. What it
    had registered by then is taken back.
    """
    return load_replacing(path, ())


def load_replacing(
    path: str | os.PathLike[str], replaceable: Iterable[str], module_name: str | None = None
) -> Module:
    """load_library of a library that may register the given names although they are taken."""
    absolute = os.path.abspath(_checked(path))
    try:
        number, names, functions, class_keys, enum_names = _load(absolute, tuple(replaceable))
    except ImportError as error:
        error.path = absolute
        raise
    module = _modules.get(number)
    if module is None:
        forget_enums(enum_names)
        name = module_name or os.path.basename(absolute).partition(".")[0].removeprefix("lib")
        made = Module(
            name, absolute, dict(zip(names, functions, strict=True)), class_keys, enum_names
        )
        # Of two threads that load a library at once, both get the Module of one.
        module = _modules.setdefault(number, made)
    return module


def _checked(path: object) -> str:
    try:
        text = os.fspath(path)  # type: ignore[call-overload]
    except TypeError:
        text = None
    if isinstance(text, bytes):
        text = os.fsdecode(text)
    if not isinstance(text, str):
        raise TypeError(
            "load_library: argument 0 ('path') expected str or os.PathLike, "
            f"got {type(path).__name__}"
        )
    if "\0" in text:
        raise ValueError(f"load_library: argument 0 ('path') contains a NUL character: {text!r}")
    return text
