"""What these headers say: dlpack.h, c_runtime_api.h.

Written by tools/write_mirrors.py; do not edit.
"""

from __future__ import annotations

from ctypes import (
    CFUNCTYPE,
    POINTER,
    PYFUNCTYPE,
    Structure,
    Union,
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
)

DL_MAJOR_VERSION = 1
DL_MINOR_VERSION = 1
DL_FLAG_BITMASK_READ_ONLY = 1
DL_FLAG_BITMASK_IS_COPIED = 2
DL_CPU = 1
DL_CUDA = 2
DL_CUDAHOST = 3
DL_OPEN_CL = 4
DL_VULKAN = 7
DL_METAL = 8
DL_VPI = 9
DL_ROCM = 10
DL_ROCMHOST = 11
DL_EXT_DEV = 12
DL_CUDAMANAGED = 13
DL_ONE_API = 14
DL_WEB_GPU = 15
DL_HEXAGON = 16
DL_MAIA = 17
DL_INT = 0
DL_UINT = 1
DL_FLOAT = 2
DL_OPAQUE_HANDLE = 3
DL_BFLOAT = 4
DL_COMPLEX = 5
DL_BOOL = 6
RUNTIME_ABI_MAJOR = 1
RUNTIME_ABI_MINOR = 1
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
PY_ARG = 13
NDARRAY_HANDLE = 14
EXT_BEGIN = 15
EXT_RESERVE_END = 64
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
BORROWED_ARRAY = 76
EXT_END = 128
OBJECT_NONE = 0
OBJECT_FUNCTION = 1
OBJECT_NDARRAY = 2
OBJECT_STRING = 3
OBJECT_BYTES = 4
OBJECT_SHAPE = 5
OBJECT_TUPLE = 6
OBJECT_ARRAY = 7
OBJECT_MAP = 8
OBJECT_OPAQUE = 9
OBJECT_LIST = 10
OBJECT_DICT = 11
OBJECT_DYNAMIC = 64
FUNC_OPERATOR = 1
FUNC_ANYWHERE = 2
FUNC_FOLLOWS_INPUT = 4
FUNC_METHOD = 16
METHOD_STATIC = 1
NDARRAY_READ_ONLY = 1
NDARRAY_HAS_PEER = 2
CREATE_UNINITIALIZED = 0
CREATE_ZEROED = 1


class DLPackVersion(Structure):
    _fields_ = [
        ("major", c_uint32),
        ("minor", c_uint32),
    ]


class DLDevice(Structure):
    _fields_ = [
        ("device_type", c_int32),
        ("device_id", c_int32),
    ]


class DLDataType(Structure):
    _fields_ = [
        ("code", c_uint8),
        ("bits", c_uint8),
        ("lanes", c_uint16),
    ]


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


class DLManagedTensor(Structure):
    _fields_ = [
        ("dl_tensor", DLTensor),
        ("manager_ctx", c_void_p),
        ("deleter", c_void_p),
    ]


class DLManagedTensorVersioned(Structure):
    _fields_ = [
        ("version", DLPackVersion),
        ("manager_ctx", c_void_p),
        ("deleter", c_void_p),
        ("flags", c_uint64),
        ("dl_tensor", DLTensor),
    ]


class MXNetByteArray(Structure):
    _fields_ = [
        ("data", c_void_p),
        ("size", c_size_t),
    ]


class MXNetIntArray(Structure):
    _fields_ = [
        ("data", c_void_p),
        ("size", c_size_t),
    ]


class MXNetAnyArray(Structure):
    _fields_ = [
        ("data", c_void_p),
        ("size", c_size_t),
    ]


class MXNetEnumMember(Structure):
    _fields_ = [
        ("value", c_int64),
        ("type_index", c_uint64),
    ]


class MXNetValue(Union):
    _fields_ = [
        ("v_int64", c_int64),
        ("v_uint64", c_uint64),
        ("v_float64", c_double),
        ("v_complex", c_double * 2),
        ("v_handle", c_void_p),
        ("v_type", DLDataType),
        ("v_ctx", DLDevice),
        ("v_str", MXNetByteArray),
        ("v_ints", MXNetIntArray),
        ("v_seq", MXNetAnyArray),
        ("v_enum", MXNetEnumMember),
    ]


