"""Memory that libraries take for being loaded, and for what they do once."""

from __future__ import annotations

import contextlib
import ctypes
import os
import sys
from array import array

import numpy

from ffi import config

_MADV_DONTNEED = 4  # as Linux numbers it
# Of less it is not worth the call.
_FEWEST_BYTES = 1 << 18
# Of an entry of /proc/self/pagemap: its bytes, and the bits for a page that is in memory or in the
# swap, and for one of a file.
_ENTRY = 8
_PRESENT, _OF_FILE = 3 << 62, 1 << 61

# Extension modules that do most of what they do when they are imported, or a model is read.
_DONE = (
    "ml_dtypes._ml_dtypes_ext",
    "numpy._core._multiarray_umath",
    "numpy.core._multiarray_umath",
    "onnx.onnx_cpp2py_export",
)


class Code:
    """The code of libraries that this process has loaded, and what they never write.

    Loading reads the names and relocations of all of a library, and what makes kernels is not what
    runs them; all of that counts as memory of the process from then on.
    """

    def __init__(self, *paths: str) -> None:
        """`paths` are those of libraries that stay loaded."""
        self._paths = {os.path.realpath(path) for path in paths}
        self._spans: list[tuple[int, int]] = []  # once they are known

    def give_back(self) -> None:
        """Has the system forget which pages of it the process has looked at.

        They are those of the file, so that one that is needed again is there at once. Code that
        somebody has changed, as debuggers do for breakpoints, stays as it is.
        """
        if not sys.platform.startswith("linux"):
            return
        with contextlib.suppress(OSError, ValueError):
            advise = ctypes.CDLL(None).madvise
            advise.argtypes = (ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int)
            self._spans = self._spans or _spans_of(self._paths)
            for begin, size in self._spans:
                if _is_as_in_file(begin, size):
                    advise(begin, size, _MADV_DONTNEED)


def give_back_what_is_done(*paths: str) -> None:
    """Gives code back that importing modules or reading models has needed; also of these libraries.

    `import mx.graph` and a model take 10 MB of it.
    """
    modules = (sys.modules.get(name) for name in _DONE)
    files = (getattr(module, "__file__", None) for module in modules)
    runtime = os.path.join(config.lib_dir(), "libmxnet_runtime.so")
    # Wheels of NumPy have libraries of their own, BLAS among them, in a folder beside it.
    beside = f"{os.path.dirname(numpy.__file__)}.libs"
    own: list[str] = []
    with contextlib.suppress(OSError):
        own = [os.path.join(beside, name) for name in os.listdir(beside)]
    Code(runtime, *paths, *own, *filter(None, files)).give_back()


def _spans_of(paths: set[str]) -> list[tuple[int, int]]:
    """Addresses and bytes of what is mapped of files and cannot be written, so that nothing of it
    is this process's own."""
    found = []
    with open("/proc/self/maps") as maps:
        for line in maps:
            span, modes, _, _, _, *name = line.rstrip("\n").split(None, 5)
            if name and name[0] in paths and modes[:2] == "r-":
                begin, end = (int(one, 16) for one in span.split("-"))
                if end - begin >= _FEWEST_BYTES:
                    found.append((begin, end - begin))
    return found


def _is_as_in_file(begin: int, size: int) -> bool:
    """Whether no page of what is mapped has been written, so that it is a copy.

    `Private_Dirty` of /proc/self/smaps says so, too, but looks at all memory of the process.
    """
    page = os.sysconf("SC_PAGE_SIZE")
    with open("/proc/self/pagemap", "rb", buffering=0) as pagemap:
        pagemap.seek(begin // page * _ENTRY)
        entries = array("Q", pagemap.read(size // page * _ENTRY))
    is_whole = len(entries) == size // page
    return is_whole and not any(one & _PRESENT and not one & _OF_FILE for one in set(entries))
