"""Ufuncs and arrays of others: what is more than elements keeps its meaning, or is rejected."""

import ctypes
import warnings

import numpy as np
import pytest
import torch

import mx

from .compare import assert_same

# The C function PyUFunc_FromFuncAndData is the second of NumPy's table for ufuncs.
LOOP = ctypes.CFUNCTYPE(
    None,
    ctypes.POINTER(ctypes.c_void_p),
    ctypes.POINTER(ctypes.c_ssize_t),
    ctypes.POINTER(ctypes.c_ssize_t),
    ctypes.c_void_p,
)
kept = []


def make_ufunc(name, inputs):
    """A real ufunc of float64, as compilers of Python make them, of any name."""
    pointer_of = ctypes.pythonapi.PyCapsule_GetPointer
    pointer_of.restype, pointer_of.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    table = pointer_of(np._core._multiarray_umath._UFUNC_API, None)
    address = ctypes.cast(table, ctypes.POINTER(ctypes.c_void_p))[1]
    loop = LOOP(lambda data, extents, strides, _: fill(data, extents, strides, inputs))
    loops, extra = (LOOP * 1)(loop), (ctypes.c_void_p * 1)()
    types = ctypes.create_string_buffer(bytes([np.dtype("float64").num] * (inputs + 1)))
    text = ctypes.create_string_buffer(name.encode())
    make = ctypes.PYFUNCTYPE(
        ctypes.py_object,
        *(ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p),
        *(ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_int),
        *(ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int),
    )(address)
    kept.extend((loop, loops, extra, types, text))
    addresses = (ctypes.addressof(thing) for thing in (loops, extra, types))
    return make(*addresses, 1, inputs, 1, -1, ctypes.addressof(text), None, 0)


def fill(data, extents, strides, operand):
    for i in range(extents[0]):
        ctypes.c_double.from_address(data[operand] + i * strides[operand]).value = 42


@pytest.mark.parametrize(
    ("name", "inputs"),
    [("mean", 1), ("exp", 1), ("abs", 1), ("clip", 1), ("add", 2), ("dot", 2), ("where", 2)],
)
def test_a_ufunc_of_somebody_else_is_theirs(name, inputs):
    ufunc = make_ufunc(name, inputs)
    assert isinstance(ufunc, np.ufunc) and ufunc.__name__ == name
    operands = [mx.np.array([1.0, 2.0], dtype="float64")] * inputs
    assert_same(ufunc(*operands), np.array([42.0, 42.0]))


@pytest.mark.parametrize("ufunc", [np.exp, np.absolute, np.abs, np.add, np.power])
def test_a_ufunc_of_numpy_is_ours(ufunc):
    array = np.array([1.0, 2.0], "float32")
    operands = [array] * ufunc.nin
    assert_same(ufunc(*map(mx.np.array, operands)), ufunc(*operands), exact=False)


MASKED = np.ma.array([1.0, 2.0], mask=[False, True])
with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # that NumPy advises against them
    MATRIX = np.matrix([[1.0, 2.0], [3.0, 4.0]])
OPERATIONS = [
    *("a + b", "b + a", "a * b", "a - b", "a == b", "a < b"),
    *("np.add(a, b)", "np.add(b, a)", "np.multiply(a, b)"),
]


@pytest.mark.filterwarnings("ignore:the matrix subclass:PendingDeprecationWarning")
@pytest.mark.parametrize("operation", OPERATIONS)
@pytest.mark.parametrize("foreign", [MASKED, MATRIX], ids=["masked", "matrix"])
def test_arrays_with_a_meaning_of_their_own_keep_it(operation, foreign):
    array = np.ones(foreign.shape)
    expected = eval(operation, {"np": np}, {"a": array, "b": foreign})
    found = eval(operation, {"np": np}, {"a": mx.np.array(array), "b": foreign})
    assert type(found) is type(expected)
    np.testing.assert_array_equal(np.ma.getmaskarray(found), np.ma.getmaskarray(expected))
    np.testing.assert_array_equal(np.ma.filled(found, 9), np.ma.filled(expected, 9))


