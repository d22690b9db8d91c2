"""NaN in whole models: kept where it is asked for, whichever kernels do what follows another."""

import numpy
import pytest

from mx.graph import Plan

from .build import graph_of

# What is done to what a convolution gives, and where it has NaN then: in that element, in its
# channel, its row, everywhere.
CASES = {
    "Relu": ("Relu(a)", "element"),
    "Clip": ("Clip(a, low, high)", "element"),
    "LeakyRelu": ("LeakyRelu(a)", "element"),
    "HardSigmoid": ("HardSigmoid(a)", "element"),
    "HardSwish": ("HardSwish(a)", "element"),
    "Sigmoid": ("Sigmoid(a)", "element"),
    "Tanh": ("Tanh(a)", "element"),
    "Exp": ("Exp(a)", "element"),
    "Abs": ("Abs(a)", "element"),
    "Sqrt": ("Sqrt(a)", "element"),
    "Elu": ("Elu(a)", "element"),
    "Gelu": ("Gelu(a)", "element"),
    "Mish": ("Mish(a)", "element"),
    "Mul": ("Mul(a, high)", "element"),
    "GlobalMaxPool": ("GlobalMaxPool(a)", "channel"),
    "GlobalAveragePool": ("GlobalAveragePool(a)", "channel"),
    "MaxPool": ("MaxPool <kernel_shape = [6, 6]> (a)", "channel"),
    "Softmax": ("Softmax(a)", "row"),
    "LogSoftmax": ("LogSoftmax(a)", "row"),
}


@pytest.mark.parametrize(
    "before", ["Identity", "Abs"]
)  # behind Abs no node is done by the convolution
@pytest.mark.parametrize(("node", "where"), CASES.values(), ids=CASES)
def test_nan_stays(node, where, before):
    graph = graph_of(
        f"""g (float[1,16,6,6] x, float[16,16,1,1] w) => (float[1,16,m,n] y)
        <float low = {{-1}}, float high = {{2}}>
        {{ c = Conv(x, w) a = {before}(c) y = {node} }}"""
    )
    x = numpy.ones((1, 16, 6, 6), "float32")
    x[0, 3, 2, 4] = numpy.nan
    w = numpy.zeros((16, 16, 1, 1), "float32")
    w[5, 3] = 1
    (y,) = Plan(graph, keep_nan=True)(x, w)
    is_nan = numpy.isnan(y.asnumpy()[0])
    # Of all channels, as the other ones multiply the NaN by zero.
    assert is_nan.sum() == {"element": 16, "channel": 16, "row": 16 * 6}[where]
