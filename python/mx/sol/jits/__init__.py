"""Compilers of generated code: gcc, clang, and zig of the `ziglang` package.

The first of them that is there compiles; MXNET_SOL_JIT names another one. What they compile is kept
in the folder of mx.cache, under its limit, so that the next start needs no compiler.
"""

from ._jit import Jit, JitError, Processor
from ._library import Library, compiled, loaded, seconds_compiling
from ._list import JITS, chosen, found

__all__ = [
    "JITS",
    "Jit",
    "JitError",
    "Library",
    "Processor",
    "chosen",
    "compiled",
    "found",
    "loaded",
    "seconds_compiling",
]
