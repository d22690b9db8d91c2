"""The compilers there are: those of this package, and those of the entry points `mx.sol.jits`."""

from __future__ import annotations

import os

from .._registry import Registry, registry_of
from ._jit import Jit

GCC = Jit("gcc", ("gcc",))
CLANG = Jit("clang", ("clang",))
ZIG = Jit("zig", ("-m", "ziglang", "cc"))

JITS: Registry[Jit] = registry_of(
    "jits", {name: f"{__name__}:{name.upper()}" for name in ("gcc", "clang", "zig")}, Jit
)


def chosen() -> list[Jit]:
    """The compilers to try, in order: the one that MXNET_SOL_JIT names, or all.

    ValueError where it names none of them.
    """
    named = os.environ.get("MXNET_SOL_JIT")
    if named:
        return [JITS.get(named)]
    return list(JITS)


def found() -> list[Jit]:
    """Those of `chosen` that this machine has."""
    return [jit for jit in chosen() if jit.find() is not None]
