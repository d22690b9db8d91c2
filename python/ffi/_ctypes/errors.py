"""Errors in both directions: the last error of C as an exception, and an exception as that."""

from __future__ import annotations

import builtins
from ctypes import (
    addressof,
    byref,
    c_char_p,
    c_void_p,
    py_object,
    sizeof,
)
from types import FunctionType, TracebackType

from . import abi
from .interpreter import keep, release_of
from .uninterrupted import uninterrupted

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import FrameType

_MAX_CACHED_FRAMES = 1024

_classes: dict[str, type[BaseException]] = {}
_kinds: dict[type[BaseException], str] = {}
_frames: dict[tuple[str, str, int], FrameType] = {}
# Python objects that C code holds, by the address it knows them under.
_payloads: dict[int, tuple[abi.MXNetOpaqueObject, object]] = {}
keep(_payloads)


def set_error_class(kind: str, cls: type[BaseException]) -> None:
    """Makes errors of a kind come out as cls, and exceptions of cls travel under that kind."""
    _classes[kind] = cls
    _kinds[cls] = kind


def _address_of(text: c_char_p) -> int | None:
    return c_void_p.from_buffer(text).value


# The error of a callback that failed too deep in the stack to describe it.
_DEEP_TEXT = c_char_p(b"maximum recursion depth exceeded in a callback")
_DEEP = abi.MXNetErrorInfo(
    struct_size=sizeof(abi.MXNetErrorInfo),
    kind=b"RecursionError",
    message=abi.MXNetByteArray(_address_of(_DEEP_TEXT), len(_DEEP_TEXT.value or b"")),
)
TOO_DEEP = byref(_DEEP)


def check(status: int) -> None:
    """Raises the last error if a C function returned a failure."""
    if status:
        raise last_error()


def function_handle(name: str) -> c_void_p:
    """The handle of a function that the runtime has registered, for calls without a Function."""
    handle = c_void_p()
    check(abi.lib.MXNetFuncGetGlobal(name.encode(), byref(handle)))
    return handle


def last_error() -> BaseException:
    """Takes this thread's last error as an exception whose traceback names the C++ functions."""
    info = abi.lib.MXNetGetLastError().contents
    if not info.kind:
        # No error was set: the callback had no stack left; see TOO_DEEP.
        return RecursionError("maximum recursion depth exceeded in a callback")
    # Read first: the class of the error may call functions that fail, which replaces info.
    entries = [_entry_of(info.frames[index]) for index in range(info.num_frames)]
    error = _payload_of(info) or _make(
        (info.kind or b"").decode(errors="replace"),
        abi.bytes_of(info.message).decode(errors="replace"),
    )
    traceback = error.__traceback__
    if any(isinstance(entry, int) for entry in entries):
        from ..backtrace import source_locations

        entries = list(source_locations(entries))
    for entry in entries:
        if not isinstance(entry, int):
            traceback = TracebackType(traceback, _frame(*entry), -1, entry[2])
    # The thread would otherwise keep the exception, and all that its traceback holds, alive.
    abi.lib.MXNetSetLastError(None)
    return error.with_traceback(traceback)


def _entry_of(frame: abi.MXNetErrorFrame) -> tuple[str, str, int] | int:
    """File, function and line; or an address, from which they can be found."""
    if not frame.file and not frame.line and frame.function[:2] == b"0x":
        return int(frame.function, 16)
    file = (frame.file or b"<unknown>").decode(errors="replace")
    function = (frame.function or b"<unknown>").decode(errors="replace")
    return file, function, max(frame.line, 1)


def set_last_error(error: BaseException) -> int:
    """Makes an exception this thread's last error; returns the -1 that says so."""
    try:
        message = str(error).encode(errors="backslashreplace")
    except Exception as failure:
        message = f"<str() of the exception failed: {type(failure).__name__}>".encode()
    text = c_char_p(message)
    payload = new_opaque(error)
    info = abi.MXNetErrorInfo(
        struct_size=sizeof(abi.MXNetErrorInfo),
        kind=_kind_of(type(error)).encode(),
        message=abi.MXNetByteArray(_address_of(text), len(message)),
        payload=payload,
    )
    abi.lib.MXNetSetLastError(byref(info))
    abi.lib.MXNetObjectFree(c_void_p(payload))
    return -1


def object_of(opaque: int) -> object:
    """The Python object that an MXNetOpaqueObject stands for."""
    return object_at(abi.MXNetOpaqueObject.from_address(opaque).value)


def object_at(address: int) -> object:
    """The Python object at an address."""
    return py_object.from_buffer(c_void_p(address)).value


def _payload_of(info: abi.MXNetErrorInfo) -> BaseException | None:
    if not info.payload:
        return None
    if abi.MXNetObject.from_address(info.payload).type_index != abi.OBJECT_OPAQUE:
        return None
    payload = object_of(info.payload)
    return payload if isinstance(payload, BaseException) else None


def _make(kind: str, message: str) -> BaseException:
    cls = _classes.get(kind) or getattr(builtins, kind, None)
    if isinstance(cls, type) and issubclass(cls, BaseException):
        try:
            return cls(message)
        except Exception:
            # Classes such as UnicodeDecodeError take more than a message.
            pass
    return RuntimeError(f"{kind}: {message}" if kind else message)


def _kind_of(cls: type[BaseException]) -> str:
    for base in cls.__mro__:
        if base in _kinds:
            return _kinds[base]
        if base.__module__ == "builtins":
            return base.__name__
    return "RuntimeError"


def _entry() -> Iterator[None]:
    yield


def _frame(file: str, function: str, line: int) -> FrameType:
    """A frame that says it is in a C++ function.

    The frame of a generator that has not started refers to no other frame, so it keeps nothing
    alive and serves every traceback with this entry.
    """
    key = (file, function, line)
    frame = _frames.get(key)
    if frame is None:
        if len(_frames) >= _MAX_CACHED_FRAMES:
            _frames.clear()
        code = _entry.__code__.replace(co_filename=file, co_name=function, co_firstlineno=line)
        frame = _frames[key] = FunctionType(code, {})().gi_frame
    return frame


def _delete_payload(address: int) -> None:
    del _payloads[address]


_deleter = abi.MXNetPackedCFuncFinalizer(uninterrupted(_delete_payload))
_DELETER = release_of(_deleter)


def new_opaque(value: object) -> int:
    """A new object that stands for a Python object; its one reference is the caller's."""
    opaque = abi.MXNetOpaqueObject(
        header=abi.MXNetObject(1, abi.OBJECT_OPAQUE, _DELETER), value=id(value)
    )
    address = addressof(opaque)
    _payloads[address] = (opaque, value)
    return address
