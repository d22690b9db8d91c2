"""`mx.sym`: composing graphs, what they say of themselves, and what follows from shapes."""

import copy
import inspect
import json
import pickle
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest
import torch

import mx
from mx.graph import GraphError
from mx.importers.mxnet.table import TABLE
from tests.importers.mxnet.running import run_graph

sym = mx.sym


@pytest.fixture(autouse=True)
def names() -> Any:
    with sym.NameManager():
        yield


def small_net() -> Any:
    net = sym.Convolution(sym.var("data"), kernel=(3, 3), num_filter=4, name="conv")
    net = sym.BatchNorm(net, fix_gamma=False, name="norm")
    net = sym.Activation(net, act_type="relu")
    net = sym.FullyConnected(net, num_hidden=5, name="fc")
    return sym.SoftmaxOutput(net, name="softmax")


ARGUMENTS = ["data", "conv_weight", "conv_bias", "norm_gamma", "norm_beta", "fc_weight", "fc_bias"]
STATES = ["norm_moving_mean", "norm_moving_var"]


def test_lists() -> None:
    net = small_net()
    assert net.name == "softmax" and repr(net) == "<Symbol softmax>" and len(net) == 1
    assert net.list_arguments() == [*ARGUMENTS, "softmax_label"]
    assert net.list_auxiliary_states() == STATES
    assert net.list_inputs() == [*ARGUMENTS[:5], *STATES, *ARGUMENTS[5:], "softmax_label"]
    assert net.list_outputs() == ["softmax_output"]
    internals = net.get_internals()
    assert internals.list_outputs() == [
        *ARGUMENTS[:3],
        "conv_output",
        *ARGUMENTS[3:5],
        *STATES,
        "norm_output",
        "activation0_output",
        *ARGUMENTS[5:],
        "fc_output",
        "softmax_label",
        "softmax_output",
    ]
    assert internals["fc_output"].name == "fc"
    assert internals["fc"].list_outputs() == ["fc_output"]
    assert net.get_children().list_outputs() == ["fc_output", "softmax_label"]
    assert sym.var("x").get_children() is None


@pytest.mark.parametrize(
    ("make", "expected"),
    [
        (lambda x: sym.Convolution(x, kernel=(1, 1), num_filter=1), "convolution0"),
        (lambda x: sym.FullyConnected(x, num_hidden=1), "fullyconnected0"),
        (lambda x: sym.BatchNorm(x), "batchnorm0"),
        (lambda x: x + x, "_plus0"),
        (lambda x: x - 1, "_minusscalar0"),
        (lambda x: 1 - x, "_rminusscalar0"),
        (lambda x: x * x, "_mul0"),
        (lambda x: -x, "_mulscalar0"),
        (lambda x: x / x, "_div0"),
        (lambda x: 1 / x, "_rdivscalar0"),
        (lambda x: x**2, "_powerscalar0"),
        (lambda x: x > 1, "_greaterscalar0"),
        (lambda x: x <= x, "_lesserequal0"),
        (lambda x: x.reshape(shape=(-1,)), "reshape0"),
        (lambda x: sym.Flatten(sym.Flatten(x)), "flatten1"),
        (lambda x: sym.relu(x, name="mine"), "mine"),
    ],
)
def test_automatic_names(make: Any, expected: str) -> None:
    assert make(sym.var("x")).name == expected


def test_name_managers() -> None:
    x = sym.var("x")
    with sym.Prefix("left_"):
        assert sym.FullyConnected(x, num_hidden=1).list_arguments() == [
            "x",
            "left_fullyconnected0_weight",
            "left_fullyconnected0_bias",
        ]
        assert sym.relu(x, name="act").name == "left_act"
    assert sym.relu(x).name == "relu0"


