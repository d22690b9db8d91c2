"""ObjectBase: the owner of one reference to an object of the runtime."""

from __future__ import annotations

from ctypes import byref, c_char_p

from . import abi

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, NoReturn


class ObjectBase:
    """Owns one reference to an object; made by what functions return, never directly."""

    __slots__ = ("__weakref__", "_handle")
    _handle: int

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        raise TypeError(
            f"{type(self).__name__} objects come from functions; they are not made directly"
        )

    def __del__(self, _free: Any = abi.lib.MXNetObjectFree) -> None:
        # A default argument, because module globals may be gone when the interpreter exits.
        handle = getattr(self, "_handle", None)
        if handle is not None:
            _free(handle)

    def __reduce__(self) -> NoReturn:
        # The default would copy the address without taking a reference.
        raise TypeError(f"cannot pickle '{type(self).__name__}' object")

    @property
    def handle(self) -> int:
        """Address of the object."""
        return self._handle

    @property
    def type_index(self) -> int:
        """Number of the object's type."""
        index: int = abi.MXNetObject.from_address(self._handle).type_index
        return index

    @property
    def type_key(self) -> str:
        """Name of the object's type."""
        key = c_char_p()
        known = abi.lib.MXNetObjectTypeIndex2Key(self.type_index, byref(key)) == 0
        return (key.value or b"").decode() if known else "unknown"

    def same_as(self, other: object) -> bool:
        """Whether both are the same object of the runtime."""
        return isinstance(other, ObjectBase) and self._handle == other._handle

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.type_key} at {self._handle:#x}>"


_classes: dict[int, type[ObjectBase]] = {}


def register_object(type_index: int, cls: type[ObjectBase]) -> None:
    """Makes results of a type index instances of cls."""
    if not (isinstance(cls, type) and issubclass(cls, ObjectBase)):
        raise TypeError(f"register_object: expected a subclass of ffi.ObjectBase, got {cls!r}")
    _classes[type_index] = cls


def wrap(handle: int) -> ObjectBase:
    """Takes a reference over into an instance of the class for the object's type."""
    cls = _classes.get(abi.MXNetObject.from_address(handle).type_index, ObjectBase)
    wrapped = object.__new__(cls)
    wrapped._handle = handle
    return wrapped
