"""Tagged C values as Python values."""

from __future__ import annotations

from ctypes import addressof, byref, c_int, c_int64, c_void_p

from .. import data_type, handed_down
from . import abi
from .context import context_of
from .errors import check, function_handle, object_at, object_of
from .objects import wrap

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any


_CONVERT = function_handle("ffi.convert")


def own_into(value: abi.MXNetValue, code: int, ret: int, ret_code: int) -> None:
    """Writes a copy that owns what a borrowed value points to, into the addresses of a result."""
    arguments = byref(value), byref(c_int(code)), 1
    result = c_void_p(ret), c_void_p(ret_code)
    check(abi.lib.MXNetFuncCall(_CONVERT, *arguments, *result))


def own(value: Any, code: int) -> Any:
    """The Python value of a copy of a borrowed value."""
    ret, ret_code = abi.MXNetValue(), c_int(abi.NULL)
    own_into(value, code, addressof(ret), addressof(ret_code))
    return take(ret, ret_code.value)


def take(value: Any, code: int) -> Any:
    """The Python value of an owned MXNetValue, whose reference it takes over."""
    reader = _READERS.get(code)
    if reader is not None:
        return reader(value)
    if code in abi.OBJECT_CODES:
        return _object(value.v_handle, owned=True)
    raise _unknown(code)


def borrow(value: Any, code: int) -> Any:
    """The Python value of an MXNetValue that stays somebody else's."""
    if code in abi.OBJECT_CODES:
        return _object(value.v_handle, owned=False)
    reader = _READERS.get(code) or _BORROWED_READERS.get(code)
    if reader is None:
        raise _unknown(code)
    return reader(value)


# Callables that were arguments, by the handle of the function that was made of each.
CALLABLES: dict[int, Any] = {}


def take_as(value: Any, code: int, cls: Any, maker: Callable[[Any], Any] | None) -> Any:
    """Like take, with arrays converted by maker to instances of cls."""
    try:
        return _borrow_as(value, code, cls, maker)
    finally:
        if code in abi.OBJECT_CODES:
            abi.lib.MXNetObjectFree(c_void_p(value.v_handle))


def _borrow_as(value: Any, code: int, cls: Any, maker: Callable[[Any], Any] | None) -> Any:
    handle = value.v_handle
    if code == abi.OBJECT_HANDLE:
        sequence = abi.MXNetSeqObject.from_address(handle)
        if sequence.header.type_index == abi.OBJECT_TUPLE:
            items = abi.array_at(abi.MXNetAny, sequence.items.data, sequence.items.size)
            numbers = range(sequence.items.size)
            return tuple(
                _borrow_as(items[i].value, items[i].type_code, cls, maker) for i in numbers
            )
    made = borrow(value, code)
    if code != abi.NDARRAY_HANDLE or isinstance(made, cls):
        return made
    if host_of(handle) is not None:
        # An array of its own, since the peer is no instance of cls.
        made = wrap(_view_of(handle))
    return made if maker is None else maker(made)


def _view_of(handle: int) -> int:
    tensor, out = abi.MXNetNDArrayObject.from_address(handle).tensor, c_void_p()
    whole = (c_void_p(tensor.data), tensor.shape, tensor.strides, tensor.ndim, tensor.dtype)
    check(abi.lib.MXNetNDArrayView(c_void_p(handle), *whole, byref(out)))
    assert out.value is not None
    return out.value


def _unknown(code: int) -> TypeError:
    return TypeError(f"a value with type code {code} has no Python counterpart")


def _ints_of(run: Any) -> list[int]:
    return abi.array_at(c_int64, run.data, run.size)[: run.size] if run.size else []


def _items_of(run: Any) -> list[Any]:
    if not run.size:
        return []
    items = abi.array_at(abi.MXNetAny, run.data, run.size)
    return [borrow(items[i].value, items[i].type_code) for i in range(run.size)]


def _dict_of(run: Any) -> dict[Any, Any]:
    flat = iter(_items_of(run))
    return dict(zip(flat, flat, strict=True))


