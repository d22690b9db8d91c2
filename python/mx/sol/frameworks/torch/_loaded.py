"""What torch has loaded besides: OpenMP, whose threads look for work for milliseconds after each of
torch's own loops, and MKL."""

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
def use_libraries() -> None:
    """Tells of the OpenMP that torch has its loops run by, GNU's, LLVM's or Intel's, and of MKL."""
    path = os.path.join(os.path.dirname(torch.__file__), "lib", "libtorch_cpu.so")
    # What a library needs is looked through after it, and it is no other than torch has loaded.
    with contextlib.suppress(OSError):
        library = ctypes.CDLL(path, mode=os.RTLD_NOLOAD | os.RTLD_NOW)
        _tell("mx.use_openmp", library, "GOMP_parallel")
        _tell("mx.use_mkl", library, "sgemm_", "MKL_Set_Num_Threads_Local")


def _tell(use: str, library: ctypes.CDLL, *names: str) -> None:
    """Tells of functions of a library, if it has all of them."""
    with contextlib.suppress(AttributeError):
        found = [ctypes.cast(getattr(library, name), ctypes.c_void_p).value for name in names]
        ffi.get_global_func(use)(*found)


def beside_openmp(compiled: Any) -> None:
    """Has a plan take the threads of torch's OpenMP where they are awake."""
    use_libraries()
    compiled.run_beside_openmp()


def prepare_training(compiled: Any) -> None:
    """What plans of a module in training have done with each of them that is compiled."""
    keep_outputs(compiled)
    beside_openmp(compiled)
