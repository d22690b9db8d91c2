"""Graphs as MXNet's files have them: they compute the same, and what has no form is named."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper

import mx
from mx.graph import OPSET, Graph, GraphError

from .running import run_graph

RNG = np.random.default_rng(11)
sym = mx.sym


def f32(*shape: int) -> np.ndarray:
    return RNG.standard_normal(shape).astype("float32")


def graph_of(
    op: str, inputs: Sequence[Any], attributes: dict[str, Any], outputs: int, feeds: Sequence[Any]
) -> Graph:
    """One node; arrays among the inputs are weights, None is left out, numbers count feeds."""
    names, weights = [], []
    for i, one in enumerate(inputs):
        names.append("" if one is None else f"x{one}" if isinstance(one, int) else f"w{i}")
        if isinstance(one, np.ndarray):
            weights.append(onnx.numpy_helper.from_array(one, f"w{i}"))
    node = helper.make_node(op, names, [f"y{i}" for i in range(outputs)], "it", **attributes)
    given = [
        helper.make_tensor_value_info(
            f"x{i}", helper.np_dtype_to_tensor_dtype(array.dtype), array.shape
        )
        for i, array in enumerate(feeds)
    ]
    told = [helper.make_value_info(f"y{i}", onnx.TypeProto()) for i in range(outputs)]
    proto = helper.make_graph([node], "one", given, told, weights)
    opsets = [helper.make_opsetid("", OPSET)]
    for value in proto.output:
        value.type.tensor_type.elem_type = TensorProto.FLOAT
    model = helper.make_model(proto, opset_imports=opsets, ir_version=13)
    return mx.graph.load(onnx.shape_inference.infer_shapes(model).SerializeToString())


def ints(*values: int) -> np.ndarray:
    return np.array(values, "int64")


IMAGE = f32(2, 4, 9, 8)
NODES: list[tuple[str, list[Any], dict[str, Any], list[np.ndarray]]] = [
    ("Conv", [0, f32(6, 2, 3, 2), f32(6)], {"group": 2, "pads": [1, 0, 1, 0]}, [IMAGE]),
    ("Conv", [0, f32(6, 4, 3, 2)], {"strides": [2, 1], "dilations": [1, 2]}, [IMAGE]),
    (
        "ConvTranspose",
        [0, f32(4, 3, 3, 3)],
        {"strides": [2, 2], "output_padding": [1, 1], "pads": [1, 1, 1, 1]},
        [IMAGE],
    ),
    ("Gemm", [0, f32(5, 3), f32(5)], {"transB": 1}, [f32(2, 3)]),
    ("Gemm", [0, f32(3, 5)], {}, [f32(2, 3)]),
    ("Gemm", [0, f32(3, 5), f32(2, 1)], {}, [f32(2, 3)]),
    ("MatMul", [0, f32(3, 5)], {}, [f32(2, 3)]),
    ("MatMul", [0, f32(3, 5)], {}, [f32(4, 2, 3)]),
    ("MatMul", [0, 1], {}, [f32(4, 2, 3), f32(4, 3, 5)]),
    ("BatchNormalization", [0, f32(4), f32(4), f32(4), abs(f32(4))], {"epsilon": 1e-4}, [IMAGE]),
    ("InstanceNormalization", [0, f32(4), f32(4)], {}, [IMAGE]),
    ("LayerNormalization", [0, f32(8), f32(8)], {}, [IMAGE]),
    ("LRN", [0], {"size": 3, "alpha": 0.1}, [f32(4, 4, 3, 3)]),
    ("MaxPool", [0], {"kernel_shape": [3, 2], "strides": [2, 1], "pads": [1, 0, 1, 0]}, [IMAGE]),
    ("MaxPool", [0], {"kernel_shape": [2, 3], "strides": [2, 2], "ceil_mode": 1}, [IMAGE]),
    ("AveragePool", [0], {"kernel_shape": [3, 3], "pads": [1, 1, 1, 1]}, [IMAGE]),
    (
        "AveragePool",
        [0],
        {"kernel_shape": [3, 3], "pads": [1, 1, 1, 1], "count_include_pad": 1},
        [IMAGE],
    ),
    ("GlobalAveragePool", [0], {}, [IMAGE]),
    ("GlobalMaxPool", [0], {}, [IMAGE]),
    *((op, [0], {}, [f32(2, 3)]) for op in "Relu Sigmoid Tanh Softplus Softsign Selu Gelu".split()),
    *((op, [0], {}, [f32(2, 3)]) for op in "Abs Neg Exp Floor Ceil Sin Erf Identity Sign".split()),
    ("LeakyRelu", [0], {"alpha": 0.3}, [f32(2, 3)]),
    ("Elu", [0], {}, [f32(2, 3)]),
    ("HardSigmoid", [0], {}, [f32(2, 3)]),
    ("PRelu", [0, f32(4, 1, 1)], {}, [IMAGE]),
    ("PRelu", [0, f32(3)], {}, [f32(2, 3)]),
    ("Softmax", [0], {"axis": 1}, [IMAGE]),
    ("LogSoftmax", [0], {}, [IMAGE]),
    ("Dropout", [0, np.array(0.3, "f")], {}, [f32(2, 3)]),
    *((op, [0, 1], {}, [f32(2, 3), f32(2, 3)]) for op in "Add Sub Mul Div Max Min".split()),
    *((op, [0, 1], {}, [f32(2, 3), f32(3)]) for op in "Add Sub Mul Div Max Min".split()),
    *((op, [0, np.float32([2])], {}, [f32(2, 3)]) for op in "Add Sub Mul Div Max Min Pow".split()),
    *((op, [np.float32([2]), 0], {}, [f32(2, 3)]) for op in "Add Sub Mul Div Max Min Pow".split()),
    ("Add", [f32(2, 1, 3), 0], {}, [f32(2, 4, 3)]),
    ("Sum", [0, 1, 0], {}, [f32(2, 3), f32(2, 3)]),
    ("Clip", [0, np.array(-0.5, "f"), np.array(0.5, "f")], {}, [f32(2, 3)]),
    ("Cast", [0], {"to": TensorProto.INT32}, [f32(2, 3)]),
    ("ReduceMean", [0, ints(1, 2)], {"keepdims": 0}, [IMAGE]),
    ("ReduceSum", [0], {}, [IMAGE]),
    ("ReduceMax", [0, ints(-1)], {}, [IMAGE]),
    ("Reshape", [0, ints(0, -1)], {}, [IMAGE]),
    ("Flatten", [0], {}, [IMAGE]),
    ("Transpose", [0], {"perm": [0, 2, 3, 1]}, [IMAGE]),
    ("Transpose", [0], {}, [IMAGE]),
    ("Concat", [0, f32(2, 2)], {"axis": 1}, [f32(2, 3)]),
    ("Squeeze", [0, ints(1, -1)], {}, [f32(2, 1, 3, 1)]),
    ("Unsqueeze", [0, ints(0, -1)], {}, [f32(2, 3)]),
    ("Slice", [0, ints(1, 0), ints(-1, 2), ints(2, 1)], {}, [IMAGE]),
    ("Slice", [0, ints(1), ints(1 << 62)], {}, [IMAGE]),
    ("Split", [0], {"axis": 1, "num_outputs": 2}, [IMAGE]),
    ("Split", [0, ints(1, 3)], {"axis": 1}, [IMAGE]),
    ("Pad", [0, ints(0, 0, 1, 2, 0, 0, 3, 0), np.array(1.5, "f")], {}, [IMAGE]),
    ("Pad", [0, ints(0, 0, 1, 2, 0, 0, 3, 0)], {"mode": "edge"}, [IMAGE]),
    ("Gather", [0, ints(0, -1)], {"axis": 1}, [f32(2, 3)]),
    ("Tile", [0, ints(2, 3)], {}, [f32(2, 3)]),
]


@pytest.mark.parametrize(
    ("op", "inputs", "attributes", "feeds"),
    NODES,
    ids=[f"{op}-{i}" for i, (op, *_) in enumerate(NODES)],
)
def test_exported_nodes_compute_the_same(
    tmp_path: Path, op: str, inputs: list, attributes: dict, feeds: list
) -> None:
    graph = graph_of(op, inputs, attributes, 2 if op == "Split" else 1, feeds)
    given = {f"x{i}": array for i, array in enumerate(feeds)}
    expected = run_graph(graph, given)
    symbol, arguments, states = mx.model.from_graph(graph)
    mx.model.save_checkpoint(tmp_path / "a", 0, symbol, arguments, states)
    symbol, arguments, states = mx.model.load_checkpoint(tmp_path / "a", 0)
    shapes = {name: array.shape for name, array in given.items()}
    types = {name: array.dtype for name, array in given.items()}
    again = symbol.to_graph(shapes, types, {**arguments, **states})
    assert [spec.name for spec in again.inputs] == list(given)
    for out, want in zip(run_graph(again, given), expected, strict=True):
        np.testing.assert_allclose(out, want, rtol=1e-4, atol=1e-5)


def net() -> Any:
    net = sym.Convolution(sym.var("data"), kernel=(3, 3), num_filter=4, name="conv")
    net = sym.BatchNorm(net, fix_gamma=False, name="norm")
    net = sym.Activation(net, act_type="relu", name="act")
    pool = sym.Pooling(net, global_pool=True, pool_type="avg", name="pool")
    net = sym.broadcast_mul(net, pool, name="scaled")
    net = sym.FullyConnected(sym.Flatten(net, name="flat"), num_hidden=5, name="fc")
    return sym.softmax(net, name="out")


def test_names_come_back() -> None:
    first = net()
    found = first.infer_shape(data=(2, 3, 6, 6))
    params = dict(zip(first.list_arguments(), found[0], strict=True))
    params |= dict(zip(first.list_auxiliary_states(), found[2], strict=True))
    arrays = {name: abs(f32(*shape)) for name, shape in params.items() if name != "data"}
    graph = first.to_graph({"data": (2, 3, 6, 6)}, params=arrays)
    symbol, arguments, states = mx.model.from_graph(graph)
    assert symbol.list_arguments() == first.list_arguments()
    assert symbol.list_auxiliary_states() == first.list_auxiliary_states() == list(states)
    assert set(symbol.get_internals().list_outputs()) >= {"conv_output", "fc_output", "out_output"}
    given = {"data": f32(2, 3, 6, 6)}
    again = symbol.to_graph({"data": (2, 3, 6, 6)}, params={**arguments, **states})
    np.testing.assert_allclose(run_graph(again, given)[0], run_graph(graph, given)[0], rtol=1e-5)


def test_graphs_of_mxnet_nodes() -> None:
    first = net()
    arrays = {"conv_weight": f32(4, 3, 3, 3), "norm_moving_mean": f32(4)}
    graph = first.to_graph({"data": (2, 3, 6, 6)}, params=arrays, expand=False)
    symbol, arguments, states = mx.model.from_graph(graph)
    assert symbol.tojson() == first.tojson()
    assert list(arguments) == ["conv_weight"] and list(states) == ["norm_moving_mean"]


ERRORS = [
    ("Det", [0], {}, [f32(2, 2)], "node 'it': expected an operator that MXNet has a form of"),
    ("Conv", [0, f32(6, 4, 3, 3)], {"auto_pad": "SAME_UPPER"}, [IMAGE], "auto_pad NOTSET or VALID"),
    ("Conv", [0, f32(6, 4, 3, 3)], {"pads": [1, 0, 0, 0]}, [IMAGE], "same pads on both sides"),
    ("Gemm", [0, f32(3, 5)], {"alpha": 2.0}, [f32(2, 3)], "node 'it' (Gemm): expected alpha=1.0"),
    ("MatMul", [0, f32(3)], {}, [f32(3)], "expected two matrices"),
    ("Reshape", [0, 1], {}, [f32(2, 3), ints(3, 2)], "expected a constant as input 1"),
    ("Slice", [0, ints(0), ints(3), ints(1), ints(2)], {}, [IMAGE], "expected steps of 1"),
    ("Split", [0], {"axis": 1, "num_outputs": 2}, [f32(2, 5)], "expected 2 equal pieces"),
    ("PRelu", [0, f32(2, 3)], {}, [f32(2, 3)], "expected a slope for each channel"),
    ("MaxPool", [0], {"kernel_shape": [2, 2], "dilations": [2, 2]}, [IMAGE], "no dilations"),
    ("ReduceSum", [0], {"keepdims": 0}, [IMAGE], "expected keepdims=1 for all axes"),
    ("LayerNormalization", [0, f32(9, 8), f32(9, 8)], {"axis": 2}, [IMAGE], "expected the last"),
]


@pytest.mark.parametrize(("op", "inputs", "attributes", "feeds", "message"), ERRORS)
def test_what_mxnet_has_no_form_of(
    op: str, inputs: list, attributes: dict, feeds: list, message: str
) -> None:
    graph = graph_of(op, inputs, attributes, 2 if op == "Split" else 1, feeds)
    with pytest.raises(GraphError) as caught:
        mx.model.from_graph(graph)
    assert message in str(caught.value)
