"""What Array and List, and Map and Dict, read of their objects."""

from __future__ import annotations

import operator

from . import abi
from .arguments import MAX_DEPTH
from .exclusion import exclusion
from .objects import ObjectBase, adopt
from .registry import get_global
from .results import borrow

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from typing import Any

    from .function import Function


def _function(name: str) -> Function:
    function = get_global(name)
    assert function is not None
    return function


def exclusive(function: Function) -> Callable[..., Any]:
    """The function, in calls that do not overlap others that use a List or Dict."""

    def call(*args: Any) -> Any:
        with exclusion:
            return function(*args)

    return call


_slice = exclusive(_function("ffi.SeqSlice"))
_find = exclusive(_function("ffi.MapFind"))
_SEQUENCES = (abi.OBJECT_ARRAY, abi.OBJECT_LIST)
_MAPPINGS = (abi.OBJECT_MAP, abi.OBJECT_DICT)
# Types of keys that C++ compares by value.
_PLAIN = frozenset((str, bytes, int, float, bool, type(None)))
_ABSENT = object()


def _construct(container: ObjectBase, make: Function, items: Any) -> None:
    if container.handle:
        raise TypeError(f"a {type(container).__name__} is made once")
    adopt(container, make(items))


def _element(run: abi.MXNetAnyArray, index: int) -> Any:
    """The element at an index; IndexError where the container has become shorter meanwhile."""
    with exclusion:
        if index >= run.size:
            raise IndexError(f"index {index} is out of range, as there are {run.size} elements")
        item = abi.MXNetAny.from_address(run.data + index * abi.ANY_SIZE)
        return borrow(item.value, item.type_code)


def _plain(container: ObjectBase, item: abi.MXNetAny, depth: int) -> Any:
    if item.type_code == abi.OBJECT_HANDLE:
        handle = item.value.v_handle
        kind = abi.MXNetObject.from_address(handle).type_index
        if kind in _SEQUENCES:
            return _plain_list(container, handle, depth)
        if kind in _MAPPINGS:
            return _plain_dict(container, handle, depth)
        if kind == abi.OBJECT_TUPLE:
            return tuple(_plain_list(container, handle, depth))
    return borrow(item.value, item.type_code)


def _plain_items(container: ObjectBase, handle: int, depth: int) -> Iterator[Any]:
    if depth >= MAX_DEPTH:
        raise ValueError(
            f"{type(container).__name__} is nested more than {MAX_DEPTH} levels deep "
            "or contains itself"
        )
    run, index = abi.MXNetSeqObject.from_address(handle).items, 0
    while index < run.size:
        item = abi.MXNetAny.from_address(run.data + index * abi.ANY_SIZE)
        yield _plain(container, item, depth + 1)
        index += 1


def _plain_list(container: ObjectBase, handle: int, depth: int) -> list[Any]:
    return list(_plain_items(container, handle, depth))


def _plain_dict(container: ObjectBase, handle: int, depth: int) -> dict[Any, Any]:
    run = abi.MXNetSeqObject.from_address(handle).items
    values = _plain_items(container, handle, depth)
    made = {}
    for index, value in enumerate(values):
        if index % 2:
            # Keys are hashed, which lists cannot be.
            made[_element(run, index - 1)] = value
    return made


class _Container(ObjectBase):
    __slots__ = ()
    _kinds: tuple[int, int]

    def _run(self) -> abi.MXNetAnyArray:
        if self.type_index not in self._kinds:
            raise ValueError(f"a {type(self).__name__} that holds no such object")
        run: abi.MXNetAnyArray = abi.MXNetSeqObject.from_address(self.handle).items
        return run


class SeqBase(_Container):
    """What Array and List share: reading."""

    __slots__ = ()
    _kinds = _SEQUENCES

    def __len__(self) -> int:
        return int(self._run().size)

    def __getitem__(self, index: Any) -> Any:
        run = self._run()
        name = type(self).__name__
        if isinstance(index, slice):
            start, stop, step = index.indices(run.size)
            return _slice(self, start, step, len(range(start, stop, step)))
        if not hasattr(type(index), "__index__"):
            raise TypeError(
                f"ffi.{name}: indices are integers or slices, not {type(index).__name__}"
            )
        position = operator.index(index)
        if not -(2**62) < position < 2**62:
            shown = position if abs(position) < 10**40 else f"of {position.bit_length()} bits"
            raise IndexError(f"ffi.{name}: index {shown} is out of range for a {name}")
        if not -run.size <= position < run.size:
            raise IndexError(
                f"ffi.{name}: index {index} is out of range for a {name} of {run.size}"
            )
        return _element(run, position % run.size)

    def __iter__(self) -> Iterator[Any]:
        return _elements(self)

    def to_list(self) -> list[Any]:
        """A list of the elements; containers among them become Python's own as well.

        Raises ValueError where it contains itself or is nested more than 64 levels deep.
        """
        self._run()
        with exclusion:
            return _plain_list(self, self.handle, 0)


