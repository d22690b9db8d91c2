"""The table of values that cross the boundary: what C++ calls them, and what comes back.

`make(api)` gives the argument; api is a path, so that the same table serves both.
"""

import array
import collections
import ctypes
import enum
import pathlib
from dataclasses import dataclass, field
from typing import Any, ClassVar

import ml_dtypes
import numpy

import ffi

SAME = object()


@dataclass(frozen=True)
class Value:
    make: Any
    kind: str
    back: Any = SAME
    """What ffi.echo returns, where that is not an equal value of the same type."""


class Whole(int):
    pass


class Real(float):
    pass


class Text(str):
    __slots__ = ()


class Blob(bytes):
    pass


class Compound(complex):
    pass


class Single(numpy.float32):
    pass


class Brain:
    """Names an element type as the scalar types of JAX do."""

    dtype = numpy.dtype(ml_dtypes.bfloat16)


class Number(enum.IntEnum):
    ONE = 1


class Word(str, enum.Enum):
    A = "a"


class Choice(enum.Enum):
    PAIR = (1, 2)
    NAME = "name"


class Point(collections.namedtuple("Point", "x y")):
    __slots__ = ()


class Index:
    def __index__(self):
        return 7


@dataclass
class Pair:
    first: int
    second: Any = field(default=None, repr=False)
    others: ClassVar[int] = 0


class Converts:
    """Says itself what it converts to."""

    def __init__(self, value):
        self.value = value

    def __ffi_convert__(self):
        return self.value


class TextThatConverts(str):
    __slots__ = ()

    def __ffi_convert__(self):
        return len(self)


class Foreign:
    """A class of somebody else, for which there is a converter."""


class DerivedFromForeign(Foreign):
    pass


class ForeignThatSaysMore(Foreign):
    def __ffi_convert__(self):
        return "nearer"


ffi.register_converter(Foreign, lambda foreign: ("foreign", [1]))


class Unchanged:
    __ffi_opaque__ = True

    def __call__(self):
        raise AssertionError("it is not called")


class Changed(Unchanged):
    __ffi_opaque__ = False


class DoNothing:
    def __call__(self):
        return None

    def method(self):
        return None


UNCHANGED = Unchanged()


def nested(levels, make=lambda inner: [inner]):
    value = make(None)
    for _ in range(levels - 1):
        value = make(value)
    return value


def literal(value, kind, back=SAME):
    return Value(lambda api: value, kind, back)


def read_only(array):
    array.setflags(write=False)
    return array


NUMBERS = {
    "None": literal(None, "None"),
    "True": literal(True, "bool"),
    "False": literal(False, "bool"),
    "zero": literal(0, "int"),
    "one": literal(1, "int"),
    "int64 max": literal(2**63 - 1, "int"),
    "int64 min": literal(-(2**63), "int"),
    "above int64": literal(2**63, "int"),
    "uint64 max": literal(2**64 - 1, "int"),
    "small negative": literal(-(2**31) - 1, "int"),
    "float": literal(1.5, "float"),
    "minus zero": literal(-0.0, "float"),
    "inf": literal(float("inf"), "float"),
    "nan": literal(float("nan"), "float"),
    "complex": literal(1.5 - 2j, "complex"),
    "int subclass": literal(Whole(5), "int", 5),
    "large int subclass": literal(Whole(2**63), "int", 2**63),
    "float subclass": literal(Real(0.5), "float", 0.5),
    "complex subclass": literal(Compound(1, 2), "complex", 1 + 2j),
    "IntEnum": literal(Number.ONE, "int", 1),
    "__index__": literal(Index(), "int", 7),
}

TEXTS = {
    "empty str": literal("", "str"),
    "str": literal("text", "str"),
    "NUL inside": literal("a\0b", "str"),
    "two bytes": literal("äöü", "str"),
    "four bytes": literal("🙂", "str"),
    "long str": literal("x" * 100_000, "str"),
    "str subclass": literal(Text("t"), "str", "t"),
    "str Enum": literal(Word.A, "str", "a"),
    "empty bytes": literal(b"", "bytes"),
    "bytes": literal(b"\0\xff", "bytes"),
    "bytes subclass": literal(Blob(b"b"), "bytes", b"b"),
    "bytearray": literal(bytearray(b"ab"), "bytes", b"ab"),
    "memoryview": literal(memoryview(b"abc")[1:], "bytes", b"bc"),
}

