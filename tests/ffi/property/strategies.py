"""Values of every kind that docs/conversions.md has, alone and inside one another."""

import datetime
import decimal
import pathlib

import ml_dtypes
import numpy
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import ffi

from ..values import DTYPE_NAMES, Choice, Number, Pair, Point, Real, Text, Unchanged, Whole, Word

Mode = ffi.get_enum("testing.Mode")
Counter = ffi.get_class("testing.Counter")
Node = ffi.get_class("testing.Node")

NEAR_EDGES = [
    sign * 2**bits + more
    for bits in (7, 8, 15, 16, 31, 32, 53, 63, 64)
    for sign in (-1, 1)
    for more in (-1, 0, 1)
]
INTS = st.integers(-(2**63), 2**64 - 1) | st.sampled_from(
    [number for number in NEAR_EDGES if -(2**63) <= number < 2**64]
)
TOO_LARGE = st.integers(max_value=-(2**63) - 1) | st.integers(min_value=2**64)
TEXT = st.text(max_size=12) | st.sampled_from(["", "\0", "a\0b", "𝄞🙂", "float32", "cpu(0)"])
WITH_SURROGATES = st.text(st.characters(), min_size=1, max_size=4).filter(
    lambda text: any("\ud800" <= c <= "\udfff" for c in text)
) | st.builds(
    lambda a, s, b: a + s + b,
    TEXT,
    st.text(st.characters(categories=["Cs"]), min_size=1, max_size=2),
    TEXT,
)
BYTES = st.binary(max_size=12)
DTYPES = st.sampled_from([*map(numpy.dtype, DTYPE_NAMES), numpy.dtype(ml_dtypes.bfloat16)])
FOREIGN_DTYPES = st.sampled_from(
    [*map(numpy.dtype, (">i4", ">f8", "U3", "S2", "M8[s]", "m8[D]", "O", "g", "V4")),
     numpy.dtype([("a", "i4"), ("b", "i1")])]
)  # fmt: skip


def filled(dtype, shape, seed):
    count = int(numpy.prod(shape))
    raw = numpy.random.default_rng(seed).bytes(count * dtype.itemsize)
    if dtype.kind == "b":
        return (numpy.frombuffer(raw, "u1") % 2).astype(bool).reshape(shape)
    return numpy.frombuffer(raw, dtype).reshape(shape).copy()


@st.composite
def arrays(draw, dtypes=DTYPES):
    """Arrays of any strides: steps, backwards, transposed, broadcast; some are read-only."""
    shape = draw(hnp.array_shapes(min_dims=0, max_dims=4, min_side=0, max_side=4))
    array = filled(draw(dtypes), shape, draw(st.integers(0, 2**32 - 1)))
    view = draw(st.sampled_from(["whole", "index", "transpose", "broadcast"]))
    if view == "index" and shape and 0 not in shape:
        array = numpy.asarray(array[draw(hnp.basic_indices(shape))])
    elif view == "transpose":
        array = array.T
    elif view == "broadcast":
        array = numpy.broadcast_to(array, (2, *array.shape))
    if draw(st.booleans()) and array.flags.writeable:
        array.flags.writeable = False
    return array


@st.composite
def fields_of_records(draw):
    """Strides that are not multiples of the item size."""
    records = numpy.zeros(draw(st.integers(2, 4)), [("a", "i4"), ("b", "i1")])
    return records["a"]


SCALARS = st.builds(
    lambda dtype, seed: filled(dtype, (1,), seed)[0],
    DTYPES.filter(lambda dtype: dtype.name != "bfloat16"),
    st.integers(0, 2**32 - 1),
)


def first(*args):
    return ("first", args[0])


HASHABLE = st.one_of(
    st.none(),
    st.booleans(),
    INTS,
    st.floats(),
    st.complex_numbers(),
    TEXT,
    BYTES,
    SCALARS,
    DTYPES,
    st.sampled_from([bool, int, float, complex, numpy.float32, numpy.longlong]),
    st.sampled_from([Number.ONE, Word.A, Choice.PAIR, Choice.NAME, *Mode]),
    st.builds(ffi.cpu, st.integers(0, 2**31 - 1)),
    st.builds(Whole, INTS),
    st.builds(Real, st.floats()),
    st.builds(Text, TEXT),
    st.builds(pathlib.PurePosixPath, st.sampled_from(["a", "a/b", "/"])),
    st.builds(Unchanged),
    st.builds(lambda: ffi.opaque(Unchanged())),
)

LEAVES = st.one_of(
    HASHABLE,
    arrays(),
    st.builds(bytearray, BYTES),
    st.builds(memoryview, BYTES),
    arrays().filter(lambda a: a.dtype.name not in ("bfloat16",)).map(memoryview),
    st.builds(range, st.integers(-5, 5), st.integers(-5, 5), st.sampled_from([-2, -1, 1, 3])),
    st.builds(Counter, st.integers(-(2**63), 2**63 - 1), TEXT),
    st.just(first),
    st.builds(lambda: ffi.convert(first)),
)

REJECTED = st.one_of(
    TOO_LARGE,
    WITH_SURROGATES,
    FOREIGN_DTYPES,
    arrays(FOREIGN_DTYPES.filter(lambda dtype: not dtype.hasobject)),
    fields_of_records(),
    st.sampled_from([..., NotImplemented, decimal.Decimal(1), datetime.date(2020, 1, 1)]),
    st.builds(object),
    st.builds(set),
    st.builds(lambda size: (i for i in range(size)), st.integers(0, 2)),
    st.builds(numpy.longdouble, st.floats()),
    st.builds(range, st.just(2**64 - 2), st.just(2**64 + 2)),
)


def containers(inner, keys):
    return st.one_of(
        st.lists(inner, max_size=4),
        st.lists(inner, max_size=4).map(tuple),
        st.dictionaries(keys, inner, max_size=4),
        st.builds(Point, inner, inner),
        st.builds(Pair, inner, inner),
    )


def ffi_containers(inner, keys):
    lists, dicts = st.lists(inner, max_size=4), st.dictionaries(keys, inner, max_size=4)
    return st.one_of(
        *(st.builds(kind, lists) for kind in (ffi.Array, ffi.List)),
        *(st.builds(kind, dicts) for kind in (ffi.Map, ffi.Dict)),
        st.builds(Node, inner),
    )


_KEYS = st.recursive(HASHABLE, lambda inner: st.lists(inner, max_size=3).map(tuple), max_leaves=4)
_VALUES = st.recursive(
    LEAVES,
    lambda inner: containers(inner, _KEYS) | ffi_containers(inner, _KEYS),
    max_leaves=8,
)
_WITH_REJECTED = st.recursive(
    _VALUES | REJECTED, lambda inner: containers(inner, _KEYS | WITH_SURROGATES), max_leaves=4
)


# As functions, whose names stand in the messages instead of all there is above.
@st.composite
def keys(draw):
    return draw(_KEYS)


@st.composite
def values(draw):
    """What converts."""
    return draw(_VALUES)


@st.composite
def values_and_rejected(draw):
    """What converts, with something that does not in many."""
    return draw(_WITH_REJECTED)
