"""Optimized ONNX files, graphs and MXNet's symbols, called with arrays."""

from __future__ import annotations

import re

import numpy
import pytest
import torch

import mx
from mx import sol
from mx.graph import GraphError
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


# Two nodes of one operator have no names, and a length is in two inputs.
TIED = """g (float[N,4] x, int64[N] k) => (float[N,4] z) <int64[1] ax = {1}> {
 f = Cast <to = 1> (k)
 u = Unsqueeze(f, ax)
 a = Mul(x, u)
 b = Sqrt(a)
 z = Mul(b, b)
}"""
K = numpy.ones(2, "int64")


@pytest.mark.parametrize(
    ("example", "kind", "text"),
    [
        ((X, numpy.ones(3, "int64")), ValueError, "input 'k': axis 0: expected 2, as N is"),
        ((X, K.astype("int32")), TypeError, "input 'k': expected int64, got an example of int32"),
        ((X.astype("float64"), K), TypeError, "input 'x': expected float32, got an example of"),
        ((X[0], K), ValueError, "input 'x': expected 2 axes, got an example of shape"),
        ((X, K), None, ""),
    ],
)
def test_examples_that_do_not_fit(example, kind, text) -> None:
    if kind is None:
        fast = sol.optimize(graph_of(TIED), *example, vdims=True)
        numpy.testing.assert_allclose(fast(X[[0, 1, 0]], K[[0, 1, 0]]), X[[0, 1, 0]])
        with pytest.raises(ValueError, match="input 'k': axis 0: expected 1, got 2: #0 is 1 in an"):
            fast(X[:1], K)
        return
    with pytest.raises(kind, match=text):
        sol.optimize(graph_of(TIED), *example, vdims=True)


def test_nodes_without_names_have_gradients() -> None:
    there = sol.optimize(graph_of(TIED), X, K, framework="torch", vdims=True)
    for length in (2, 5):
        x = torch.rand(length, 4, requires_grad=True)
        there(x, torch.arange(1, length + 1)).sum().backward()
        expected = torch.arange(1, length + 1).float()[:, None].expand(-1, 4)
        torch.testing.assert_close(x.grad, expected)


# Of which one has fewer axes, as a weight says, and the other a norm that onnx infers nothing of.
NORMS = {
    "rows": (
        "h = ReduceSum <keepdims = 0> (x, axes) z = RMSNormalization <epsilon = 0.5> (h, s)",
        lambda x, s: torch.nn.functional.rms_norm(x.sum(1), (4,), s, 0.5),
    ),
    "groups": (
        "h = GroupNormalization <num_groups = 2, stash_type = 11> (x, s, s)"
        " z = BatchNormalization <epsilon = 0.5> (h, s, s, s, s)",
        lambda x, s: torch.nn.functional.batch_norm(
            torch.nn.functional.group_norm(x, 2, s, s), s, s, s, s, eps=0.5
        ),
    ),
}


@pytest.mark.filterwarnings("ignore::mx.sol.SolWarning")  # of float64, which NumPy trains
@pytest.mark.parametrize("name", NORMS)
def test_gradients_of_norms_behind_others(name) -> None:
    text, function = NORMS[name]
    weights = "<int64[1] axes = {1}, double[4] s = {1, 2, 3, 4}>"
    fast = sol.optimize(
        graph_of(f"g (double[2,4,4] x) => (double[] z) {weights} {{ {text} }}"), framework="torch"
    )
    torch.manual_seed(0)
    x = torch.randn(2, 4, 4, dtype=torch.float64)
    one, other = (x.clone().requires_grad_() for _ in range(2))
    fast(one).square().sum().backward()
    function(other, torch.arange(1.0, 5, dtype=torch.float64)).square().sum().backward()
    torch.testing.assert_close(one.grad, other.grad)


