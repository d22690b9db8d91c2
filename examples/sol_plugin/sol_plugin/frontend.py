"""A framework: classifiers of scikit-learn that are networks of dense layers."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from typing import Any

import numpy
import onnx_ir as ir

from mx.graph import OPSET, Graph
from mx.sol.frameworks import Framework, GraphSource, Source
from mx.sol.frameworks import frameworks as all_frameworks

_ACTIVATIONS = {"identity": "Identity", "logistic": "Sigmoid", "relu": "Relu", "tanh": "Tanh"}


class ScikitLearn(Framework):
    """MLPClassifier: optimized it is a function of arrays that gives `predict_proba`."""

    name = "sklearn"
    models = "a fitted sklearn.neural_network.MLPClassifier"
    target = "numpy"

    def reads(self, model: object) -> bool:
        """Whether it is a classifier; imports nothing."""
        networks = sys.modules.get("sklearn.neural_network")
        return networks is not None and isinstance(model, networks.MLPClassifier)

    def parse(self, model: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Source:
        """The layers as a graph of the example's data type."""
        return GraphSource(graph_of(model), args, kwargs)

    def wrap(self, compiled: Any, model: Any) -> Any:
        """A function of arrays: scikit-learn has no other kind of model that is only called."""
        return all_frameworks.get("numpy").wrap(compiled, model)

    def missing(self) -> str:
        """Nothing: this package requires it."""
        return ""


def graph_of(model: Any) -> Graph:
    """The network of a fitted classifier."""
    if not hasattr(model, "coefs_"):
        raise ValueError("sklearn: the classifier is not fitted")
    dtype = ir.DataType.from_numpy(model.coefs_[0].dtype)
    x = ir.Value(name="x", type=ir.TensorType(dtype))
    x.shape = ir.Shape(["n", model.n_features_in_])
    graph = ir.Graph([x], [], nodes=[], opset_imports={"": OPSET}, name="MLPClassifier")

    def write(operator: str, *inputs: ir.Value, **attributes: Any) -> ir.Value:
        made = ir.node(operator, inputs, attributes, name=f"layer_{len(graph)}.{operator}")
        made.outputs[0].name = made.name
        graph.append(made)
        return made.outputs[0]

    def weight(name: str, array: numpy.ndarray) -> ir.Value:
        value = ir.Value(name=name, const_value=ir.tensor(array, name=name))
        value.type, value.shape = ir.TensorType(dtype), ir.Shape(array.shape)
        graph.register_initializer(value)
        return value

    last = len(model.coefs_) - 1
    for number, pair in enumerate(zip(model.coefs_, model.intercepts_, strict=True)):
        kernel, bias = pair
        x = write(
            "Gemm", x, weight(f"coefs.{number}", kernel), weight(f"intercepts.{number}", bias)
        )
        if number < last:
            x = write(_ACTIVATIONS[model.activation], x)
    if model.out_activation_ == "softmax":
        x = write("Softmax", x)
    else:  # two classes, and one number: how likely the second is
        second = write("Sigmoid", x)
        one = weight("one", numpy.ones((), model.coefs_[0].dtype))
        x = write("Concat", write("Sub", one, second), second, axis=1)
    x.name, x.type = "probabilities", ir.TensorType(dtype)
    graph.outputs.append(x)
    result = Graph(ir.Model(graph, ir_version=11))
    result.infer()
    return result


FRAMEWORK = ScikitLearn()
