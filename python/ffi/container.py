"""The containers of C++: Array and Map, and List and Dict, which can be changed."""

from __future__ import annotations

import operator
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

_list_set = core.exclusive(get_global_func("ffi.List.__setitem__"))
_list_insert = core.exclusive(get_global_func("ffi.List.insert"))
_list_append = core.exclusive(get_global_func("ffi.List.append"))
_list_extend = core.exclusive(get_global_func("ffi.List.extend"))
_list_replace = core.exclusive(get_global_func("ffi.List.replace"))
_dict_set = core.exclusive(get_global_func("ffi.Dict.__setitem__"))
_dict_erase = core.exclusive(get_global_func("ffi.Dict.__delitem__"))
_dict_popitem = core.exclusive(get_global_func("ffi.Dict.popitem"))
_dict_clear = core.exclusive(get_global_func("ffi.Dict.clear"))


# Types of keys whose equality in C++ is that of Python.
_COMPARED_ALIKE = frozenset((str, bytes, int, float, bool, complex, type(None)))


class _Sequence(core.SeqBase):
    """The methods of a sequence that need only its elements."""

    __slots__ = ()

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, (core.SeqBase, list, tuple)):
            return NotImplemented
        return self is other or (len(self) == len(other) and all(map(_same, self, other)))

    @reprlib.recursive_repr("...")
    def __repr__(self) -> str:
        return f"ffi.{type(self).__name__}({list(self)!r})"

    def index(self, value: Any, start: SupportsIndex = 0, stop: SupportsIndex | None = None) -> int:
        """Position of the first element that equals value, from start to before stop.

        ValueError where there is none.
        """
        where = f"ffi.{type(self).__name__}.index"
        first = _integer(where, "start", 1, start)
        last = None if stop is None else _integer(where, "stop", 2, stop)
        for position in range(*slice(first, last).indices(len(self))):
            # Comparing runs code of the elements, which may shorten the sequence.
            if position < len(self) and _same(self[position], value):
                return position
        raise ValueError(f"{where}: {value!r} is not in the {type(self).__name__}")

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
        items = _listed("ffi.List.__setitem__", "value", 1, value)
        if step == 1:
            _list_replace(self, start, max(stop - start, 0), items)
            return
        indices = range(start, stop, step)
        if len(indices) != len(items):
            raise ValueError(
                f"ffi.List.__setitem__: attempt to assign {len(items)} values to a slice of "
                f"{len(indices)} elements"
            )
        for index, item in zip(indices, items, strict=True):
            _list_set(self, index, item)

    def __delitem__(self, index: SupportsIndex | slice) -> None:
        if not isinstance(index, slice):
            _list_replace(self, self._position(index), 1, ())
            return
        start, stop, step = index.indices(len(self))
        if step == 1:
            _list_replace(self, start, max(stop - start, 0), ())
            return
        for index in sorted(range(start, stop, step), reverse=True):
            _list_replace(self, index, 1, ())

    def insert(self, index: SupportsIndex, value: Any) -> None:
        """Puts value before an element; beyond the ends, as a list does, at the end."""
        number = _integer("ffi.List.insert", "index", 0, index)
        start, _, _ = slice(number, None).indices(len(self))
        _list_insert(self, start, value)

    def append(self, value: Any) -> None:
        """Puts value behind the last element."""
        _list_append(self, value)

    def extend(self, values: Iterable[Any]) -> None:
        """Puts values behind the last element."""
        _list_extend(self, _listed("ffi.List.extend", "values", 0, values))

    def pop(self, index: SupportsIndex = -1) -> Any:
        """Removes an element and returns it; IndexError where there is none."""
        number = _integer("ffi.List.pop", "index", 0, index)
        size = len(self)
        if not -size <= number < size:
            raise IndexError(f"ffi.List.pop: index {number} is out of range for a List of {size}")
        value = self[number]
        _list_replace(self, number % size, 1, ())
        return value

    def remove(self, value: Any) -> None:
        """Removes the first element that equals value; ValueError where there is none."""
        for number, element in enumerate(self):
            if _same(element, value):
                del self[number]
                return
        raise ValueError(f"ffi.List.remove: {value!r} is not in the List")

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
            raise TypeError(
                f"ffi.{name}: indices are integers or slices, not {type(index).__name__}"
            )
        size, position = len(self), index.__index__()
        if not -size <= position < size:
            raise IndexError(f"ffi.{name}: index {position} is out of range for a {name} of {size}")
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
    """The methods of a mapping that need only its entries."""

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
    Removing the entry added last takes the same time whatever the size; removing another one moves
    those behind it. One that contains itself stays for good.
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
        last: tuple[Any, Any] = _dict_popitem(self)
        return last

    def clear(self) -> None:
        """Removes all entries."""
        _dict_clear(self)

    def copy(self) -> Dict[Any, Any]:
        """Another Dict with the same entries."""
        return Dict(self)


def _integer(function: str, name: str, position: int, index: Any) -> int:
    if not hasattr(type(index), "__index__"):
        given = type(index).__name__
        raise TypeError(f"{function}: argument {position} ('{name}') expected int, got {given}")
    return operator.index(index)


def _listed(function: str, name: str, position: int, values: Any) -> list[Any]:
    try:
        iterator = iter(values)
    except TypeError:
        raise TypeError(
            f"{function}: argument {position} ('{name}') expected an iterable, "
            f"got {type(values).__name__}"
        ) from None
    return list(iterator)


def _same(left: object, right: object) -> bool:
    return left is right or bool(left == right)


for _index, _class in ((7, Array), (8, Map), (10, List), (11, Dict)):
    core.register_object(_index, _class)
