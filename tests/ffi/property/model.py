"""What becomes of a value on its way through C++ and back, by rules written in Python alone."""

import dataclasses
import enum
import math
import pathlib
import struct
from typing import Any

import ml_dtypes
import numpy

import ffi

from ..values import DTYPE_NAMES, Unchanged

MAX_DEPTH = 64
# How many positions inside an argument a message names.
SHOWN_POSITIONS = 4
DTYPES_OF_TYPES = {bool: "bool", int: "int64", float: "float64", complex: "complex128"}


class Rejection(Exception):
    """The class of an error and what it says behind the name of the argument."""

    def __init__(self, cls, text="", whole=False):
        super().__init__(cls, text)
        self.cls, self.text = cls, text
        self.positions = []
        # Says nothing of the position inside the argument.
        self.whole = whole

    def path(self):
        return "" if self.whole else "".join(self.positions[::-1][:SHOWN_POSITIONS])


@dataclasses.dataclass(frozen=True)
class Same:
    """The very object."""

    value: Any

    def check(self, actual):
        assert actual is self.value, (self.value, actual)

    def deep(self):
        if isinstance(self.value, (ffi.Array, ffi.List)):
            return Items(list, tuple(back(item) for item in self.value)).deep()
        if isinstance(self.value, (ffi.Map, ffi.Dict)):
            entries = tuple((back(key), back(item)) for key, item in self.value.items())
            return Entries(entries).deep()
        return self


@dataclasses.dataclass(frozen=True)
class Exactly:
    """A value of this type and content; floats to the bit."""

    value: Any

    def check(self, actual):
        assert type(actual) is type(self.value), (self.value, actual)
        assert bits_of(actual) == bits_of(self.value), (self.value, actual)

    def deep(self):
        return self


@dataclasses.dataclass(frozen=True)
class Items:
    kind: type
    items: tuple[Any, ...]

    def check(self, actual):
        assert type(actual) is self.kind, (self, actual)
        assert len(actual) == len(self.items)
        for expected, item in zip(self.items, actual, strict=True):
            expected.check(item)

    def deep(self):
        kind = tuple if self.kind is tuple else list
        return Items(kind, tuple(item.deep() for item in self.items))


@dataclasses.dataclass(frozen=True)
class Entries:
    entries: tuple[tuple[Any, Any], ...]
    kind: type = ffi.Map

    def check(self, actual):
        assert type(actual) is self.kind, (self, actual)
        assert len(actual) == len(self.entries)
        for (key, value), (actual_key, actual_value) in zip(
            self.entries, actual.items(), strict=True
        ):
            key.check(actual_key)
            value.check(actual_value)

    def deep(self):
        # Keys stay what they are: a list is not hashable.
        return Entries(tuple((key, value.deep()) for key, value in self.entries), dict)


def bits_of(value):
    if type(value) is float:
        return struct.pack("d", value)
    if type(value) is complex:
        return struct.pack("dd", value.real, value.imag)
    return value


def back(value, depth=0):
    """What ffi.echo makes of a value; raises Rejection."""
    for kinds, rule in RULES:
        if isinstance(value, kinds):
            return rule(value, depth)
    if dataclasses.is_dataclass(value):
        return of_dict({f.name: getattr(value, f.name) for f in dataclasses.fields(value)}, depth)
    if callable(value):
        return Same(value)
    raise Rejection(TypeError, "has unsupported type")


def convert(value, depth):
    if depth >= MAX_DEPTH:
        raise too_deep()
    return back(value, depth + 1)


def of_object(value, depth):
    return Same(value.value if value.type_key == "ffi.Opaque" else value)


def of_enum(value, depth):
    if hasattr(type(value), "__ffi_enum__"):
        return Same(value)
    for kind, rule in ((int, of_int), (str, of_str)):
        if isinstance(value, kind):
            return rule(value, depth)
    return convert(value.value, depth)


def of_int(value, depth):
    if not -(2**63) <= value < 2**64:
        raise Rejection(OverflowError, "expected an integer from -2**63 to 2**64-1, got")
    return Exactly(int(value))


def of_str(value, depth):
    text = "".join(value)
    try:
        text.encode()
    except UnicodeEncodeError:
        raise Rejection(UnicodeEncodeError) from None
    return Exactly(text)


