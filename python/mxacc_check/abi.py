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
    c_double,
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
GRAPH_VERSION = 1
FAILED = 1
BAD_ARGUMENT = 2
UNSUPPORTED = 3
OUT_OF_MEMORY = 4
NO_DEVICE = 5
REJECTED = 6
BAD_INDEX = 7
CANCELLED = 8
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
DEVICE_MEMORY = 0
PINNED_MEMORY = 1
HOST_MEMORY = 2
DONATED = 1
UPDATED = 2
SHAPE_INPUT = 4
DEBUG = 0
INFO = 1
WARNING = 2
HOST_VISIBLE = 1
ONE_THREAD = 2
STRIDES = 4
UNUSABLE = 8
OTHER_DEVICE = 0
CPUDEVICE = 1
GPUDEVICE = 2
NPUDEVICE = 3
NO_VALUE = 0
BOOLEAN = 1
INTEGER = 2
UNSIGNED = 3
NUMBER = 4
TEXT = 5
TYPE = 6
LIST = 7
CONCURRENT = 1
IN_PLACE = 2
NODE_UNSUPPORTED = -1
NODE_ANY_GROUP = 0
WHY_OTHER = 0
WHY_OPERATOR = 1
WHY_VERSION = 2
WHY_ATTRIBUTE = 3
WHY_TYPE = 4
WHY_LAYOUT = 5
WHY_SHAPE = 6
WHY_DYNAMIC = 7
WHY_MEMORY = 8
WHY_SLOW = 9
FITS = 0
RECOMPILE = 1
DOES_NOT_FIT = 2
MODEL_CONCURRENT = 1
MODEL_KEEPS_WEIGHTS = 2
MODEL_USES_STREAMS = 4


class MXAccError(Structure):
    _fields_ = [
        ("struct_size", c_size_t),
        ("code", c_int32),
        ("message", c_char_p),
        ("work", c_uint64),
        ("node", c_int64),
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


class MXAccDLTensor(Structure):
    _fields_ = [
        ("data", c_void_p),
        ("device", MXAccDevice),
        ("ndim", c_int32),
        ("dtype", MXAccDataType),
        ("shape", POINTER(c_int64)),
        ("strides", POINTER(c_int64)),
        ("byte_offset", c_uint64),
    ]


class MXAccDimension(Structure):
    _fields_ = [
        ("symbol", c_char_p),
        ("minimum", c_int64),
        ("typical", c_int64),
        ("maximum", c_int64),
    ]


class MXAccTensorInfo(Structure):
    _fields_ = [
        ("struct_size", c_size_t),
        ("flags", c_uint32),
        ("memory", c_int32),
        ("dimensions", POINTER(MXAccDimension)),
        ("content_hash", c_char_p),
        ("file", c_char_p),
        ("file_offset", c_uint64),
        ("scales", POINTER(c_float)),
        ("zero_points", POINTER(c_int64)),
        ("num_scales", c_int32),
        ("scale_axis", c_int32),
    ]


class MXTensor(Structure):
    _fields_ = [
        ("struct_size", c_size_t),
        ("tensor", MXAccDLTensor),
        ("name", c_char_p),
        ("layout", c_char_p),
        ("storage", c_int32),
        ("role", c_int32),
        ("parts", POINTER(MXAccDLTensor)),
        ("num_parts", c_int32),
        ("reserved_number", c_int32),
        ("work", c_uint64),
        ("info", POINTER(MXAccTensorInfo)),
    ]


MXAccLog = CFUNCTYPE(None, c_void_p, c_int32, c_char_p)


class MXAccRuntime(Structure):
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
        ("should_stop", CFUNCTYPE(c_int32, c_void_p, c_void_p)),
        ("progress", CFUNCTYPE(None, c_void_p, c_void_p, c_double)),
        ("retain_weight", CFUNCTYPE(MXAccStatus, c_void_p, POINTER(MXTensor))),
        ("release_weight", CFUNCTYPE(None, c_void_p, c_void_p)),
        ("get_extension", CFUNCTYPE(c_void_p, c_void_p, c_char_p)),
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
        ("kind", c_int32),
        ("memories", c_uint32),
        ("largest", c_uint64),
        ("bus", c_char_p),
    ]


MXAccStream = c_void_p
MXAccEvent = c_void_p


class MXAccAttribute(Structure):
    pass


