"""The operators of ONNX that oneDNN has rules for; the onnx package's tests try them."""

import gc

import pytest

import mx
from tests.acc.conftest import need

OPERATORS = (
    "Abs Add AveragePool BatchNormalization Clip Concat Conv ConvTranspose Div Elu Exp Flatten GRU"
    " Gelu Gemm GlobalAveragePool GlobalMaxPool HardSigmoid HardSwish Identity LRN LSTM"
    " LayerNormalization LeakyRelu LogSoftmax MatMul MaxPool Mish Mul Neg PRelu RNN Reciprocal"
    " ReduceMean ReduceProd ReduceSum Relu Reshape Sigmoid Softmax Sqrt Squeeze Sub Sum Swish Tanh"
    " Transpose Unsqueeze"
).split()


@pytest.fixture(scope="module")
def device(accelerators):
    if not (accelerators / "libonednn.so").exists():
        need("onednn")
    ctx = mx.load_acc(accelerators / "libonednn.so", "operators")
    yield ctx
    gc.collect()
    mx.unload_acc("operators")


def test_the_list_is_whole(device) -> None:
    assert device.configure()["nodes"].split(",") == OPERATORS
