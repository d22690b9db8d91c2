"""The onnx package's own tests of models, on the CPU plan."""

from pathlib import Path

import onnx
import onnx.backend.test
import onnx_ir
import pytest
from onnx import numpy_helper

from mx.graph import Graph
from mx.graph.plan import Plan

from .test_onnx_nodes import check_equal

DATA = Path(onnx.backend.test.__file__).parent / "data"
MODELS = {
    path.parent.name: path
    for kind in ("simple", "pytorch-converted", "pytorch-operator")
    for path in sorted((DATA / kind).glob("*/model.onnx"))
}
# What cannot give the expected output, and why.
NOT_RUN = {"test_gradient_of": "Gradient has no meaning without training"}


def content_of(path: Path, value: onnx_ir.Value) -> object:
    """What a file gives for an input, or expects of an output."""
    data = path.read_bytes()
    if isinstance(value.type, onnx_ir.SequenceType):
        return numpy_helper.to_list(onnx.SequenceProto.FromString(data))
    return numpy_helper.to_array(onnx.TensorProto.FromString(data))


@pytest.mark.parametrize("name", MODELS)
def test_model(name):
    reason = next((why for begin, why in NOT_RUN.items() if name.startswith(begin)), None)
    if reason:
        pytest.skip(reason)
    graph = Graph(onnx_ir.load(MODELS[name]))
    inputs = graph.model.graph.inputs
    plan = Plan(graph)
    for folder in sorted(MODELS[name].parent.glob("test_data_set_*")):
        given = [
            content_of(folder / f"input_{i}.pb", value)
            for i, value in enumerate(inputs)
            if (folder / f"input_{i}.pb").exists()
        ]
        got = plan(*given)
        for i, (one, value) in enumerate(zip(got, graph.model.graph.outputs, strict=True)):
            check_equal(one, content_of(folder / f"output_{i}.pb", value), 1e-3, 1e-6)
