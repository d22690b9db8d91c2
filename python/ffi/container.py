"""The containers of C++: Array and Map, and List and Dict, which can be changed."""

from __future__ import annotations

import reprlib
from collections.abc import (
    ItemsView,
    KeysView,
    Mapping,
    MutableMapping,
    MutableSequence,
    Sequence,
    ValuesView,
)

from ._backend import core
from .registry import get_global_func

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import Any, SupportsIndex, TypeVar

    T = TypeVar("T")
    K = TypeVar("K")
    V = TypeVar("V")
    T_co = TypeVar("T_co", covariant=True)
    V_co = TypeVar("V_co", covariant=True)

_list_set = get_global_func("ffi.ListSet")
_list_insert = get_global_func("ffi.ListInsert")
_list_append = get_global_func("ffi.ListAppend")
_list_replace = get_global_func("ffi.ListReplace")
_dict_set = get_global_func("ffi.DictSet")
_dict_erase = get_global_func("ffi.DictErase")
_dict_clear = get_global_func("ffi.DictClear")


# Keys of these types C++ compares as Python does.
_COMPARED_ALIKE = frozenset((str, bytes, int, float, bool, complex, type(None)))


class _Sequence(core.SeqBase):
    """What Python defines by the elements alone, whatever holds them."""

    __slots__ = ()

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, (core.SeqBase, list, tuple)):
            return NotImplemented
        return self is other or (len(self) == len(other) and all(map(_same, self, other)))

    def index(self, value: Any, start: int = 0, stop: int | None = None) -> int:
        """Position of the first element that equals value, from start to before stop.

        ValueError where there is none.
        """
        for position in range(*slice(start, stop).indices(len(self))):
            if _same(self[position], value):
                return position
        raise ValueError(f"{value!r} is not in the {type(self).__name__}")

    @reprlib.recursive_repr("...")
    def __repr__(self) -> str:
        return f"ffi.{type(self).__name__}({list(self)!r})"

    def __reduce__(self) -> Any:
        return type(self), (list(self),)


class Array(core.ArrayBase, _Sequence, Sequence["T_co"]):
    """An immutable sequence of values that belongs to C++; `Array(items)` makes one.

    It equals lists and tuples with the same elements, and is hashable if they are.
    """

    __slots__ = ()

    def __hash__(self) -> int:
        return hash(tuple(self))


class List(core.ListBase, _Sequence, MutableSequence["T"]):
    """A sequence that belongs to C++ and can be changed; `List(items)` makes one.

    C++ and Python see each other's changes. It equals lists and tuples with the same elements. One
    that contains itself stays for good, as references are counted.
    """

    __slots__ = ()

    def __setitem__(self, index: SupportsIndex | slice, value: Any) -> None:
        if not isinstance(index, slice):
            _list_set(self, self._position(index), value)
            return
        start, stop, step = index.indices(len(self))
        items = list(value)
        if step == 1:
            _list_replace(self, start, max(stop - start, 0), items)
            return
        places = range(start, stop, step)
        if len(places) != len(items):
            raise ValueError(
                f"attempt to assign {len(items)} values to a slice of {len(places)} elements"
            )
        for place, item in zip(places, items, strict=True):
            _list_set(self, place, item)

    def __delitem__(self, index: SupportsIndex | slice) -> None:
        if not isinstance(index, slice):
            _list_replace(self, self._position(index), 1, ())
            return
        start, stop, step = index.indices(len(self))
        if step == 1:
            _list_replace(self, start, max(stop - start, 0), ())
            return
        for place in sorted(range(start, stop, step), reverse=True):
            _list_replace(self, place, 1, ())

    def insert(self, index: SupportsIndex, value: Any) -> None:
        """Puts value before an element; beyond the ends, as a list does, at the end."""
        start, _, _ = slice(index, None).indices(len(self))
        _list_insert(self, start, value)

    def append(self, value: Any) -> None:
        """Puts value behind the last element."""
        _list_append(self, value)

    def extend(self, values: Iterable[Any]) -> None:
        """Puts values behind the last element."""
        _list_replace(self, len(self), 0, list(values))

    def clear(self) -> None:
        """Removes all elements."""
        _list_replace(self, 0, len(self), ())

    def copy(self) -> List[Any]:
        """Another List with the same elements."""
        return List(self)

    def sort(self, *, key: Any = None, reverse: bool = False) -> None:
        """Sorts the elements in place, as list.sort does."""
        self[:] = sorted(self, key=key, reverse=reverse)

    def __add__(self, other: Any) -> List[Any]:
        if not isinstance(other, (core.SeqBase, list, tuple)):
            return NotImplemented
        return List([*self, *other])

    def _position(self, index: Any) -> int:
        name = type(self).__name__
        if not hasattr(type(index), "__index__"):
            raise TypeError(f"{name} indices are integers or slices, not {type(index).__name__}")
        size, position = len(self), index.__index__()
        if not -size <= position < size:
            raise IndexError(f"index {position} is out of range for a {name} of {size}")
        return int(position % size)