MXAccAttribute._fields_ = [
    ("struct_size", c_size_t),
    ("name", c_char_p),
    ("json", c_char_p),
    ("kind", c_int32),
    ("dtype", MXAccDataType),
    ("size", c_int64),
    ("integer", c_int64),
    ("number", c_double),
    ("text", c_char_p),
    ("items", POINTER(MXAccAttribute)),
    ("integers", POINTER(c_int64)),
    ("reserved", c_void_p),
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
        ("attrs", POINTER(MXAccAttribute)),
        ("num_attrs", c_int32),
    ]


class MXAccExecutor(Structure):
    _fields_ = [
        ("struct_size", c_size_t),
        ("flags", c_uint32),
        ("state", c_void_p),
        ("workspace_bytes", c_uint64),
        (
            "run",
            CFUNCTYPE(
                MXAccStatus,
                c_void_p,
                POINTER(MXTensor),
                c_int32,
                POINTER(MXTensor),
                c_int32,
                POINTER(MXTensor),
                MXAccStream,
            ),
        ),
        ("free", CFUNCTYPE(None, c_void_p)),
    ]


class MXAccNodeSupport(Structure):
    _fields_ = [
        ("struct_size", c_size_t),
        ("id", c_int32),
        ("why", c_int32),
        ("dtype", MXAccDataType),
        ("cost", c_float),
        ("group_cost", c_float),
        ("byte_cost", c_float),
        ("layout", c_char_p),
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
        ("version", c_int32),
        ("num_inputs", c_int32),
        ("outputs", POINTER(MXTensor)),
        ("num_outputs", c_int32),
        ("reserved_number", c_int32),
        ("onnx", c_void_p),
        ("onnx_size", c_size_t),
    ]


class MXAccOption(Structure):
    _fields_ = [
        ("struct_size", c_size_t),
        ("value", MXAccAttribute),
        ("doc", c_char_p),
        ("choices", c_char_p),
    ]


class MXAccPiece(Structure):
    _fields_ = [
        ("key", c_char_p),
        ("data", c_void_p),
        ("size", c_size_t),
    ]


MXAccTakePiece = CFUNCTYPE(MXAccStatus, c_void_p, POINTER(MXAccPiece))


class MXAccModel(Structure):
    _fields_ = [
        ("struct_size", c_size_t),
        ("flags", c_uint32),
        ("num_in", c_int32),
        ("num_out", c_int32),
        ("reserved_number", c_int32),
        ("state", c_void_p),
        ("inputs", POINTER(MXTensor)),
        ("outputs", POINTER(MXTensor)),
        ("workspace_bytes", c_uint64),
        ("weight_bytes", c_uint64),
        (
            "infer",
            CFUNCTYPE(
                MXAccStatus,
                c_void_p,
                POINTER(MXTensor),
                c_int32,
                POINTER(MXTensor),
                c_int32,
                POINTER(MXTensor),
                MXAccStream,
                c_void_p,
            ),
        ),
        ("unloadModel", CFUNCTYPE(None, c_void_p)),
        (
            "inferShapes",
            CFUNCTYPE(
                MXAccStatus, c_void_p, POINTER(MXTensor), c_int32, POINTER(MXTensor), c_int32
            ),
        ),
        ("updateWeights", CFUNCTYPE(MXAccStatus, c_void_p, POINTER(MXTensor), c_int32)),
        ("exportModel", CFUNCTYPE(MXAccStatus, c_void_p, c_int32, MXAccTakePiece, c_void_p)),
    ]


class MXAccProfileRecord(Structure):
    _fields_ = [
        ("struct_size", c_size_t),
        ("name", c_char_p),
        ("node", c_int64),
        ("work", c_uint64),
        ("stream", MXAccStream),
        ("begin_ns", c_int64),
        ("end_ns", c_int64),
    ]


MXAccProfileSink = CFUNCTYPE(None, c_void_p, POINTER(MXAccProfileRecord))
MXAccEmit = CFUNCTYPE(None, c_void_p, c_char_p, POINTER(c_char), c_size_t)


