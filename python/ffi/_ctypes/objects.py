"""ObjectBase: the owner of one reference to an object of the runtime."""

from __future__ import annotations

import sys
from ctypes import byref, c_char_p, c_void_p
from weakref import ref

from .. import protocols
from . import abi
from .errors import check
from .exclusion import exclusion
from .uninterrupted import uninterrupted

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any, TypeVar

    T = TypeVar("T", bound="ObjectBase")


class _Reference:
    """One reference to an object of the runtime.

    The wrapper holds it, so the object is freed when nobody can find the wrapper any more.
    """

    __slots__ = ("_finish", "_handle", "wrapper")
    # An iterator whose only step frees the object.
    _finish: Iterator[int]
    # The weak reference to the wrapper in _wrappers.
    wrapper: ref[ObjectBase] | None

    def __init__(self, handle: int) -> None:
        self.wrapper = None
        self._handle = handle
        self._finish = map(abi.lib.MXNetObjectFree, (c_void_p(handle),))

    @uninterrupted
    def __del__(self) -> None:
        # Without a call: after one the interpreter handles signals, and an exception that Ctrl-C
        # raises here would be lost.
        try:
            if _HAS_GIL and self._handle in _wrappers and _wrappers[self._handle] is self.wrapper:
                del _wrappers[self._handle]
            (_,) = self._finish
        except AttributeError:
            pass  # interrupted before it got the reference


class ObjectBase:
    """Owns one reference to an object, and is the one wrapper that does."""

    __slots__ = ("__weakref__", "_handle", "_reference")
    _handle: int
    _reference: _Reference

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        raise TypeError(
            f"{type(self).__name__} objects come from functions; they are not made directly"
        )

    def __reduce__(self) -> Any:
        # The default would copy the address without taking a reference.
        raise TypeError(f"cannot pickle '{type(self).__name__}' object")

    @property
    def handle(self) -> int:
        """Address of the object; 0 in an instance that was made without one."""
        return getattr(self, "_handle", 0)

    @property
    def type_index(self) -> int:
        """Number of the object's type."""
        if not self.handle:
            return 0
        index: int = abi.MXNetObject.from_address(self.handle).type_index
        return index

    @property
    def type_key(self) -> str:
        """Name of the object's type."""
        key = c_char_p()
        known = abi.lib.MXNetObjectTypeIndex2Key(self.type_index, byref(key)) == 0
        return (key.value or b"").decode() if known else "unknown"

    def same_as(self, other: object) -> bool:
        """Whether both are the same object of the runtime."""
        return isinstance(other, ObjectBase) and self.handle == other.handle

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.type_key} at {self.handle:#x}>"


_classes: dict[int, type[ObjectBase]] = {}


def register_object(type_index: int, cls: type[ObjectBase]) -> None:
    """Wraps results whose object has this type index in cls, a subclass of ObjectBase.

    Raises TypeError for what is no int or no such class, ValueError where no type has the index.
    """
    protocols.check_registration(type_index, cls, ObjectBase)
    check(abi.lib.MXNetObjectTypeIndex2Key(type_index, byref(c_char_p())))
    _classes[type_index] = cls


# Makes the class of a type index when the first object of it appears.
_class_factory: Callable[[int], type[ObjectBase]] | None = None


def set_class_factory(factory: Callable[[int], type[ObjectBase]]) -> None:
    """Sets what makes the Python class of a type index that has none yet."""
    global _class_factory
    _class_factory = factory


def _class_of(type_index: int) -> type[ObjectBase]:
    cls = _classes.get(type_index)
    if cls is not None:
        return cls
    if type_index < abi.OBJECT_DYNAMIC or _class_factory is None:
        return ObjectBase
    # Another thread may have registered one meanwhile.
    return _classes.setdefault(type_index, _class_factory(type_index))


# The wrapper of each object that has one; the slot in the object is for the Cython path.
# Weak references without callbacks, which would be Python code that Ctrl-C can interrupt.
_wrappers: dict[int, ref[ObjectBase]] = {}
# Entries of wrappers that are gone stay until there are too many: without the GIL another thread
# could replace an entry while it is being removed.
_HAS_GIL: bool = getattr(sys, "_is_gil_enabled", lambda: True)()
_MIN_SWEPT = 1024
_sweep_at = _MIN_SWEPT


def _wrapper_of(handle: int) -> ObjectBase | None:
    found = _wrappers.get(handle)
    wrapped = None if found is None else found()
    # A wrapper may hold another object by now, and this be a new one at the old address.
    return wrapped if wrapped is not None and wrapped._handle == handle else None


def wrap(handle: int) -> ObjectBase:
    """Takes a reference over into the object's wrapper, of the class for the object's type."""
    wrapped = _wrapper_of(handle)
    if wrapped is None:
        try:
            cls = _class_of(abi.MXNetObject.from_address(handle).type_index)
        except BaseException:
            abi.lib.MXNetObjectFree(c_void_p(handle))
            raise
        with exclusion:
            # Another thread may have made the wrapper meanwhile.
            wrapped = _wrapper_of(handle)
            if wrapped is None:
                wrapped = wrap_anew(cls, handle)
                _set_wrapper(handle, wrapped)
                return wrapped
    abi.lib.MXNetObjectFree(c_void_p(handle))
    return wrapped


def _set_wrapper(handle: int, wrapped: ObjectBase) -> None:
    """With exclusion held."""
    global _sweep_at
    if len(_wrappers) >= _sweep_at:
        for address, weak in list(_wrappers.items()):
            if weak() is None:
                del _wrappers[address]
        _sweep_at = max(_MIN_SWEPT, 2 * len(_wrappers))
    wrapped._reference.wrapper = weak = ref(wrapped)
    _wrappers[handle] = weak


def adopt(target: ObjectBase, source: ObjectBase) -> None:
    """Makes target, in place of source, the wrapper of the object of source."""
    former = getattr(target, "_reference", None)
    if former is not None and target.type_index == abi.OBJECT_NDARRAY:
        raise TypeError(f"a {type(target).__name__} that has an array keeps it")
    check(abi.lib.MXNetObjectRetain(c_void_p(source.handle)))
    target._reference = _Reference(source._handle)
    target._handle = source._handle
    with exclusion:
        _set_wrapper(target._handle, target)
    del former


def wrap_anew(cls: type[T], handle: int) -> T:
    """Takes a reference over into a new instance of cls, which is not the object's wrapper."""
    wrapped = object.__new__(cls)
    wrapped._handle = handle
    wrapped._reference = _Reference(handle)
    return wrapped
