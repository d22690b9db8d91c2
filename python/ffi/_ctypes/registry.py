"""The global registry of functions."""

from __future__ import annotations

from ctypes import POINTER, byref, c_char_p, c_int, c_void_p

from . import abi
from .errors import check
from .function import Function
from .objects import wrap


def get_global(name: str) -> Function | None:
    """The registered function of a name, None where there is none."""
    out = c_void_p()
    check(abi.lib.MXNetFuncGetGlobal(name.encode(), byref(out)))
    if out.value is None:
        return None
    function = wrap(out.value)
    assert isinstance(function, Function)
    return function


def register_global(name: str, function: Function, override: bool) -> None:
    """Registers a function; ValueError where the name is taken and not to be overridden."""
    check(abi.lib.MXNetFuncRegisterGlobal(name.encode(), c_void_p(function.handle), override))


def remove_global(name: str) -> None:
    """Removes a name; KeyError where it is not registered."""
    check(abi.lib.MXNetFuncRemoveGlobal(name.encode()))


def list_global_names() -> list[str]:
    """All registered names, sorted."""
    size, names = c_int(), POINTER(c_char_p)()
    check(abi.lib.MXNetFuncListGlobalNames(byref(size), byref(names)))
    return [(names[i] or b"").decode() for i in range(size.value)]