RUNS = {
    "empty tuple": literal((), "tuple"),
    "ints": literal((3, 4), "tuple"),
    "many ints": literal(tuple(range(1000)), "tuple"),
    "extreme ints": literal((2**63 - 1, -(2**63)), "tuple"),
    "ints and a large one": literal((1, 2**63), "tuple"),
    "bools": literal((True, 1, False), "tuple"),
    "mixed": literal((1, "a", None, 2.5, b"b"), "tuple"),
    "NumPy ints": literal((numpy.int64(3), numpy.int32(4)), "tuple", (3, 4)),
    "empty list": literal([], "list", ffi.Array([])),
    "list of ints": literal([1, 2], "list", ffi.Array([1, 2])),
    "list": literal(["a", (1, 2), [3]], "list", ffi.Array(["a", (1, 2), [3]])),
    "tuple in tuple": literal(((1, 2), ("a", (3,))), "tuple"),
    "tuple with a list": literal((1, ["a"]), "tuple", (1, ffi.Array(["a"]))),
    "64 levels": literal(nested(64), "list", ffi.Array([nested(63)])),
    "64 tuples": literal(nested(64, lambda inner: (inner,)), "tuple"),
    "namedtuple": literal(Point(1, 2), "tuple", (1, 2)),
    "list subclass": literal(collections.UserList([1]).data, "list", ffi.Array([1])),
    "empty dict": literal({}, "dict", ffi.Map({})),
    "dict": literal({"b": 1, "a": [2]}, "dict", ffi.Map({"b": 1, "a": [2]})),
    "dict of ints": literal({2: "x", 1: "y"}, "dict", ffi.Map({2: "x", 1: "y"})),
    "OrderedDict": literal(collections.OrderedDict(a=1), "dict", ffi.Map({"a": 1})),
    "plain Enum": literal(Choice.PAIR, "tuple", (1, 2)),
    "plain Enum of text": literal(Choice.NAME, "str", "name"),
}

DTYPE_NAMES = (
    *("bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"),
    *("float16", "float32", "float64", "complex64", "complex128"),
)

DTYPES = {
    "float": literal(float, "dtype", numpy.dtype("float64")),
    "int": literal(int, "dtype", numpy.dtype("int64")),
    "bool": literal(bool, "dtype", numpy.dtype("bool")),
    "complex": literal(complex, "dtype", numpy.dtype("complex128")),
    "longlong": literal(numpy.longlong, "dtype", numpy.dtype("int64")),
    "subclass of float32": literal(Single, "dtype", numpy.dtype("float32")),
    "class with a dtype": literal(Brain, "dtype", numpy.dtype(ml_dtypes.bfloat16)),
    "ml_dtypes.bfloat16": literal(ml_dtypes.bfloat16, "dtype", numpy.dtype(ml_dtypes.bfloat16)),
    "bfloat16": literal(numpy.dtype(ml_dtypes.bfloat16), "dtype"),
    **{name: literal(numpy.dtype(name), "dtype") for name in DTYPE_NAMES},
    **{
        f"numpy.{name}": literal(numpy.dtype(name).type, "dtype", numpy.dtype(name))
        for name in DTYPE_NAMES
    },
}

SCALARS = {
    **{
        f"{name} scalar": literal(
            numpy.dtype(name).type(1),
            {"b": "bool", "i": "int", "u": "int", "f": "float", "c": "complex"}[
                numpy.dtype(name).kind
            ],
            numpy.dtype(name).type(1).item(),
        )
        for name in DTYPE_NAMES
    },
    "uint64 scalar max": literal(numpy.uint64(2**64 - 1), "int", 2**64 - 1),
    "str scalar": literal(numpy.str_("s"), "str", "s"),
    "bytes scalar": literal(numpy.bytes_(b"b"), "bytes", b"b"),
    "bfloat16 scalar": literal(ml_dtypes.bfloat16(1.5), "float", 1.5),
}

GRID = numpy.arange(24, dtype="float32").reshape(2, 3, 4)

