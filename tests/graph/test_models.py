"""The models that are measured, small: all shapes are known, and ONNX Runtime computes the same."""

import numpy
import onnx_ir
import pytest
from onnx.reference import ReferenceEvaluator

from benchmarks import models

# The newest operator set of ONNX Runtime; these models mean the same in it.
RUNTIME_OPSET = 26
SMALL = {"resnet50": {"size": 32}, "mobilenet_v2": {"size": 32}, "bert": {"layers": 2}}
SMALL |= {"unet": {"size": 16}, "lstm": {"sequence": 5}}


@pytest.mark.parametrize("name", models.MODELS)
def test_computes(name) -> None:
    onnxruntime = pytest.importorskip("onnxruntime")
    graph = models.MODELS[name](width=0.1, **SMALL.get(name, {}))
    assert graph.infer(), str(graph.infer())
    assert all(spec.shape and spec.shape[0] == "N" for spec in (*graph.inputs, *graph.outputs))
    given = models.example(graph, batch=2)
    graph.model.opset_imports[""] = RUNTIME_OPSET
    proto = onnx_ir.to_proto(graph.model)
    (expected,) = ReferenceEvaluator(proto).run(None, given)
    session = onnxruntime.InferenceSession(proto.SerializeToString())
    (result,) = session.run(None, given)
    numpy.testing.assert_allclose(result, expected, rtol=1e-3, atol=1e-3)
    graph.infer({spec.name: (2, *spec.shape[1:]) for spec in graph.inputs})
    assert graph.outputs[0].shape == result.shape and numpy.isfinite(result).all()
    assert result.std() > 1e-3


def test_the_same_each_time() -> None:
    first, second = models.lenet(), models.lenet()
    assert all((first.weights[name] == second.weights[name]).all() for name in first.weights)
    assert sum(first.weights.sizes().values()) == 61_706