X, Y = np.array([[1, 2, 3], [4, 5, 6]], "float32"), np.array([[3, 2, 1], [5, 4, 6]], "float32")
ARITHMETIC = {
    "add": (lambda x, y: x + y, X + Y),
    "sub": (lambda x, y: x - y, X - Y),
    "mul": (lambda x, y: x * y, X * Y),
    "div": (lambda x, y: x / y, X / Y),
    "mod": (lambda x, y: x % y, X % Y),
    "pow": (lambda x, y: x**y, X**Y),
    "scalars": (lambda x, y: (2 + x * 3 - 1) / 2 % 4, (2 + X * 3 - 1) / 2 % 4),
    "reversed": (lambda x, y: 2**x + 5 % x + 1 / x - (3 - y), 2**X + 5 % X + 1 / X - (3 - Y)),
    "negative": (lambda x, y: -x, -X),
    "equal": (lambda x, y: x == y, X == Y),
    "unequal": (lambda x, y: x != 2, X != 2),
    "less": (lambda x, y: x < y, X < Y),
    "at most": (lambda x, y: x <= 2, X <= 2),
    "greater": (lambda x, y: x > y, X > Y),
    "at least": (lambda x, y: x >= y, X >= Y),
    "maximum": (
        lambda x, y: sym.maximum(x, 3) + sym.minimum(x, y),
        np.maximum(X, 3) + np.minimum(X, Y),
    ),
    "hypot": (lambda x, y: sym.hypot(x, y) + sym.hypot(3, x), np.hypot(X, Y) + np.hypot(3, X)),
    "power": (lambda x, y: sym.pow(2, x) + sym.pow(x, y), 2**X + X**Y),
    "methods": (lambda x, y: x.reshape((3, 2)).transpose().sum(axis=0), X.reshape(3, 2).sum(1)),
    "parts": (lambda x, y: sym.split(x, num_outputs=3, axis=1)[2], X[:, 2:]),
    "positional": (lambda x, y: sym.clip(x, 2, 5), X.clip(2, 5)),
    "many": (lambda x, y: sym.concat(x, y, dim=0), np.concatenate([X, Y])),
    "list": (lambda x, y: sym.stack([x, y], axis=0), np.stack([X, Y])),
    "creation": (lambda x, y: x + sym.ones((2, 3)) + sym.full((2, 3), 2), X + 3),
    "arange": (lambda x, y: sym.broadcast_add(x, sym.arange(3).reshape((1, 3))), X + np.arange(3)),
    "linalg": (lambda x, y: sym.linalg.gemm2(x, y, transpose_b=True), X @ Y.T),
    "contrib": (lambda x, y: sym.contrib.div_sqrt_dim(x), X / np.sqrt(3)),
}


@pytest.mark.parametrize("case", ARITHMETIC)
def test_expressions(case: str) -> None:
    make, expected = ARITHMETIC[case]
    net = make(sym.var("x"), sym.var("y"))
    graph = net.to_graph(dict.fromkeys(net.list_arguments(), (2, 3)))
    (out,) = run_graph(graph, {"x": X, "y": Y})
    np.testing.assert_allclose(out, expected, rtol=1e-5)


def test_groups_and_parts() -> None:
    x = sym.var("x")
    cut = sym.SliceChannel(x, num_outputs=3, name="cut")
    assert len(cut) == 3 and cut.list_outputs() == ["cut_output0", "cut_output1", "cut_output2"]
    assert [part.list_outputs()[0] for part in cut] == cut.list_outputs()
    assert cut[-1].list_outputs() == cut["cut_output2"].list_outputs() == ["cut_output2"]
    assert cut[1:].list_outputs() == ["cut_output1", "cut_output2"]
    both = sym.Group([cut[0], sym.relu(x)])
    assert both.list_outputs() == ["cut_output0", "relu0_output"] and both.name is None
    assert repr(both) == "<Symbol group [cut, relu0]>"
    assert [one.name for one in both.outputs] == ["cut", "relu0"]
    rnn = sym.RNN(x, mode="lstm", state_size=3, num_layers=1, state_outputs=True, name="rnn")
    assert rnn.list_outputs() == ["rnn_output", "rnn_state_output", "rnn_statecell_output"]
    assert rnn.list_arguments() == ["x", "rnn_parameters", "rnn_state", "rnn_state_cell"]


def test_attributes() -> None:
    x = sym.var("x", shape=(2, 3), lr_mult=0.5, dtype="float16", init="zeros", __own__="1")
    assert x.list_attr() == {
        "__own__": "1",
        "__shape__": "(2, 3)",
        "__lr_mult__": "0.5",
        "__dtype__": "float16",
        "__init__": "zeros",
    }
    net = sym.FullyConnected(x, num_hidden=4, name="fc", attr={"ctx_group": "one"}, __note__="n")
    assert net.attr("num_hidden") == "4" and net.attr("__ctx_group__") == "one"
    assert net.attr("__note__") == "n" and net.attr("none") is None
    assert set(net.attr_dict()) == {"x", "fc", "fc_weight", "fc_bias"}
    norm = sym.BatchNorm(x, name="norm").attr_dict()
    assert norm["norm_moving_mean"] == {"__init__": '["zero", {}]'}
    assert net.infer_shape()[1] == [(2, 4)]
    assert net.infer_type()[0] == [np.float16] * 3


