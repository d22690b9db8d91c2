"""How threads of C++ enter the interpreter, which they may outlive."""

from __future__ import annotations

from ctypes import byref, c_int, c_void_p, cast, py_object, pythonapi

from . import abi

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def address(function: Any) -> int | None:
    """The address of a C function."""
    return cast(function, c_void_p).value


# What C++ needs to enter, and to learn that it is too late.
INTERPRETER = tuple(
    address(function)
    for function in (
        pythonapi.Py_IsInitialized,
        pythonapi.PyGILState_GetThisThreadState,
        pythonapi.PyGILState_Ensure,
        pythonapi.PyGILState_Release,
    )
)


def release_of(function: Any) -> int | None:
    """The address of a C function that calls `function`, a finalizer, from any thread, and does
    nothing where the interpreter ends: to enter it would crash."""
    # Below Function and errors, which need what this makes.
    maker = c_void_p()
    found = abi.lib.MXNetFuncGetGlobal(b"ffi.release_of", byref(maker))
    given = (address(function), *INTERPRETER)
    values, codes = (abi.MXNetValue * len(given))(), (c_int * len(given))()
    for value, number in zip(values, given, strict=True):
        value.v_uint64 = number
    ret, code = abi.MXNetValue(), c_int(abi.NULL)
    status = abi.lib.MXNetFuncCall(maker, values, codes, len(given), byref(ret), byref(code))
    assert (found, status) == (0, 0)
    return int(ret.v_uint64)


def keep(one: Any) -> None:
    """Has an object outlive the interpreter, with what it refers to: C++ does, and looks there."""
    pythonapi.Py_IncRef(py_object(one))
