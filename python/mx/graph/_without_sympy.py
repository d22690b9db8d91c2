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

# By its whole name: tests import this file alone.
from mx._deferred import Deferred, import_with

_IR = "onnx_ir"
_SYMPY = "sympy"


def _import_with(stands_for_sympy: Deferred) -> bool:
    """Whether onnx_ir could be imported so; where it could not, nothing of it is left."""
    try:
        import_with(_IR, stands_for_sympy)
    except Exception:  # whatever a version raises that does more with sympy than that
        for name in [name for name in sys.modules if name.split(".")[0] == _IR]:
            del sys.modules[name]
        return False
    return True


def import_onnx_ir() -> None:
    """Raises ModuleNotFoundError where onnx_ir is not installed."""
    is_new = _IR not in sys.modules and _SYMPY not in sys.modules
    if is_new and importlib.util.find_spec(_IR) and _import_with(Deferred(_SYMPY)):
        return
    importlib.import_module(_IR)