def of_memoryview(value, depth):
    if value.format in "Bbc" and value.ndim == 1 and value.c_contiguous:
        return Exactly(bytes(value))
    of_array(numpy.asarray(value), depth)
    return Same(value)


def of_items(value, kind, depth):
    items = list(value)
    return_kind = tuple if kind is tuple else ffi.Array
    # A span of integers is one value, however long.
    if depth >= MAX_DEPTH and not all(type(i) is int and -(2**63) <= i < 2**63 for i in items):
        raise too_deep()
    made = []
    for index, item in enumerate(items):
        made.append(inside(f" item {index}", item, depth))
    return Items(return_kind, tuple(made))


def of_dict(value, depth):
    if depth >= MAX_DEPTH:
        raise too_deep()
    entries = {}
    for key, item in value.items():
        made_key, made = inside(" key", key, depth), inside(" value", item, depth)
        # As in a dict, the first of equal keys stays and the last value does.
        first, _ = entries.get(identity(made_key), (made_key, None))
        entries[identity(made_key)] = first, made
    return Entries(tuple(entries.values()))


def inside(position, item, depth):
    try:
        return back(item, depth + 1)
    except Rejection as rejection:
        rejection.positions.append(position)
        raise


def too_deep():
    return Rejection(
        ValueError, "is nested more than 64 levels deep or contains itself", whole=True
    )


def identity(expected):
    """What two keys have in common that C++ takes for one: numbers are one by value."""
    if isinstance(expected, Items) and expected.kind is tuple:
        return tuple(identity(item) for item in expected.items)
    if not isinstance(expected, (Exactly, Same)):
        return id(expected)
    value = expected.value
    if isinstance(value, complex) and value.imag == 0:
        value = value.real + 0.0
    if isinstance(value, float) and math.isnan(value):
        return "nan", struct.pack("d", value)
    if isinstance(value, complex) and (math.isnan(value.real) or math.isnan(value.imag)):
        return "nan", struct.pack("dd", value.real + 0.0, value.imag + 0.0)
    if isinstance(value, (int, float, complex, str, bytes, type(None))):
        return "value", value
    if isinstance(value, numpy.dtype):
        return "dtype", value.name
    if isinstance(value, ffi.Context):
        return "context", repr(value)
    return "object", id(value)


def of_dtype(value, depth):
    if not value.isnative:
        raise Rejection(TypeError, f"has data type {value}, whose byte order is not native")
    if value.name not in (*DTYPE_NAMES, "bfloat16"):
        raise Rejection(TypeError, f"has data type {value}, which has no counterpart")
    return Exactly(numpy.dtype(value.name if value.name != "bfloat16" else ml_dtypes.bfloat16))


def of_type(value, depth):
    if value in DTYPES_OF_TYPES:
        return Exactly(numpy.dtype(DTYPES_OF_TYPES[value]))
    if issubclass(value, numpy.generic):
        return of_dtype(numpy.dtype(value), depth)
    return Same(value)


def of_array(value, depth):
    of_dtype(value.dtype, depth)
    if any(stride % value.itemsize for stride in value.strides):
        raise Rejection(ValueError, "has strides that are not multiples of its item size")
    return Same(value)


def of_scalar(value, depth):
    if isinstance(value, (str, bytes)):
        return back(value.item(), depth)
    of_dtype(value.dtype, depth)
    return Exactly(value.item())


RULES = (
    ((type(None), bool), lambda value, depth: Same(value)),
    (Unchanged, lambda value, depth: Same(value)),
    (ffi.ObjectBase, of_object),
    (enum.Enum, of_enum),
    (int, of_int),
    (numpy.generic, of_scalar),
    (float, lambda value, depth: Exactly(float(value))),
    (complex, lambda value, depth: Exactly(complex(value))),
    (str, of_str),
    ((bytes, bytearray), lambda value, depth: Exactly(bytes(value))),
    (memoryview, of_memoryview),
    (tuple, lambda value, depth: of_items(value, tuple, depth)),
    ((list, range), lambda value, depth: of_items(value, list, depth)),
    (dict, of_dict),
    (numpy.ndarray, of_array),
    (numpy.dtype, of_dtype),
    (type, of_type),
    (ffi.Context, lambda value, depth: Exactly(value)),
    (pathlib.PurePath, lambda value, depth: of_str(str(value), depth)),
)
