"""Indexing: how a key travels to `_npi.getitem` and `_npi.setitem`.

An integer goes as itself. Every other key goes as a tuple of items: a slice is
`("slice", start, stop, step)`, an Ellipsis is `"..."`, and None, integers, booleans, lists and
arrays go as they are.
"""

from __future__ import annotations

import operator
from collections.abc import Iterator
from types import EllipsisType
from typing import Any

from .._registry import front_end
from ._operators import is_operand

LARGEST = 2**63 - 1

INVALID_KEY = (
    "only integers, slices (`:`), ellipsis (`...`), mx.np.newaxis (`None`) and integer or boolean "
    "arrays are valid indices, got {}"
)

_getitem = front_end("getitem")
_setitem = front_end("setitem")


def encode_key(key: Any) -> Any:
    """The form in which a key crosses the boundary."""
    if type(key) is int:
        return key
    if isinstance(key, tuple):
        return tuple(map(encode_item, key))
    return (encode_item(key),)


def encode_item(item: Any) -> Any:
    """The form of one item of a key."""
    if isinstance(item, slice):
        return ("slice", bound(item.start), bound(item.stop), bound(item.step))
    if isinstance(item, EllipsisType):
        return "..."
    if isinstance(item, (tuple, range)):
        return list(item)
    if item is None or hasattr(type(item), "__index__"):
        return item
    if isinstance(item, (float, complex)) or not is_operand(item):
        raise IndexError(INVALID_KEY.format(type(item).__name__))
    return item


def bound(value: Any) -> int | None:
    """A bound or step of a slice; those beyond any extent are cut, as Python does."""
    if value is None:
        return None
    try:
        number = operator.index(value)
    except TypeError:
        message = "slice indices must be integers or None or have an __index__ method"
        raise TypeError(f"{message}, got {type(value).__name__}") from None
    return max(-LARGEST, min(LARGEST, number))


def getitem(self: Any, key: Any, /) -> Any:
    """self[key]: a view for integers and slices, a copy for lists and arrays."""
    return _getitem(self, encode_key(key))


def setitem(self: Any, key: Any, value: Any, /) -> None:
    """self[key] = value, which is broadcast and cast to the dtype of self."""
    _setitem(self, encode_key(key), value)


def delitem(self: Any, key: Any, /) -> None:
    """del self[key]: ValueError, for the extents of an array are fixed."""
    raise ValueError("cannot delete array elements")


def length(self: Any, /) -> int:
    """Extent of the first axis. TypeError for an array without axes."""
    if not self.ndim:
        raise TypeError("len() of unsized object")
    extent: int = self.shape[0]
    return extent


def iterate(self: Any, /) -> Iterator[Any]:
    """The items along the first axis, as views. TypeError for an array without axes."""
    if not self.ndim:
        raise TypeError("iteration over a 0-d array")
    return (self[index] for index in range(self.shape[0]))


def contains(self: Any, value: Any, /) -> bool:
    """Whether any element equals value, which is broadcast; nothing equals what is no number."""
    equal = self == value
    return equal if isinstance(equal, bool) else bool(equal.any())


SPECIAL = {
    "__getitem__": getitem,
    "__setitem__": setitem,
    "__delitem__": delitem,
    "__len__": length,
    "__iter__": iterate,
    "__contains__": contains,
}
