"""Loads the operator library, whose registrations run as it is loaded."""

from __future__ import annotations

import ctypes
import os.path

import ffi  # noqa: F401  the runtime library comes first: it holds the registry

PATH = os.path.join(os.path.dirname(os.path.abspath(__file__)), "lib", "libmxnet_operators.so")


def load() -> ctypes.CDLL:
    """Loads the operators. ImportError, naming the file, where it is missing or does not load."""
    try:
        return ctypes.CDLL(PATH)
    except OSError as error:
        raise ImportError(f"mx cannot load its operators from {PATH}: {error}") from error


LIBRARY = load()
