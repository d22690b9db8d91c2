"""Optimized ONNX files, graphs and MXNet's symbols, called with arrays."""

from __future__ import annotations

import numpy
import pytest

import mx
from mx import sol
from tests.graph.build import graph_of

TEXT = """g (float[N,4] x, float[M,4] y) => (float[N,3] z, float[M,4] s)
<float[4,3] w = {1,-2,3,4,5,6,7,-8,9,10,11,12}> {
 h = MatMul(x, w)
 z = Relu(h)
 s = Abs(y)
}"""
X, Y = numpy.ones((2, 4), "float32"), -numpy.ones((3, 4), "float32")


def expected(x, y):
    w = numpy.array([1, -2, 3, 4, 5, 6, 7, -8, 9, 10, 11, 12], "float32").reshape(4, 3)
    return numpy.maximum(x @ w, 0), abs(y)


def check(fast, *args) -> None:
    for one, other in zip(fast(*args), expected(*args), strict=True):
        assert type(one) is numpy.ndarray
        numpy.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("kind", ["path", "bytes", "graph"])
def test_onnx(tmp_path, kind) -> None:
    graph = graph_of(TEXT)
    path = tmp_path / "model.onnx"
    graph.save(path)
    fast = sol.optimize({"path": str(path), "bytes": path.read_bytes(), "graph": graph}[kind])
    check(fast, X, Y)
    check(fast, X[:1], Y)
    for one, other in zip(fast(y=Y, x=X), expected(X, Y), strict=True):
        numpy.testing.assert_array_equal(one, other)


CHOICES = [
    ({}, (), (5, 6), None, None),
    ({"vdims": [2, True]}, (), (2, 7), (3, 7), "input 'x': axis 0: expected 2, got 3: #0 may vary"),
    ({}, (X, Y), (2, 3), (2, 4), "input 'y': axis 0: expected 3, got 4: #1 may vary"),
    ({"vdims": [True, False]}, (X, Y), (9, 3), (9, 4), "input 'y': axis 0: expected 3"),
    ({"vdims": True}, (X, Y), (9, 4), None, None),
]


@pytest.mark.parametrize(("options", "example", "good", "bad", "text"), CHOICES)
def test_dimensions(options, example, good, bad, text) -> None:
    def arrays(n, m):
        return numpy.ones((n, 4), "float32"), numpy.ones((m, 4), "float32")

    fast = sol.optimize(graph_of(TEXT), *example, **options)
    check(fast, *arrays(*good))
    if bad:
        with pytest.raises(ValueError, match=text):
            fast(*arrays(*bad))


WRONG = [
    ((X,), {}, TypeError, "input 'y' is missing"),
    ((X, Y, X), {}, TypeError, "expected 2 inputs, got 3"),
    ((X, Y), {"x": X}, TypeError, "'x' is given by position and by name"),
    ((X, Y), {"q": X}, TypeError, "there is no input 'q'"),
    ((X, Y.astype("int32")), {}, TypeError, "input 'y': expected float32, got int32"),
    ((X[0], Y), {}, ValueError, "input 'x': expected 2 axes"),
    ((X[:, :3], Y), {}, ValueError, "input 'x': axis 1: expected 4, got 3"),
]


@pytest.mark.parametrize(("args", "kwargs", "kind", "text"), WRONG)
def test_what_is_rejected(args, kwargs, kind, text) -> None:
    with pytest.raises(kind, match=text):
        sol.optimize(graph_of(TEXT))(*args, **kwargs)


@pytest.mark.parametrize(
    ("options", "kind", "text"),
    [
        ({"vdims": [False, True]}, ValueError, "no example that has a length for #0"),
        ({"vdims": [True]}, ValueError, "expected 2 items"),
        (
            {"framework": "mxnet"},
            ValueError,
            "no optimized model is a symbol: use framework='numpy'",
        ),
        ({"framework": "caffe"}, ValueError, "none of the frameworks"),
        ({"fallback": "yes"}, TypeError, "fallback: expected True or False, got 'yes'"),
        ({"layout": "CHW"}, ValueError, "layout: expected one of NCHW, NHWC, got 'CHW'"),
        ({"dtype": "int8"}, ValueError, "dtype: expected one of float16, bfloat16, float32"),
        ({"batch_size": 0}, ValueError, "batch_size: expected 1 or more, got 0"),
        ({"batch_size": 1.5}, TypeError, "batch_size: expected a number, got 1.5"),
        ({"device": "nowhere"}, RuntimeError, "no accelerator 'nowhere' is loaded"),
        ({"device": 3.5}, TypeError, "device: expected a context"),
    ],
)
def test_wrong_options(options, kind, text) -> None:
    with pytest.raises(kind, match=text):
        sol.optimize(graph_of(TEXT), **options)


def test_as_a_file_of_onnx(tmp_path) -> None:
    made = sol.optimize(graph_of(TEXT), vdims=[True, 3], framework="onnx")
    assert [spec.shape for spec in made.inputs] == [("N", 4), (3, 4)]
    made.save(tmp_path / "model.onnx")
    check(sol.optimize(str(tmp_path / "model.onnx")), X, Y)


def test_symbols() -> None:
    data = mx.sym.var("data")
    net = mx.sym.Activation(mx.sym.FullyConnected(data, num_hidden=3, name="fc"), act_type="relu")
    params = {"fc_weight": mx.np.ones((3, 4)), "fc_bias": mx.np.array([1.0, -9.0, 2.0])}
    fast = sol.optimize((net, params), X)
    numpy.testing.assert_array_equal(fast(X), [[5, 0, 6]] * 2)
    numpy.testing.assert_array_equal(fast(data=X), [[5, 0, 6]] * 2)
