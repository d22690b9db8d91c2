"""Where arrays live: `mx.cpu(0)`, and the default that `with mx.cpu(1):` changes for a thread."""

from __future__ import annotations

import ffi
from ffi import Context, cpu

from . import _library  # noqa: F401  registers the functions of this module

__all__ = ["Context", "cpu", "current_context"]

current_context = ffi.get_global_func("runtime.current_context")
