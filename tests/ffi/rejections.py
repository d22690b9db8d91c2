"""The table of bad input: a call of a path, and the class and text of the error it must raise."""

import array
import datetime
import decimal
import fractions
import sys
import uuid
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import numpy

from .values import Converts, DoNothing, Pair, nested

ECHO = "ffi.echo: argument 0 ('value')"
UNSUPPORTED = (
    "; expected None, bool, int, float, complex, str, bytes, a dtype, a Context, an array, a "
    "callable, an ffi object, or a tuple, list or dict of these"
)
KEYWORDS = "testing.keywords"


@dataclass(frozen=True)
class Rejection:
    call: Any
    cls: type[Exception]
    message: str


def of_value(make, cls, text, where=ECHO):
    """What ffi.echo says of a value."""
    return Rejection(lambda api: api.get_global("ffi.echo")(make()), cls, f"{where} {text}")


def of_call(name, args, kwargs, cls, message):
    return Rejection(lambda api: api.get_global(name)(*args, **kwargs), cls, message)


def self_containing(kind):
    items = []
    items.append(items if kind is list else kind([items]))
    return items


def dict_in_itself():
    entries = {}
    entries["self"] = entries
    return entries


def overlapping():
    """A field of a packed record: 4-byte elements, 5 bytes apart."""
    records = numpy.zeros(3, numpy.dtype([("a", "i4"), ("b", "i1")]))
    return records["a"]


def dataclass_in_itself():
    pair = Pair(1)
    pair.second = pair
    return pair


class ConvertsToItself:
    def __ffi_convert__(self):
        return self


class ConvertsNoMore(Converts):
    __ffi_convert__ = None

    def __init__(self):
        super().__init__(1)


class FailsToConvert:
    def __ffi_convert__(self):
        raise OSError("not now")


class IndexIsSelf:
    def __index__(self):
        return self


class IndexIsText:
    def __index__(self):
        return "1"


class IntOfItsOwn(int):
    def __abs__(self):
        raise ValueError("not asked for")


class NamelessCallable:
    @property
    def __name__(self):
        raise ValueError("not asked for")

    def __call__(self):
        return object()


# It only says that it is numpy.ndarray.
NamesakeOfNumpy = type("ndarray", (), {"__module__": "numpy"})


LARGE = "expected an integer from -2**63 to 2**64-1, got "
# Of the array module, which renames it.
CHARACTERS = "w" if sys.version_info >= (3, 13) else "u"
DEEP = "is nested more than 64 levels deep or contains itself"
NO_COUNTERPART = "which has no counterpart"
AS_INTEGERS = "; pass what astype('int64') makes of it"
BY_FIELD = "; pass its fields one by one"