SHAPES = {
    "convolution": (
        lambda x: sym.Convolution(x, kernel=(3, 2), num_filter=6, num_group=2, pad=(1, 0)),
        (2, 4, 8, 8),
        [(2, 4, 8, 8), (6, 2, 3, 2), (6,)],
        [(2, 6, 8, 7)],
    ),
    "deconvolution": (
        lambda x: sym.Deconvolution(x, kernel=(2, 2), num_filter=6, stride=(2, 2)),
        (2, 4, 8, 8),
        [(2, 4, 8, 8), (4, 6, 2, 2)],
        [(2, 6, 16, 16)],
    ),
    "dense": (
        lambda x: sym.FullyConnected(x, num_hidden=6, flatten=False),
        (2, 4, 8),
        [(2, 4, 8), (6, 8), (6,)],
        [(2, 4, 6)],
    ),
    "embedding": (
        lambda x: sym.Embedding(x, input_dim=9, output_dim=3),
        (2, 4),
        [(2, 4), (9, 3)],
        [(2, 4, 3)],
    ),
    "layer norm": (
        lambda x: sym.LayerNorm(x, axis=1),
        (2, 4, 8),
        [(2, 4, 8), (4,), (4,)],
        [(2, 4, 8)],
    ),
    "prelu": (
        lambda x: sym.LeakyReLU(x, act_type="prelu"),
        (2, 4, 8),
        [(2, 4, 8), (4,)],
        [(2, 4, 8)],
    ),
    "lstm": (
        lambda x: sym.RNN(x, mode="lstm", state_size=3, num_layers=2, bidirectional=True),
        (5, 2, 4),
        [(5, 2, 4), (480,), (4, 2, 3), (4, 2, 3)],
        [(5, 2, 6)],
    ),
    "labels": (
        lambda x: sym.SoftmaxOutput(x, multi_output=True),
        (2, 4, 8),
        [(2, 4, 8), (2, 8)],
        [(2, 4, 8)],
    ),
    "from the other": (lambda x: x + sym.var("y"), (2, 4), [(2, 4), (2, 4)], [(2, 4)]),
    "names": (
        lambda x: sym.FullyConnected(sym.Flatten(x), num_hidden=3),
        ("n", 4, 2),
        [("n", 4, 2), (3, 8), (3,)],
        [("n", 3)],
    ),
}


@pytest.mark.parametrize("case", SHAPES)
def test_shapes_follow(case: str) -> None:
    make, given, arguments, outputs = SHAPES[case]
    net = make(sym.var("x"))
    assert net.infer_shape(x=given) == (arguments, outputs, [])
    assert net.infer_shape(given) == (arguments, outputs, [])


def test_shapes_of_a_net() -> None:
    net = small_net()
    arguments, outputs, states = net.infer_shape(data=(2, 3, 6, 6))
    assert arguments == [
        *[(2, 3, 6, 6), (4, 3, 3, 3), (4,), (4,), (4,)],
        *[(5, 64), (5,), (2,)],
    ]
    assert outputs == [(2, 5)] and states == [(4,), (4,)]
    with pytest.warns(UserWarning, match="follow from nothing that was told: data, conv_weight"):
        assert net.infer_shape() == (None, None, None)
    arguments, outputs, states = net.infer_shape_partial(data=(2, 3, 0, 6))
    assert arguments[:3] == [(2, 3, 0, 6), (4, 3, 3, 3), (4,)] and outputs == [(2, 5)]
    with pytest.raises(GraphError, match="'conv' .* expected shape .4, 3, 3, 3., but"):
        net.infer_shape(data=(2, 3, 6, 6), conv_weight=(4, 2, 3, 3))
    with pytest.raises(GraphError, match="expected one of the arguments, but 'other' came"):
        net.infer_shape(other=(2,))


