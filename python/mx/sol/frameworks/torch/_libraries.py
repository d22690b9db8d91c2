"""The code of torch's libraries, most of which is needed once: to load them, and to capture."""

from __future__ import annotations

import functools
import os

import torch

from ...._mapped import Code


@functools.cache
def _code() -> Code:
    folder = os.path.join(os.path.dirname(torch.__file__), "lib")
    names = ("libtorch_cpu.so", "libtorch_python.so", "libc10.so")
    return Code(*(os.path.join(folder, name) for name in names))


def give_back_code() -> None:
    """Gives the memory back that this code has taken so far, about 60 MB of it.

    Looking for code that somebody has changed takes some milliseconds.
    """
    _code().give_back()
