"""mxnet_acc.h for ctypes; tests/acc/test_header.py holds it against the header itself."""

from __future__ import annotations

from ctypes import (
    CFUNCTYPE,
    POINTER,
    Structure,
    c_char,
    c_char_p,
    c_float,
    c_int32,
    c_size_t,
    c_uint32,
    c_uint64,
    c_void_p,
)

from ffi._ctypes.abi import DLDataType, DLDevice, DLTensor

HOST_DEVICE = 1
ABI_MAJOR = 1
ABI_MINOR = 0
NAME_SIZE = 32
MAX_DIMS = 64

CODES = {
    "failed": 1,
    "bad_argument": 2,
    "unsupported": 3,
    "memory": 4,
    "no_device": 5,
    "refused": 6,
    "bad_index": 7,
}
HOST_VISIBLE, ONE_THREAD, STRIDES, UNUSABLE = 1, 2, 4, 8
CONCURRENT, IN_PLACE = 1, 2


class MXAccError(Structure):
    _fields_ = [
        ("struct_size", c_size_t),
        ("code", c_int32),
        ("message", c_char_p),
        ("work", c_uint64),
    ]


Status = POINTER(MXAccError)


# Member by member DLPack's.
MXAccDevice = DLDevice
MXAccDataType = DLDataType
MXAccGeometry = DLTensor


class MXTensor(Structure):
    _fields_ = [
        ("struct_size", c_size_t),
        ("tensor", MXAccGeometry),
        ("name", c_char_p),
        ("layout", c_char_p),
        ("storage", c_int32),
        ("role", c_int32),
        ("parts", POINTER(MXAccGeometry)),
        ("num_parts", c_int32),
        ("reserved_number", c_int32),
        ("work", c_uint64),
        ("reserved", c_void_p * 1),
    ]


Log = CFUNCTYPE(None, c_void_p, c_int32, c_char_p)


class MXAccHost(Structure):
    _fields_ = [
        ("struct_size", c_size_t),
        ("abi_major", c_int32),
        ("abi_minor", c_int32),
        ("release", c_char_p),
        ("operator_set", c_int32),
        ("library_path", c_char_p),
        ("context", c_void_p),
        ("log", Log),
        ("alloc_output", c_void_p),
    ]


class MXAccDeviceInfo(Structure):
    _fields_ = [
        ("struct_size", c_size_t),
        ("flags", c_uint32),
        ("alignment", c_uint32),
        ("memory_total", c_uint64),
        ("memory_free", c_uint64),
        ("name", c_char_p),
        ("vendor", c_char_p),
        ("driver", c_char_p),
        ("reason", c_char_p),
    ]


class MXAccOperator(Structure):
    _fields_ = [
        ("struct_size", c_size_t),
        ("name", c_char_p),
        ("operator_set", c_int32),
        ("dev_id", c_int32),
        ("inputs", POINTER(MXTensor)),
        ("outputs", POINTER(MXTensor)),
        ("num_in", c_int32),
        ("num_out", c_int32),
        ("attr_keys", POINTER(c_char_p)),
        ("attr_vals", POINTER(c_char_p)),
        ("num_attrs", c_int32),
    ]


Tensors = POINTER(MXTensor)
Run = CFUNCTYPE(Status, c_void_p, Tensors, c_int32, Tensors, c_int32, c_void_p)
Free = CFUNCTYPE(None, c_void_p)


class MXAccExecutor(Structure):
    _fields_ = [
        ("struct_size", c_size_t),
        ("flags", c_uint32),
        ("state", c_void_p),
        ("run", Run),
        ("free", Free),
    ]


class MXAccNodeSupport(Structure):
    _fields_ = [
        ("struct_size", c_size_t),
        ("id", c_int32),
        ("cost", c_float),
        ("reason", c_char_p),
        ("reserved", c_void_p * 2),
    ]


