"""The runtime library as ctypes sees it: what c_api.py declares, and the library itself."""

from __future__ import annotations

import os
from ctypes import (
    CDLL,
    POINTER,
    PyDLL,
    byref,
    c_char,
    c_char_p,
    c_int,
    sizeof,
)

from .c_api import *  # noqa: F403
from .c_api import (
    BOOL,
    COMPLEX,
    CONTEXT,
    ENUM,
    FLOAT,
    FUNC_HANDLE,
    HANDLE,
    INT,
    MODULE_HANDLE,
    NDARRAY_HANDLE,
    NULL,
    OBJECT_HANDLE,
    RUNTIME_ABI_MAJOR,
    TYPE,
    UINT,
    DLTensor,
    MXNetAny,
    MXNetErrorInfo,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

OBJECT_CODES = frozenset((OBJECT_HANDLE, MODULE_HANDLE, FUNC_HANDLE, NDARRAY_HANDLE))
# Values that are complete in themselves: nothing they point to has an owner.
PLAIN_CODES = frozenset((INT, UINT, FLOAT, HANDLE, NULL, TYPE, CONTEXT, BOOL, COMPLEX, ENUM))
ANY_SIZE = sizeof(MXNetAny)


def _load(kind: type[CDLL]) -> CDLL:
    path = os.path.join(os.path.dirname(os.path.dirname(__file__)), "lib", "libmxnet_runtime.so")
    try:
        library = kind(path)
    except OSError as error:
        raise ImportError(f"the runtime library of ffi cannot be loaded: {error}") from None
    # No argtypes: every argument is an instance of the ctypes type it is passed as. Converting to a
    # declared type fails where the recursion limit is near, and as an ArgumentError instead of the
    # RecursionError that Python's own calls raise there.
    library.MXNetGetLastError.restype = POINTER(MXNetErrorInfo)
    return library


# `lib` keeps the GIL during a call, `lib_releasing` lets other threads run.
lib = _load(PyDLL)
lib_releasing = _load(CDLL)


def version() -> tuple[int, int, str]:
    """Major and minor version of the runtime's ABI, and its release."""
    major, minor, release = c_int(), c_int(), c_char_p()
    lib.MXNetGetVersion(byref(major), byref(minor), byref(release))
    return major.value, minor.value, (release.value or b"").decode()


if version()[0] != RUNTIME_ABI_MAJOR:
    raise ImportError(
        f"ffi was written for version {RUNTIME_ABI_MAJOR} of the function ABI, "
        f"libmxnet_runtime.so has version {version()[0]}.{version()[1]}"
    )


def capacity(size: int) -> int:
    """Size rounded up to a power of two: ctypes keeps every array type it makes for good."""
    return 1 << (size - 1).bit_length() if size > 1 else 1


def array_at(kind: type[Any], address: int, size: int) -> Any:
    """An array at an address, of which the first `size` elements are there."""
    return (kind * capacity(size)).from_address(address)


def bytes_of(run: Any) -> bytes:
    """A copy of an MXNetByteArray."""
    copy: bytes = array_at(c_char, run.data, run.size)[: run.size] if run.size else b""
    return copy


def nbytes(tensor: DLTensor) -> int:
    """Bytes of the elements of a tensor, wherever they lie."""
    size: int = tensor.dtype.bits * tensor.dtype.lanes // 8
    for axis in range(tensor.ndim):
        size *= tensor.shape[axis]
    return size
