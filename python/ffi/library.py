"""Loading libraries of operators that were built outside this package."""

from __future__ import annotations

import os
import warnings

from . import object as classes
from ._backend import core
from .enums import forget_enums, get_enum
from .following import announce
from .registry import get_global_func

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from typing import Any

_load = get_global_func("ffi.LoadLibrary")


class Module:
    """What a library has registered: functions, and C++ classes as `get_class` gives them.

    Each is an attribute under the last part of its registered name, so that `demo.add` is
    `module.add`, and an item under its whole name, `module["demo.add"]`. A last part that several
    names share is no attribute. Enums that C++ registered beside them are attributes too. Iteration
    goes over the registered names, sorted. `__file__` is the library's path.
    """

    # Each library has a subclass of its own with one instance, its Module: functions are attributes
    # of that class, where calls find them fastest.
    __file__: str
    __name__: str
    __functions__: dict[str, core.Function]
    __names__: list[str]
    __class_keys__: frozenset[str]
    __class_indices__: dict[str, int]
    __enum_names__: tuple[str, ...]
    __attributes__: frozenset[str]

    if TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any: ...

    def __new__(cls) -> Module:
        if cls is Module:
            raise TypeError("Module objects come from load_library; they are not made directly")
        return super().__new__(cls)

    def __getitem__(self, name: str) -> Any:
        if name in self.__functions__:
            return self.__functions__[name]
        if name not in self.__class_keys__:
            has = ", ".join(self.__names__) or "nothing"
            raise KeyError(
                f"{self.__file__} has registered nothing as {name!r}; it has registered {has}"
            )
        # Looked up each time, since register_class may replace it.
        return _own_class(type(self), name)

    def __contains__(self, name: object) -> bool:
        return name in self.__names__

    def __iter__(self) -> Iterator[str]:
        return iter(self.__names__)

    def __len__(self) -> int:
        return len(self.__names__)

    def __dir__(self) -> Iterable[str]:
        return sorted({*vars(self), *self.__attributes__, "__doc__", "__file__", "__name__"})

    def _ipython_key_completions_(self) -> list[str]:
        return list(self)

    def __repr__(self) -> str:
        return f"<ffi.Module {self.__name__!r} from {self.__file__!r}, {len(self)} names>"

    def __reduce__(self) -> Any:
        return load_library, (self.__file__,)


class _Later:
    """A class or an enum as an attribute of a library, looked up when it is first asked for."""

    __slots__ = ("_find", "_full_name")

    def __init__(self, find: Callable[[type[Module], str], Any], full_name: str) -> None:
        self._find = find
        self._full_name = full_name

    def __get__(self, module: Module | None, owner: type[Module]) -> Any:
        found = self._find(owner, self._full_name)
        setattr(owner, _last_part(self._full_name), found)
        return found


def _own_class(owner: type[Module], key: str) -> Any:
    """The class that a library itself registered, although the key may have another one since.

    The library's functions take and return objects of its own class.
    """
    index = owner.__class_indices__.get(key)
    if index is None:
        index = owner.__class_indices__[key] = classes.index_of(key)
    return classes.class_of_index(index)


def _enum(owner: type[Module], name: str) -> Any:
    return get_enum(name)


class _Ambiguous:
    """An attribute whose name is the last part of several registered names; it raises which."""

    __slots__ = ("_full_names",)

    def __init__(self, full_names: list[str]) -> None:
        self._full_names = full_names

    def __get__(self, module: Module | None, owner: type[Module]) -> Any:
        first = self._full_names[0]
        raise AttributeError(
            f"{_last_part(first)!r} is the last part of several names in {owner.__file__}: "
            f"{', '.join(self._full_names)}; write module[{first!r}]"
        )


def _last_part(name: str) -> str:
    return name.rpartition(".")[2]


def _attributes(
    names: Iterable[str], functions: dict[str, core.Function], enum_names: Iterable[str]
) -> dict[str, Any]:
    """What the class of a library has for the names that the library has registered."""
    by_last: dict[str, list[str]] = {}
    for name in names:
        by_last.setdefault(_last_part(name), []).append(name)
    attributes: dict[str, Any] = {}
    for last, (name, *others) in by_last.items():
        if others:
            attributes[last] = _Ambiguous([name, *others])
        elif name in functions:
            attributes[last] = core.StaticMethod(functions[name])
        else:
            attributes[last] = _Later(_own_class, name)
    for name in enum_names:
        last = _last_part(name)
        if type(attributes.get(last)) in (_Ambiguous, type(None)):
            attributes[last] = _Later(_enum, name)
    # Names with a meaning in Python or in Module are reachable as items only.
    return {name: attributes[name] for name in attributes if not _is_special(name)}


