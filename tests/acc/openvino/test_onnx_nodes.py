"""A test of the onnx package for each operator that it has some for, the CPU doing what is left.

All of them take minutes, as each is a model to compile. What is rejected has tests of its own.
"""

import warnings

import numpy
import onnx_ir
import pytest

import mx
from mx.graph import Graph, PartitionedPlan
from tests.graph.test_onnx_nodes import CASES, NOT_RUN, check_equal, content_of


def first_of_each_operator() -> list[str]:
    """Of those whose models have one node, in the order of their names."""
    found: dict[str, str] = {}
    for name in sorted(CASES):
        nodes = CASES[name].model.graph.node
        if len(nodes) == 1 and not name.startswith(tuple(NOT_RUN)):
            found.setdefault(nodes[0].op_type, name)
    return list(found.values())


@pytest.mark.parametrize("name", first_of_each_operator())
def test_node(ctx, name) -> None:
    case = CASES[name]
    with warnings.catch_warnings(), numpy.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        plan = PartitionedPlan(Graph(onnx_ir.from_proto(case.model)), ctx)
        for given, expected in case.data_sets:
            outputs = plan(*(content_of(item) for item in given))
            for output, other in zip(outputs, expected, strict=True):
                got = output.asnumpy() if isinstance(output, mx.np.ndarray) else output
                check_equal(got, content_of(other), case.rtol, max(case.atol, 1e-6))
