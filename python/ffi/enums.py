"""Enums that C++ registered, as Python's own."""

from __future__ import annotations

from . import handed_down
from .registry import get_global_func

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from enum import IntEnum
    from typing import Any

_info = get_global_func("ffi.EnumInfo")
_name = get_global_func("ffi.EnumName")
_names = get_global_func("ffi.EnumNames")

# Every enum class that was made, by name and by the type index that its members travel with.
_by_name: dict[str, type[IntEnum]] = {}
_by_index: dict[int, type[IntEnum]] = {}


def get_enum(name: str) -> type[IntEnum]:
    """The enum that C++ registered under a name by MXNET_REGISTER_ENUM, an enum.IntEnum.

    The same class each time. Functions that take such an enum accept a member, its name or its
    value, and those that return one return members. Raises KeyError where nothing is registered
    under the name.
    """
    if not isinstance(name, str):
        raise TypeError(f"get_enum: argument 0 ('name') expected str, got {type(name).__name__}")
    made = _by_name.get(name)
    return _make(name) if made is None else made


def forget_enums(names: Iterable[str]) -> None:
    """Drops the classes of enums that C++ has registered again; they are made anew on demand."""
    for name in names:
        made = _by_name.pop(name, None)
        if made is not None:
            _by_index.pop(made.__ffi_enum__, None)  # type: ignore[attr-defined]


def list_enum_names() -> list[str]:
    """Names of all enums that C++ registered, sorted."""
    return list(_names())


def member(type_index: int, value: int) -> Any:
    """The member with a value; the plain value where the enum has no such member."""
    made = _by_index.get(type_index)
    if made is None:
        made = get_enum(_name(type_index))
    return made._value2member_map_.get(value, value)


handed_down.enum_member = member


def type_key(index: int) -> str | None:
    """The key that a type index was given to; None for an index that is not given yet."""
    try:
        key: str = _name(index)
    except (KeyError, IndexError, ValueError):
        return None
    return key


def restore_member(name: str, value: int) -> IntEnum:
    """The member that a pickle names."""
    return get_enum(name)(value)


def _make(name: str) -> type[IntEnum]:
    import enum

    try:
        _, index, doc, names, values, docs, _, _ = _info(name)
    except KeyError:
        raise KeyError(f"no enum is registered as {name!r}") from None
    module, _, short = name.rpartition(".")
    members = list(zip(names, values, strict=True))
    make: Any = enum.IntEnum
    made = make(short, members, module=module or "ffi")
    made.__doc__ = doc or f"The enum {name} of C++."
    for member_name, member_doc in zip(names, docs, strict=True):
        if member_doc:
            made[member_name].__doc__ = member_doc
    # By name, since the module that the class names may not exist.
    made.__reduce_ex__ = lambda self, protocol: (restore_member, (name, int(self)))
    made.__ffi_enum__ = index
    # The first thread to make the class wins.
    _by_index[index] = _by_name.setdefault(name, made)
    return _by_name[name]