@pytest.mark.parametrize(
    ("options", "kind", "text"),
    [
        ({"vdims": [False, True]}, ValueError, "no example that has a length for #0"),
        ({"vdims": [True]}, ValueError, "expected 2 items"),
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


A, B = mx.sym.var("a"), mx.sym.var("b")
SHARED = mx.sym.var("w")
DENSE = mx.sym.FullyConnected(A, num_hidden=3, name="fc")
# A label stands between the inputs, and an auxiliary state behind both.
SEVERAL = mx.sym.Group(
    [
        mx.sym.LinearRegressionOutput(mx.sym.sum(A, axis=1), mx.sym.var("label")),
        mx.sym.BatchNorm(B * 2, name="bn", fix_gamma=False),
        mx.sym.dot(mx.sym.tanh(mx.sym.dot(A, SHARED)), SHARED),
    ]
)
STATES = {"bn_moving_mean": numpy.float32([1, 2]), "bn_moving_var": numpy.float32([3, 8])}
PARAMS = {
    "w": numpy.arange(9, dtype="float32").reshape(3, 3) / 9,
    "bn_gamma": numpy.float32([2, -1]),
    "bn_beta": numpy.float32([0, 5]),
}


def several(a, b):
    tensors = {name: torch.tensor(x).double() for name, x in (PARAMS | STATES).items()}
    mean, var = tensors["bn_moving_mean"], tensors["bn_moving_var"]
    normal = tensors["bn_gamma"] * (b * 2 - mean) / (var + 1e-3).sqrt() + tensors["bn_beta"]
    return a.sum(1), normal, (a @ tensors["w"]).tanh() @ tensors["w"]


@pytest.mark.parametrize("length", [2, 5])
def test_inputs_of_symbols(length) -> None:
    rng = numpy.random.default_rng(0)
    example = rng.random((4, 3), "float32"), rng.random((4, 2), "float32")
    a, b = (torch.tensor(x[:1]).repeat(length, 1).requires_grad_() for x in example)
    there = sol.optimize((SEVERAL, PARAMS, STATES), *example, framework="torch", vdims=[True])
    found = there(a, b)
    twice = [x.detach().double().requires_grad_() for x in (a, b)]
    expected = several(*twice)
    sum((one**2).sum() for one in found).backward()
    sum((one**2).sum() for one in expected).backward()
    for one, other in zip(
        (*found, a.grad, b.grad), (*expected, *(x.grad for x in twice)), strict=True
    ):
        torch.testing.assert_close(one, other.float(), rtol=1e-5, atol=1e-5)


def test_blocked_gradients_of_symbols() -> None:
    there = sol.optimize(mx.sym.BlockGrad(A * 2) * A, X, framework="torch")
    x = torch.rand(2, 4, requires_grad=True)
    there(x).sum().backward()
    torch.testing.assert_close(x.grad, 2 * x.detach())


@pytest.mark.parametrize(
    ("symbol", "shapes", "options", "text", "others"),
    [
        (A * 2 + B, [(2, 4), (2, 4)], {"vdims": [True]}, "a [#0, 4] b [#0, 4]", [(7, 4), (7, 4)]),
        (A * 2 + B, [(2, 4), (1, 4)], {"vdims": [True]}, "a [#0, 4] b [1, 4]", [(3, 4), (1, 4)]),
        (DENSE, [(2, 4), (3, 4), (3,)], {"batch_size": 5}, "a [#0, 4] fc_weight [3, 4] fc_bias [3]",
         [(5, 4), (3, 4), (3,)]),
        # With a hidden layer as long as the batch it cannot be told which is which.
        (DENSE, [(3, 3), (3, 3), (3,)], {}, "a [3, 3] fc_weight [3, 3] fc_bias [3]",
         [(3, 3), (3, 3), (3,)]),
        (A.reshape(shape=(2, -1)), [(2, 3)], {}, "a [2, 3]", [(2, 3)]),
        (mx.sym.var("own", shape=(2, 3)) * 2, [], {}, "own [2, 3]", [(2, 3)]),
    ],
)  # fmt: skip
def test_dimensions_of_symbols(symbol, shapes, options, text, others) -> None:
    fast = sol.optimize(symbol, *(numpy.ones(shape, "float32") for shape in shapes), **options)
    inputs = sol.report(fast).dimensions.inputs
    assert (
        " ".join(f"{name} {list(shape)}" for name, shape in inputs.items()).replace("'", "") == text
    )
    fast(*(numpy.ones(shape, "float32") for shape in others))


WRONG_SYMBOLS = [
    ((DENSE, {}, {}, {}), (X,), {}, TypeError, "expected (symbol, arg_params, aux_params)"),
    ((DENSE, [X]), (X,), {}, TypeError, "arg_params: expected arrays by name, got list"),
    ((DENSE, {}, 3), (X,), {}, TypeError, "aux_params: expected arrays by name, got int"),
    ((DENSE, None), (X,), {}, TypeError, "fc: input 'fc_weight' is missing"),
    ((DENSE, {"fc_bias": "abc"}), (X,), {}, GraphError, "'fc_bias': expected an array of numbers"),
    (
        DENSE,
        (X,),
        {"data": X},
        TypeError,
        "there is no input 'data': ['a', 'fc_weight', 'fc_bias']",
    ),
    (SEVERAL, (), {"label": X}, TypeError, "there is no input 'label': ['a', 'b', 'bn_gamma'"),
    (DENSE, (), {}, ValueError, "the number of axes of input 'a' is unknown: give an example"),
    (A * 2, (X, X), {}, TypeError, "expected 1 inputs, got 2"),
]


@pytest.mark.parametrize(("model", "example", "kwargs", "kind", "text"), WRONG_SYMBOLS)
def test_wrong_symbols(model, example, kwargs, kind, text) -> None:
    with pytest.raises(kind, match=re.escape(text)):
        sol.optimize(model, *example, kwargs=kwargs)


def test_lengths_of_symbols_are_rejected_with_the_reason() -> None:
    x = X[:, :3]
    fast = sol.optimize(A.reshape(shape=(2, -1)), x)
    with pytest.raises(ValueError, match="axis 0: expected 2, got 3: node 'reshape.*Reshape takes"):
        fast(x[[0, 0, 0]])
    with pytest.raises(ValueError, match="axis 1: expected 3, got 4: reshape.* converted for it"):
        fast(X)