VALUES = {
    "object": of_value(object, TypeError, "has unsupported type object" + UNSUPPORTED),
    "set": of_value(set, TypeError, "has unsupported type set" + UNSUPPORTED),
    "generator": of_value(
        lambda: (i for i in ()), TypeError, "has unsupported type generator" + UNSUPPORTED
    ),
    "of a module": of_value(
        lambda: SimpleNamespace(),
        TypeError,
        "has unsupported type types.SimpleNamespace" + UNSUPPORTED,
    ),
    "int whose methods fail": of_value(
        lambda: IntOfItsOwn(10**30), OverflowError, LARGE + str(10**30)
    ),
    "namesake of an array": of_value(
        NamesakeOfNumpy, TypeError, "has unsupported type numpy.ndarray" + UNSUPPORTED
    ),
    "index that is no int": Rejection(
        lambda api: api.get_global("ffi.echo")(IndexIsText()),
        TypeError,
        "__index__ returned non-int (type str)",
    ),
    "index that is itself": Rejection(
        lambda api: api.get_global("ffi.echo")(IndexIsSelf()),
        TypeError,
        "__index__ returned non-int (type IndexIsSelf)",
    ),
    "Ellipsis": of_value(lambda: ..., TypeError, "has unsupported type ellipsis" + UNSUPPORTED),
    "buffer of another byte order": of_value(
        lambda: memoryview(numpy.ones(2, ">f4")),
        TypeError,
        f"has items of the format '>f', {NO_COUNTERPART}",
    ),
    "buffer of records": of_value(
        lambda: memoryview(numpy.zeros(1, [("a", "i4")])),
        TypeError,
        f"has items of the format 'T{{i:a:}}', {NO_COUNTERPART}",
    ),
    "buffer of characters": of_value(
        lambda: array.array(CHARACTERS, "ab"),
        TypeError,
        f"has items of the format 'w', {NO_COUNTERPART}",
    ),
    "buffer with bytes between items": of_value(
        lambda: memoryview(overlapping()),
        ValueError,
        "has strides that are not multiples of its item size",
    ),
    "range beyond int64": of_value(
        lambda: range(2**64 - 1, 2**64 + 1), OverflowError, LARGE + str(2**64), ECHO + " item 1"
    ),
    "converts to itself": of_value(ConvertsToItself, ValueError, DEEP),
    "converts to what does not": of_value(
        lambda: Converts([1, Converts({"a": set()})]),
        TypeError,
        "has unsupported type set" + UNSUPPORTED,
        ECHO + " item 1 value",
    ),
    "converter that fails": Rejection(
        lambda api: api.get_global("ffi.echo")([FailsToConvert()]), OSError, "not now"
    ),
    "__ffi_convert__ that is None": of_value(
        ConvertsNoMore,
        TypeError,
        "has unsupported type tests.ffi.rejections.ConvertsNoMore" + UNSUPPORTED,
    ),
    "field of a dataclass": of_value(
        lambda: Pair(1, {2}),
        TypeError,
        "has unsupported type set" + UNSUPPORTED,
        ECHO + " value",
    ),
    "dataclass in itself": of_value(dataclass_in_itself, ValueError, DEEP),
    **{
        type(value).__name__: of_value(
            lambda value=value: value,
            TypeError,
            f"has unsupported type {type(value).__module__}.{type(value).__qualname__}; "
            f"pass {instead}",
        )
        for value, instead in (
            (datetime.datetime(2020, 1, 1), "its timestamp() or isoformat()"),
            (datetime.date(2020, 1, 1), "its toordinal() or isoformat()"),
            (datetime.time(), "its isoformat()"),
            (datetime.timedelta(), "its total_seconds()"),
            (datetime.timezone.utc, "its name"),
            (decimal.Decimal(1), "float() or str() of it"),
            (fractions.Fraction(1), "float() of it, or its numerator and denominator"),
            (uuid.UUID(int=0), "its hex or bytes"),
        )
    },
    "above uint64": of_value(lambda: 2**64, OverflowError, LARGE + str(2**64)),
    "below int64": of_value(lambda: -(2**63) - 1, OverflowError, LARGE + str(-(2**63) - 1)),
    "very long": of_value(lambda: 1 << 20_000, OverflowError, LARGE + "an integer of 20001 bits"),
    "above uint64 in a list": of_value(
        lambda: [0, 2**64], OverflowError, LARGE + str(2**64), ECHO + " item 1"
    ),
    "item": of_value(
        lambda: (1, set()),
        TypeError,
        "has unsupported type set" + UNSUPPORTED,
        ECHO + " item 1",
    ),
    "item of an item": of_value(
        lambda: [0, (1, 2, set())],
        TypeError,
        "has unsupported type set" + UNSUPPORTED,
        ECHO + " item 1 item 2",
    ),
    "key": of_value(
        lambda: {frozenset(): 1},
        TypeError,
        "has unsupported type frozenset" + UNSUPPORTED,
        ECHO + " key",
    ),
    "value in a list": of_value(
        lambda: [{"a": set()}],
        TypeError,
        "has unsupported type set" + UNSUPPORTED,
        ECHO + " item 0 value",
    ),
    "65 levels": of_value(lambda: nested(65), ValueError, DEEP),
    "65 tuples": of_value(lambda: nested(65, lambda inner: (inner,)), ValueError, DEEP),
    "list in itself": of_value(lambda: self_containing(list), ValueError, DEEP),
    "list in a tuple in itself": of_value(lambda: self_containing(tuple), ValueError, DEEP),
    "dict in itself": of_value(dict_in_itself, ValueError, DEEP),
    "lone surrogate": of_value(
        lambda: "a\ud800",
        UnicodeEncodeError,
        f"surrogates not allowed in {ECHO}",
        "'utf-8' codec can't encode character '\\ud800' in position 1:",
    ),
    "lone surrogate in a dict": of_value(
        lambda: {"\udfff": 1},
        UnicodeEncodeError,
        f"surrogates not allowed in {ECHO} key",
        "'utf-8' codec can't encode character '\\udfff' in position 0:",
    ),
    "byte-swapped array": of_value(
        lambda: numpy.ones(2, ">f4"),
        TypeError,
        "has data type >f4, whose byte order is not native",
    ),
    "byte-swapped dtype": of_value(
        lambda: numpy.dtype(">i8"), TypeError, "has data type >i8, whose byte order is not native"
    ),
    "array of objects": of_value(
        lambda: numpy.array([None]), TypeError, f"has data type object, {NO_COUNTERPART}"
    ),
    "array of text": of_value(
        lambda: numpy.array(["ab"]), TypeError, f"has data type <U2, {NO_COUNTERPART}"
    ),
    "array of dates": of_value(
        lambda: numpy.array(["2020-01-01"], "M8[D]"),
        TypeError,
        f"has data type datetime64[D], {NO_COUNTERPART}{AS_INTEGERS}",
    ),
    "longdouble": of_value(
        lambda: numpy.longdouble,
        TypeError,
        f"has data type {numpy.dtype(numpy.longdouble)}, {NO_COUNTERPART}",
    ),
    "class of texts": of_value(
        lambda: numpy.str_, TypeError, f"has data type <U0, {NO_COUNTERPART}"
    ),
    "class of many types": of_value(
        lambda: numpy.floating, TypeError, f"has data type {numpy.floating!r}, which is abstract"
    ),
    "array of longdouble": of_value(
        lambda: numpy.ones(1, numpy.longdouble),
        TypeError,
        f"has data type {numpy.dtype(numpy.longdouble)}, {NO_COUNTERPART}",
    ),
    "array of records": of_value(
        lambda: numpy.zeros(1, [("a", "i4")]),
        TypeError,
        f"has data type [('a', '<i4')], {NO_COUNTERPART}{BY_FIELD}",
    ),
    "scalar of a record": of_value(
        lambda: numpy.zeros(1, [("a", "i4")])[0],
        TypeError,
        f"has data type [('a', '<i4')], {NO_COUNTERPART}{BY_FIELD}",
    ),
    "dtype of records": of_value(
        lambda: numpy.dtype([("a", "i4")]),
        TypeError,
        f"has data type [('a', '<i4')], {NO_COUNTERPART}{BY_FIELD}",
    ),
    "dtype of objects": of_value(
        lambda: numpy.dtype(object), TypeError, f"has data type object, {NO_COUNTERPART}"
    ),
    "scalar of a date": of_value(
        lambda: numpy.datetime64("2020-01-01"),
        TypeError,
        f"has data type datetime64[D], {NO_COUNTERPART}{AS_INTEGERS}",
    ),
    "scalar of longdouble": of_value(
        lambda: numpy.longdouble(1),
        TypeError,
        f"has data type {numpy.dtype(numpy.longdouble)}, {NO_COUNTERPART}",
    ),
    "strides between elements": of_value(
        overlapping, ValueError, "has strides that are not multiples of its item size"
    ),
}

