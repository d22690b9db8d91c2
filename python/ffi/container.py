"""Array and Map: the containers that C++ returns, as a Sequence and a Mapping."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from ._backend import core
from .registry import get_global_func

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, SupportsIndex, TypeVar

    T = TypeVar("T", covariant=True)
    K = TypeVar("K")
    V = TypeVar("V", covariant=True)

_ARRAY_INDEX = 7
_MAP_INDEX = 8

_make_array = get_global_func("ffi.Array")
_array_size = get_global_func("ffi.ArraySize")
_array_item = get_global_func("ffi.ArrayItem")
_make_map = get_global_func("ffi.Map")
_map_size = get_global_func("ffi.MapSize")
_map_find = get_global_func("ffi.MapFind")
_map_item = get_global_func("ffi.MapItem")


class _ArrayType(type(Sequence)):  # type: ignore[misc]
    def __call__(cls, items: Any = ()) -> Any:
        return _make_array(list(items))


class Array(core.ObjectBase, Sequence["T"], metaclass=_ArrayType):
    """An immutable sequence of values that belongs to C++; `Array(items)` makes one."""

    __slots__ = ()

    def __len__(self) -> int:
        size: int = _array_size(self)
        return size

    def __getitem__(self, index: SupportsIndex | slice) -> Any:
        if isinstance(index, slice):
            return _make_array([self[i] for i in range(*index.indices(len(self)))])
        if not hasattr(index, "__index__"):
            raise TypeError(f"Array indices are integers or slices, not {type(index).__name__}")
        size, position = len(self), index.__index__()
        if not -size <= position < size:
            raise IndexError(f"index {position} is out of range for an Array of {size}")
        return _array_item(self, position % size)

    def __iter__(self) -> Iterator[Any]:
        return (_array_item(self, index) for index in range(len(self)))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, (Array, list, tuple)):
            return NotImplemented
        return len(self) == len(other) and all(map(_same, self, other))

    def __hash__(self) -> int:
        return hash(tuple(self))

    def __repr__(self) -> str:
        return f"ffi.Array({list(self)!r})"

    def __reduce__(self) -> Any:
        return Array, (list(self),)


class _MapType(type(Mapping)):  # type: ignore[misc]
    def __call__(cls, items: Any = ()) -> Any:
        return _make_map(dict(items))


class Map(core.ObjectBase, Mapping["K", "V"], metaclass=_MapType):
    """An immutable dictionary that belongs to C++ and keeps the order of insertion.

    `Map(entries)` makes one of what dict() takes.
    """

    __slots__ = ()

    def __len__(self) -> int:
        size: int = _map_size(self)
        return size

    def __getitem__(self, key: Any) -> Any:
        if isinstance(key, str):
            index = _map_find(self, key)
            if index < 0:
                raise KeyError(key)
            return _map_item(self, index)[1]
        # C++ compares numbers with their type and objects by identity; Python's == decides here.
        for candidate, value in self._entries():
            if _same(candidate, key):
                return value
        raise KeyError(key)

    def _entries(self) -> Iterator[tuple[Any, Any]]:
        return (_map_item(self, index) for index in range(len(self)))

    def __iter__(self) -> Iterator[Any]:
        return (key for key, _ in self._entries())

    def __repr__(self) -> str:
        return f"ffi.Map({dict(self._entries())!r})"

    def __reduce__(self) -> Any:
        return Map, (dict(self._entries()),)


def _same(left: object, right: object) -> bool:
    return left is right or bool(left == right)


core.register_object(_ARRAY_INDEX, Array)
core.register_object(_MAP_INDEX, Map)