def _data_type(value: Any) -> Any:
    return data_type.to_numpy((value.v_type.code, value.v_type.bits, value.v_type.lanes))


def _copied_tensor(value: Any) -> Any:
    """A copy of a borrowed tensor, which lives for the call only."""
    return own(value, abi.ARRAY_HANDLE)


def _borrowed_array(value: Any) -> Any:
    """The borrowed array of Python, or an array that shares memory of another owner."""
    peer = abi.MXNetBorrowedTensor.from_address(value.v_handle).peer
    if peer:
        return object_at(peer)
    return own(value, abi.BORROWED_ARRAY)


def host_of(handle: int) -> Any:
    """The owner an array was borrowed from, which it keeps alive; None where it was not."""
    array = abi.MXNetNDArrayObject.from_address(handle)
    return object_at(array.header.peer) if array.flags & abi.NDARRAY_HAS_PEER else None


def _object(handle: int | None, owned: bool) -> Any:
    if handle is None:
        return None
    index = abi.MXNetObject.from_address(handle).type_index
    reader = _OBJECT_READERS.get(index)
    if index == abi.OBJECT_NDARRAY and host_of(handle) is not None:
        reader = host_of
    elif index == abi.OBJECT_FUNCTION and handle in CALLABLES:
        reader = CALLABLES.__getitem__
    if reader is None:
        if not owned:
            abi.lib.MXNetObjectRetain(c_void_p(handle))
        return wrap(handle)
    try:
        return reader(handle)
    finally:
        if owned:
            abi.lib.MXNetObjectFree(c_void_p(handle))


def _at(kind: Any, handle: int) -> Any:
    return kind.from_address(handle)


def _bytes(handle: int) -> bytes:
    return abi.bytes_of(_at(abi.MXNetBytesObject, handle).bytes)


if TYPE_CHECKING:
    Reader = Callable[[Any], Any]

_READERS: dict[int, Reader] = {
    abi.INT: lambda value: value.v_int64,
    abi.UINT: lambda value: value.v_uint64,
    abi.FLOAT: lambda value: value.v_float64,
    abi.HANDLE: lambda value: value.v_handle,
    abi.NULL: lambda value: None,
    abi.TYPE: _data_type,
    abi.CONTEXT: lambda value: context_of(value.v_ctx),
    abi.ENUM: lambda value: handed_down.enum_member(value.v_enum.type_index, value.v_enum.value),
    abi.BOOL: lambda value: value.v_int64 != 0,
    abi.COMPLEX: lambda value: complex(*value.v_complex),
}

_BORROWED_READERS: dict[int, Reader] = {
    abi.STR: lambda value: abi.bytes_of(value.v_str).decode(),
    abi.BYTES: lambda value: abi.bytes_of(value.v_str),
    abi.INT_TUPLE: lambda value: tuple(_ints_of(value.v_ints)),
    abi.INT_LIST: lambda value: _ints_of(value.v_ints),
    abi.TUPLE: lambda value: tuple(_items_of(value.v_seq)),
    abi.LIST: lambda value: _items_of(value.v_seq),
    abi.DICT: lambda value: _dict_of(value.v_seq),
    abi.ARRAY_HANDLE: _copied_tensor,
    abi.READ_ONLY_ARRAY: _copied_tensor,
    abi.BORROWED_ARRAY: _borrowed_array,
}

_OBJECT_READERS: dict[int, Reader] = {
    abi.OBJECT_STRING: lambda handle: _bytes(handle).decode(),
    abi.OBJECT_BYTES: lambda handle: _bytes(handle),
    abi.OBJECT_SHAPE: lambda handle: tuple(_ints_of(_at(abi.MXNetShapeObject, handle).ints)),
    abi.OBJECT_TUPLE: lambda handle: tuple(_items_of(_at(abi.MXNetSeqObject, handle).items)),
    abi.OBJECT_OPAQUE: object_of,
}