class MXAccApi(Structure):
    _fields_ = [
        ("struct_size", c_size_t),
        ("abi_major", c_int32),
        ("abi_minor", c_int32),
        ("release", c_char_p),
        ("self", c_void_p),
        ("operator_set_min", c_int32),
        ("operator_set_max", c_int32),
        ("getAccName", CFUNCTYPE(MXAccStatus, c_void_p, POINTER(c_char), c_size_t)),
        ("getNumAcc", CFUNCTYPE(MXAccStatus, c_void_p, POINTER(c_int32))),
        ("initialize", CFUNCTYPE(MXAccStatus, c_void_p, POINTER(MXAccRuntime))),
        ("finalize", CFUNCTYPE(None, c_void_p)),
        ("getDeviceInfo", CFUNCTYPE(MXAccStatus, c_void_p, c_int32, POINTER(MXAccDeviceInfo))),
        (
            "mx_alloc",
            CFUNCTYPE(
                MXAccStatus, c_void_p, c_int32, c_int32, c_size_t, c_size_t, POINTER(c_void_p)
            ),
        ),
        ("mx_free", CFUNCTYPE(None, c_void_p, c_int32, c_void_p)),
        ("mx_releaseAll", CFUNCTYPE(MXAccStatus, c_void_p, c_int32, POINTER(c_size_t))),
        (
            "copyToAcc",
            CFUNCTYPE(
                MXAccStatus,
                c_void_p,
                c_int32,
                POINTER(MXTensor),
                POINTER(MXTensor),
                c_int32,
                MXAccStream,
            ),
        ),
        (
            "copyFromAcc",
            CFUNCTYPE(
                MXAccStatus,
                c_void_p,
                c_int32,
                POINTER(MXTensor),
                POINTER(MXTensor),
                c_int32,
                MXAccStream,
            ),
        ),
        (
            "copyWithinAcc",
            CFUNCTYPE(
                MXAccStatus,
                c_void_p,
                c_int32,
                POINTER(MXTensor),
                POINTER(MXTensor),
                c_int32,
                MXAccStream,
            ),
        ),
        ("createStream", CFUNCTYPE(MXAccStatus, c_void_p, c_int32, POINTER(MXAccStream))),
        ("destroyStream", CFUNCTYPE(None, c_void_p, c_int32, MXAccStream)),
        ("syncStream", CFUNCTYPE(MXAccStatus, c_void_p, c_int32, MXAccStream)),
        ("createEvent", CFUNCTYPE(MXAccStatus, c_void_p, c_int32, POINTER(MXAccEvent))),
        ("destroyEvent", CFUNCTYPE(None, c_void_p, c_int32, MXAccEvent)),
        ("recordEvent", CFUNCTYPE(MXAccStatus, c_void_p, c_int32, MXAccEvent, MXAccStream)),
        ("waitEvent", CFUNCTYPE(MXAccStatus, c_void_p, c_int32, MXAccEvent, MXAccStream)),
        ("supportsImperative", CFUNCTYPE(MXAccStatus, c_void_p, POINTER(c_int32))),
        (
            "accGetExecutor",
            CFUNCTYPE(MXAccStatus, c_void_p, POINTER(MXAccOperator), POINTER(MXAccExecutor)),
        ),
        (
            "supportedOps",
            CFUNCTYPE(
                MXAccStatus, c_void_p, c_int32, POINTER(MXAccGraph), POINTER(MXAccNodeSupport)
            ),
        ),
        (
            "loadModel",
            CFUNCTYPE(
                MXAccStatus,
                c_void_p,
                c_int32,
                POINTER(MXAccGraph),
                POINTER(MXAccAttribute),
                c_int32,
                c_void_p,
                POINTER(MXAccModel),
            ),
        ),
        (
            "listOptions",
            CFUNCTYPE(MXAccStatus, c_void_p, POINTER(POINTER(MXAccOption)), POINTER(c_int32)),
        ),
        ("modelKey", CFUNCTYPE(MXAccStatus, c_void_p, c_int32, POINTER(c_char), c_size_t)),
        ("checkModel", CFUNCTYPE(MXAccStatus, c_void_p, c_int32, c_char_p, POINTER(c_int32))),
        (
            "importModel",
            CFUNCTYPE(
                MXAccStatus,
                c_void_p,
                c_int32,
                c_char_p,
                POINTER(MXAccPiece),
                c_int32,
                POINTER(MXTensor),
                c_int32,
                POINTER(MXAccModel),
            ),
        ),
        (
            "configure",
            CFUNCTYPE(
                MXAccStatus,
                c_void_p,
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
            CFUNCTYPE(
                MXAccStatus, c_void_p, c_int32, c_void_p, c_uint64, c_size_t, MXAccStream, c_uint64
            ),
        ),
        ("profile", CFUNCTYPE(MXAccStatus, c_void_p, c_int32, MXAccProfileSink, c_void_p)),
        ("getExtension", CFUNCTYPE(c_void_p, c_void_p, c_char_p)),
    ]


MXAccGetApi = CFUNCTYPE(MXAccStatus, POINTER(MXAccRuntime), POINTER(MXAccApi))


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
