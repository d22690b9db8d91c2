"""What these headers say: mxnet_acc.h, stress.h.

Written by tools/write_mirrors.py; do not edit.
"""

from __future__ import annotations

from ctypes import (
    CFUNCTYPE,
    POINTER,
    Structure,
    c_char,
    c_char_p,
    c_float,
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

ABI_MAJOR = 1
ABI_MINOR = 0
NAME_SIZE = 32
MAX_DIMS = 64
HOST = 1
FAILED = 1
BAD_ARGUMENT = 2
UNSUPPORTED = 3
OUT_OF_MEMORY = 4
NO_DEVICE = 5
REFUSED = 6
BAD_INDEX = 7
INT = 0
UINT = 1
FLOAT = 2
BFLOAT = 4
COMPLEX = 5
BOOL = 6
DENSE = 0
ROW_SPARSE = 1
CSR = 2
INPUT = 0
WEIGHT = 1
AUXILIARY = 2
OUTPUT = 3
DEBUG = 0
INFO = 1
WARNING = 2
HOST_VISIBLE = 1
ONE_THREAD = 2
STRIDES = 4
UNUSABLE = 8
CONCURRENT = 1
IN_PLACE = 2
NODE_UNSUPPORTED = -1
NODE_ANY_GROUP = 0


class MXAccError(Structure):
    _fields_ = [
        ("struct_size", c_size_t),
        ("code", c_int32),
        ("message", c_char_p),
        ("work", c_uint64),
    ]


MXAccStatus = POINTER(MXAccError)


class MXAccDevice(Structure):
    _fields_ = [
        ("device_type", c_int32),
        ("device_id", c_int32),
    ]


class MXAccDataType(Structure):
    _fields_ = [
        ("code", c_uint8),
        ("bits", c_uint8),
        ("lanes", c_uint16),
    ]


class MXAccGeometry(Structure):
    _fields_ = [
        ("data", c_void_p),
        ("device", MXAccDevice),
        ("ndim", c_int32),
        ("dtype", MXAccDataType),
        ("shape", POINTER(c_int64)),
        ("strides", POINTER(c_int64)),
        ("byte_offset", c_uint64),
    ]


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


MXAccLog = CFUNCTYPE(None, c_void_p, c_int32, c_char_p)


class MXAccHost(Structure):
    _fields_ = [
        ("struct_size", c_size_t),
        ("abi_major", c_int32),
        ("abi_minor", c_int32),
        ("release", c_char_p),
        ("operator_set", c_int32),
        ("library_path", c_char_p),
        ("context", c_void_p),
        ("log", MXAccLog),
        (
            "alloc_output",
            CFUNCTYPE(
                MXAccStatus,
                c_void_p,
                c_void_p,
                c_int32,
                MXAccDataType,
                c_int32,
                POINTER(c_int64),
                POINTER(MXTensor),
            ),
        ),
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


MXAccStream = c_void_p
MXAccEvent = c_void_p


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


class MXAccExecutor(Structure):
    _fields_ = [
        ("struct_size", c_size_t),
        ("flags", c_uint32),
        ("state", c_void_p),
        (
            "run",
            CFUNCTYPE(
                MXAccStatus,
                c_void_p,
                POINTER(MXTensor),
                c_int32,
                POINTER(MXTensor),
                c_int32,
                MXAccStream,
            ),
        ),
        ("free", CFUNCTYPE(None, c_void_p)),
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
        ("data", POINTER(MXTensor)),
        ("num_data", c_int32),
        ("num_nodes", c_int32),
    ]


MXAccEmit = CFUNCTYPE(None, c_void_p, c_char_p, POINTER(c_char), c_size_t)


class MXAccApi(Structure):
    _fields_ = [
        ("struct_size", c_size_t),
        ("abi_major", c_int32),
        ("abi_minor", c_int32),
        ("release", c_char_p),
        ("getAccName", CFUNCTYPE(MXAccStatus, POINTER(c_char), c_size_t)),
        ("getNumAcc", CFUNCTYPE(MXAccStatus, POINTER(c_int32))),
        ("initialize", CFUNCTYPE(MXAccStatus, POINTER(MXAccHost))),
        ("finalize", CFUNCTYPE(None)),
        ("getDeviceInfo", CFUNCTYPE(MXAccStatus, c_int32, POINTER(MXAccDeviceInfo))),
        ("mx_alloc", CFUNCTYPE(MXAccStatus, c_int32, c_size_t, c_size_t, POINTER(c_void_p))),
        ("mx_free", CFUNCTYPE(None, c_int32, c_void_p)),
        ("mx_releaseAll", CFUNCTYPE(MXAccStatus, c_int32, POINTER(c_size_t))),
        (
            "copyToAcc",
            CFUNCTYPE(
                MXAccStatus, c_int32, POINTER(MXTensor), POINTER(MXTensor), c_int32, MXAccStream
            ),
        ),
        (
            "copyFromAcc",
            CFUNCTYPE(
                MXAccStatus, c_int32, POINTER(MXTensor), POINTER(MXTensor), c_int32, MXAccStream
            ),
        ),
        (
            "copyWithinAcc",
            CFUNCTYPE(
                MXAccStatus, c_int32, POINTER(MXTensor), POINTER(MXTensor), c_int32, MXAccStream
            ),
        ),
        ("createStream", CFUNCTYPE(MXAccStatus, c_int32, POINTER(MXAccStream))),
        ("destroyStream", CFUNCTYPE(None, c_int32, MXAccStream)),
        ("syncStream", CFUNCTYPE(MXAccStatus, c_int32, MXAccStream)),
        ("createEvent", CFUNCTYPE(MXAccStatus, c_int32, POINTER(MXAccEvent))),
        ("destroyEvent", CFUNCTYPE(None, c_int32, MXAccEvent)),
        ("recordEvent", CFUNCTYPE(MXAccStatus, c_int32, MXAccEvent, MXAccStream)),
        ("waitEvent", CFUNCTYPE(MXAccStatus, c_int32, MXAccEvent, MXAccStream)),
        ("supportsImperative", CFUNCTYPE(MXAccStatus, POINTER(c_int32))),
        ("accGetExecutor", CFUNCTYPE(MXAccStatus, POINTER(MXAccOperator), POINTER(MXAccExecutor))),
        (
            "supportedOps",
            CFUNCTYPE(MXAccStatus, c_int32, POINTER(MXAccGraph), POINTER(MXAccNodeSupport)),
        ),
        ("loadModel", CFUNCTYPE(MXAccStatus, c_char_p, POINTER(MXAccGraph), c_int32)),
        ("unloadModel", CFUNCTYPE(MXAccStatus, c_char_p)),
        (
            "infer",
            CFUNCTYPE(
                MXAccStatus,
                c_char_p,
                POINTER(MXTensor),
                c_int32,
                POINTER(MXTensor),
                c_int32,
                MXAccStream,
                c_void_p,
            ),
        ),
        ("exportModel", CFUNCTYPE(MXAccStatus, c_char_p, MXAccEmit, c_void_p)),
        ("importModel", CFUNCTYPE(MXAccStatus, c_char_p, c_void_p, c_size_t, c_int32)),
        (
            "configure",
            CFUNCTYPE(
                MXAccStatus,
                c_int32,
                POINTER(c_char_p),
                POINTER(c_char_p),
                c_int32,
                MXAccEmit,
                c_void_p,
            ),
        ),
        (
            "mx_zero",
            CFUNCTYPE(MXAccStatus, c_int32, c_void_p, c_uint64, c_size_t, MXAccStream, c_uint64),
        ),
    ]


MXAccGetApi = CFUNCTYPE(MXAccStatus, POINTER(MXAccHost), POINTER(MXAccApi))


class StressJob(Structure):
    _fields_ = [
        ("op", POINTER(MXAccOperator)),
        ("executor", POINTER(MXAccExecutor)),
        ("inputs", POINTER(MXTensor)),
        ("expected", POINTER(MXTensor)),
        ("num_in", c_int32),
        ("num_out", c_int32),
    ]


StressJudge = CFUNCTYPE(c_int, c_int32, POINTER(MXTensor))


class Stress(Structure):
    _fields_ = [
        ("api", POINTER(MXAccApi)),
        ("jobs", POINTER(StressJob)),
        ("judge", StressJudge),
        ("dev_id", c_int32),
        ("num_jobs", c_int32),
        ("threads", c_int32),
        ("rounds", c_int32),
        ("one_thread", c_int32),
    ]
