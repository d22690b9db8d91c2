"""The onnx package's own tests of the operators that oneDNN has rules for, with the CPU beside."""

import gc
import warnings

import numpy as np
import onnx_ir
import pytest

import mx
from mx.graph import Graph, PartitionedPlan
from tests.acc.conftest import need
from tests.graph.test_onnx_nodes import CASES, NOT_RUN, check_equal, content_of

OPERATORS = (
    "Abs Add AveragePool BatchNormalization Clip Concat Conv ConvTranspose Div Elu Exp Flatten GRU"
    " Gelu Gemm GlobalAveragePool GlobalMaxPool HardSigmoid HardSwish Identity LRN LSTM"
    " LayerNormalization LeakyRelu LogSoftmax MatMul MaxPool Mish Mul Neg PRelu RNN Reciprocal"
    " ReduceMean ReduceProd ReduceSum Relu Reshape Sigmoid Softmax Sqrt Squeeze Sub Sum Swish Tanh"
    " Transpose Unsqueeze"
).split()
# Of one node each: what a node is short for is made of the same ones.
NAMES = [
    name
    for name, case in CASES.items()
    if not name.startswith(tuple(NOT_RUN))
    and [n.op_type for n in case.model.graph.node][0] in OPERATORS
    and len(case.model.graph.node) == 1
]


@pytest.fixture(scope="module")
def device(accelerators):
    if not (accelerators / "libonednn.so").exists():
        need("onednn")
    ctx = mx.load_acc(accelerators / "libonednn.so", "nodes")
    yield ctx
    gc.collect()
    mx.unload_acc("nodes")


def test_the_list_is_whole(device) -> None:
    assert device.configure()["nodes"].split(",") == OPERATORS


@pytest.mark.parametrize("name", NAMES)
def test_node(device, name) -> None:
    case = CASES[name]
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("error", mx.AccFallbackWarning)
        warnings.simplefilter("ignore", mx.AccPlacementWarning)
        plan = PartitionedPlan(Graph(onnx_ir.from_proto(case.model)), device)
        for given, expected in case.data_sets:
            outputs = plan(*(content_of(item) for item in given))
            for output, other in zip(outputs, expected, strict=True):
                got = output.asnumpy() if isinstance(output, mx.np.ndarray) else output
                check_equal(got, content_of(other), case.rtol, max(case.atol, 1e-6))
