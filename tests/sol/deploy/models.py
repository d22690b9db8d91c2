"""Models that are deployed, as small as what is special about each lets them be."""

from __future__ import annotations

from collections.abc import Callable

import numpy
import onnx_ir

from benchmarks.models import bert, lenet, lstm
from benchmarks.models._builder import Builder
from mx.graph import Graph
from mx.sol.passes.bf16 import BF16
from tests.graph.build import graph_of


def residual() -> Graph:
    """The first layers of a ResNet, and a matrix."""
    b = Builder("residual")
    x = b.input("data", ("N", 3, 24, 24))
    x = b.op("Relu", b.conv_norm(x, ("conv1", "bn1"), (3, 8), 7, strides=[2, 2]))
    x = b.op("MaxPool", x, kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1])
    y = b.op("Relu", b.conv_norm(x, ("a.conv1", "a.bn1"), (8, 8), 3))
    y = b.conv_norm(y, ("a.conv2", "a.bn2"), (8, 8), 3)
    x = b.op("Relu", b.op("Add", y, x))
    y = b.op("Relu", b.conv_norm(x, ("b.conv1", "b.bn1"), (8, 16), 3, strides=[2, 2]))
    y = b.conv_norm(y, ("b.conv2", "b.bn2"), (16, 16), 3)
    x = b.conv_norm(x, ("b.down", "b.norm"), (8, 16), 1, strides=[2, 2])
    x = b.op("Relu", b.op("Add", y, x))
    x = b.op("Flatten", b.op("GlobalAveragePool", x), axis=1)
    return b.finish(output=b.linear(x, "fc", 16, 10))


def mobile() -> Graph:
    """An inverted residual of MobileNet."""
    b = Builder("mobile")
    x = b.input("data", ("N", 8, 14, 14))
    low, high = b.number(0.0), b.number(6.0)
    y = b.op("Clip", b.conv_norm(x, ("conv1", "bn1"), (8, 48), 1), low, high)
    y = b.op("Clip", b.conv_norm(y, ("conv2", "bn2"), (48, 48), 3, group=48), low, high)
    return b.finish(output=b.op("Add", x, b.conv_norm(y, ("conv3", "bn3"), (48, 8), 1)))


def small_unet() -> Graph:
    """One step down and up again, with what was there before joined on."""
    b = Builder("unet")
    x = b.input("data", ("N", 1, 16, 16))
    wide = b.op("Relu", b.conv_norm(x, ("down", "norm1"), (1, 8), 3))
    x = b.op("MaxPool", wide, kernel_shape=[2, 2], strides=[2, 2])
    x = b.op("Relu", b.conv_norm(x, ("middle", "norm2"), (8, 16), 3))
    weight = b.random("up.weight", (16, 8, 2, 2), 0.2)
    x = b.op("ConvTranspose", x, weight, kernel_shape=[2, 2], strides=[2, 2])
    x = b.op("Relu", b.conv_norm(b.op("Concat", wide, x, axis=1), ("last", "norm3"), (16, 8), 3))
    return b.finish(output=b.conv(x, "head", (8, 2), 1, bias=True))


def attention() -> Graph:
    """Attention with a mask, by what the operator is short for."""
    b = Builder("attention")
    parts = [b.input(name, ("N", 2, 5, 8)) for name in ("query", "key", "value")]
    mask = b.input("mask", ("N", 1, 1, 5), "BOOL")
    return b.finish(output=b.op("Attention", *parts, mask))


def choice() -> Graph:
    """A loop whose turns are a branch or another, and a matrix."""
    weights = ", ".join(str(n % 7 / 8 - 0.25) for n in range(64))
    return graph_of(
        """choice (float[N,8] data) => (float[N,8] output)
        <float[8,8] w = {WEIGHTS}> {
          n = Constant<value = int64 {5}>() on = Constant<value = bool {1}>()
          last = Loop(n, on, data) <body = b (int64 i, bool k, float[N,8] a)
            => (bool q, float[N,8] c) {
              q = Identity(k) two = Constant<value = int64 {2}>() m = Mod(i, two)
              t = Cast<to = 9>(m)
              c = If(t) <then_branch = u () => (float[N,8] d) { p = MatMul(a, w) d = Tanh(p) },
                else_branch = v () => (float[N,8] d) { d = Softmax(a) }> }>
          output = Relu(last)
        }""".replace("WEIGHTS", weights)
    )


def int8() -> Graph:
    """A matrix and a convolution in 8 bits, between floats."""
    b = Builder("int8")
    x = b.input("data", ("N", 3, 8, 8))
    scale, zero = b.number(0.05), b.constant("zero", numpy.array(3, "int8"))
    q = b.op("QuantizeLinear", x, scale, zero)
    random = numpy.random.default_rng(0)
    weight = b.constant("weight", random.integers(-9, 9, (8, 3, 3, 3), "int8"))
    none = b.constant("none", numpy.array(0, "int8"))
    args = (q, scale, zero, weight, scale, none, scale, zero)
    y = b.op("QLinearConv", *args, kernel_shape=[3, 3], pads=[1, 1, 1, 1])
    y = b.op("Relu", b.op("DequantizeLinear", y, scale, zero))
    flat = b.op("Flatten", y)
    matrix = b.constant("matrix", random.integers(-9, 9, (512, 10), "int8"))
    quantized = b.op("QuantizeLinear", flat, scale, zero)
    args = (quantized, scale, zero, matrix, scale, none, scale, zero)
    return b.finish(output=b.op("DequantizeLinear", b.op("QLinearMatMul", *args), scale, zero))


def bf16() -> Graph:
    """Products and a convolution of bfloat16, of numbers that are exact in it."""
    b = Builder("bf16")
    x = b.op("Mul", b.input("data", ("N", 33, 2, 2)), b.number(4.0))
    x = b.op("Mul", b.op("Round", x), b.number(0.25))
    random = numpy.random.default_rng(0)

    def weight(name: str, *shape: int) -> onnx_ir.Value:
        return b.constant(name, random.integers(-60, 60, shape).astype("float32") / 64)

    y = b.op("Conv", x, weight("kernel", 32, 33, 1, 1), kernel_shape=[1, 1])
    flat = b.op("Flatten", x)
    z = b.op("Gemm", flat, weight("matrix", 128, 132), weight("bias", 128), transB=1)
    z = b.op("Add", b.op("Relu", z), b.op("Flatten", y))
    z = b.op("Add", z, b.op("MatMul", flat, weight("other", 132, 128)))
    narrow = [flat, weight("narrow", 132, 128)]
    y = b.op("MatMul", *[b.op("Cast", one, to=int(onnx_ir.DataType.BFLOAT16)) for one in narrow])
    z = b.op("Add", z, b.op("Cast", y, to=int(onnx_ir.DataType.FLOAT)))
    graph = b.finish(output=z)
    graph.infer()
    BF16.run(graph.model)
    return graph


MODELS: dict[str, Callable[[], Graph]] = {
    "lenet": lambda: lenet(0.5),
    "residual": residual,
    "mobile": mobile,
    "unet": small_unet,
    "transformer": lambda: bert(1 / 12, layers=1, sequence=9),
    "attention": attention,
    "int8": int8,
    "bf16": bf16,
    "choice": choice,
    "lstm": lambda: lstm(0.04, layers=2, sequence=5),
    "turns": lambda: lstm(0.5, layers=1, sequence=3),
}
