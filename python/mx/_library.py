"""Loads the operator library, whose registrations run as it is loaded."""

from __future__ import annotations

import os
import os.path
import warnings

import ffi

# Levels of processors, the lowest first, as in src/op/kernels/cpu.cc.
_CPU_LEVELS = ("baseline", "avx2", "avx512")
PATH = os.path.join(os.path.dirname(os.path.abspath(__file__)), "lib", "libmxnet_operators.so")


def _asked_level() -> str:
    """The level that MXNET_CPU_LEVEL names, by default the lowest. ValueError for others."""
    asked = os.environ.get("MXNET_CPU_LEVEL") or _CPU_LEVELS[0]
    if asked not in _CPU_LEVELS:
        choices = ", ".join(_CPU_LEVELS)
        raise ValueError(f"MXNET_CPU_LEVEL: expected one of {choices}, got {asked!r}")
    return asked


def _warn_of_lesser_level(asked: str, used: str) -> None:
    """Warns that results may differ from those of a processor with the level asked for."""
    if _CPU_LEVELS.index(used) < _CPU_LEVELS.index(asked):
        text = f"MXNET_CPU_LEVEL is {asked}, but this processor has no more than {used}"
        warnings.warn(f"{text}: results may differ in the last place", RuntimeWarning, 2)


def load() -> ffi.Module:
    """Loads the operators. ImportError, naming the file, where it is missing or does not load."""
    asked = _asked_level()
    try:
        library = ffi.load_library(PATH)
    except OSError as error:
        raise ImportError(f"mx has lost its operators: {error}") from error
    _warn_of_lesser_level(asked, ffi.get_global_func("mx.cpu_level")())
    return library


LIBRARY = load()