class _Keys(KeysView):  # type: ignore[type-arg]
    __slots__ = ()

    def __iter__(self) -> Iterator[Any]:
        return iter(self._mapping)  # type: ignore[attr-defined]


class _Values(ValuesView):  # type: ignore[type-arg]
    __slots__ = ()

    def __iter__(self) -> Iterator[Any]:
        return self._mapping._iter_values()  # type: ignore[no-any-return, attr-defined]


class _Items(ItemsView):  # type: ignore[type-arg]
    __slots__ = ()

    def __iter__(self) -> Iterator[tuple[Any, Any]]:
        return self._mapping._iter_items()  # type: ignore[no-any-return, attr-defined]


class _Mapping(core.MapBase):
    """What Python defines by the entries alone, whatever holds them."""

    __slots__ = ()

    def keys(self) -> KeysView[Any]:
        """A view of the keys."""
        return _Keys(self)

    def values(self) -> ValuesView[Any]:
        """A view of the values."""
        return _Values(self)

    def items(self) -> ItemsView[Any, Any]:
        """A view of the entries, pairs of key and value."""
        return _Items(self)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, (core.MapBase, dict)):
            return NotImplemented
        if self is other:
            return True
        missing = object()
        return len(self) == len(other) and all(
            _same(value, other.get(key, missing)) for key, value in self.items()
        )

    @reprlib.recursive_repr("...")
    def __repr__(self) -> str:
        return f"ffi.{type(self).__name__}({dict(self.items())!r})"

    def __reduce__(self) -> Any:
        return type(self), (dict(self.items()),)


class Map(core.FrozenMapBase, _Mapping, Mapping["K", "V_co"]):
    """An immutable dictionary that belongs to C++ and keeps the order of insertion.

    `Map(entries)` makes one of what dict() takes. It equals dicts with the same entries, and is
    hashable if its values are.
    """

    __slots__ = ()

    def __hash__(self) -> int:
        return hash(frozenset(self.items()))


class Dict(core.DictBase, _Mapping, MutableMapping["K", "V"]):
    """A dictionary that belongs to C++, keeps the order of insertion and can be changed.

    `Dict(entries)` makes one of what dict() takes. C++ and Python see each other's changes.
    Removing an entry takes time in proportion to the size. One that contains itself stays for good.
    """

    __slots__ = ()

    def __setitem__(self, key: Any, value: Any) -> None:
        if type(key) not in _COMPARED_ALIKE:
            hash(key)
            entry = self._find(key)
            key = key if entry < 0 else list(self)[entry]
        _dict_set(self, key, value)

    def __delitem__(self, key: Any) -> None:
        entry = self._find(key)
        if entry < 0:
            raise KeyError(key)
        _dict_erase(self, entry)

    def popitem(self) -> tuple[Any, Any]:
        """Removes the entry added last and returns it; KeyError where there is none."""
        if not len(self):
            raise KeyError("popitem(): the Dict is empty")
        *_, last = self.items()
        _dict_erase(self, len(self) - 1)
        return last

    def clear(self) -> None:
        """Removes all entries."""
        _dict_clear(self)

    def copy(self) -> Dict[Any, Any]:
        """Another Dict with the same entries."""
        return Dict(self)


def _same(left: object, right: object) -> bool:
    return left is right or bool(left == right)


for _index, _class in ((7, Array), (8, Map), (10, List), (11, Dict)):
    core.register_object(_index, _class)
