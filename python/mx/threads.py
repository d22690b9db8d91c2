"""How many threads the operators of the CPU use."""

from __future__ import annotations

import ffi

from . import _library  # noqa: F401  registers the functions

_get = ffi.get_global_func("mx.get_num_threads")
_set = ffi.get_global_func("mx.set_num_threads")


def get_num_threads() -> int:
    """How many threads an operator of the CPU uses at most, the calling one among them.

    As many as there are processors that the process may use, unless `set_num_threads` or the
    environment variable `MXNET_NUM_THREADS` says otherwise.
    """
    count: int = _get()
    return count


def set_num_threads(count: int) -> None:
    """Sets how many threads an operator of the CPU uses at most; matrix products use as many.

    1 keeps all work on the calling thread. Results do not depend on it, but for the last digits of
    matrix products. It is meant for all threads of the program and takes effect with the next call.
    ValueError for fewer than 1 or more than 1,024.
    """
    _set(count)
