"""Plans beside torch's own loops, whose threads look for work for milliseconds after each."""

from __future__ import annotations

import contextlib
import ctypes
import functools
import os
from typing import Any

import torch

import ffi

from ..._training import keep_outputs


@functools.cache
def _use_openmp() -> None:
    """Tells of the OpenMP that torch has its loops run by: GNU's, LLVM's or Intel's."""
    path = os.path.join(os.path.dirname(torch.__file__), "lib", "libtorch_cpu.so")
    # What a library needs is looked through after it, and it is no other than torch has loaded.
    with contextlib.suppress(OSError, AttributeError):
        library = ctypes.CDLL(path, mode=os.RTLD_NOLOAD | os.RTLD_NOW)
        address = ctypes.cast(library.GOMP_parallel, ctypes.c_void_p).value
        ffi.get_global_func("mx.use_openmp")(address)


def beside_openmp(compiled: Any) -> None:
    """Has a plan take the threads of torch's OpenMP where they are awake."""
    _use_openmp()
    compiled.run_beside_openmp()


def prepare_training(compiled: Any) -> None:
    """What plans of a module in training have done with each of them that is compiled."""
    keep_outputs(compiled)
    beside_openmp(compiled)
