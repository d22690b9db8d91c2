"""Runs MXNet's operators through ONNX's reference implementation."""

import warnings
from collections.abc import Mapping, Sequence

import numpy as np
import onnx
import onnx_ir as ir
from onnx.reference import ReferenceEvaluator

from mx.graph import Graph
from mx.importers.mxnet.conversion import convert
from mx.importers.mxnet.nodes import make_node, make_variable, visible_outputs
from mx.importers.mxnet.table import TABLE


def heads_of(op: str, parameters: Mapping[str, object], n: int) -> list[ir.Value]:
    """One node of so many arguments, a0, a1, ..."""
    operator = TABLE[op]
    given = dict(parameters)
    if operator.variadic:
        given.setdefault("num_args", n)
    text = {name: str(value) for name, value in given.items()}
    node = make_node(op, "node", text, [make_variable(f"a{i}") for i in range(n)])
    return list(visible_outputs(node))


def run_graph(graph: Graph, feeds: Mapping[str, np.ndarray]) -> list[np.ndarray]:
    """The outputs, after onnx has found the model to be right and its shapes to be those told."""
    proto = ir.to_proto(graph.model)
    onnx.checker.check_model(proto, full_check=True)
    names = {spec.name for spec in graph.inputs}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        given = {name: array for name, array in feeds.items() if name in names}
        outputs = ReferenceEvaluator(proto).run(None, given)
    for spec, array in zip(graph.outputs, outputs, strict=True):
        assert str(array.dtype) == spec.dtype, spec
        if spec.shape is not None:
            assert len(spec.shape) == array.ndim, spec
            for told, n in zip(spec.shape, array.shape, strict=True):
                assert not isinstance(told, int) or told == n, (spec, array.shape)
    return outputs


def run(
    op: str,
    parameters: Mapping[str, object],
    inputs: Sequence[np.ndarray],
    named: Sequence[int] = (),
) -> list[np.ndarray]:
    """The visible outputs of one operator. The axes `named` of the first input have no number."""
    heads = heads_of(op, parameters, len(inputs))
    feeds = {f"a{i}": array for i, array in enumerate(inputs)}
    shapes = {name: list(array.shape) for name, array in feeds.items()}
    for axis in named:
        shapes["a0"][axis] = f"n{axis}"
    dtypes = {name: str(array.dtype) for name, array in feeds.items()}
    return run_graph(convert(heads, shapes, dtypes), feeds)
