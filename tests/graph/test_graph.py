"""What a graph tells of itself, and that copies and files have all of it."""

import copy
import pickle
import subprocess
import sys

import ml_dtypes
import numpy
import onnx
import onnx_ir
import pytest

import mx
from mx.graph import OPSET, Graph, GraphError

from .build import graph_of

LINEAR = """linear (float[N, 3] x) => (float[N, 2] y)
<float[3, 2] w = {1, 2, 3, 4, 5, 6}, float[2] b = {7, 8}>
{ [plus_first] h = MatMul(x, w) [second] y = Add(h, b) }"""


def test_tells() -> None:
    graph = graph_of(LINEAR)
    assert graph.name == "linear" and graph.opset == OPSET
    assert graph.inputs == (("x", "float32", ("N", 3)),)
    assert graph.outputs == (("y", "float32", ("N", 2)),)
    assert [node.op_type for node in graph.nodes] == ["MatMul", "Add"]
    assert repr(graph) == "<Graph 'linear': 2 nodes, (x: float32 (N, 3)) -> (y: float32 (N, 2))>"
    assert list(graph.weights) == ["w", "b"] and len(graph.weights) == 2


@pytest.mark.parametrize(
    ("type_", "dtype"),
    [
        ("float[2]", "float32"),
        ("bfloat16[2]", "bfloat16"),
        ("string[2]", "string"),
        ("bool[2]", "bool"),
        ("int4[2]", "int4"),
        ("float8e4m3fn[2]", "float8_e4m3fn"),
        ("seq(float[2])", "seq(tensor(float))"),
        ("optional(seq(float[2]))", "optional(seq(tensor(float)))"),
    ],
)
def test_dtypes_of_inputs(type_, dtype) -> None:
    graph = graph_of(f"g ({type_} x) => ({type_} y) {{ y = Identity(x) }}")
    assert graph.inputs[0].dtype == dtype == graph.outputs[0].dtype


def test_rejects_what_is_no_model() -> None:
    with pytest.raises(TypeError, match=r"model: expected an onnx_ir\.Model, got str"):
        Graph("model.onnx")


@pytest.mark.parametrize(
    "dtype",
    [
        *("float32", "float16", "float64", "int8", "uint64", "bool", "complex64"),
        *(ml_dtypes.bfloat16, ml_dtypes.float8_e4m3fn, ml_dtypes.float8_e5m2, ml_dtypes.int4),
    ],
)
@pytest.mark.parametrize("shape", [(), (3,), (2, 0), (5, 7)])
def test_weights_of_all_dtypes(tmp_path, dtype, shape) -> None:
    array = numpy.arange(numpy.prod(shape, dtype=int)).reshape(shape).astype(dtype)
    value = onnx_ir.val("w", const_value=onnx_ir.tensor(array, name="w"))
    inside = onnx_ir.Graph([], [value], nodes=[], initializers=[value], opset_imports={"": OPSET})
    graph = Graph(onnx_ir.Model(inside, ir_version=10))
    for external in (False, True):
        graph.save(tmp_path / "model.onnx", external_data=external)
        again = Graph(onnx_ir.load(tmp_path / "model.onnx")).weights["w"]
        assert again.dtype == array.dtype and again.shape == shape
        numpy.testing.assert_array_equal(again, array)
        assert not again.flags.writeable


def test_replaces_weights() -> None:
    graph = graph_of(LINEAR)
    copy = graph.copy()
    graph.weights["b"] = numpy.array([1, 2], "float32")
    assert graph.weights["b"].tolist() == [1, 2] and copy.weights["b"].tolist() == [7, 8]
    for wrong in (numpy.zeros(3, "float32"), numpy.zeros(2), [1, 2]):
        with pytest.raises(GraphError, match=r"linear: the weight 'b' is float32 \(2,\), and was"):
            graph.weights["b"] = wrong
    with pytest.raises(KeyError):
        graph.weights["c"] = numpy.zeros(2, "float32")
    with pytest.raises(GraphError, match="the weight 'b' is used, so it stays"):
        del graph.weights["b"]
    scaled = graph_of("scaled (float[2] x) => (float[2] y) <float s = {2}> { y = Mul(x, s) }")
    for number in (numpy.array(3, "float32"), numpy.float32(4)):
        scaled.weights["s"] = number
        assert scaled.weights["s"].shape == () and scaled.weights["s"] == number


def test_copies_are_apart() -> None:
    graph = graph_of(LINEAR)
    graph.model.graph.initializers["w"].metadata_props["mx.role"] = "auxiliary"
    graph.nodes[0].metadata_props["mx.source"] = "model.py:3"
    copy = graph.copy()
    copy.model.graph.remove(copy.nodes[1])
    copy.bind({"N": 4})
    assert len(graph.nodes) == 2 and graph.inputs[0].shape == ("N", 3)
    assert copy.model.graph.initializers["w"].metadata_props["mx.role"] == "auxiliary"
    assert copy.nodes[0].metadata_props["mx.source"] == "model.py:3"