class MXAccGraph(Structure):
    _fields_ = [
        ("struct_size", c_size_t),
        ("json", c_char_p),
        ("data", Tensors),
        ("num_data", c_int32),
        ("num_nodes", c_int32),
    ]


# The value is not text: it may have any bytes.
Emit = CFUNCTYPE(None, c_void_p, c_char_p, POINTER(c_char), c_size_t)
Texts = POINTER(c_char_p)
Copy = CFUNCTYPE(Status, c_int32, Tensors, Tensors, c_int32, c_void_p)
DeviceCall = CFUNCTYPE(Status, c_int32, c_void_p)
OnEvent = CFUNCTYPE(Status, c_int32, c_void_p, c_void_p)
Destroy = CFUNCTYPE(None, c_int32, c_void_p)
Create = CFUNCTYPE(Status, c_int32, POINTER(c_void_p))


class MXAccApi(Structure):
    _fields_ = [
        ("struct_size", c_size_t),
        ("abi_major", c_int32),
        ("abi_minor", c_int32),
        ("release", c_char_p),
        ("getAccName", CFUNCTYPE(Status, POINTER(c_char), c_size_t)),
        ("getNumAcc", CFUNCTYPE(Status, POINTER(c_int32))),
        ("initialize", CFUNCTYPE(Status, POINTER(MXAccHost))),
        ("finalize", CFUNCTYPE(None)),
        ("getDeviceInfo", CFUNCTYPE(Status, c_int32, POINTER(MXAccDeviceInfo))),
        ("mx_alloc", CFUNCTYPE(Status, c_int32, c_size_t, c_size_t, POINTER(c_void_p))),
        ("mx_free", Destroy),
        ("mx_releaseAll", CFUNCTYPE(Status, c_int32, POINTER(c_size_t))),
        ("copyToAcc", Copy),
        ("copyFromAcc", Copy),
        ("copyWithinAcc", Copy),
        ("createStream", Create),
        ("destroyStream", Destroy),
        ("syncStream", DeviceCall),
        ("createEvent", Create),
        ("destroyEvent", Destroy),
        ("recordEvent", OnEvent),
        ("waitEvent", OnEvent),
        ("supportsImperative", CFUNCTYPE(Status, POINTER(c_int32))),
        ("accGetExecutor", CFUNCTYPE(Status, POINTER(MXAccOperator), POINTER(MXAccExecutor))),
        (
            "supportedOps",
            CFUNCTYPE(Status, c_int32, POINTER(MXAccGraph), POINTER(MXAccNodeSupport)),
        ),
        ("loadModel", CFUNCTYPE(Status, c_char_p, POINTER(MXAccGraph), c_int32)),
        ("unloadModel", CFUNCTYPE(Status, c_char_p)),
        (
            "infer",
            CFUNCTYPE(Status, c_char_p, Tensors, c_int32, Tensors, c_int32, c_void_p, c_void_p),
        ),
        ("exportModel", CFUNCTYPE(Status, c_char_p, Emit, c_void_p)),
        ("importModel", CFUNCTYPE(Status, c_char_p, c_void_p, c_size_t, c_int32)),
        ("configure", CFUNCTYPE(Status, c_int32, Texts, Texts, c_int32, Emit, c_void_p)),
        (
            "mx_zero",
            CFUNCTYPE(Status, c_int32, c_void_p, c_uint64, c_size_t, c_void_p, c_uint64),
        ),
    ]


# By the names that the header has for them.
STRUCTS: dict[str, type[Structure]] = {
    "MXAccDevice": MXAccDevice,
    "MXAccDataType": MXAccDataType,
    "MXAccGeometry": MXAccGeometry,
    **{
        struct.__name__: struct
        for struct in (
            MXAccError,
            MXTensor,
            MXAccHost,
            MXAccDeviceInfo,
            MXAccOperator,
            MXAccExecutor,
            MXAccNodeSupport,
            MXAccGraph,
            MXAccApi,
        )
    },
}
