"""DLTensors of foreign arrays, and the capsules in which DLPack hands tensors over."""

from __future__ import annotations

from ctypes import (
    CFUNCTYPE,
    POINTER,
    Structure,
    addressof,
    byref,
    c_char_p,
    c_int,
    c_int64,
    c_ssize_t,
    c_void_p,
    cast,
    pointer,
    py_object,
    pythonapi,
)
from functools import cache
from sys import getrefcount

from .. import data_type, protocols
from . import abi
from .errors import check, function_handle
from .interpreter import keep, release_of
from .objects import ObjectBase
from .uninterrupted import uninterrupted

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

_VERSION = (protocols.DLPACK_MAJOR, 1)
_NAME = b"dltensor_versioned"
_LEGACY_NAME = b"dltensor"
_USED_NAMES = {_NAME: b"used_dltensor_versioned", _LEGACY_NAME: b"used_dltensor"}
_READ_ONLY = 1
_IS_COPIED = 2

_Deleter = CFUNCTYPE(None, c_void_p)

_new_capsule = pythonapi.PyCapsule_New
_new_capsule.restype, _new_capsule.argtypes = py_object, (c_void_p, c_char_p, c_void_p)
_capsule_name = pythonapi.PyCapsule_GetName
_capsule_name.restype, _capsule_name.argtypes = c_char_p, (py_object,)
_capsule_pointer = pythonapi.PyCapsule_GetPointer
_capsule_pointer.restype, _capsule_pointer.argtypes = c_void_p, (py_object, c_char_p)
_rename_capsule = pythonapi.PyCapsule_SetName
_rename_capsule.restype, _rename_capsule.argtypes = c_int, (py_object, c_char_p)


def _references_of_popped(objects: list[Any]) -> int:
    popped = objects.pop()
    return getrefcount(popped)


# getrefcount of an object that only one variable refers to: up to Python 3.13 the argument of
# getrefcount counts, too.
_UNSHARED = _references_of_popped([object()])

# Exported capsules whose tensor may not have been taken yet.
_exported: list[Any] = []


# Owners of borrowed arrays that C++ shares, by address: how often, and the owner.
_shared: dict[int, tuple[int, object]] = {}


# Reads the object at an address without a call.
_address = c_void_p()
_object_there = py_object.from_buffer(_address)


def _retain(owner: int) -> None:
    # Without a call: after one the interpreter handles signals, and an exception that Ctrl-C
    # raises here would be lost, and the reference with it.
    if owner in _shared:
        _shared[owner] = _shared[owner][0] + 1, _shared[owner][1]
    else:
        _address.value = owner
        _shared[owner] = 1, _object_there.value


def _release(owner: int) -> None:
    if _shared[owner][0] > 1:
        _shared[owner] = _shared[owner][0] - 1, _shared[owner][1]
    else:
        del _shared[owner]


_retainer = abi.MXNetPackedCFuncFinalizer(uninterrupted(_retain))
_releaser = abi.MXNetPackedCFuncFinalizer(uninterrupted(_release))
_owner_functions = abi.MXNetOwnerFunctions(release_of(_retainer), release_of(_releaser))
keep(_owner_functions)
OWNER_FUNCTIONS = pointer(_owner_functions)


