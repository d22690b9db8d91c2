"""What NumPy computes of nodes is what onnx's reference implementation gives."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import numpy as np
import onnx
import onnx_ir
import pytest
from onnx.reference import ReferenceEvaluator

from mx.graph._by_numpy import _FUNCTIONS, attributes_by_name, by_numpy

X = np.arange(-6, 18, dtype="float32").reshape(2, 3, 4)
N = np.array([7, -3, 0, 5])
B = np.array([True, False, True, False])


def ints(*numbers: int) -> Any:
    return np.array(numbers, "int64")


# Operator, inputs, attributes, number of outputs.
CASES: list[tuple[str, list[Any], dict[str, Any], int]] = [
    ("Add", [X, X[:1]], {}, 1),
    ("Add", [np.int64(2), ints(1, 2)], {}, 1),
    ("Sub", [N, ints(2)], {}, 1),
    ("Mul", [N, N], {}, 1),
    ("Div", [X, X], {}, 1),
    ("Div", [ints(7, 8, 0), ints(2, 3, 5)], {}, 1),
    ("Mod", [N, ints(3, 3, 3, -4)], {}, 1),
    ("And", [B, ~B], {}, 1),
    ("Or", [B, ~B], {}, 1),
    ("Not", [B], {}, 1),
    ("Equal", [N, N[::-1]], {}, 1),
    ("Less", [X, X[:1]], {}, 1),
    ("Greater", [N, N[::-1]], {}, 1),
    ("Cast", [X], {"to": onnx.TensorProto.INT64}, 1),
    ("Cast", [N], {"to": onnx.TensorProto.BOOL, "saturate": 1}, 1),
    ("Cast", [N.astype(">i8").view("<i8").byteswap()], {"to": onnx.TensorProto.FLOAT16}, 1),
    ("CastLike", [X, N], {}, 1),
    ("Concat", [X, X[:, :1]], {"axis": 1}, 1),
    ("Concat", [N, N[:1], N], {"axis": -1}, 1),
    ("Constant", [], {"value_float": 1.5}, 1),
    ("Constant", [], {"value_ints": [1, 2]}, 1),
    ("ConstantOfShape", [ints(2, 3)], {}, 1),
    ("ConstantOfShape", [ints()], {"value": onnx.numpy_helper.from_array(ints(7))}, 1),
    ("Gather", [X, ints(1, -1)], {"axis": 2}, 1),
    ("Gather", [N, np.array(2)], {}, 1),
    ("Identity", [X], {}, 1),
    ("Range", [np.array(1), np.array(9), np.array(3)], {}, 1),
    ("Range", [np.array(9, "int32"), np.array(1, "int32"), np.array(-3, "int32")], {}, 1),
    ("ReduceMax", [X, ints(0, 2)], {}, 1),
    ("ReduceMin", [X, ints(-1)], {"keepdims": 0}, 1),
    ("Reshape", [X, ints(4, -1)], {}, 1),
    ("Slice", [X, ints(1), ints(1 << 62)], {}, 1),
    ("Slice", [X, ints(-1, 3), ints(-9, 0), ints(1, 2), ints(-1, -2)], {}, 1),
    ("Slice", [X, ints(2), ints(1), ints(0)], {}, 1),
    ("Split", [X], {"axis": 2, "num_outputs": 3}, 3),
    ("Split", [X, ints(1, 3)], {"axis": -1}, 2),
    ("Sqrt", [np.abs(X)], {}, 1),
    ("Squeeze", [X[:1, :, :1]], {}, 1),
    ("Squeeze", [X[:1, :, :1], ints(-1)], {}, 1),
    ("Transpose", [X], {}, 1),
    ("Transpose", [X], {"perm": [2, 0, 1]}, 1),
    ("Unsqueeze", [X, ints(0, -1)], {}, 1),
    ("Where", [B, N, N[:1]], {}, 1),
]
HALF = np.array([1.0], "float16").astype(onnx_ir.DataType.BFLOAT16.numpy())
# What is left to the reference, which may reject it.
LEFT: list[tuple[str, list[Any], dict[str, Any]]] = [
    ("Add", [X, N], {}),
    ("Add", [HALF, HALF], {}),
    ("Add", [X, X], {"axis": 1}),
    ("Add", [X, X[:, :2]], {}),
    ("Add", [X], {}),
    ("Add", [B, B], {}),
    ("And", [N, N], {}),
    ("Div", [N, ints(2)], {}),
    ("Div", [ints(1), ints(0)], {}),
    ("Mod", [X, X], {"fmod": 1}),
    ("Mod", [N, ints(0)], {}),
    ("Cast", [X], {"to": onnx.TensorProto.STRING}),
    ("Cast", [X], {"to": onnx.TensorProto.BFLOAT16}),
    ("Cast", [X], {}),
    ("Concat", [X, N], {"axis": 0}),
    ("Concat", [np.array(1), np.array(1)], {"axis": 0}),
    ("Constant", [], {"value_string": b"text"}),
    ("ConstantOfShape", [ints(-1)], {}),
    ("ConstantOfShape", [ints(1)], {"value": onnx.numpy_helper.from_array(ints(1, 2))}),
    ("Gather", [N, ints(4)], {}),
    ("Gather", [N, np.array([0.5])], {}),
    ("Range", [np.array(0), np.array(4), np.array(0)], {}),
    ("ReduceMax", [X], {}),
    ("ReduceMax", [X[:0], ints(0)], {}),
    ("Reshape", [X, ints(0, -1)], {}),
    ("Reshape", [X, ints(5, 5)], {}),
    ("Slice", [X, ints(1, 2), ints(2), ints(0, 1)], {}),
    ("Slice", [X, ints(1), ints(2), ints(3)], {}),
    ("Slice", [X, ints(1), ints(2), ints(0), ints(0)], {}),
    ("Split", [X, ints(1, 4)], {"axis": 2}),
    ("Sqrt", [N], {}),
    ("Squeeze", [X, ints(0)], {}),
    ("Transpose", [X], {"perm": [0, 1]}),
    ("Unsqueeze", [X, ints(0, 0)], {}),
    ("Where", [N, N, N], {}),
    ("Where", [B, N, B], {}),
    ("Identity", [["a", "list"]], {}),
    ("Relu", [X], {}),
]


def node_of(name: str, arrays: list[Any], attributes: dict[str, Any], outputs: int) -> Any:
    names = [f"i{n}" for n in range(len(arrays))]
    return onnx.helper.make_node(name, names, [f"o{n}" for n in range(outputs)], **attributes)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case[0])
def test_it_is_what_the_reference_gives(case: Any) -> None:
    name, arrays, attributes, outputs = case
    proto = node_of(*case)
    feeds = {f"i{n}": np.asarray(one) for n, one in enumerate(arrays)}
    with np.errstate(all="ignore"):
        expected = ReferenceEvaluator(proto).run(None, feeds)
    told = attributes_by_name(onnx_ir.serde.deserialize_node(proto))
    found = by_numpy(name, told, [*feeds.values(), None], outputs, 23)
    assert found is not None and len(found) == len(expected)
    for one, other in zip(found, expected, strict=True):
        assert (one.dtype, one.shape) == (np.asarray(other).dtype, np.shape(other))
        np.testing.assert_array_equal(one, other)
    assert by_numpy(name, told, list(feeds.values()), outputs, 17) is None


def test_all_functions_are_compared() -> None:
    assert {case[0] for case in CASES} == set(_FUNCTIONS)


@pytest.mark.parametrize("case", LEFT, ids=lambda case: case[0])
def test_what_is_left_to_the_reference(case: Any) -> None:
    name, arrays, attributes = case
    told = attributes_by_name(onnx_ir.serde.deserialize_node(node_of(*case, 2)))
    assert told is not None and by_numpy(name, told, arrays, 2, 23) is None


PROGRAM = """
import sys
import numpy, onnx, mx, mx.graph
from onnx import helper
nodes = [
    helper.make_node("Shape", ["x"], ["shape"]),
    helper.make_node("Slice", ["shape", "zero", "one"], ["batch"]),
    helper.make_node("Concat", ["batch", "rest"], ["whole"], axis=0),
    helper.make_node("ConstantOfShape", ["whole"], ["zeros"]),
    helper.make_node("Add", ["x", "zeros"], ["y"]),
]
tensor = lambda name, *numbers: onnx.numpy_helper.from_array(numpy.array(numbers, "int64"), name)
value = lambda name: helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, [2, 3])
graph = helper.make_graph(nodes, "g", [value("x")], [value("y")],
                          [tensor("zero", 0), tensor("one", 1), tensor("rest", 3)])
model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)])
(y,) = mx.graph.Plan(mx.graph.load(model.SerializeToString())).run({"x": numpy.ones((2, 3), "f")})
print(y.tolist(), "onnx.reference" in sys.modules)
"""


def test_the_reference_is_not_imported_for_it() -> None:
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == "[[1.0, 1.0, 1.0], [1.0, 1.0, 1.0]] False"
