"""Loads the operator library, whose registrations run as it is loaded."""

from __future__ import annotations

import ctypes
from pathlib import Path

import ffi  # noqa: F401  the runtime library comes first: it holds the registry

PATH = Path(__file__).resolve().parent / "lib" / "libmxnet_operators.so"


def load() -> ctypes.CDLL:
    """Loads the operators. ImportError, naming the file, where it is missing or does not load."""
    try:
        return ctypes.CDLL(str(PATH))
    except OSError as error:
        raise ImportError(f"mx cannot load its operators from {PATH}: {error}") from error


LIBRARY = load()
