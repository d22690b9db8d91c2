"""Classes that C++ registers: their description, and descriptors of their fields."""

from __future__ import annotations

from ctypes import POINTER, byref, c_char_p, c_uint32, c_void_p

from .. import protocols
from . import abi
from .arguments import Frame, Rejected
from .errors import check, last_error
from .exclusion import exclusion
from .function import Function
from .objects import ObjectBase, wrap
from .results import borrow, take

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


class Field:
    """A field or property of the objects of a C++ class."""

    __slots__ = ("_doc", "_info", "_where", "type")
    _doc: str | None
    _info: abi.MXNetFieldInfo
    _where: str
    # Type expression of the value; None where it is not described.
    type: str | None

    def __init__(self) -> None:
        raise TypeError("a Field comes from the description of a C++ class")

    @classmethod
    def _of(cls, info: abi.MXNetFieldInfo, key: str) -> Field:
        field = object.__new__(cls)
        field._info = info
        field._where = f"{key}.{info.name.decode()}"
        field.type = _text(info.type)
        field._doc = _text(info.doc)
        return field

    def __get__(self, instance: object, owner: object = None) -> Any:
        if instance is None:
            return self
        value = abi.MXNetAny()
        with exclusion:
            if self._info.getter(self._info.resource, self._handle_of(instance), byref(value)):
                raise last_error()
            # The text is the field's own; setting the field frees it.
            if value.type_code in (abi.STR, abi.BYTES):
                return borrow(value.value, value.type_code)
        return take(value.value, value.type_code)

    def __set__(self, instance: object, value: Any) -> None:
        handle = self._handle_of(instance)
        if self.read_only:
            raise AttributeError(f"{self._where} is read-only")
        given, frame = abi.MXNetAny(), Frame()
        # Read again: converting the value may have given the instance another object.
        check(abi.lib.MXNetObjectRetain(c_void_p(handle)))
        try:
            given.type_code = frame.write(value, given.value)
            with exclusion:
                if self._info.setter(self._info.resource, handle, byref(given)):
                    raise last_error()
        except Rejected as rejection:
            raise rejection.located(self._where) from rejection.__cause__
        finally:
            abi.lib.MXNetObjectFree(c_void_p(handle))

    def __delete__(self, instance: object) -> None:
        raise AttributeError(f"{self._where} cannot be deleted")

    def _handle_of(self, instance: object) -> int:
        if not isinstance(instance, ObjectBase):
            raise TypeError(
                f"{self._where}: expected {self._where.rpartition('.')[0]}, "
                f"got {protocols.type_name(type(instance))}"
            )
        if not instance.handle:
            raise ValueError(
                f"{self._where}: a {protocols.type_name(type(instance))} that holds no object; "
                "its __init__ has not called that of its base"
            )
        return int(instance.handle)

    @property
    def name(self) -> str:
        """Name of the attribute."""
        return self._where.rpartition(".")[2]

    @property
    def __name__(self) -> str:
        return self.name

    @property
    def read_only(self) -> bool:
        """Whether it cannot be set."""
        return not self._info.setter

    @property
    def __doc__(self) -> str | None:  # type: ignore[override]
        return self._doc

    def __repr__(self) -> str:
        return f"<ffi.Field {self._where}>"

    def __reduce__(self) -> Any:
        raise TypeError(f"cannot pickle {self!r}")


def class_info(key: str | int) -> dict[str, Any] | None:
    """The description of a class, by key or type index, as plain values; None where there is none.

    Fields are descriptors of an attribute each, methods are (name, Function, is_static).
    """
    index = c_uint32()
    if isinstance(key, str):
        check(abi.lib.MXNetObjectTypeKey2Index(c_char_p(key.encode()), byref(index)))
    else:
        index.value = key
    out = POINTER(abi.MXNetTypeInfo)()
    check(abi.lib.MXNetObjectGetTypeInfo(index, byref(out)))
    if not out:
        return None
    info = out.contents
    own = info.key.decode()
    return {
        "key": own,
        "doc": info.doc.decode(errors="replace"),
        "type_index": info.type_index,
        "base_index": info.base_index,
        "fields": [Field._of(info.fields[i], own) for i in range(info.num_fields)],
        "methods": [_method(info.methods[i]) for i in range(info.num_methods)],
    }


def _method(info: abi.MXNetMethodInfo) -> tuple[str, Function, bool]:
    check(abi.lib.MXNetObjectRetain(c_void_p(info.func)))
    function = wrap(info.func)
    assert isinstance(function, Function)
    return info.name.decode(), function, bool(info.flags & abi.METHOD_STATIC)


def _text(text: bytes | None) -> str | None:
    return None if text is None else text.decode()