def test_types() -> None:
    arguments, outputs, states = small_net().infer_type(data="float16")
    assert arguments == [np.float16] * 8 and outputs == [np.float16] and states == [np.float16] * 2
    assert sym.Cast(sym.var("x"), dtype="int32").infer_type()[1] == [np.int32]
    table = sym.Embedding(sym.var("i"), input_dim=2, output_dim=2, dtype="float64")
    assert table.infer_type(i="int32")[:2] == ([np.int32, np.float64], [np.float64])
    x = sym.var("x", dtype=ml_dtypes.bfloat16)
    assert x.infer_type()[0] == [ml_dtypes.bfloat16]


def test_json_files_copies_and_pickles(tmp_path: Path) -> None:
    net = small_net()
    net.save(tmp_path / "net-symbol.json")
    for other in (
        sym.load(tmp_path / "net-symbol.json"),
        sym.load_json(net.tojson()),
        pickle.loads(pickle.dumps(net)),
        copy.deepcopy(net),
        copy.copy(net),
        net(),
    ):
        assert other.tojson() == net.tojson()
    assert json.loads(net.tojson(20000))["attrs"]["is_np_shape"] == ["int", 1]


def test_composing_by_call() -> None:
    first = sym.FullyConnected(sym.var("data"), num_hidden=4, name="first")
    second = sym.FullyConnected(sym.var("x"), num_hidden=2, name="second")
    for whole in (second(x=first), second(first)):
        assert whole.list_arguments()[:3] == ["data", "first_weight", "first_bias"]
        assert whole.infer_shape(data=(3, 5))[1] == [(3, 2)]
    assert second.list_arguments()[0] == "x"
    for call, message in (
        (lambda: second(y=first), "argument y: expected one of x, second_weight"),
        (lambda: second(x=3), "argument x: expected a symbol"),
    ):
        with pytest.raises(TypeError, match=message):
            call()


def test_graphs() -> None:
    net = small_net()
    rng = np.random.default_rng(3)
    shapes = zip(net.list_arguments(), net.infer_shape(data=(2, 3, 6, 6))[0], strict=True)
    arrays = {name: rng.random(shape, "float32") for name, shape in shapes}
    arrays |= {name: rng.random(4, "float32") for name in STATES}
    params = {name: mx.np.array(array) for name, array in arrays.items() if name != "data"}
    whole = net.to_graph({"data": (2, 3, 6, 6)})
    assert "softmax_label" not in [spec.name for spec in whole.inputs]
    assert [node.name for node in whole.nodes if "/" not in node.name] == [
        "conv",
        "norm",
        "activation0",
        "fc",
        "softmax",
    ]
    bound = net.to_graph({"data": ("n", 3, 6, 6)}, params=params)
    assert [spec.name for spec in bound.inputs] == ["data"]
    (one,), (two,) = run_graph(whole, arrays), run_graph(bound, arrays)
    np.testing.assert_allclose(one, two, rtol=1e-6)
    np.testing.assert_allclose(one.sum(1), 1, rtol=1e-6)
    assert net.to_graph(expand=False).nodes[0].op_type == "Convolution"
    assert "conv (Convolution)" in net.summary({"data": (2, 3, 6, 6)})
    assert net.picture().startswith("<svg") and net._repr_svg_() == net.picture()


def test_an_unrolled_lstm_whose_first_state_has_no_batch_yet() -> None:
    """As MXNet's examples have it: zeros of a batch of 0, which is found where they are used."""
    torch.manual_seed(1)
    cell = torch.nn.LSTMCell(3, 4)
    weights = {name: tensor.detach().numpy() for name, tensor in cell.named_parameters()}
    names = {"i2h": "ih", "h2h": "hh"}
    params = {
        f"lstm_{ours}_{kind}": weights[f"{kind}_{theirs}"]
        for ours, theirs in names.items()
        for kind in ("weight", "bias")
    }
    shared = {name: sym.var(name) for name in params}
    h, c = sym.zeros(shape=(0, 4)), sym.zeros(shape=(0, 4))
    for step in sym.split(sym.var("data"), num_outputs=5, axis=0, squeeze_axis=True):
        gates = [
            sym.FullyConnected(
                x,
                shared[f"lstm_{name}_weight"],
                shared[f"lstm_{name}_bias"],
                num_hidden=16,
            )
            for name, x in (("i2h", step), ("h2h", h))
        ]
        i, f, g, o = sym.SliceChannel(gates[0] + gates[1], num_outputs=4)
        c = sym.sigmoid(f) * c + sym.sigmoid(i) * sym.tanh(g)
        h = sym.sigmoid(o) * sym.tanh(c)
    graph = h.to_graph({"data": (5, "batch", 3)}, params=params)
    x = np.random.default_rng(4).random((5, 2, 3), "float32")
    (out,) = run_graph(graph, {"data": x})
    state = (torch.zeros(2, 4), torch.zeros(2, 4))
    for step in torch.from_numpy(x):
        state = cell(step, state)
    np.testing.assert_allclose(out, state[0].detach().numpy(), rtol=1e-5, atol=1e-6)


