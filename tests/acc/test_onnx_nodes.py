"""The onnx package's own tests of its operators, on an accelerator with the CPU beside it."""

import gc
import warnings

import numpy
import onnx_ir
import pytest

import mx
from mx.graph import Graph, PartitionedPlan
from tests.graph.test_onnx_nodes import CASES, NOT_RUN, check_equal, content_of


@pytest.fixture(scope="module")
def device(accelerators):
    ctx = mx.load_acc(accelerators / "librefacc.so", "nodes")
    yield ctx
    gc.collect()
    assert ctx.configure(check=1)["violations"] == "0"
    mx.unload_acc("nodes")


@pytest.mark.parametrize("name", [name for name in CASES if not name.startswith(tuple(NOT_RUN))])
def test_node(device, name) -> None:
    case = CASES[name]
    with warnings.catch_warnings(), numpy.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        plan = PartitionedPlan(Graph(onnx_ir.from_proto(case.model)), device)
        for given, expected in case.data_sets:
            outputs = plan(*(content_of(item) for item in given))
            for output, other in zip(outputs, expected, strict=True):
                got = output.asnumpy() if isinstance(output, mx.np.ndarray) else output
                check_equal(got, content_of(other), case.rtol, max(case.atol, 1e-6))
