"""Bad input is an error of the class people expect, which names the function and the argument."""

import numpy as np
import pytest

import mx

ragged = [[1, 2], [3]]
itself = []
itself.append(itself)
swapped = np.arange(3, dtype=np.dtype("float32").newbyteorder())
unaligned = np.zeros(3, dtype=[("a", "i1"), ("b", "f4")])["b"]
zeros, add, array, softmax = mx.np.zeros, mx.np.add, mx.np.array, mx.npx.softmax

# Call, class, and words of the message: first the function it is about.
CASES = [
    ("zeros()", TypeError, ["zeros", "shape"]),
    ("zeros((2,), None, 'C', None, 5)", TypeError, ["zeros"]),
    ("zeros((2,), shape=(2,))", TypeError, ["zeros", "'shape'", "by position and by keyword"]),
    ("zeros((2,), color=1)", TypeError, ["zeros", "'color'", "shape, dtype, order, ctx"]),
    ("zeros((2,), order='F')", NotImplementedError, ["zeros", "'order'", "'F'"]),
    ("zeros('ab')", TypeError, ["zeros", "argument 0 ('shape')", "str"]),
    ("zeros(2.5)", TypeError, ["zeros", "argument 0 ('shape')", "float"]),
    ("zeros((2, 'a'))", TypeError, ["zeros", "argument 0 ('shape')"]),
    ("zeros((2, 1.5))", TypeError, ["zeros", "argument 0 ('shape')"]),
    ("zeros(None)", TypeError, ["zeros", "argument 0 ('shape')"]),
    ("zeros(-1)", ValueError, ["", "negative"]),
    ("zeros((2, -3))", ValueError, ["", "negative"]),
    ("zeros(2**62)", MemoryError, []),
    ("zeros((2**40, 2**40))", MemoryError, []),
    ("zeros((2**31, 2**31, 2**31))", MemoryError, []),
    ("zeros(2**64)", OverflowError, ["zeros", "argument 0 ('shape')"]),
    ("zeros((2, 2**64))", OverflowError, ["zeros", "argument 0 ('shape')"]),
    ("zeros((1,) * 100)", ValueError, []),
    ("zeros(itself)", ValueError, ["zeros", "argument 0 ('shape')"]),
    ("zeros(2, dtype='float33')", TypeError, ["zeros", "'dtype'", "float33"]),
    ("zeros(2, dtype=5)", TypeError, ["zeros", "'dtype'"]),
    ("zeros(2, dtype=str)", TypeError, ["zeros", "'dtype'", "got the class str"]),
    ("zeros(2, dtype=len)", TypeError, ["zeros", "'dtype'", "got function"]),
    ("zeros(2, dtype=object)", TypeError, ["zeros", "'dtype'"]),
    ("zeros(2, dtype='U5')", TypeError, ["zeros", "'dtype'"]),
    ("zeros(2, dtype=np.dtype('>f4'))", TypeError, ["zeros", "'dtype'", "byte order"]),
    ("zeros(2, dtype=np.dtype('datetime64[s]'))", TypeError, ["zeros", "'dtype'"]),
    ("zeros(2, ctx='gpu(0)')", ValueError, ["zeros", "'ctx'", "gpu(0)"]),
    ("zeros(2, ctx=3)", TypeError, ["zeros", "'ctx'"]),
    ("zeros('\\ud800')", UnicodeEncodeError, ["zeros", "argument 0 ('shape')"]),
    ("zeros(2, dtype='float32\\0')", TypeError, ["zeros", "'dtype'"]),
    ("zeros(object())", TypeError, ["zeros", "argument 0 ('shape')", "unsupported type object"]),
    ("mx.np.full((2,), 'x')", ValueError, ["full", "argument 1"]),
    ("mx.np.full((2,), {})", TypeError, ["full", "argument 1"]),
    ("add(1)", TypeError, ["add"]),
    ("add(1, 2, 3, 4)", TypeError, ["add"]),
    ("add('a', 1)", TypeError, ["add", "argument 0 ('x1')"]),
    ("add(None, 1)", TypeError, ["add", "argument 0 ('x1')"]),
    ("add(zeros(2), {})", TypeError, ["add", "argument 1 ('x2')"]),
    ("add(zeros(2), swapped)", TypeError, ["add", "argument 1 ('x2')", "byte order"]),
    ("add(zeros(2), unaligned)", ValueError, ["add", "argument 1 ('x2')", "strides"]),
    ("add(zeros(2), np.array(['a']))", TypeError, ["add", "argument 1 ('x2')", "<U1"]),
    ("add(zeros(2), np.array([None]))", TypeError, ["add", "argument 1 ('x2')", "object"]),
    ("add(zeros(2), zeros(3))", ValueError, ["add", "(2,)", "(3,)"]),
    ("add(zeros(2), ragged)", ValueError, ["add"]),
    ("array(ragged)", ValueError, ["array"]),
    ("array([1, [2]])", ValueError, ["array"]),
    ("array(itself)", ValueError, ["array", "argument 0 ('object')"]),
    ("array(['a'])", ValueError, ["array", "argument 0 ('object')", "str"]),
    ("array([b'a'])", ValueError, ["array", "argument 0 ('object')", "bytes"]),
    ("zeros(2).__setitem__(0, 'a')", ValueError, ["setitem", "argument 2 ('value')", "str"]),
    ("zeros(2).__setitem__(0, {})", TypeError, ["setitem", "argument 2 ('value')", "dict"]),
    ("zeros(2)[[0, 'a']]", IndexError, ["getitem", "only integers", "str"]),
    ("zeros(2)[[[0, None]]]", IndexError, ["getitem", "only integers", "None"]),
    ("zeros(2)[5]", IndexError, ["getitem", "index 5", "size 2"]),
    ("add(zeros(2), ['a'])", TypeError, ["add", "argument 1 ('x2')", "str"]),
    ("mx.np.invert(zeros(2))", TypeError, ["invert", "float32"]),
    ("mx.np.stack([zeros(2), zeros(3)])", ValueError, ["stack", "(2,)", "(3,)"]),
    ("mx.np.stack([zeros(2)], axis=3)", np.exceptions.AxisError, ["stack", "axis 3"]),
    ("mx.np.concatenate([zeros(2), zeros((2, 2))])", ValueError, ["concatenate", "index 1"]),
    ("mx.np.transpose(zeros(2), (0, 1))", ValueError, ["transpose"]),
    ("mx.np.trace(zeros(2))", ValueError, ["trace", "1-d"]),
    ("mx.np.diagonal(zeros((2, 2)), 0, 0, 2)", np.exceptions.AxisError, ["diagonal", "axis2"]),
    ("mx.np.argmax(zeros(2), out=zeros(()))", TypeError, ["argmax", "'out'", "float32"]),
    ("mx.np.sum(zeros(2), keepdims=1.0)", TypeError, ["sum", "'keepdims'"]),
    ("mx.np.sort(zeros(2), kind='fast')", ValueError, ["sort", "'kind'", "'fast'"]),
    ("zeros(3).view('float64')", ValueError, ["view", "divisor"]),
    ("zeros(()).view('int8')", ValueError, ["view", "0d"]),
    ("zeros((2, 2)).T.view('int8')", ValueError, ["view", "contiguous"]),
    ("array(None)", TypeError, ["array"]),
    ("array({1: 2})", TypeError, ["array"]),
    ("array([2**64])", OverflowError, ["array", "argument 0 ('object')"]),
    ("array(300, dtype='int8')", OverflowError, ["array"]),
    ("array(1j, dtype='float32')", TypeError, ["array"]),
    ("array(lambda: 0)", TypeError, ["array"]),
    ("mx.np.exp('a')", TypeError, ["exp", "argument 0 ('x')"]),
    ("mx.np.sum(zeros(2), axis='a')", TypeError, ["sum", "argument 1 ('axis')"]),
    ("mx.np.sum(zeros(2), axis=0.5)", TypeError, ["sum", "argument 1 ('axis')"]),
    ("mx.np.sum(zeros(2), axis=1)", np.exceptions.AxisError, ["sum", "axis 1"]),
    ("mx.np.sum(zeros(2), keepdims='yes')", TypeError, ["sum", "'keepdims'"]),
    ("mx.np.reshape(zeros(4), (3,))", ValueError, ["reshape", "(3,)"]),
    ("mx.np.arange(0, 1, 0)", (ValueError, ZeroDivisionError), ["arange"]),
    ("mx.np.linspace(0, 1, -1)", ValueError, ["linspace", "samples"]),
    ("mx.np.eye(-1)", ValueError, ["", "negative"]),
    ("mx.np.concatenate(5)", TypeError, ["concatenate"]),
    ("mx.np.concatenate([])", ValueError, ["concatenate"]),
    ("mx.np.concatenate([zeros(2), 'a'])", TypeError, ["concatenate", "argument 0"]),
    ("mx.np.tensordot(zeros(2), zeros(2), 'a')", TypeError, ["tensordot", "'axes'"]),
    ("mx.np.tensordot(zeros(2), zeros(3), 1)", ValueError, ["tensordot"]),
    ("mx.np.matmul(zeros((2, 3)), zeros((2, 3)))", ValueError, ["matmul"]),
    ("mx.np.matmul(zeros(()), zeros(2))", ValueError, ["matmul"]),
    ("mx.np.dot(zeros((2, 3)), zeros((2, 3)))", ValueError, ["dot"]),
    ("zeros(2).astype('nothing')", TypeError, ["astype", "'dtype'"]),
    ("zeros(2).reshape('a')", TypeError, ["reshape"]),
    ("mx.np.tile(zeros(2), 2**62)", ValueError, ["tile", "longer than 2**63 - 1"]),
    ("mx.np.tile(zeros(2), -1)", ValueError, []),
    ("b'ab' + zeros(2)", TypeError, []),
    ("zeros(2) + b'ab'", TypeError, []),
    ("'ab' + zeros(2)", TypeError, []),
    ("zeros(2) + {}", TypeError, []),
    ("softmax()", TypeError, ["softmax", "'data'"]),
    ("softmax('a')", TypeError, ["softmax", "argument 0 ('data')", "str"]),
    ("softmax(None)", TypeError, ["softmax", "argument 0 ('data')"]),
    ("softmax(ragged)", ValueError, ["softmax"]),
    ("softmax(zeros(2, dtype='complex64'))", TypeError, ["softmax", "complex64"]),
    ("softmax(1j)", TypeError, ["softmax", "complex64"]),
    ("softmax(zeros(2), 1)", np.exceptions.AxisError, ["softmax", "axis 1", "dimension 1"]),
    ("softmax(zeros((2, 2)), -3)", np.exceptions.AxisError, ["softmax", "axis -3"]),
    ("softmax(zeros(()), 1)", np.exceptions.AxisError, ["softmax", "axis 1"]),
    ("softmax(zeros(2), 2**64)", OverflowError, ["softmax", "argument 1 ('axis')"]),
    ("softmax(zeros(2), None)", TypeError, ["softmax", "argument 1 ('axis')"]),
    ("softmax(zeros(2), (0,))", TypeError, ["softmax", "argument 1 ('axis')"]),
    ("softmax(zeros(2), 0.5)", TypeError, ["softmax", "argument 1 ('axis')"]),
    ("softmax(zeros(2), temperature=0)", ValueError, ["softmax", "'temperature'", "other than 0"]),
    ("softmax(zeros(2), temperature=-0.0)", ValueError, ["softmax", "'temperature'"]),
    ("softmax(zeros(2), temperature=1e-60)", ValueError, ["softmax", "float32", "1e-60"]),
    ("softmax(zeros(2), temperature=np.inf)", ValueError, ["softmax", "'temperature'", "inf"]),
    ("softmax(zeros(2), temperature=np.nan)", ValueError, ["softmax", "'temperature'", "nan"]),
    ("softmax(zeros(2), temperature='1')", TypeError, ["softmax", "'temperature'", "str"]),
    ("softmax(zeros(2), temperature=zeros(2))", TypeError, ["softmax", "'temperature'"]),
    ("softmax(zeros(2), dtype='int32')", TypeError, ["softmax", "'dtype'", "int32"]),
    ("softmax(zeros(2), dtype=bool)", TypeError, ["softmax", "'dtype'", "bool"]),
    ("softmax(zeros(2), dtype='complex64')", TypeError, ["softmax", "'dtype'", "complex64"]),
    ("softmax(zeros(2), dtype='nothing')", TypeError, ["softmax", "'dtype'", "nothing"]),
    ("softmax(zeros(2), length=1)", TypeError, ["softmax", "'length'"]),
    ("mx.npx.log_softmax(zeros(2), temperature=0)", ValueError, ["log_softmax", "'temperature'"]),
    ("mx.npx.log_softmax(zeros(2), 1)", np.exceptions.AxisError, ["log_softmax", "axis 1"]),
    ("mx.npx.no_such_function", AttributeError, ["mx.numpy_extension", "no_such_function"]),
    ("mx.np.no_such_function", AttributeError, ["mx.numpy", "no_such_function"]),
    ("zeros(2).no_such_method", AttributeError, ["no_such_method"]),
]


@pytest.mark.parametrize(("call", "error", "words"), CASES)
def test_bad_input(call, error, words):
    with pytest.raises(error) as found:
        eval(call)
    message = str(found.value)
    for word in words:
        assert word in message


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