def _is_special(name: str) -> bool:
    return name in vars(Module) or (name.startswith("__") and name.endswith("__"))


def _printable(name: str) -> str:
    """A file name as printable text; it may hold bytes that are not UTF-8."""
    return os.fsencode(name).decode(errors="backslashreplace")


def _make_module(
    name: str,
    path: str,
    functions: dict[str, core.Function],
    class_keys: Iterable[str],
    enum_names: Iterable[str],
) -> Module:
    names = sorted({*functions, *class_keys})
    attributes = _attributes(names, functions, enum_names)
    shown = (name for name, kept in attributes.items() if type(kept) is not _Ambiguous)
    members = {
        "__doc__": f"What {_printable(path)} has registered.",
        "__module__": "ffi",
        "__name__": name,
        "__file__": path,
        "__functions__": functions,
        "__names__": names,
        "__class_keys__": frozenset(class_keys),
        "__class_indices__": {},
        "__enum_names__": tuple(enum_names),
        "__attributes__": frozenset(shown),
    }
    # One class each: see Module.
    cls: type[Module] = type(_printable(name), (Module,), attributes | members)
    return cls()


def _renew(name: str, mark: str, find: Callable[[type[Module], str], Any]) -> None:
    """Has libraries look a class or an enum up anew that another has replaced."""
    last = _last_part(name)
    for module in list(_modules.values()):
        if name in module.__class_keys__ or name in module.__enum_names__:
            if hasattr(vars(type(module)).get(last), mark):
                setattr(type(module), last, _Later(find, name))


def _renew_class(key: str) -> None:
    _renew(key, "__ffi_key__", _own_class)


def _settle_classes(keys: Iterable[str]) -> None:
    """Has libraries find classes of their own before others may register the keys."""
    for module in list(_modules.values()):
        for key in module.__class_keys__.intersection(keys):
            _own_class(type(module), key)


classes.on_replacement(_renew_class)

_modules: dict[int, Module] = {}
# Size and times of each library's file when it was loaded.
_stamps: dict[int, tuple[int, ...]] = {}


def load_library(path: str | os.PathLike[str]) -> Module:
    """Loads a library of operators and returns what it has registered.

    A relative path counts from the current folder. Loading the same file again returns the same
    Module. A library is never unloaded, so everything that came from it stays valid, and where the
    file has changed since, a RuntimeWarning says that the code is still the former.

    Raises FileNotFoundError, IsADirectoryError or PermissionError where the file cannot be read,
    and ImportError, with the reason, where it cannot be loaded: it is no shared library or one for
    another architecture, a symbol or a library that it needs is missing, it was built for another
    version of the ABI, a name that it registers is taken, or its MXNetLibraryInit failed. What it
    had registered by then is taken back.
    """
    return load_replacing(path, ())


def _is_text(path: str) -> bool:
    """Whether a path is UTF-8; Python shows other bytes as surrogates."""
    try:
        path.encode()
    except UnicodeEncodeError:
        return False
    return True


def load_replacing(
    path: str | os.PathLike[str], replaceable: Iterable[str], module_name: str | None = None
) -> Module:
    """load_library of a library that may register the given names although they are taken."""
    absolute = os.path.abspath(_checked(path))
    stamp = _stamp(absolute)
    _settle_classes(replaceable)
    try:
        encoded = absolute if _is_text(absolute) else os.fsencode(absolute)
        number, names, functions, class_keys, enum_names = _load(encoded, tuple(replaceable))
    except ImportError as error:
        error.path = absolute
        raise
    module = _modules.get(number)
    if _stamps.setdefault(number, stamp) != stamp:
        warnings.warn(
            f"{absolute} has changed since it was loaded, and the code of this process is still "
            "the former: start another process, or use ffi.cpp.load_inline, which loads what has "
            "changed as another library",
            RuntimeWarning,
            stacklevel=3,
        )
    if module is None:
        forget_enums(enum_names)
        for enum_name in enum_names:
            _renew(enum_name, "__ffi_enum__", _enum)
        name = module_name or os.path.basename(absolute).partition(".")[0].removeprefix("lib")
        by_name = dict(zip(names, functions, strict=True))
        made = _make_module(name, absolute, by_name, class_keys, enum_names)
        # Two threads that load a library at once get the same Module.
        module = _modules.setdefault(number, made)
        announce(names)
    return module


def _stamp(path: str) -> tuple[int, ...]:
    try:
        status = os.stat(path)
    except OSError:
        return ()
    return status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns


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