CALLS = {
    "unknown keyword": of_call(
        KEYWORDS,
        (1,),
        {"e": 1},
        TypeError,
        "testing.keywords: unexpected keyword argument 'e'; its parameters are a, b, c, d",
    ),
    "by position and by keyword": of_call(
        KEYWORDS,
        (1,),
        {"a": 1},
        TypeError,
        "testing.keywords: argument 0 ('a') was given by position and by keyword",
    ),
    "missing": of_call(KEYWORDS, (), {}, TypeError, "testing.keywords: missing argument 0 ('a')"),
    "missing with a keyword": of_call(
        KEYWORDS, (), {"c": 1}, TypeError, "testing.keywords: missing argument 0 ('a')"
    ),
    "too many": of_call(
        KEYWORDS,
        (1, 2, 3, 4, 5),
        {},
        TypeError,
        "testing.keywords: expected 1 to 4 arguments, got 5",
    ),
    "too many with a keyword": of_call(
        KEYWORDS,
        (1, 2, 3, 4, 5),
        {"d": 1},
        TypeError,
        "testing.keywords: argument 3 ('d') was given by position and by keyword",
    ),
    "keyword of a variadic function": of_call(
        "ffi.echo",
        (1,),
        {"args": 2},
        TypeError,
        "ffi.echo: takes 'args' by position only: as many arguments as there are, after all others",
    ),
    "keyword of an undescribed function": of_call(
        "tests.undescribed",
        (),
        {"a": 1},
        TypeError,
        "tests.undescribed: takes no keyword arguments",
    ),
    "bad value by keyword": of_call(
        KEYWORDS,
        (1,),
        {"d": set()},
        TypeError,
        "testing.keywords: argument 3 ('d') has unsupported type set" + UNSUPPORTED,
    ),
    "bad value of an undescribed function": of_call(
        "tests.undescribed",
        (1, set()),
        {},
        TypeError,
        "tests.undescribed: argument 1 has unsupported type set" + UNSUPPORTED,
    ),
    "bad variadic value": of_call(
        "testing.nop",
        (1, set()),
        {},
        TypeError,
        "testing.nop: argument 1 ('args') has unsupported type set" + UNSUPPORTED,
    ),
    "wrong type": of_call(
        "ffi.call",
        ("text",),
        {},
        TypeError,
        "ffi.call: argument 0 ('func') expected function, got str",
    ),
    "unknown dtype": of_call(
        "testing.dtype",
        ("float31",),
        {},
        TypeError,
        "testing.dtype: argument 0 ('dtype'): data type 'float31' not understood",
    ),
    "no dtype": of_call(
        "testing.dtype",
        ([1],),
        {},
        TypeError,
        "testing.dtype: argument 0 ('dtype') expected dtype, got list",
    ),
    "result of a callback": Rejection(
        lambda api: api.get_global("ffi.call")(api.convert_function(set, "tests.set")),
        TypeError,
        "set: result has unsupported type set" + UNSUPPORTED,
    ),
    "callback without a name": Rejection(
        lambda api: api.get_global("ffi.call")(NamelessCallable()),
        TypeError,
        "NamelessCallable: result has unsupported type object" + UNSUPPORTED,
    ),
    "object type that is not known": Rejection(
        lambda api: api.register_object(2**31, api.ObjectBase),
        ValueError,
        "no object type has index 2147483648",
    ),
    "function that is no callable": Rejection(
        lambda api: api.convert_function(3),
        TypeError,
        "convert_function: argument 0 ('function') expected a callable, got int",
    ),
    "name taken": Rejection(
        lambda api: api.register_global("testing.nop", api.convert_function(DoNothing()), False),
        ValueError,
        "function 'testing.nop' is registered already; pass override=True to replace it",
    ),
    "name not registered": Rejection(
        lambda api: api.remove_global("tests.nobody"),
        KeyError,
        "\"no function is registered as 'tests.nobody'\"",
    ),
    "empty name": Rejection(
        lambda api: api.register_global("", api.get_global("testing.nop"), False),
        ValueError,
        "a function is registered under an empty name",
    ),
    "unknown device type": Rejection(
        lambda api: api.Context("gpu"),
        ValueError,
        "Context: argument 0 ('device_type') expected one of ['cpu'], got 'gpu'; mx.load_acc loads "
        "accelerators",
    ),
    **{
        f"device type {text}": Rejection(
            lambda api, text=text: api.Context(text),
            ValueError,
            f"Context: argument 0 ('device_type') expected one of ['cpu'], got {text!r}; "
            "mx.load_acc loads accelerators",
        )
        for text in ("gpu(1)", "cpu(", "cpu()", "cpu)", "cpu(-1)", "cpu(1)(2)", "cpu(\u0661)", "")
    },
    "device that the text says otherwise": Rejection(
        lambda api: api.Context("cpu(1)", 2),
        ValueError,
        "Context: argument 1 ('device_id') expected 1, as in 'cpu(1)', got 2",
    ),
    "large device in a text": Rejection(
        lambda api: api.Context(f"cpu({2**31})"),
        ValueError,
        "Context: argument 1 ('device_id') expected 0 to 2**31-1, got 2147483648",
    ),
    "device type of the wrong type": Rejection(
        lambda api: api.Context(1),
        TypeError,
        "Context: argument 0 ('device_type') expected str, got int",
    ),
    "negative device": Rejection(
        lambda api: api.cpu(-1),
        ValueError,
        "Context: argument 1 ('device_id') expected 0 to 2**31-1, got -1",
    ),
    "large device": Rejection(
        lambda api: api.cpu(2**31),
        ValueError,
        "Context: argument 1 ('device_id') expected 0 to 2**31-1, got 2147483648",
    ),
    "device of the wrong type": Rejection(
        lambda api: api.cpu(0.0),
        TypeError,
        "Context: argument 1 ('device_id') expected int, got float",
    ),
    **{
        f"converter of {name}": Rejection(
            lambda api, cls=cls: api.register_converter(cls, str),
            TypeError,
            f"register_converter: argument 0 ('cls') {text}",
        )
        for name, cls, text in (
            ("no class", 1, "expected a class, got int"),
            ("int", int, "is int, whose conversion is fixed"),
            ("everything", object, "is object, whose conversion is fixed"),
        )
    },
    "converter that is no callable": Rejection(
        lambda api: api.register_converter(DoNothing, 1),
        TypeError,
        "register_converter: argument 1 ('function') expected a callable, got int",
    ),
    "no array": Rejection(
        lambda api: api.from_dlpack(3),
        TypeError,
        "from_dlpack: argument 0 ('obj') expected an object with __dlpack__, got int",
    ),
}

REJECTIONS = {
    **{f"value: {name}": rejection for name, rejection in VALUES.items()},
    **{f"call: {name}": rejection for name, rejection in CALLS.items()},
}
