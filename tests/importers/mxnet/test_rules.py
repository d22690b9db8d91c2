"""Each operator of MXNet against what NumPy or torch gives, with known and with named shapes."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from onnx.reference.ops.op_rnn import CommonRNN

from mx.graph import GraphError
from mx.importers.mxnet.conversion import convert
from mx.importers.mxnet.table import TABLE

from .cases.activations import ACTIVATIONS
from .cases.convolutions import CONVOLUTIONS
from .cases.creation import CREATION
from .cases.data import BIAS, IMAGE, ROIS, WEIGHT, A, f32
from .cases.elementwise import BINARY, UNARY
from .cases.images import IMAGES
from .cases.indexing import INDEXING
from .cases.norms import NORMS
from .cases.others import REST
from .cases.products import LINEAR
from .cases.reductions import REDUCTIONS
from .cases.sequences import SEQUENCES
from .cases.shapes import SHAPES
from .running import heads_of, run

CASES = [
    *REST,
    *CONVOLUTIONS,
    *NORMS,
    *ACTIVATIONS,
    *UNARY,
    *BINARY,
    *REDUCTIONS,
    *SHAPES,
    *INDEXING,
    *LINEAR,
    *CREATION,
    *SEQUENCES,
    *IMAGES,
]


NAMES = [f"{op}-{i}" for i, (op, *_) in enumerate(CASES)]


def compare(outputs: list[np.ndarray], expected: Any) -> None:
    many = expected if isinstance(expected, (list, tuple)) else [expected]
    assert len(outputs) == len(many)
    for out, want in zip(outputs, many, strict=True):
        assert out.shape == np.shape(want)
        if out.dtype != np.asarray(want).dtype:  # what NumPy has as truth values, or as float64
            assert np.asarray(want).dtype.name in ("float64", "bool")
        np.testing.assert_allclose(out, want, rtol=2e-4, atol=2e-5)


@pytest.mark.parametrize(("op", "parameters", "inputs", "expected"), CASES, ids=NAMES)
def test_operators(op: str, parameters: dict, inputs: list, expected: Callable) -> None:
    compare(run(op, parameters, inputs), expected(*inputs))


@pytest.mark.parametrize(("op", "parameters", "inputs", "expected"), CASES, ids=NAMES)
def test_operators_with_named_shapes(
    op: str, parameters: dict, inputs: list, expected: Callable
) -> None:
    if not inputs:
        return
    for named in ([0], list(range(inputs[0].ndim))):
        try:
            outputs = run(op, parameters, inputs, named)
        except GraphError as error:
            assert "tell the shapes" in str(error)
        else:
            compare(outputs, expected(*inputs))


GATES = {"rnn_tanh": 1, "rnn_relu": 1, "lstm": 4, "gru": 3}


@pytest.mark.parametrize("bidirectional", [False, True])
@pytest.mark.parametrize("layers", [1, 2])
@pytest.mark.parametrize("mode", GATES)
@pytest.mark.parametrize("named", [(), (0, 1)], ids=["numbers", "names"])
def test_rnn(
    mode: str,
    layers: int,
    bidirectional: bool,
    named: tuple[int, ...],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    torch.manual_seed(3)
    if mode == "rnn_relu":  # which the reference lacks
        relu = lambda self, name, alpha, beta: lambda x: np.maximum(x, 0)  # noqa: E731
        monkeypatch.setattr(CommonRNN, "choose_act", relu)
    kinds = {"lstm": torch.nn.LSTM, "gru": torch.nn.GRU}
    more = {} if mode in kinds else {"nonlinearity": mode[4:]}
    net = kinds.get(mode, torch.nn.RNN)(5, 4, layers, bidirectional=bidirectional, **more)
    names = [name for name, _ in net.named_parameters()]
    ordered = [n for n in names if "weight" in n] + [n for n in names if "bias" in n]
    weights = dict(net.named_parameters())
    packed = torch.cat([weights[name].flatten() for name in ordered]).detach().numpy()
    x = f32(6, 3, 5)
    states = [f32(layers * (1 + bidirectional), 3, 4) for _ in range(1 + (mode == "lstm"))]
    parameters = {"state_size": 4, "num_layers": layers, "mode": mode, "state_outputs": True}
    parameters["bidirectional"] = bidirectional
    outputs = run("RNN", parameters, [x, packed, *states], named)
    given = [torch.from_numpy(state) for state in states]
    out, last = net(torch.from_numpy(x), given[0] if len(given) == 1 else tuple(given))
    expected = [out, *(last if mode == "lstm" else [last])]
    compare(outputs, [one.detach().numpy() for one in expected])


@pytest.mark.parametrize(
    ("op", "parameters", "inputs", "message"),
    [
        ("Convolution", {"num_filter": 3}, [IMAGE, WEIGHT, BIAS], "kernel: expected a value"),
        (
            "Convolution",
            {"kernel": "x", "num_filter": 6},
            [IMAGE],
            "kernel: expected whole numbers",
        ),
        (
            "Convolution",
            {"kernel": (3, 2), "num_filter": 1.5},
            [IMAGE],
            "num_filter: expected a whole",
        ),
        ("Activation", {"act_type": "swish"}, [A], "act_type: expected one of relu, sigmoid"),
        (
            "Convolution",
            {"kernel": (3, 2), "num_filter": 6},
            [IMAGE, f32(5, 4, 3, 2), BIAS],
            "argument 'weight': expected shape (6, 4, 3, 2), but (5, 4, 3, 2) came",
        ),
        ("elemwise_add", {}, [A], "expected inputs lhs, rhs, but 1 came"),
        ("dot", {}, [A, A], "node 'node' (dot): expected inputs that MatMul takes"),
        ("norm", {"ord": 3}, [A], "expected ord 1 or 2, but 3 came"),
        ("sum", {"axis": 5}, [A], "node 'node' (sum)"),
        ("Reshape", {"shape": (-4, -1, -1)}, [A], "expected two sizes after code -4"),
        ("_arange", {"start": 0, "stop": 1e12}, [], "expected at most 16777216 elements"),
        (
            "RNN",
            {"mode": "lstm", "state_size": 4, "num_layers": 1},
            [f32(2, 3, 5), f32(10), f32(1, 3, 4), f32(1, 3, 4)],
            "argument 'parameters': expected shape (176,), but (10,) came",
        ),
    ],
)
def test_what_does_not_fit(op: str, parameters: dict, inputs: list, message: str) -> None:
    with pytest.raises(GraphError) as caught:
        run(op, parameters, inputs)
    assert message in str(caught.value)


def test_roi_pooling_is_that_of_onnx() -> None:
    """Which the reference implementation lacks."""
    heads = heads_of("ROIPooling", {"pooled_size": (2, 3), "spatial_scale": 0.5}, 2)
    graph = convert(heads, {"a0": IMAGE.shape, "a1": ROIS.shape})
    (node,) = graph.nodes
    assert node.op_type == "MaxRoiPool" and graph.outputs[0].shape == (2, 4, 2, 3)
    assert list(node.attributes["pooled_shape"].value) == [2, 3]


def test_each_operator_has_a_case() -> None:
    tried = {id(TABLE[op]) for op, *_ in CASES} | {id(TABLE[op]) for op in ("RNN", "ROIPooling")}
    assert not sorted({one.name for one in TABLE.values() if id(one) not in tried})


def test_each_operator_is_described() -> None:
    for operator in {id(one): one for one in TABLE.values()}.values():
        assert operator.doc.endswith(".") and operator.doc[0].upper() == operator.doc[0]
        assert math.isfinite(len(operator.parameters))


ODD = [
    "((1, 2), (3, 4))",
    "0",
    "-1",
    "-7",
    "3",
    "99999999999",
    "1e30",
    "nan",
    "None",
    "()",
    "(0,)",
    "(-5, 9)",
    "x",
    "",
]


@pytest.mark.parametrize("op", sorted({op for op, *_ in CASES}))
def test_odd_parameters_are_errors_of_the_graph(op: str) -> None:
    """Files can have anything as a parameter; what comes of it is a model or a GraphError."""
    for _, parameters, inputs, _ in [case for case in CASES if case[0] == op][:2]:
        for parameter in TABLE[op].parameters:
            for odd in ODD:
                given = parameters | {parameter.name: odd}
                try:
                    heads = heads_of(op, given, len(inputs))
                    shapes = {f"a{i}": array.shape for i, array in enumerate(inputs)}
                    convert(heads, shapes, {f"a{i}": str(a.dtype) for i, a in enumerate(inputs)})
                except GraphError as error:
                    assert "node 'node'" in str(error), (given, error)
