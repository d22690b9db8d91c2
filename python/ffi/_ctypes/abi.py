"""The C interface of include/mxnet/runtime/c_runtime_api.h as ctypes sees it."""

from __future__ import annotations

import os
from ctypes import (
    CDLL,
    CFUNCTYPE,
    POINTER,
    PYFUNCTYPE,
    PyDLL,
    Structure,
    Union,
    byref,
    c_char,
    c_char_p,
    c_double,
    c_int,
    c_int32,
    c_int64,
    c_size_t,
    c_uint8,
    c_uint16,
    c_uint32,
    c_uint64,
    c_void_p,
    sizeof,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

ABI_MAJOR = 1

# MXNetTypeCode
INT = 0
UINT = 1
FLOAT = 2
HANDLE = 3
NULL = 4
TYPE = 5
CONTEXT = 6
ARRAY_HANDLE = 7
OBJECT_HANDLE = 8
MODULE_HANDLE = 9
FUNC_HANDLE = 10
STR = 11
BYTES = 12
NDARRAY_HANDLE = 14
BOOL = 65
COMPLEX = 66
INT_TUPLE = 67
INT_LIST = 68
TUPLE = 69
LIST = 70
DICT = 71
READ_ONLY_ARRAY = 72
MISSING = 73
KEYWORD = 74
ENUM = 75
LENT_ARRAY = 76

OBJECT_CODES = frozenset((OBJECT_HANDLE, MODULE_HANDLE, FUNC_HANDLE, NDARRAY_HANDLE))
# Values that are complete in themselves: nothing they point to has an owner.
PLAIN_CODES = frozenset((INT, UINT, FLOAT, HANDLE, NULL, TYPE, CONTEXT, BOOL, COMPLEX, ENUM))

# MXNetObjectTypeIndex
FUNCTION_INDEX = 1
NDARRAY_INDEX = 2
STRING_INDEX = 3
BYTES_INDEX = 4
SHAPE_INDEX = 5
TUPLE_INDEX = 6
ARRAY_INDEX = 7
MAP_INDEX = 8
OPAQUE_INDEX = 9
LIST_INDEX = 10
DICT_INDEX = 11
DYNAMIC_INDEX = 64

# MXNetParamFlag
PARAM_OPTIONAL = 1
PARAM_VARIADIC = 2
PARAM_FRONT_END = 4
PARAM_KEYWORD_ONLY = 8

# MXNetFuncFlag
FUNC_METHOD = 16

METHOD_STATIC = 1
NDARRAY_READ_ONLY = 1
NDARRAY_OF_HOST = 2
DEVICE_CPU = 1


class DLDevice(Structure):
    _fields_ = [("device_type", c_int32), ("device_id", c_int32)]


class DLDataType(Structure):
    _fields_ = [("code", c_uint8), ("bits", c_uint8), ("lanes", c_uint16)]


class DLTensor(Structure):
    _fields_ = [
        ("data", c_void_p),
        ("device", DLDevice),
        ("ndim", c_int32),
        ("dtype", DLDataType),
        ("shape", POINTER(c_int64)),
        ("strides", POINTER(c_int64)),
        ("byte_offset", c_uint64),
    ]


class MXNetLender(Structure):
    _fields_ = [("retain", c_void_p), ("release", c_void_p)]


class MXNetLentTensor(Structure):
    _fields_ = [
        ("tensor", DLTensor),
        ("flags", c_uint64),
        ("host", c_void_p),
        ("owner", c_void_p),
        ("lender", c_void_p),
    ]


class DLManagedTensor(Structure):
    _fields_ = [("dl_tensor", DLTensor), ("manager_ctx", c_void_p), ("deleter", c_void_p)]


class DLManagedTensorVersioned(Structure):
    _fields_ = [
        ("major", c_uint32),
        ("minor", c_uint32),
        ("manager_ctx", c_void_p),
        ("deleter", c_void_p),
        ("flags", c_uint64),
        ("dl_tensor", DLTensor),
    ]


class Run(Structure):
    """MXNetByteArray, MXNetIntArray and MXNetAnyArray, which differ in what data points to."""

    _fields_ = [("data", c_void_p), ("size", c_size_t)]


class MXNetEnumMember(Structure):
    _fields_ = [("value", c_int64), ("type_index", c_uint64)]


class MXNetValue(Union):
    _fields_ = [
        ("v_int64", c_int64),
        ("v_uint64", c_uint64),
        ("v_float64", c_double),
        ("v_complex", c_double * 2),
        ("v_handle", c_void_p),
        ("v_type", DLDataType),
        ("v_ctx", DLDevice),
        ("v_run", Run),
        ("v_enum", MXNetEnumMember),
    ]


class MXNetAny(Structure):
    _fields_ = [("value", MXNetValue), ("type_code", c_int32), ("reserved", c_int32)]


ANY_SIZE = sizeof(MXNetAny)


class MXNetObject(Structure):
    _fields_ = [
        ("ref_count", c_int32),
        ("type_index", c_uint32),
        ("deleter", c_void_p),
        ("host", c_void_p),
    ]


class MXNetRunObject(Structure):
    """MXNetBytesObject, MXNetShapeObject and MXNetSeqObject."""

    _fields_ = [("header", MXNetObject), ("run", Run)]


class MXNetOpaqueObject(Structure):
    _fields_ = [("header", MXNetObject), ("value", c_void_p), ("finalizer", c_void_p)]


class MXNetNDArrayObject(Structure):
    _fields_ = [("header", MXNetObject), ("tensor", DLTensor), ("flags", c_uint64)]


class MXNetErrorFrame(Structure):
    _fields_ = [("file", c_char_p), ("function", c_char_p), ("line", c_int32)]


class MXNetErrorInfo(Structure):
    _fields_ = [
        ("struct_size", c_size_t),
        ("kind", c_char_p),
        ("message", Run),
        ("frames", POINTER(MXNetErrorFrame)),
        ("num_frames", c_size_t),
        ("payload", c_void_p),
    ]


class MXNetParamInfo(Structure):
    _fields_ = [
        ("name", c_char_p),
        ("type", c_char_p),
        ("doc", c_char_p),
        ("flags", c_int32),
        ("reserved", c_int32),
        ("default_value", MXNetAny),
    ]


class MXNetFuncInfo(Structure):
    pass


MXNetFuncInfo._fields_ = [
    ("struct_size", c_size_t),
    ("abi_major", c_int32),
    ("abi_minor", c_int32),
    ("name", c_char_p),
    ("doc", c_char_p),
    ("returns", c_char_p),
    ("file", c_char_p),
    ("line", c_int32),
    ("described", c_int32),
    ("params", POINTER(MXNetParamInfo)),
    ("num_params", c_size_t),
    ("release_lock_bytes", c_int64),
    ("overloads", POINTER(POINTER(MXNetFuncInfo))),
    ("num_overloads", c_size_t),
    ("flags", c_uint64),
]

PackedCFunc = CFUNCTYPE(c_int, c_void_p, c_void_p, c_void_p, c_int, c_void_p, c_void_p)
Finalizer = CFUNCTYPE(None, c_void_p)


FieldAccess = PYFUNCTYPE(c_int, c_void_p, c_void_p, c_void_p)


class MXNetFieldInfo(Structure):
    _fields_ = [
        ("name", c_char_p),
        ("type", c_char_p),
        ("doc", c_char_p),
        ("getter", FieldAccess),
        ("setter", FieldAccess),
        ("resource", c_void_p),
    ]


class MXNetMethodInfo(Structure):
    _fields_ = [
        ("name", c_char_p),
        ("func", c_void_p),
        ("flags", c_int32),
        ("reserved", c_int32),
    ]


class MXNetTypeInfo(Structure):
    _fields_ = [
        ("struct_size", c_size_t),
        ("abi_major", c_int32),
        ("abi_minor", c_int32),
        ("key", c_char_p),
        ("doc", c_char_p),
        ("type_index", c_uint32),
        ("base_index", c_uint32),
        ("value_offset", c_int64),
        ("base_offset", c_int64),
        ("fields", POINTER(MXNetFieldInfo)),
        ("num_fields", c_size_t),
        ("methods", POINTER(MXNetMethodInfo)),
        ("num_methods", c_size_t),
    ]


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


if version()[0] != ABI_MAJOR:
    raise ImportError(
        f"ffi was written for version {ABI_MAJOR} of the function ABI, "
        f"libmxnet_runtime.so has version {version()[0]}.{version()[1]}"
    )


def capacity(size: int) -> int:
    """Size rounded up to a power of two: ctypes keeps every array type it makes for good."""
    return 1 << (size - 1).bit_length() if size > 1 else 1


def array_at(kind: type[Any], address: int, size: int) -> Any:
    """An array at an address, of which the first `size` elements are there."""
    return (kind * capacity(size)).from_address(address)


def bytes_of(run: Any) -> bytes:
    """A copy of a MXNetByteArray."""
    copy: bytes = array_at(c_char, run.data, run.size)[: run.size] if run.size else b""
    return copy


def nbytes(tensor: DLTensor) -> int:
    """Bytes of the elements of a tensor, wherever they lie."""
    size: int = tensor.dtype.bits * tensor.dtype.lanes // 8
    for axis in range(tensor.ndim):
        size *= tensor.shape[axis]
    return size