ARRAYS = {
    **{name: literal(numpy.ones((2, 3), name), "ndarray") for name in DTYPE_NAMES},
    "bfloat16": literal(numpy.ones(3, ml_dtypes.bfloat16), "ndarray"),
    "0-d": literal(numpy.array(5), "ndarray"),
    "empty": literal(numpy.zeros((0, 3)), "ndarray"),
    "steps": literal(GRID[:, ::2, ::3], "ndarray"),
    "reversed": literal(GRID[::-1, :, ::-1], "ndarray"),
    "transposed": literal(GRID.T, "ndarray"),
    "broadcast": literal(numpy.broadcast_to(numpy.float64(2), (2, 3)), "ndarray"),
    "read-only": literal(read_only(numpy.arange(3)), "ndarray"),
    "subclass": literal(numpy.arange(4).view(numpy.recarray), "ndarray", numpy.arange(4)),
    "in a tuple": literal((GRID, 1), "tuple"),
    "64 dimensions": literal(numpy.ones((1,) * 64), "ndarray"),
}

GRID_OF_FLOATS = numpy.arange(6.0).reshape(2, 3)

# Of each, an array with the same elements.
BUFFERS = {
    **{
        f"array {code}": (array.array(code, [1, 2]), numpy.array([1, 2], code))
        for code in "bBhHiIlLqQfd"
    },
    "memoryview of floats": (memoryview(GRID_OF_FLOATS), GRID_OF_FLOATS),
    "with steps": (memoryview(b"abcd")[::2], numpy.frombuffer(b"ac", dtype="uint8")),
    "reversed": (memoryview(GRID_OF_FLOATS)[::-1], GRID_OF_FLOATS[::-1]),
    "bytes in rows": (
        memoryview(b"abcd").cast("B", (2, 2)),
        numpy.frombuffer(b"abcd", dtype="uint8").reshape(2, 2),
    ),
    "complex": (memoryview(numpy.ones(2, "complex64")), numpy.ones(2, "complex64")),
    "empty": (array.array("d"), numpy.zeros(0)),
    "no axes": (memoryview(numpy.array(5.0)), numpy.array(5.0)),
    "ctypes": ((ctypes.c_int16 * 3)(1, 2, 3), numpy.arange(1, 4, dtype="int16")),
}

PROTOCOLS = {
    "range": literal(range(0, 10, 3), "list", ffi.Array([0, 3, 6, 9])),
    "empty range": literal(range(0), "list", ffi.Array([])),
    "path": literal(pathlib.PurePosixPath("a/b"), "str", "a/b"),
    "dataclass": literal(
        Pair(1, Pair(2)), "dict", ffi.Map({"first": 1, "second": {"first": 2, "second": None}})
    ),
    "__ffi_convert__": literal(Converts((1, "a")), "tuple", (1, "a")),
    "__ffi_convert__ twice": literal(Converts(Converts(2.5)), "float", 2.5),
    "__ffi_convert__ of a str": literal(TextThatConverts("abc"), "int", 3),
    "registered": literal(Foreign(), "tuple", ("foreign", ffi.Array([1]))),
    "registered for a base": literal(DerivedFromForeign(), "tuple", ("foreign", ffi.Array([1]))),
    "nearer than registered": literal(ForeignThatSaysMore(), "str", "nearer"),
    "__ffi_opaque__": literal(UNCHANGED, "ffi.Opaque"),
    "__ffi_opaque__ taken back": literal(Changed(), "function"),
    "opaque": Value(lambda api: api.make_opaque(UNCHANGED), "ffi.Opaque", UNCHANGED),
    "opaque None": Value(lambda api: api.make_opaque(None), "ffi.Opaque", None),
}

OBJECTS = {
    "context": Value(lambda api: api.cpu(3), "Context", ffi.cpu(3)),
    "lambda": literal(lambda: None, "function"),
    "builtin": literal(len, "function"),
    "callable object": literal(DoNothing(), "function"),
    "bound method": literal(DoNothing().method, "function"),
    "class": literal(DoNothing, "function"),
}

VALUES = {
    f"{table}: {name}": value
    for table, values in {
        "number": NUMBERS,
        "text": TEXTS,
        "run": RUNS,
        "dtype": DTYPES,
        "scalar": SCALARS,
        "array": ARRAYS,
        "buffer": {name: literal(borrowed, "ndarray") for name, (borrowed, _) in BUFFERS.items()},
        "protocol": PROTOCOLS,
        "object": OBJECTS,
    }.items()
    for name, value in values.items()
}