def tensor_of_numpy(array: Any) -> tuple[abi.DLTensor, Any]:
    """The tensor of a numpy.ndarray, and the extents and strides that it points to."""
    dtype = data_type.from_numpy(array.dtype)
    item = array.itemsize
    if any(stride % item for stride in array.strides):
        raise ValueError("has strides that are not multiples of its item size")
    dims = (*array.shape, *(stride // item for stride in array.strides))
    data, _ = array.__array_interface__["data"]
    return _tensor_at(data, dtype, dims)


def _tensor_at(
    data: int | None, dtype: data_type.DataType, dims: tuple[int, ...]
) -> tuple[abi.DLTensor, Any]:
    """A tensor in memory of the CPU; dims are its extents, then its strides in elements."""
    ndim = len(dims) // 2
    numbers = (c_int64 * abi.capacity(len(dims)))(*dims)
    shape = cast(numbers, POINTER(c_int64))
    strides = cast(addressof(numbers) + 8 * ndim, POINTER(c_int64))
    device = abi.DLDevice(abi.DL_CPU, 0)
    return abi.DLTensor(data, device, ndim, abi.DLDataType(*dtype), shape, strides, 0), numbers


class _PyBuffer(Structure):
    _fields_ = [
        ("buf", c_void_p),
        ("obj", c_void_p),
        ("len", c_ssize_t),
        ("itemsize", c_ssize_t),
        ("readonly", c_int),
        ("ndim", c_int),
        ("format", c_void_p),
        ("shape", c_void_p),
        ("strides", c_void_p),
        ("suboffsets", c_void_p),
        ("internal", c_void_p),
    ]


_get_buffer = pythonapi.PyObject_GetBuffer
_get_buffer.restype, _get_buffer.argtypes = c_int, (py_object, POINTER(_PyBuffer), c_int)
_release_buffer = pythonapi.PyBuffer_Release
_release_buffer.restype, _release_buffer.argtypes = None, (POINTER(_PyBuffer),)
# PyBUF_FULL_RO: shape, strides and format, for reading.
_FULL_RO = 0x11C


def tensor_of_buffer(view: memoryview) -> tuple[abi.DLTensor, Any]:
    """The tensor of a buffer, and the object that keeps its memory."""
    dtype = data_type.of_buffer(view)
    if view.suboffsets:
        raise BufferError("is a buffer whose rows lie apart")
    shape, strides = view.shape or (), view.strides or ()
    if any(stride % view.itemsize for stride in strides):
        raise ValueError("has strides that are not multiples of its item size")
    buffer = _PyBuffer()
    _get_buffer(view, byref(buffer), _FULL_RO)
    data = buffer.buf
    # The memoryview keeps its exporter alive.
    _release_buffer(byref(buffer))
    dims = (*shape, *(stride // view.itemsize for stride in strides))
    tensor, numbers = _tensor_at(data, dtype, dims)
    return tensor, (view, numbers)


def lazy_mark(tensor: Any) -> str | None:
    """Why the memory of a tensor, of torch for one, does not hold its values; None where it does.

    torch itself does not export conjugates, but not negatives.
    """
    for mark in ("is_conj", "is_neg"):
        method = getattr(tensor, mark, None)
        if method is not None and method():
            return (
                f"is a tensor whose {mark}() is true, so that its memory does not hold its values; "
                "pass tensor.resolve_conj().resolve_neg()"
            )
    return None


def dlpack_capsule(array: Any) -> Any:
    """The capsule an array exports."""
    # With `copy`, which says that negative strides are understood.
    options = {"copy": None} if isinstance(array, ObjectBase) else {}
    try:
        return array.__dlpack__(max_version=_VERSION, **options)
    except TypeError:
        # The producer is older than the versions of DLPack.
        return array.__dlpack__()


def fault_of(capsule: Any) -> Callable[[str], Exception] | None:
    """The error for a capsule without a tensor that can be taken; None for others."""
    name = _capsule_name(capsule) if type(capsule).__name__ == "PyCapsule" else None
    if name not in _USED_NAMES:
        return lambda where: protocols.no_tensor(capsule, where)
    if name == _NAME:
        managed = abi.DLManagedTensorVersioned.from_address(_capsule_pointer(capsule, name))
        major, minor = managed.version.major, managed.version.minor
        if major != protocols.DLPACK_MAJOR:
            return lambda where: protocols.unknown_version(major, minor, where)
    return None


def tensor_in(capsule: Any, array: Any) -> tuple[abi.DLTensor, bool]:
    """The tensor in a capsule without a fault that an array exported, and if that is read-only."""
    name = _capsule_name(capsule)
    address = _capsule_pointer(capsule, name)
    if name == _LEGACY_NAME:
        tensor = abi.DLManagedTensor.from_address(address).dl_tensor
        return tensor, protocols.denies_writing(array)
    managed = abi.DLManagedTensorVersioned.from_address(address)
    return managed.dl_tensor, bool(managed.flags & _READ_ONLY)


def check_tensor(tensor: abi.DLTensor, where: str) -> None:
    """Raises ValueError or TypeError where a tensor of others cannot be what it says."""
    values, codes = (abi.MXNetValue * 2)(), (c_int * 2)(abi.INT, abi.STR)
    text = c_char_p(where.encode(errors="replace"))
    values[0].v_uint64 = addressof(tensor)
    values[1].v_str.data, values[1].v_str.size = cast(text, c_void_p).value, len(text.value or b"")
    ret, code = abi.MXNetValue(), c_int()
    check(abi.lib.MXNetFuncCall(_checker(), values, codes, 2, byref(ret), byref(code)))


@cache
def _checker() -> c_void_p:
    return function_handle("ffi.check_tensor")


def completed(given: abi.DLTensor) -> tuple[abi.DLTensor, Any]:
    """A tensor that was checked, beginning at its data and with strides, which it points to."""
    tensor = abi.DLTensor.from_buffer_copy(given)
    tensor.data = (tensor.data or 0) + tensor.byte_offset
    tensor.byte_offset = 0
    if tensor.strides:
        return tensor, None
    steps = [1] * tensor.ndim
    for axis in range(tensor.ndim - 1, 0, -1):
        steps[axis - 1] = steps[axis] * max(tensor.shape[axis], 1)
    strides = (c_int64 * abi.capacity(tensor.ndim))(*steps)
    tensor.strides = cast(strides, POINTER(c_int64))
    return tensor, strides


def take_dlpack(array: Any, where: str) -> int:
    """The handle of a new array object that shares the memory of an array with __dlpack__.

    where is what errors call the array.
    """
    mark = lazy_mark(array)
    if mark is not None:
        raise BufferError(f"{where} {mark}")
    capsule = dlpack_capsule(array)
    fault = fault_of(capsule)
    if fault is not None:
        raise fault(where)
    tensor, read_only = tensor_in(capsule, array)
    check_tensor(tensor, where)
    name = _capsule_name(capsule)
    address = _capsule_pointer(capsule, name)
    handle = c_void_p()
    if name == _NAME:
        check(abi.lib.MXNetNDArrayFromDLPack(c_void_p(address), byref(handle)))
    else:
        check(abi.lib.MXNetNDArrayFromDLPackLegacy(c_void_p(address), byref(handle)))
    # From here on the array runs the deleter, which the capsule must not do any more.
    _rename_capsule(capsule, _USED_NAMES[name])
    assert handle.value is not None
    if read_only:
        abi.MXNetNDArrayObject.from_address(handle.value).flags |= abi.NDARRAY_READ_ONLY
    return handle.value


def export(handle: int, versioned: bool, copied: bool) -> Any:
    """A capsule with the tensor of an array object."""
    _release_unused()
    out: Any
    if versioned:
        out = POINTER(abi.DLManagedTensorVersioned)()
        check(abi.lib.MXNetNDArrayToDLPack(c_void_p(handle), byref(out)))
        if copied:
            out.contents.flags |= _IS_COPIED
    else:
        out = POINTER(abi.DLManagedTensor)()
        check(abi.lib.MXNetNDArrayToDLPackLegacy(c_void_p(handle), byref(out)))
    name = _NAME if versioned else _LEGACY_NAME
    capsule = _new_capsule(cast(out, c_void_p), name, None)
    _exported.append(capsule)
    return capsule


def _release_unused() -> None:
    """Frees the tensors in capsules that were dropped without being used.

    A destructor written in Python cannot do it: C code drops a capsule while an exception is set,
    and Python code that runs then replaces that exception by a SystemError.
    """
    global _exported
    capsules, _exported = _exported, []
    while capsules:
        capsule = capsules.pop()
        if getrefcount(capsule) > _UNSHARED:
            if _capsule_name(capsule) in _USED_NAMES:
                _exported.append(capsule)
        elif (name := _capsule_name(capsule)) in _USED_NAMES:
            _delete(_capsule_pointer(capsule, name), name)


def _delete(address: int, name: bytes) -> None:
    kind = abi.DLManagedTensorVersioned if name == _NAME else abi.DLManagedTensor
    deleter = kind.from_address(address).deleter
    if deleter:
        _Deleter(deleter)(address)
