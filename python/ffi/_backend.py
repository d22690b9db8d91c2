"""Chooses between the Cython path and the portable one, and says so where the choice was forced.

MXNET_ENABLE_CYTHON=0 asks for ctypes, MXNET_ENFORCE_CYTHON=1 makes a missing Cython path an error.
"""

from __future__ import annotations

import atexit
import os
from importlib import import_module

from ._interpreter import check_main_interpreter

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import ModuleType


def choose() -> tuple[str, ModuleType]:
    """'cython' or 'ctypes', and the module of that path.

    Raises ImportError where the Cython path is both asked for and ruled out, or is asked for and
    cannot be imported. Where it cannot be imported and was not mentioned, warns and uses ctypes.
    """
    enabled = os.environ.get("MXNET_ENABLE_CYTHON", "1") != "0"
    enforced = os.environ.get("MXNET_ENFORCE_CYTHON", "0") not in ("", "0")
    if enforced and not enabled:
        raise ImportError(
            "MXNET_ENABLE_CYTHON=0 rules the Cython path of ffi out, MXNET_ENFORCE_CYTHON=1 "
            "requires it; unset one of them"
        )
    if enabled:
        try:
            # By name, because type checkers see the portable path instead.
            return "cython", import_module("ffi._cython.core")
        except ImportError as error:
            check_main_interpreter()
            _without_cython(error, enforced)
    check_main_interpreter()
    from . import _ctypes

    return "ctypes", _ctypes


def _without_cython(error: ImportError, enforced: bool) -> None:
    reason = f"the Cython path of ffi cannot be imported: {error}"
    if enforced:
        raise ImportError(f"{reason} (required by MXNET_ENFORCE_CYTHON=1)") from error
    import warnings

    warnings.warn(
        f"{reason}. Calls go through ctypes and are many times slower; "
        "MXNET_ENABLE_CYTHON=0 chooses that path without this warning",
        RuntimeWarning,
        stacklevel=4,
    )


if TYPE_CHECKING:
    # Type checkers see the portable path, whose names and signatures are those of both.
    from . import _ctypes

    core = _ctypes
    backend = "ctypes"
else:
    backend, core = choose()

# Threads of C++ go on while the interpreter ends, and must find its door closed then.
atexit.register(core.close_entrance)
