"""The models that the onnx package has: all are read, and compute what their files say."""

from pathlib import Path

import numpy
import onnx
import onnx_ir
import pytest
from onnx import numpy_helper, reference

import mx

DATA = Path(onnx.__file__).parent / "backend" / "test" / "data"
MODELS = sorted(DATA.glob("*/*/model.onnx"))


def read(path: Path, kind: onnx.TypeProto) -> object:
    data = path.read_bytes()
    if kind.HasField("sequence_type"):
        return numpy_helper.to_list(onnx.SequenceProto.FromString(data))
    return numpy_helper.to_array(onnx.TensorProto.FromString(data))


def test_there_are_models() -> None:
    assert len(MODELS) > 100


@pytest.mark.parametrize("path", MODELS, ids=lambda path: path.parent.name)
def test_model(path, tmp_path) -> None:
    graph = mx.graph.load(path)
    assert graph.opset == mx.graph.OPSET
    found = graph.infer()
    assert set(found.unknown) <= {"out"}, str(found)
    graph.save(tmp_path / "model.onnx")
    again = mx.graph.load(tmp_path / "model.onnx")
    assert (again.inputs, again.outputs) == (graph.inputs, graph.outputs)
    assert list(again.weights) == list(graph.weights)
    assert again.summary() == graph.summary() and again.picture() == graph.picture()
    if any(node.domain == "ai.onnx.preview.training" for node in graph.nodes):
        return  # onnx has no implementation of these
    graph = onnx.load(path).graph
    weights = {tensor.name for tensor in graph.initializer}
    inputs = [value for value in graph.input if value.name not in weights]
    evaluator = reference.ReferenceEvaluator(onnx_ir.to_proto(again.model))
    for folder in sorted(path.parent.glob("test_data_set_*")):
        given = {v.name: read(folder / f"input_{i}.pb", v.type) for i, v in enumerate(inputs)}
        expected = [read(folder / f"output_{i}.pb", v.type) for i, v in enumerate(graph.output)]
        for result, wanted in zip(evaluator.run(None, given), expected, strict=True):
            if isinstance(wanted, list) or wanted.dtype.kind in "OSU":
                numpy.testing.assert_array_equal(result, wanted)
            else:
                numpy.testing.assert_allclose(result, wanted, rtol=1e-3, atol=1e-4)
