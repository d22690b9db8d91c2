"""Rejects subinterpreters: a process has one runtime, which belongs to the main interpreter."""

from __future__ import annotations

MESSAGE = (
    "ffi works in the main interpreter only: what C++ registers and calls back belongs to the "
    "whole process, which a subinterpreter shares; use threads or processes instead"
)


def check_main_interpreter() -> None:
    """Raises ImportError in a subinterpreter."""
    from ctypes import c_int64, c_void_p, pythonapi

    current = pythonapi.PyInterpreterState_Get
    current.restype = c_void_p
    number = pythonapi.PyInterpreterState_GetID
    number.restype = c_int64
    number.argtypes = [c_void_p]
    if number(current()) != 0:
        raise ImportError(MESSAGE)