def _elements(container: SeqBase) -> Iterator[Any]:
    run, index = container._run(), 0
    while index < run.size:
        try:
            element = _element(run, index)
        except IndexError:
            return
        yield element
        index += 1


class ArrayBase(SeqBase):
    __slots__ = ()

    def __init__(self, items: Iterable[Any] = (), /) -> None:
        _construct(self, _array, list(items))


class ListBase(SeqBase):
    __slots__ = ()

    def __init__(self, items: Iterable[Any] = (), /) -> None:
        _construct(self, _list, list(items))


class MapBase(_Container):
    """What Map and Dict share: reading."""

    __slots__ = ()
    _kinds = _MAPPINGS

    def __len__(self) -> int:
        return int(self._run().size // 2)

    def __getitem__(self, key: Any) -> Any:
        found = self._lookup(key, _ABSENT)
        if found is _ABSENT:
            raise KeyError(key)
        return found

    def __contains__(self, key: object) -> bool:
        return self._find(key) >= 0

    def get(self, key: Any, default: Any = None) -> Any:
        """The value of a key, default where there is none."""
        return self._lookup(key, default)

    def _lookup(self, key: Any, default: Any) -> Any:
        if type(key) in _PLAIN:
            with exclusion:
                return self._value(key, default)
        # Comparing runs code that may wait for another thread.
        return self._value(key, default)

    def _value(self, key: Any, default: Any) -> Any:
        entry = self._find(key)
        return default if entry < 0 else _element(self._run(), 2 * entry + 1)

    def __iter__(self) -> Iterator[Any]:
        return _entries(self, lambda run, index: _element(run, index))

    def _iter_values(self) -> Iterator[Any]:
        return _entries(self, lambda run, index: _element(run, index + 1))

    def _iter_items(self) -> Iterator[tuple[Any, Any]]:
        return _entries(self, lambda run, index: (_element(run, index), _element(run, index + 1)))

    def _find(self, key: Any) -> int:
        run = self._run()
        if type(key) in _PLAIN:
            try:
                entry: int = _find(self, key)
                return entry
            except (UnicodeEncodeError, OverflowError):
                # A value without a counterpart in C++ equals no key.
                return -1
        # C++ does not know the __hash__ and __eq__ of other objects.
        hashed = hash(key)
        index = 0
        # Comparing may run code that removes entries.
        while index < run.size:
            candidate = _element(run, index)
            if candidate is key or _is_same_key(candidate, key, hashed):
                return index // 2
            index += 2
        return -1

    def to_dict(self) -> dict[Any, Any]:
        """A dict of the entries; containers among the values become Python's own as well.

        Raises ValueError where it contains itself or is nested more than 64 levels deep, TypeError
        where a key is not hashable.
        """
        self._run()
        with exclusion:
            return _plain_dict(self, self.handle, 0)


def _is_same_key(candidate: Any, key: Any, hashed: int) -> bool:
    try:
        if hash(candidate) != hashed:
            return False
    except TypeError:
        # C++ made a key that Python cannot hash, such as a List.
        return False
    return bool(candidate == key)


def _entries(container: MapBase, read: Any) -> Iterator[Any]:
    run, index = container._run(), 0
    size = run.size
    while index < run.size:
        try:
            with exclusion:
                if run.size != size:
                    raise IndexError
                entry = read(run, index)
        except IndexError:
            name = type(container).__name__
            raise RuntimeError(f"{name} changed size during iteration") from None
        yield entry
        index += 2


class FrozenMapBase(MapBase):
    __slots__ = ()

    def __init__(self, items: Any = (), /, **more: Any) -> None:
        _construct(self, _map, dict(items, **more))


class DictBase(MapBase):
    __slots__ = ()

    def __init__(self, items: Any = (), /, **more: Any) -> None:
        _construct(self, _dict, dict(items, **more))


_array = _function("ffi.Array")
_list = _function("ffi.List")
_map = _function("ffi.Map")
_dict = _function("ffi.Dict")
