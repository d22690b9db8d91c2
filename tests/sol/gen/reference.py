"""What ONNX's reference evaluator gives for one node."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy
import onnx
from onnx.reference import ReferenceEvaluator

OPSET = 24


def evaluate(
    operator: str, inputs: Sequence[Any], attributes: dict[str, Any], outputs: int = 1
) -> list[Any]:
    """The outputs of a node; None among the inputs for one that is not given."""
    names = ["" if array is None else f"i{i}" for i, array in enumerate(inputs)]
    results = [f"o{i}" for i in range(outputs)]
    node = onnx.helper.make_node(operator, names, results, **attributes)
    graph = onnx.helper.make_graph(
        [node],
        "test",
        [
            onnx.helper.make_tensor_value_info(
                f"i{i}", onnx.helper.np_dtype_to_tensor_dtype(array.dtype), array.shape
            )
            for i, array in enumerate(inputs)
            if array is not None
        ],
        [onnx.helper.make_empty_tensor_value_info(name) for name in results],
    )
    model = onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", OPSET)])
    feeds = {f"i{i}": array for i, array in enumerate(inputs) if array is not None}
    with numpy.errstate(all="ignore"):
        given: list[Any] = ReferenceEvaluator(model).run(None, feeds)
    return given