class MXNetAny(Structure):
    _fields_ = [
        ("value", MXNetValue),
        ("type_code", c_int32),
        ("reserved", c_int32),
    ]


class MXNetObject(Structure):
    _fields_ = [
        ("ref_count", c_int32),
        ("type_index", c_uint32),
        ("deleter", c_void_p),
        ("peer", c_void_p),
    ]


class MXNetBytesObject(Structure):
    _fields_ = [
        ("header", MXNetObject),
        ("bytes", MXNetByteArray),
    ]


class MXNetShapeObject(Structure):
    _fields_ = [
        ("header", MXNetObject),
        ("ints", MXNetIntArray),
    ]


class MXNetSeqObject(Structure):
    _fields_ = [
        ("header", MXNetObject),
        ("items", MXNetAnyArray),
    ]


class MXNetMapObject(Structure):
    _fields_ = [
        ("header", MXNetObject),
        ("items", MXNetAnyArray),
        ("index", POINTER(c_int64)),
        ("index_capacity", c_size_t),
        ("seed", c_uint64),
    ]


class MXNetListObject(Structure):
    _fields_ = [
        ("header", MXNetObject),
        ("items", MXNetAnyArray),
        ("capacity", c_size_t),
    ]


class MXNetDictObject(Structure):
    _fields_ = [
        ("map", MXNetMapObject),
        ("capacity", c_size_t),
    ]


class MXNetOpaqueObject(Structure):
    _fields_ = [
        ("header", MXNetObject),
        ("value", c_void_p),
        ("finalizer", c_void_p),
    ]


MXNetObjectHandle = c_void_p


class MXNetErrorFrame(Structure):
    _fields_ = [
        ("file", c_char_p),
        ("function", c_char_p),
        ("line", c_int32),
    ]


class MXNetErrorInfo(Structure):
    _fields_ = [
        ("struct_size", c_size_t),
        ("kind", c_char_p),
        ("message", MXNetByteArray),
        ("frames", POINTER(MXNetErrorFrame)),
        ("num_frames", c_size_t),
        ("payload", MXNetObjectHandle),
    ]


MXNetFunctionHandle = c_void_p
MXNetPackedCFunc = CFUNCTYPE(c_int, c_void_p, c_void_p, c_void_p, c_int, c_void_p, c_void_p)
MXNetPackedCFuncFinalizer = CFUNCTYPE(None, c_void_p)


class MXNetParamInfo(Structure):
    _fields_ = [
        ("name", c_char_p),
        ("type", c_char_p),
        ("doc", c_char_p),
        ("flags", c_int32),
        ("role", c_int32),
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
    ("op", c_void_p),
]


class MXNetParamSignature(Structure):
    _fields_ = [
        ("type", c_char_p),
        ("type_name", c_char_p),
        ("flags", c_int32),
        ("role", c_int32),
        ("takes", c_void_p),
    ]


MXNetFieldGetter = PYFUNCTYPE(c_int, c_void_p, MXNetObjectHandle, c_void_p)
MXNetFieldSetter = PYFUNCTYPE(c_int, c_void_p, MXNetObjectHandle, c_void_p)


class MXNetFieldInfo(Structure):
    _fields_ = [
        ("name", c_char_p),
        ("type", c_char_p),
        ("doc", c_char_p),
        ("getter", MXNetFieldGetter),
        ("setter", MXNetFieldSetter),
        ("resource", c_void_p),
    ]


class MXNetMethodInfo(Structure):
    _fields_ = [
        ("name", c_char_p),
        ("func", MXNetFunctionHandle),
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
        ("value_size", c_size_t),
    ]


MXNetNDArrayHandle = c_void_p


class MXNetNDArrayObject(Structure):
    _fields_ = [
        ("header", MXNetObject),
        ("tensor", DLTensor),
        ("flags", c_uint64),
    ]


class MXNetOwnerFunctions(Structure):
    _fields_ = [
        ("retain", c_void_p),
        ("release", c_void_p),
    ]


class MXNetBorrowedTensor(Structure):
    _fields_ = [
        ("tensor", DLTensor),
        ("flags", c_uint64),
        ("peer", c_void_p),
        ("owner", c_void_p),
        ("owner_functions", POINTER(MXNetOwnerFunctions)),
    ]
