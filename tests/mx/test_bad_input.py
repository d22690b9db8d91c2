"""Bad input is an error of the class people expect, which names the function and the argument."""

import numpy as np
import pytest

import mx

ragged = [[1, 2], [3]]
itself = []
itself.append(itself)
swapped = np.arange(3, dtype=np.dtype("float32").newbyteorder())
unaligned = np.zeros(3, dtype=[("a", "i1"), ("b", "f4")])["b"]
zeros, add, array = mx.np.zeros, mx.np.add, mx.np.array

# Call, class, and words of the message.
CASES = [
    (lambda: zeros(), TypeError, ["zeros", "shape"]),
    (lambda: zeros((2,), None, "C", None, 5), TypeError, ["zeros"]),
    (
        lambda: zeros((2,), shape=(2,)),
        TypeError,
        ["zeros", "'shape'", "by position and by keyword"],
    ),
    (lambda: zeros((2,), color=1), TypeError, ["zeros", "'color'", "shape, dtype, order, ctx"]),
    (lambda: zeros((2,), order="F"), NotImplementedError, ["zeros", "'order'", "'F'"]),
    (lambda: zeros("ab"), TypeError, ["zeros", "argument 0 ('shape')", "str"]),
    (lambda: zeros(2.5), TypeError, ["zeros", "argument 0 ('shape')", "float"]),
    (lambda: zeros((2, "a")), TypeError, ["zeros", "argument 0 ('shape')"]),
    (lambda: zeros((2, 1.5)), TypeError, ["zeros", "argument 0 ('shape')"]),
    (lambda: zeros(None), TypeError, ["zeros", "argument 0 ('shape')"]),
    (lambda: zeros(-1), ValueError, ["negative"]),
    (lambda: zeros((2, -3)), ValueError, ["negative"]),
    (lambda: zeros(2**62), MemoryError, []),
    (lambda: zeros((2**40, 2**40)), MemoryError, []),
    (lambda: zeros((2**31, 2**31, 2**31)), MemoryError, []),
    (lambda: zeros(2**64), OverflowError, ["zeros", "argument 0 ('shape')"]),
    (lambda: zeros((2, 2**64)), OverflowError, ["zeros", "argument 0 ('shape')"]),
    (lambda: zeros((1,) * 100), ValueError, []),
    (lambda: zeros(itself), ValueError, ["zeros", "argument 0 ('shape')"]),
    (lambda: zeros(2, dtype="float33"), TypeError, ["zeros", "'dtype'", "float33"]),
    (lambda: zeros(2, dtype=5), TypeError, ["zeros", "'dtype'"]),
    (lambda: zeros(2, dtype=object), TypeError, ["zeros", "'dtype'"]),
    (lambda: zeros(2, dtype="U5"), TypeError, ["zeros", "'dtype'"]),
    (lambda: zeros(2, dtype=np.dtype(">f4")), TypeError, ["zeros", "'dtype'", "byte order"]),
    (lambda: zeros(2, dtype=np.dtype("datetime64[s]")), TypeError, ["zeros", "'dtype'"]),
    (lambda: zeros(2, ctx="gpu(0)"), ValueError, ["zeros", "'ctx'", "gpu(0)"]),
    (lambda: zeros(2, ctx=3), TypeError, ["zeros", "'ctx'"]),
    (lambda: zeros("\ud800"), UnicodeEncodeError, ["zeros", "argument 0 ('shape')"]),
    (lambda: zeros(2, dtype="float32\0"), TypeError, ["zeros", "'dtype'"]),
    (
        lambda: zeros(object()),
        TypeError,
        ["zeros", "argument 0 ('shape')", "unsupported type object"],
    ),
    (lambda: mx.np.full((2,), "x"), TypeError, ["full", "argument 1"]),
    (lambda: add(1), TypeError, ["add"]),
    (lambda: add(1, 2, 3, 4), TypeError, ["add"]),
    (lambda: add("a", 1), TypeError, ["add", "argument 0 ('x1')"]),
    (lambda: add(None, 1), TypeError, ["add", "argument 0 ('x1')"]),
    (lambda: add(zeros(2), {}), TypeError, ["add", "argument 1 ('x2')"]),
    (lambda: add(zeros(2), swapped), TypeError, ["add", "argument 1 ('x2')", "byte order"]),
    (lambda: add(zeros(2), unaligned), ValueError, ["add", "argument 1 ('x2')", "strides"]),
    (lambda: add(zeros(2), np.array(["a"])), TypeError, ["add", "argument 1 ('x2')", "<U1"]),
    (lambda: add(zeros(2), np.array([None])), TypeError, ["add", "argument 1 ('x2')", "object"]),
    (lambda: add(zeros(2), zeros(3)), ValueError, ["add", "(2,)", "(3,)"]),
    (lambda: add(zeros(2), ragged), ValueError, ["add"]),
    (lambda: array(ragged), ValueError, ["array"]),
    (lambda: array([1, [2]]), ValueError, ["array"]),
    (lambda: array(itself), ValueError, ["array", "argument 0 ('object')"]),
    (lambda: array(["a"]), TypeError, ["array"]),
    (lambda: array(None), TypeError, ["array"]),
    (lambda: array({1: 2}), TypeError, ["array"]),
    (lambda: array([2**64]), OverflowError, ["array", "argument 0 ('object')"]),
    (lambda: array(300, dtype="int8"), OverflowError, ["array"]),
    (lambda: array(1j, dtype="float32"), TypeError, ["array"]),
    (lambda: array(lambda: 0), TypeError, ["array"]),
    (lambda: mx.np.exp("a"), TypeError, ["exp", "argument 0 ('x')"]),
    (lambda: mx.np.sum(zeros(2), axis="a"), TypeError, ["sum", "argument 1 ('axis')"]),
    (lambda: mx.np.sum(zeros(2), axis=0.5), TypeError, ["sum", "argument 1 ('axis')"]),
    (lambda: mx.np.sum(zeros(2), axis=1), np.exceptions.AxisError, ["sum", "axis 1"]),
    (lambda: mx.np.sum(zeros(2), keepdims="yes"), TypeError, ["sum", "'keepdims'"]),
    (lambda: mx.np.reshape(zeros(4), (3,)), ValueError, ["reshape", "(3,)"]),
    (lambda: mx.np.arange(0, 1, 0), (ValueError, ZeroDivisionError), ["arange", "step"]),
    (lambda: mx.np.linspace(0, 1, -1), ValueError, ["linspace", "num"]),
    (lambda: mx.np.eye(-1), ValueError, ["negative"]),
    (lambda: mx.np.concatenate(5), TypeError, ["concatenate", "argument 0"]),
    (lambda: mx.np.concatenate([]), ValueError, ["concatenate"]),
    (lambda: mx.np.concatenate([zeros(2), "a"]), TypeError, ["concatenate", "argument 0"]),
    (lambda: mx.np.tensordot(zeros(2), zeros(2), "a"), TypeError, ["tensordot", "'axes'"]),
    (lambda: mx.np.tensordot(zeros(2), zeros(3), 1), ValueError, ["tensordot"]),
    (lambda: mx.np.matmul(zeros((2, 3)), zeros((2, 3))), ValueError, ["matmul"]),
    (lambda: mx.np.matmul(zeros(()), zeros(2)), ValueError, ["matmul"]),
    (lambda: mx.np.dot(zeros((2, 3)), zeros((2, 3))), ValueError, ["dot"]),
    (lambda: zeros(2).astype("nothing"), TypeError, ["astype", "'dtype'"]),
    (lambda: zeros(2).reshape("a"), TypeError, ["reshape"]),
    (lambda: mx.np.no_such_function, AttributeError, ["no_such_function"]),
    (lambda: zeros(2).no_such_method, AttributeError, ["no_such_method"]),
]


@pytest.mark.parametrize(("call", "error", "words"), CASES)
def test_bad_input(call, error, words):
    with pytest.raises(error) as found:
        call()
    for word in words:
        assert word in str(found.value)


@pytest.mark.parametrize("name", ["zeros", "ones", "empty", "full", "eye"])
def test_huge_shapes_do_not_crash(name):
    arguments = {"full": ((2**50, 2**50), 1), "eye": (2**40, 2**40)}.get(name, ((2**50, 2**50),))
    with pytest.raises(MemoryError):
        getattr(mx.np, name)(*arguments)


def test_broadcasting_to_more_than_memory_is_an_error():
    column, row = (
        np.broadcast_to(np.float32(1), (2**31, 1)),
        np.broadcast_to(np.float32(1), (1, 2**31)),
    )
    with pytest.raises(MemoryError):
        add(column, row)


def test_the_traceback_shows_the_operator():
    with pytest.raises(ValueError) as found:
        zeros((2, -3))
    files = [entry.path for entry in found.traceback]
    assert any(str(file).endswith((".cc", ".h")) for file in files)
