"""Loads the operator library, whose registrations run as it is loaded."""

from __future__ import annotations

import os.path

import ffi

PATH = os.path.join(os.path.dirname(os.path.abspath(__file__)), "lib", "libmxnet_operators.so")


def load() -> ffi.Module:
    """Loads the operators. ImportError, naming the file, where it is missing or does not load."""
    try:
        return ffi.load_library(PATH)
    except OSError as error:
        raise ImportError(f"mx has lost its operators: {error}") from error


LIBRARY = load()
