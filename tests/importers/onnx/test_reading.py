"""What is read of valid models: files, bytes and folders, of all ages, with all they have."""

import io
import os
import warnings

import numpy
import onnx
import onnx_ir
import pytest
from onnx import TensorProto, helper, numpy_helper, reference

import mx
from mx.graph import OPSET, GraphError, GraphWarning

from ...graph.build import model_of

LINEAR = """linear (float[N, 3] x) => (float[N, 2] y)
<float[3, 2] w = {1, 2, 3, 4, 5, 6}, float[2] b = {7, 8}> { h = MatMul(x, w) y = Add(h, b) }"""


def run(graph: mx.graph.Graph, **given) -> list[numpy.ndarray]:
    """What onnx's reference implementation computes."""
    return reference.ReferenceEvaluator(onnx_ir.to_proto(graph.model)).run(None, given)


def load_text(text: str, opset: int = OPSET, imports: str = "") -> mx.graph.Graph:
    return mx.graph.load(model_of(text, opset, imports).SerializeToString())


def test_sources(tmp_path) -> None:
    data = model_of(LINEAR).SerializeToString()
    path = tmp_path / "model.onnx"
    path.write_bytes(data)
    with path.open("rb") as file:
        graphs = [mx.graph.load(one) for one in (path, os.fspath(path), data, file)]
    graphs.append(mx.graph.load(io.BytesIO(data)))
    for graph in graphs:
        assert graph.outputs == (("y", "float32", ("N", 2)),) and len(graph.weights) == 2
    assert [graph.file for graph in graphs] == [os.fspath(path)] * 2 + ["model"] + [
        os.fspath(path)
    ] + ["model"]


@pytest.mark.parametrize(
    ("source", "error", "text"),
    [
        ("/nowhere/model.onnx", FileNotFoundError, "/nowhere/model.onnx"),
        (".", IsADirectoryError, "directory"),
        (7, TypeError, "source: expected a path, bytes or an open file, got int"),
        (io.StringIO("text"), TypeError, "open for reading bytes"),
    ],
)
def test_no_sources(source, error, text) -> None:
    with pytest.raises(error, match=text):
        mx.graph.load(source)


@pytest.mark.parametrize("name", ["weights.bin", "deeper/weights.bin", "linked.bin"])
def test_weights_in_other_files(tmp_path, name) -> None:
    array = numpy.arange(5000, dtype="float32")
    small = numpy.arange(2, dtype="int64")
    folder = tmp_path / "model"
    (folder / "deeper").mkdir(parents=True)
    target = folder / ("weights.bin" if name == "linked.bin" else name)
    target.write_bytes(b"-" * 64 + array.tobytes() + small.tobytes())
    if name == "linked.bin":
        (folder / name).symlink_to(target)
    text = "g (float[5000] x) => (float[] y) { h = Add(x, w) y = Reshape(h, s) }"
    proto = model_of(text.replace("{ h", "<float[5000] w, int64[2] s> { h"))
    del proto.graph.value_info[:]
    parts = (("w", array, 64), ("s", small, 64 + array.nbytes))
    for weight, elements, offset in parts:
        tensor = TensorProto(name=weight, dims=elements.shape, data_location=TensorProto.EXTERNAL)
        tensor.data_type = helper.np_dtype_to_tensor_dtype(elements.dtype)
        told = {"location": name, "offset": offset, "length": elements.nbytes}
        for key, value in told.items():
            tensor.external_data.add(key=key, value=str(value))
        proto.graph.initializer.append(tensor)
    numpy.frombuffer(target.read_bytes()[64 + array.nbytes :], "int64")
    small[:] = (50, 100)
    target.write_bytes(b"-" * 64 + array.tobytes() + small.tobytes())
    path = folder / "model.onnx"
    path.write_bytes(proto.SerializeToString())
    graph = mx.graph.load(path)
    assert graph.outputs[0].shape == (50, 100)
    numpy.testing.assert_array_equal(graph.weights["w"], array)
    again = mx.graph.load(path.read_bytes(), folder=folder)
    numpy.testing.assert_array_equal(again.weights["w"], array)
    graph.save(tmp_path / "whole.onnx")
    numpy.testing.assert_array_equal(mx.graph.load(tmp_path / "whole.onnx").weights["w"], array)
    with pytest.raises(GraphError, match=f"'{name}': load needs the folder that it is in"):
        mx.graph.load(path.read_bytes())


def test_weights_that_were_inputs() -> None:
    proto = model_of(LINEAR)
    proto.ir_version = 3
    for tensor in proto.graph.initializer:
        proto.graph.input.append(
            helper.make_tensor_value_info(tensor.name, tensor.data_type, tensor.dims)
        )
    graph = mx.graph.load(proto.SerializeToString())
    assert [spec.name for spec in graph.inputs] == ["x"] and list(graph.weights) == ["w", "b"]


# An operator set, a graph of it, what it is given, what it gives.
X = numpy.arange(6, dtype="float32").reshape(2, 3)
OLD = {
    "set 1": (1, "{ y = Reshape<shape = [3, 2]>(x) }", X.reshape(3, 2)),
    "axes as attribute": (11, "{ h = Unsqueeze<axes = [0]>(x) y = Squeeze<axes = [0]>(h) }", X),
    "broadcast as attribute": (6, "{ y = Add<broadcast = 1, axis = 1>(x, w) }", X + [1, 2, 3]),
    "slice": (9, "{ y = Slice<starts = [0], ends = [1], axes = [1]>(x) }", X[:, :1]),
    "clip": (6, "{ y = Clip<min = 1.0, max = 4.0>(x) }", X.clip(1, 4)),
    "upsample": (
        8,
        "{ h = Unsqueeze<axes = [0, 1]>(x) y = Upsample<scales = [1.0, 1.0, 2.0, 2.0]>(h) }",
        X.repeat(2, 0).repeat(2, 1)[None, None],
    ),
    "within a node": (
        12,
        """{ c = Constant<value = bool {1}>() y = If(c) <
        then_branch = a () => (float[] t)
        { t = Squeeze<axes = [1]>(e) e = Unsqueeze<axes = [1]>(x) },
        else_branch = b () => (float[] f) { f = Neg(x) }> }""",
        X,
    ),
    "not sorted": (OPSET, "{ y = Neg(h) h = Neg(x) }", X),
}


