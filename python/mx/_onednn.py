"""oneDNN, loaded when it is first asked for: makers of kernels for the plans of graphs.

`load()` finds the library of the package onednn-cpu-gomp and what is built on it here. A maker is
told shapes and types, constants, and the layouts that data is offered in; it returns a `Primitive`:
a kernel, with the layouts that it wants and gives.
"""

from __future__ import annotations

import ctypes
import functools
import os
import os.path

import ffi

from . import (
    _installed,
    _library,  # noqa: F401  registers mx.graph.Kernel and mx.get_num_threads
)
from ._mapped import Code, give_back_what_is_done

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ._onednn_types import OneDNN as OneDNN

_PACKAGE = "onednn-cpu-gomp"
_SONAME = "libdnnl.so.3"
_PATH = os.path.join(os.path.dirname(_library.PATH), "libmxnet_onednn.so")


def _find() -> str:
    """The path of oneDNN's library. ImportError where the package or its file is missing."""
    found = _installed.file_of(_PACKAGE, _SONAME)
    if found is not None:
        return os.path.realpath(found)
    from importlib import metadata  # which reads e-mails, too

    try:
        files = metadata.distribution(_PACKAGE).files or ()
    except metadata.PackageNotFoundError:
        reason = f"the package {_PACKAGE} is not installed; pip install mxffi[graph]"
        raise ImportError(f"oneDNN cannot be used: {reason}") from None
    for file in files:
        path = str(file.locate())
        if file.name == _SONAME and os.path.exists(path):
            return os.path.realpath(path)
    raise ImportError(f"oneDNN cannot be used: the package {_PACKAGE} has lost its {_SONAME}")


@functools.cache
def load() -> OneDNN:
    """Loads oneDNN and the makers. ImportError, with the reason, where one of them is missing."""
    if not os.path.exists(_PATH):
        raise ImportError(f"oneDNN cannot be used: mx is built without it, {_PATH} is missing")
    path = _find()
    # While it is loaded it takes 12 MB, on top of all that is there.
    give_back_what_is_done(_library.PATH)
    try:
        # For itself: the library of the makers finds it by its name, as it is there already.
        ctypes.CDLL(path, mode=ctypes.RTLD_LOCAL)
        Code(path).give_back()
        library: Any = ffi.load_library(_PATH)
    except OSError as error:
        raise ImportError(f"oneDNN cannot be used: {error}") from error
    loaded: OneDNN = library
    _code().give_back()
    return loaded


@functools.cache
def _code() -> Code:
    return Code(_find(), _PATH)


def give_back_code() -> None:
    """Gives the memory back that making kernels has taken for code, if oneDNN is loaded: some
    kernels that are called after it are mx's own."""
    if load.cache_info().currsize:
        _code().give_back()
