"""Callables of Python as functions that C++ calls."""

from __future__ import annotations

from ctypes import (
    ArgumentError,
    addressof,
    byref,
    c_int,
    c_void_p,
    memmove,
    sizeof,
)
from itertools import count

from .. import protocols
from . import abi
from .arguments import Frame, Rejected, share_functions
from .errors import TOO_DEEP, check, set_last_error
from .function import Function
from .interpreter import INTERPRETER, address
from .objects import wrap_anew
from .registry import get_global
from .results import CALLABLES, borrow, own_into
from .uninterrupted import uninterrupted

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

# Callables that C++ holds, by the number it knows them under.
_bodies: dict[int, Callable[..., Any]] = {}
_numbers = count(1)
# The handle of the function, by the same number, of callables that were arguments.
_handles: dict[int, int] = {}
_set_last_error = abi.lib.MXNetSetLastError


def _call_body(number: int, values: int, codes: int, num_args: int, ret: int, ret_code: int) -> Any:
    try:
        try:
            body = _bodies[number]
            result = body(*_borrow_all(values, codes, num_args))
            _give(result, ret, ret_code, body)
            return 0
        except BaseException as error:
            return _failed(error)
    except (RecursionError, ArgumentError):
        # Too deep to call _failed, and perhaps to call this.
        try:
            return _set_last_error(TOO_DEEP)
        except (RecursionError, ArgumentError):
            return -1
    except BaseException as error:
        # Ctrl-C while the first error was being passed on.
        return _failed(error)


def _borrow_all(values: int, codes: int, count: int) -> list[Any]:
    if not count:
        return []
    run, kinds = abi.array_at(abi.MXNetValue, values, count), abi.array_at(c_int, codes, count)
    return [borrow(run[i], kinds[i]) for i in range(count)]


def _drop_body(number: int) -> None:
    # Without a call, so that Ctrl-C cannot end it half-way; see _Reference.__del__.
    if number in _handles:
        del CALLABLES[_handles[number]]
        del _handles[number]
    del _bodies[number]


# Not as decorators: type checkers lose the type of what these return.
_invoke = abi.MXNetPackedCFunc(uninterrupted(_call_body))
_finalize = abi.MXNetPackedCFuncFinalizer(uninterrupted(_drop_body))


def _failed(error: BaseException) -> int:
    # Drops the entry of _call_body, whose ctypes pointers are invalid by now.
    error.__traceback__ = error.__traceback__ and error.__traceback__.tb_next
    return set_last_error(error)


def _give(result: Any, ret: int, ret_code: int, body: Callable[..., Any]) -> None:
    """Writes what a callback returned as an owned value."""
    value, frame = abi.MXNetValue(), Frame()
    try:
        code = frame.write(result, value)
    except Rejected as rejection:
        raise rejection.located(f"{protocols.callable_name(body)}: result") from rejection.__cause__
    if code in abi.PLAIN_CODES:
        memmove(ret, addressof(value), sizeof(value))
        c_int.from_address(ret_code).value = code
    else:
        own_into(value, code, ret, ret_code)


def convert_function(
    body: Callable[..., Any], name: str | None = None, raw_info: dict[str, Any] | None = None
) -> Function:
    """A Function that calls body. raw_info describes it, in the form of Function._raw_info()."""
    if isinstance(body, Function):
        return body
    if not callable(body):
        raise TypeError(
            "convert_function: argument 0 ('function') expected a callable, "
            f"got {type(body).__name__}"
        )
    number = next(_numbers)
    _bodies[number] = body
    function = _function_of(_INVOKE, _FINALIZE, number, *INTERPRETER)
    assert isinstance(function, Function)
    if name is not None or raw_info is not None:
        _describe(function.handle, raw_info or {"name": name})
    return function


def share_function(body: Callable[..., Any]) -> Function:
    """The Function of a callable that is an argument, which comes back as the callable itself.

    As long as C++ holds one of this callable, it is the same function.
    """
    number = next(_numbers)
    _bodies[number] = body
    given = (_INVOKE, _FINALIZE, number, *INTERPRETER, id(body))
    # Called below Function, which would return the callable in place of the function.
    values, codes = (abi.MXNetValue * len(given))(), (c_int * len(given))()
    for value, one in zip(values, given, strict=True):
        value.v_uint64 = one
    ret, code = abi.MXNetValue(), c_int(abi.NULL)
    maker = c_void_p(_function_of.handle)
    check(abi.lib.MXNetFuncCall(maker, values, codes, len(given), byref(ret), byref(code)))
    # Stored by each thread that made it: another may not have got here yet.
    CALLABLES[ret.v_handle] = body
    if number in _bodies:
        _handles[number] = ret.v_handle
    return wrap_anew(Function, ret.v_handle)


def _describe(handle: int, raw: dict[str, Any]) -> None:
    frame = Frame()
    given = raw.get("params", ())
    params = (abi.MXNetParamInfo * abi.capacity(len(given)))()
    roles = raw.get("roles") or [0] * len(given)
    for param, role, (name, kind, doc, flags, default) in zip(params, roles, given, strict=False):
        param.name, param.type, param.doc = _utf8(name), _utf8(kind), _utf8(doc)
        param.flags, param.role = flags, role
        any_value = param.default_value
        any_value.type_code = frame.write(default, any_value.value)
    info = abi.MXNetFuncInfo(
        sizeof(abi.MXNetFuncInfo),
        abi.RUNTIME_ABI_MAJOR,
        0,
        _utf8(raw["name"]),
        _utf8(raw.get("doc")),
        _utf8(raw.get("returns")),
        _utf8(raw.get("file")),
        raw.get("line", 0),
        bool(raw.get("described", False)),
        params,
        len(given),
        raw.get("release_lock_bytes", -1),
        None,
        0,
    )
    check(abi.lib.MXNetFuncSetInfo(c_void_p(handle), byref(info)))


def _utf8(text: str | None) -> bytes | None:
    return None if text is None else text.encode()


_INVOKE, _FINALIZE = address(_invoke), address(_finalize)

_maker = get_global("ffi.function_of")
_closer = get_global("ffi.close_entrance")
assert _maker is not None and _closer is not None
_function_of = _maker
close_entrance: Callable[[], None] = _closer
share_functions(share_function)