@pytest.mark.parametrize(("opset", "nodes", "result"), OLD.values(), ids=OLD.keys())
def test_old_operator_sets(opset, nodes, result) -> None:
    graph = load_text(f"g (float[2, 3] x) => (float[] y) <float[3] w = {{1, 2, 3}}> {nodes}", opset)
    assert graph.opset == OPSET and graph.outputs[0].shape == result.shape
    numpy.testing.assert_array_equal(run(graph, x=X)[0], result)


@pytest.mark.parametrize("version", range(1, onnx.IR_VERSION + 1))
def test_all_versions_of_the_format(version) -> None:
    proto = model_of(LINEAR, 7 if version < 4 else OPSET)
    proto.ir_version = version
    if version < 3:
        del proto.opset_import[:]
        proto.graph.CopyFrom(model_of("g (float[2, 3] x) => (float[] y) { y = Relu(x) }").graph)
    graph = mx.graph.load(proto.SerializeToString())
    assert graph.opset == OPSET and graph.outputs[0].dtype == "float32"


def test_keeps_notes_and_names_of_what_is_converted() -> None:
    proto = model_of("g (float[2] x) => (float[] y) { h = Relu(x) y = Squeeze<axes = [0]>(h) }", 11)
    proto.graph.input[0].type.tensor_type.shape.dim[0].dim_value = 1
    first = proto.graph.node[0]
    first.name = "first"
    first.metadata_props.add(key="mx.source", value="net.py:7")
    proto.graph.metadata_props.add(key="mx.note", value="kept")
    proto.producer_name = "maker"
    graph = mx.graph.load(proto.SerializeToString())
    assert graph.nodes[0].name == "first"
    assert graph.nodes[0].metadata_props == {"mx.source": "net.py:7"}
    assert graph.model.graph.metadata_props == {"mx.note": "kept"}
    assert graph.model.producer_name == "maker"


def test_attributes_without_types() -> None:
    proto = model_of("g (float[2, 3] x) => (float[] y) { y = Transpose<perm = [1, 0]>(x) }", 1)
    proto.ir_version = 1
    proto.graph.node[0].attribute[0].ClearField("type")
    assert mx.graph.load(proto.SerializeToString()).outputs[0].shape == (3, 2)


def test_names_nodes() -> None:
    graph = load_text("g (float x) => (float y) { [a] b = Neg(x) [a] c = Neg(b) y = Neg(c) }")
    assert [node.name for node in graph.nodes] == ["a", "a_0", "Neg_0"]


@pytest.mark.parametrize("opset", [7, OPSET])
def test_operators_nobody_knows(opset) -> None:
    text = "g (float[2] x) => (float[] y) { a = Odd(x) b = my.Even<k = 3>(a) y = Relu(b) }"
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        graph = load_text(text, opset, ', "my" : 1')
    assert [(node.domain, node.op_type) for node in graph.nodes][:2] == [
        ("", "Odd"),
        ("my", "Even"),
    ]
    assert graph.opset == OPSET
    assert graph.infer().unknown_operators == ("Odd", "my::Even")


def test_what_cannot_be_converted_stays(monkeypatch) -> None:
    def fail(proto, version):
        raise RuntimeError("convert.cc:7: Adapt: Assertion `x` failed: no way up")

    monkeypatch.setattr(onnx.version_converter, "convert_version", fail)
    with pytest.warns(GraphWarning, match="model: its nodes stay of operator set 11: no way up"):
        graph = load_text("g (float[1, 2] x) => (float[] y) { y = Squeeze<axes = [0]>(x) }", 11)
    assert graph.opset == 11 and graph.outputs[0].shape == (2,)


FUNCTIONS = """<ir_version: 10, opset_import: ["" : 18, "my" : 1]>
g (float[2] x) => (float[2] y) { h = my.twice(x) y = my.twice(h) }
<domain: "my", opset_import: ["" : 18, "my" : 1]>
twice (a) => (b) { c = my.plus(a, a) b = Identity(c) }
<domain: "my", opset_import: ["" : 18]> plus (a, b) => (c) { c = Add(a, b) }"""


def test_functions_are_written_out() -> None:
    graph = mx.graph.load(onnx.parser.parse_model(FUNCTIONS).SerializeToString())
    assert {node.op_type for node in graph.nodes} == {"Add", "Identity"}
    assert not graph.model.functions and graph.opset == OPSET
    numpy.testing.assert_array_equal(run(graph, x=X[0, :2])[0], 4 * X[0, :2])


def test_sparse_weights() -> None:
    proto = model_of("g (float[2, 3] x) => (float[] y) { y = Add(x, x) }")
    sparse = proto.graph.sparse_initializer.add(dims=(2, 3))
    sparse.values.CopyFrom(numpy_helper.from_array(numpy.array([5, 6], "float32"), "w"))
    sparse.indices.CopyFrom(numpy_helper.from_array(numpy.array([[0, 1], [1, 2]]), "i"))
    proto.graph.node[0].input[1] = "w"
    graph = mx.graph.load(proto.SerializeToString())
    assert graph.weights["w"].tolist() == [[0, 5, 0], [0, 0, 6]]
