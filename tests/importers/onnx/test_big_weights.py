"""Weights that are read beside the model: the same elements, and the same errors."""

import io

import numpy
import onnx
import onnx_ir
import pytest

import mx
from mx.graph import GraphError

COUNT = 1 << 18


def model(kind, elements, dims):
    """A model that gives its weight, the bytes of which are in it."""
    weight = onnx.TensorProto(name="w", data_type=kind, dims=dims, raw_data=elements.tobytes())
    node = onnx.helper.make_node("Identity", ["w"], ["y"])
    output = onnx.helper.make_tensor_value_info("y", kind, dims)
    graph = onnx.helper.make_graph([node], "big", [], [output], [weight])
    opset = onnx.helper.make_opsetid("", 25)
    return onnx.helper.make_model(graph, opset_imports=[opset]).SerializeToString()


SOURCES = {
    "path": lambda path: path,
    "bytes": lambda path: path.read_bytes(),
    "file": lambda path: io.BytesIO(path.read_bytes()),
}


@pytest.mark.parametrize("source", SOURCES.values(), ids=SOURCES)
@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "bool", "int4"])
def test_elements(tmp_path, source, dtype):
    kind = int(onnx_ir.DataType[dtype.upper().replace("FLOAT32", "FLOAT")])
    expected = numpy.arange(COUNT) % 2
    wide = {"bfloat16": "uint16", "int4": "uint8", "bool": "bool"}.get(dtype, dtype)
    elements = expected.astype(wide)
    if dtype == "bfloat16":
        elements *= 0x3F80
    if dtype == "int4":
        elements = elements[::2] | elements[1::2] << 4
    path = tmp_path / "big.onnx"
    path.write_bytes(model(kind, elements, (COUNT // 8, 8)))
    weights = mx.graph.load(source(path)).weights
    assert weights["w"].shape == (COUNT // 8, 8) and weights["w"].dtype.name == dtype
    assert not weights["w"].flags.writeable
    assert (weights["w"].reshape(-1).astype("int64") == expected).all()


DATA = model(onnx.TensorProto.FLOAT, numpy.ones(COUNT, "float32"), (COUNT,))
BROKEN = {
    "cut short": (DATA[: len(DATA) // 2], "no ONNX model, or not all of one"),
    "shape": (
        model(onnx.TensorProto.FLOAT, numpy.ones(COUNT, "float32"), (COUNT + 1,)),
        r"the weight 'w' is of shape \(262145,\) and has 1,048,576 bytes",
    ),
    "a group, which protobuf does not have any more": (b"\x3b" + DATA, "ONNX model"),
    "varint without an end": (b"\xff" * 20 + DATA, "no ONNX model"),
}


@pytest.mark.parametrize(("data", "text"), BROKEN.values(), ids=BROKEN)
def test_broken(data, text):
    with pytest.raises(GraphError, match=text):
        mx.graph.load(data)