ERRORS = {
    "parameter": (lambda x: sym.Convolution(x, kernel=(3, 3)), ValueError, "num_filter: expected"),
    "value": (
        lambda x: sym.Activation(x, act_type="none"),
        ValueError,
        "act_type: expected one of",
    ),
    "keyword": (lambda x: sym.relu(x, alpha=3), TypeError, "mx.sym.relu: argument alpha"),
    "input": (lambda x: sym.relu(lhs=x), TypeError, "argument lhs: expected one of data"),
    "too many": (lambda x: sym.relu(x, x), TypeError, "at most 1 symbols, got 2"),
    "twice": (lambda x: sym.relu(x, data=x), TypeError, "argument data: given twice"),
    "parameter twice": (
        lambda x: sym.expand_dims(x, 1, axis=1),
        TypeError,
        "argument axis: given twice",
    ),
    "no symbol": (lambda x: sym.relu("x"), TypeError, "argument 0: expected a symbol, got str"),
    "several outputs": (
        lambda x: sym.relu(sym.split(x, num_outputs=2)),
        TypeError,
        "expected a symbol of one output, got one of 2",
    ),
    "operand": (lambda x: x + "1", TypeError, "expected a symbol or a number, got str"),
    "truth": (bool, TypeError, "no truth value"),
    "index": (lambda x: x[1], IndexError, "expected an output below 1, got 1"),
    "name": (lambda x: x["y"], ValueError, "expected one output called 'y' of x"),
    "group": (lambda x: sym.Group([]), TypeError, "expected one symbol or more"),
    "variable": (lambda x: sym.var(3), TypeError, "name: expected a text, got int"),
    "attribute": (
        lambda x: sym.var("y", own="1"),
        TypeError,
        "own: expected attributes as __own__",
    ),
    "method": (lambda x: x.not_there, AttributeError, "no attribute 'not_there'"),
    "operator": (lambda x: sym.NotThere, AttributeError, "'NotThere', and MXNet's operators"),
    "contrib": (lambda x: sym.contrib.NotThere, AttributeError, "has no operator 'NotThere'"),
    "shape": (
        lambda x: sym.var("y", attr={"__shape__": "x"}).infer_shape(),
        GraphError,
        "expected a shape as __shape__",
    ),
    "no rank": (
        lambda x: sym.tile(x, (2,)).to_graph(),
        GraphError,
        "tell the shapes of the inputs",
    ),
    "params": (
        lambda x: sym.FullyConnected(x, num_hidden=3).to_graph(
            {"x": (2, 4)}, params={"fullyconnected0_weight": np.ones((3, 5), "float32")}
        ),
        GraphError,
        "argument 'weight': expected shape",
    ),
}


@pytest.mark.parametrize("case", ERRORS)
def test_errors(case: str) -> None:
    call, kind, message = ERRORS[case]
    with pytest.raises(kind, match=message):
        call(sym.var("x"))


def test_functions_have_signatures_and_help() -> None:
    assert {"Convolution", "zeros", "relu", "Group"} <= set(dir(sym))
    for name in TABLE:
        function = getattr(sym, name)
        assert function.__doc__ and "name: of the node" in function.__doc__, name
        assert list(inspect.signature(function).parameters)[-2:] == ["name", "attr"], name
    dense = inspect.signature(sym.FullyConnected).parameters
    assert list(dense)[:4] == ["data", "weight", "bias", "num_hidden"]
    assert dense["flatten"].default is True
    assert "ROIAlign" in dir(sym.contrib)
