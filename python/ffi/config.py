"""Where the headers and libraries of this package are, for those who compile against it.

The same is printed by `python -m ffi --includedir` and its sisters.
"""

from __future__ import annotations

import os

_PACKAGE = os.path.dirname(os.path.abspath(__file__))


def include_dir() -> str:
    """Folder of the headers: `#include <mxnet/runtime/registry.h>` is found in it."""
    return os.path.join(_PACKAGE, "include")


def lib_dir() -> str:
    """Folder of libmxnet_runtime.so."""
    return os.path.join(_PACKAGE, "lib")


def cmake_dir() -> str:
    """Folder of the CMake package: the value of `mxffi_DIR` for find_package(mxffi)."""
    return os.path.join(_PACKAGE, "lib", "cmake", "mxffi")


def pkgconfig_dir() -> str:
    """Folder of mxffi.pc, for PKG_CONFIG_PATH."""
    return os.path.join(_PACKAGE, "lib", "pkgconfig")


def gdb_printers() -> str:
    """File of the printers for gdb, for its command `source`."""
    return os.path.join(_PACKAGE, "_gdb_printers.py")


def compile_flags() -> list[str]:
    """What a compiler needs to find the headers. C++ needs -std=c++17 or later besides."""
    return [f"-I{include_dir()}"]


def link_flags() -> list[str]:
    """What a linker needs to find the runtime.

    There is no run path among them: whoever loads the library has loaded the runtime before.
    """
    return [f"-L{lib_dir()}", "-lmxnet_runtime"]
