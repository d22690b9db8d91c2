"""Loading and unloading one accelerator library."""

from __future__ import annotations

import atexit
import os
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import ffi
from ffi import Context

from .._library import LIBRARY as _OPERATORS  # noqa: F401  operators are what they execute

_load = ffi.get_global_func("mx.acc.load")
_unload = ffi.get_global_func("mx.acc.unload")
_take_untold = ffi.get_global_func("mx.acc.take_untold")

LIBRARY_SUFFIXES = (".so",)

# The globals of mx, which sets them with use_namespace; each loaded accelerator adds its name.
namespace: dict[str, Any] = {}
# The functions mx.<name> that loading made, by name.
CONTEXTS: dict[str, Callable[..., Context]] = {}
# How each accelerator was found, by name.
FOUND: dict[str, str] = {}


def use_namespace(names: dict[str, Any]) -> None:
    """Has accelerators found among these names from now on."""
    global namespace
    namespace = names


def library_in(path: str | os.PathLike[str]) -> str:
    """The absolute path of a library, or of the only one in a folder.

    Raises FileNotFoundError where there is none, ValueError where a folder holds several.
    """
    location = Path(os.path.abspath(os.fspath(path)))
    if not location.is_dir():
        return str(location)
    found = sorted(file for file in location.iterdir() if file.suffix in LIBRARY_SUFFIXES)
    if not found:
        raise FileNotFoundError(f"load_acc: the folder {location} holds no library (*.so)")
    if len(found) > 1:
        names = ", ".join(file.name for file in found)
        raise ValueError(
            f"load_acc: the folder {location} holds several libraries, name one: {names}"
        )
    return str(found[0])


def context_function(name: str) -> Callable[..., Context]:
    """The function `mx.<name>`."""

    def context(device_id: int = 0) -> Context:
        return Context(name, device_id)

    context.__name__ = context.__qualname__ = name
    context.__module__ = "mx"
    context.__doc__ = f"The context of a device of the accelerator {name}, by its number."
    return context


def load_acc(
    path: str | os.PathLike[str],
    acc_name: str | None = None,
    isolate: bool = False,
    timeout: float | None = None,
) -> Context:
    """Loads an accelerator library and returns the context of its first device.

    path is the library, or a folder that holds one. Afterwards `mx.<name>(i)` is the context of its
    device i, where the name is acc_name or, without it, the library's own. The same library again
    is the one that is there.

    With isolate the library is loaded into a process of its own. Calls take longer, and what ends
    that process is a RuntimeError of the call under way and of those that follow, until load_acc is
    called with the library again; arrays that were on it are lost. So it is with a process that
    does not answer a call within timeout seconds, and then is ended. Without a timeout calls may
    take any time, until Ctrl-C: that ends the process, if the call takes longer than a second or
    so. The timeout holds for loading, too; for a library that is loaded already a new one replaces
    it.

    Raises FileNotFoundError where there is no such file, ImportError where it is no accelerator
    library that suits this process, with the reason, and ValueError for a name that is taken.
    """
    if acc_name is not None and not isinstance(acc_name, str):
        kind = type(acc_name).__name__
        raise TypeError(f"load_acc: argument 1 ('acc_name') expected str or None, got {kind}")
    if not isinstance(path, (str, os.PathLike)):
        kind = type(path).__name__
        raise TypeError(f"load_acc: argument 0 ('path') expected str or a path, got {kind}")
    if not isinstance(isolate, bool):
        kind = type(isolate).__name__
        raise TypeError(f"load_acc: argument 2 ('isolate') expected bool, got {kind}")
    _check_timeout(timeout, isolate)
    return load_library(library_in(path), acc_name, "load_acc", isolate, timeout)


def _check_timeout(timeout: float | None, isolate: bool) -> None:
    where = "load_acc: argument 3 ('timeout')"
    if timeout is None:
        return
    if isinstance(timeout, bool) or not isinstance(timeout, (int, float)):
        raise TypeError(f"{where} expected a number or None, got {type(timeout).__name__}")
    if not timeout > 0:
        raise ValueError(f"{where} expected more than 0 seconds, got {timeout}")
    if not isolate:
        raise ValueError(f"{where} expected None without isolate=True, got {timeout}")


def load_library(
    path: str,
    acc_name: str | None,
    found: str,
    isolate: bool = False,
    timeout: float | None = None,
) -> Context:
    """Does what load_acc says with the absolute path of a library; found says who named it."""
    if acc_name is not None and acc_name not in CONTEXTS and acc_name in namespace:
        raise ValueError(f"load_acc: the name {acc_name!r} is taken by mx.{acc_name}")
    context: Context = _load(path, acc_name or "", isolate, float(timeout or 0))
    name = context.device_type
    if name not in CONTEXTS:
        if name in namespace:
            _unload(name)
            raise ValueError(
                f"load_acc: the library names itself {name!r}, which is taken by mx.{name}; "
                "give it another name with acc_name"
            )
        CONTEXTS[name] = context_function(name)
        FOUND[name] = found
    namespace[name] = CONTEXTS[name]
    return context


def unload_acc(name: str) -> None:
    """Unloads the accelerator of that name; `mx.<name>` goes with it.

    Waits for the work that it was given; what of it failed, and nobody was told of as nobody asked
    for the result, is a RuntimeWarning.

    Raises ValueError where none of that name is loaded, RuntimeError while arrays are on it.
    """
    untold = _unload(name)
    del namespace[name]
    CONTEXTS.pop(name, None)
    FOUND.pop(name, None)
    _warn_of(untold)


def _warn_of(untold: tuple[str, ...]) -> None:
    for error in untold:
        text = f"work on an accelerator failed, and nobody asked for its result: {error}"
        warnings.warn(text, RuntimeWarning, stacklevel=3)


@atexit.register
def _tell_at_exit() -> None:
    """Warns at exit of failed work, for whose results nobody can ask any more."""
    _warn_of(_take_untold())