def test_a_matrix_rejects_the_product_from_its_side():
    with pytest.raises(TypeError, match="unsupported operand"):
        MATRIX * mx.np.ones((2, 2))


class Rejecting(np.ndarray):
    """Has its own way with ufuncs."""

    def __array_ufunc__(self, ufunc, method, *inputs, **options):
        return "mine"


def test_a_class_with_its_own_ufuncs_is_asked():
    array = mx.np.ones(2)
    own = np.ones(2).view(Rejecting)
    assert np.add(array, own) == np.add(own, array) == array + own == own + array == "mine"
    assert np.add(array, 1, out=own) == "mine"


@pytest.mark.parametrize(
    "operation",
    [
        "a + b",
        "b + a",
        "a @ b",
        "a == b",
        "np.add(a, b)",
        "a.__iadd__(b)",
        "divmod(a, b)",
        "a ** b",
    ],
)
def test_gradients_are_not_dropped(operation):
    names = {"a": mx.np.ones(2), "b": torch.ones(2, requires_grad=True)}
    with pytest.raises(RuntimeError, match=r"requires grad.*detach"):
        eval(operation, {"np": np}, names)
    names["b"] = names["b"].detach()
    eval(operation, {"np": np}, names)


def test_memory_mapped_files_are_plain_arrays(tmp_path):
    mapped = np.memmap(tmp_path / "numbers", dtype="float32", mode="w+", shape=(2,))
    assert_same(mx.np.ones(2) + mapped, np.ones(2, "float32"))
    assert_same(mapped + mx.np.ones(2), np.ones(2, "float32"))


REVERSED = [lambda a: a[::-1], lambda a: a[:, ::-1], mx.np.flip]
CONSUMERS = [torch.as_tensor, torch.tensor, torch.from_dlpack]


@pytest.mark.host_memory
@pytest.mark.parametrize("reverse", REVERSED)
@pytest.mark.parametrize("consume", CONSUMERS)
def test_torch_is_rejected_negative_strides(consume, reverse):
    array = mx.np.arange(6).reshape(2, 3)
    with pytest.raises(BufferError, match=r"negative strides.*copy"):
        consume(reverse(array))
    assert consume(reverse(array).copy()).tolist() == reverse(array).tolist()
    assert consume(array[::-1][:1]).tolist() == [[3, 4, 5]]


@pytest.mark.host_memory
@pytest.mark.parametrize("reverse", REVERSED)
def test_numpy_and_we_know_negative_strides(reverse):
    array = mx.np.arange(6).reshape(2, 3)
    assert np.shares_memory(np.from_dlpack(reverse(array)), np.asarray(array))
    assert mx.np.shares_memory(mx.np.from_dlpack(reverse(array)), array)


class WithArray:
    def __array__(self, dtype=None, copy=None):
        return np.array([1, 2, 3], "int16")


class WithInterface:
    def __init__(self):
        self.held = np.array([1.5, 2.5])
        self.__array_interface__ = self.held.__array_interface__


class OfStrings:
    def __array__(self, dtype=None, copy=None):
        return np.array(["a", None], object)


class Answering:
    """Has whatever it is asked for, which makes it no array."""

    def __getattr__(self, name):
        return self


@pytest.mark.parametrize("cls", [WithArray, WithInterface])
@pytest.mark.parametrize("function", [mx.np.asarray, mx.np.array, lambda x: mx.np.ravel(x) + 0])
def test_objects_that_numpy_makes_arrays_of(cls, function):
    assert_same(function(cls()), np.asarray(cls()))
    assert_same(mx.np.stack([cls(), cls()]), np.stack([np.asarray(cls())] * 2))


@pytest.mark.parametrize(
    ("value", "error"),
    [(OfStrings(), "data type object"), (Answering(), "unsupported type")],
)
def test_objects_that_are_no_arrays_of_numbers(value, error):
    with pytest.raises((TypeError, ValueError), match=error):
        mx.np.asarray(value)