@pytest.mark.parametrize("external", [None, False, True, "weights.bin"])
def test_saves(tmp_path, external) -> None:
    graph = graph_of(LINEAR)
    big = numpy.arange(3000, dtype="float32").reshape(1000, 3)
    graph.model.graph.initializers.add(
        onnx_ir.val("big", const_value=onnx_ir.tensor(big, name="big"))
    )
    path = tmp_path / "model.onnx"
    graph.save(path, external_data=external)
    beside = {True: ["model.onnx.data"], "weights.bin": ["weights.bin"]}.get(external, [])
    assert sorted(file.name for file in tmp_path.iterdir()) == sorted(["model.onnx", *beside])
    onnx.checker.check_model(path)
    again = Graph(onnx_ir.load(path))
    assert again.inputs == graph.inputs and list(again.weights) == list(graph.weights)
    numpy.testing.assert_array_equal(again.weights["big"], big)
    # Over the file that its weights are in, and to another folder, without it.
    again.save(path, external_data=external)
    (tmp_path / "other").mkdir()
    Graph(onnx_ir.load(path)).save(tmp_path / "other" / "copy.onnx")
    for file in (path, tmp_path / "other" / "copy.onnx"):
        numpy.testing.assert_array_equal(Graph(onnx_ir.load(file)).weights["big"], big)
    assert len(list((tmp_path / "other").iterdir())) == 1


@pytest.mark.parametrize("name", ["../w.bin", "/tmp/w.bin", "a/w.bin", "..", "model.onnx"])
def test_rejects_names_of_external_data(tmp_path, name) -> None:
    with pytest.raises(ValueError, match="external_data: expected the name of another file"):
        graph_of(LINEAR).save(tmp_path / "model.onnx", external_data=name)
    assert not list(tmp_path.iterdir())


def test_summary() -> None:
    graph = graph_of(LINEAR)
    graph.infer()
    assert graph.summary().splitlines() == [
        f"Graph: 'linear', operator set {OPSET}",
        "---------------------------------------------",
        "Node (operator)      Output shape  Parameters",
        "=============================================",
        "x (input)            (N, 3)                 0",
        "plus_first (MatMul)  (N, 2)                 6",
        "second (Add)         (N, 2)                 2",
        "=============================================",
        "Nodes: 2",
        "Parameters: 8",
        "Weights: 32 bytes",
        "Output: y: float32 (N, 2)",
    ]
    assert "second (Add)         (N, 2)                 2  npu" in graph.summary({"second": "npu"})


@pytest.mark.parametrize(
    "made", [copy.copy, copy.deepcopy, lambda one: pickle.loads(pickle.dumps(one))]
)
@pytest.mark.parametrize("external", [None, False, True])
def test_copies(made, external, tmp_path) -> None:
    """Of graphs in memory, and of files that nobody has read yet, whose weights may lie beside."""
    graph = graph_of(LINEAR)
    if external is not None:
        graph.save(tmp_path / "linear.onnx", external_data=external)
        graph = mx.graph.load(tmp_path / "linear.onnx")
    other = made(graph)
    for one in (other, graph):  # the copy first, which may be what reads the file
        assert one.inputs == (("x", "float32", ("N", 3)),) and one.file == graph.file
        numpy.testing.assert_array_equal(one.weights["w"], [[1, 2], [3, 4], [5, 6]])
    other.weights["b"] = numpy.zeros(2, "float32")
    numpy.testing.assert_array_equal(graph.weights["b"], [7, 8])


def test_pickles_have_what_lies_in_files(tmp_path, monkeypatch) -> None:
    graph = graph_of(
        "g (float[2] x) => (float[2] y) { c = Constant<value_floats=[1.0, 2.0]>() y = Add(x, c) }"
    )
    (tmp_path / "c").write_bytes(numpy.array([3, 4], "float32").tobytes())
    beside = onnx_ir.ExternalTensor(
        "c", 0, 8, onnx_ir.DataType.FLOAT, shape=onnx_ir.Shape([2]), name="c", base_dir=tmp_path
    )
    node = next(one for one in graph.nodes if one.op_type == "Constant")
    node.attributes.clear()
    node.attributes["value"] = onnx_ir.AttrTensor("value", beside)
    data = pickle.dumps(graph)
    (tmp_path / "c").unlink()
    (other,) = (one for one in pickle.loads(data).nodes if one.op_type == "Constant")
    numpy.testing.assert_array_equal(other.attributes["value"].value.numpy(), [3, 4])
    monkeypatch.setattr("mx.graph._saving._MOST_IN_ONE_FILE", 8)
    with pytest.raises(GraphError, match="32 bytes of weights cannot be pickled"):
        pickle.dumps(graph_of(LINEAR))


def test_imports_no_torch() -> None:
    program = "import sys, mx.graph; assert 'torch' not in sys.modules"
    subprocess.run([sys.executable, "-c", program], check=True)


def test_is_of_mx() -> None:
    assert mx.graph.Graph is Graph and issubclass(GraphError, ValueError)
