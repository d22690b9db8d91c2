"""Tensors made by hand, in DLPack's capsules: what no producer should export, and some do."""

import ctypes

from ffi._ctypes import abi

_new_capsule = ctypes.pythonapi.PyCapsule_New
_new_capsule.restype = ctypes.py_object
_new_capsule.argtypes = ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p
FLOAT32 = (2, 32, 1)


class Tensor:
    """Exports, by DLPack's protocol, exactly what it is told to, whether that can be or not."""

    def __init__(self, shape, strides=None, ndim=None, data=..., dtype=FLOAT32, offset=0):
        self.memory = (ctypes.c_float * 16)(*range(16))
        self.tensor = abi.DLTensor(
            ctypes.addressof(self.memory) if data is ... else data,
            abi.DLDevice(abi.DL_CPU, 0),
            len(shape or ()) if ndim is None else ndim,
            abi.DLDataType(*dtype),
            None if shape is None else (ctypes.c_int64 * len(shape))(*shape),
            None if strides is None else (ctypes.c_int64 * len(strides))(*strides),
            offset,
        )
        version = abi.DLPackVersion(1, 0)
        self.managed = abi.DLManagedTensorVersioned(version, None, None, 0, self.tensor)
        self.legacy = abi.DLManagedTensor(self.tensor, None, None)
        # What C++ still holds when the program ends is read until then.
        _kept.append(self)

    def __dlpack_device__(self):
        return abi.DL_CPU, 0

    def __dlpack__(self, **options):
        name, managed = b"dltensor_versioned", self.managed
        if "max_version" not in options:
            name, managed = b"dltensor", self.legacy
        return _new_capsule(ctypes.addressof(managed), name, None)


class LegacyTensor(Tensor):
    """The same from before DLPack had versions."""

    def __dlpack__(self):
        return Tensor.__dlpack__(self)


_kept = []
HUGE = 2**40
BYTES = "which is more than 2**63 - 1 bytes"
REACH = "which reaches beyond the address space"
LARGE = 2**64 - 16

# What is wrong, by what it is: the arguments of Tensor, and what the message says after the name.
HOSTILE = {
    "negative ndim": ({"shape": None, "ndim": -1}, "has -1 axes, expected 0 to 64"),
    "ndim of 65": ({"shape": (1,) * 65}, "has 65 axes, expected 0 to 64"),
    "ndim of 1000": ({"shape": (1,), "ndim": 1000}, "has 1000 axes, expected 0 to 64"),
    "largest ndim": ({"shape": (1,), "ndim": 2**31 - 1}, f"has {2**31 - 1} axes, expected 0 to 64"),
    "no shape": ({"shape": None, "ndim": 2}, "has 2 axes and no shape"),
    "no memory": ({"shape": (3,), "data": None}, "has shape (3,) and no memory"),
    "no memory of a number": ({"shape": (), "data": None}, "has shape () and no memory"),
    "negative extent": (
        {"shape": (2, -3)},
        "has shape (2, -3), expected extents that are not negative",
    ),
    "smallest extent": (
        {"shape": (-(2**63),)},
        f"has shape ({-(2**63)},), expected extents that are not negative",
    ),
    "extents whose product wraps to 0": (
        {"shape": (HUGE, HUGE), "strides": (0, 0)},
        f"has shape ({HUGE}, {HUGE}) and data type float32, {BYTES}",
    ),
    "bytes that wrap": (
        {"shape": (2**62,), "strides": (0,)},
        f"has shape ({2**62},) and data type float32, {BYTES}",
    ),
    "extents beside one of 0": (
        {"shape": (0, HUGE, HUGE)},
        f"has shape (0, {HUGE}, {HUGE}) and data type float32, {BYTES}",
    ),
    "strides whose bytes wrap": (
        {"shape": (1, 2), "strides": (2**62, 1)},
        f"has shape (1, 2), strides ({2**62}, 1) and offset 0, {REACH}",
    ),
    "strides whose reach wraps": (
        {"shape": (9,), "strides": (2**60,)},
        f"has shape (9,), strides ({2**60},) and offset 0, {REACH}",
    ),
    "strides below address 0": (
        {"shape": (3,), "strides": (-(2**48),)},
        f"has shape (3,), strides ({-(2**48)},) and offset 0, {REACH}",
    ),
    "offset that wraps": (
        {"shape": (3,), "offset": LARGE},
        f"has shape (3,) and offset {LARGE}, {REACH}",
    ),
    "data at the end of memory": (
        {"shape": (9,), "strides": (1,), "data": LARGE},
        f"has shape (9,), strides (1,) and offset 0, {REACH}",
    ),
    "no bits": (
        {"shape": (3,), "dtype": (2, 0, 1)},
        "has elements of dtype(code=2, bits=0, lanes=1), expected whole bytes",
    ),
    "bits of no byte": (
        {"shape": (3,), "dtype": (0, 4, 1)},
        "has elements of dtype(code=0, bits=4, lanes=1), expected whole bytes",
    ),
    "no lanes": (
        {"shape": (3,), "dtype": (2, 32, 0)},
        "has elements of dtype(code=2, bits=32, lanes=0), expected whole bytes",
    ),
}
# What is odd, and all right: the arguments, and the bytes that are read.
SOUND = {
    "no axes": ({"shape": None, "ndim": 0}, (0.0,)),
    "offset": ({"shape": (2,), "offset": 4}, (1.0, 2.0)),
    "backwards": ({"shape": (3,), "strides": (-1,), "offset": 8}, (2.0, 1.0, 0.0)),
    "stride of 0": ({"shape": (2,), "strides": (0,)}, (0.0, 0.0)),
    "steps": ({"shape": (2, 2), "strides": (4, 2)}, (0.0, 2.0, 4.0, 6.0)),
    "empty without memory": ({"shape": (0, 3), "data": None}, ()),
    "empty": ({"shape": (3, 0, 2)}, ()),
    "64 axes": ({"shape": (1,) * 63 + (2,)}, (0.0, 1.0)),
    "row-major without strides": ({"shape": (2, 3)}, tuple(map(float, range(6)))),
}
