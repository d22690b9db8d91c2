"""Convolutions, products, pools, normalizations and activations."""

from __future__ import annotations

from collections.abc import Sequence

import onnx_ir as ir

from ._inverse import Inverse, inverse_of


def _symmetric(x: Inverse, n: int) -> list[int]:
    """The pads of each axis, which MXNet has only the same on both sides."""
    auto = x.attribute("auto_pad", "NOTSET")
    if auto not in ("NOTSET", "VALID"):
        raise x.error(f"expected auto_pad NOTSET or VALID, but {auto} came")
    pads = list(x.attribute("pads", [0] * 2 * n))
    if pads[:n] != pads[n:]:
        raise x.error(f"expected the same pads on both sides, but {pads} came")
    return pads[:n]


def _kernel(x: Inverse) -> list[int]:
    told = x.attribute("kernel_shape")
    return list(told) if told else [x.size(1, axis) for axis in range(2, len(x.shape(1)))]


def _all(x: Inverse) -> list[ir.Value]:
    return [x.input(i) for i in range(len(x))]


@inverse_of("Conv")
def conv(x: Inverse) -> ir.Value:
    kernel = _kernel(x)
    n = len(kernel)
    return x.make(
        "Convolution",
        _all(x),
        kernel=kernel,
        stride=x.attribute("strides", [1] * n),
        dilate=x.attribute("dilations", [1] * n),
        pad=_symmetric(x, n),
        num_filter=x.size(1, 0),
        num_group=x.attribute("group", 1),
        no_bias=not x.has(2),
    )


@inverse_of("ConvTranspose")
def conv_transpose(x: Inverse) -> ir.Value:
    kernel, group = _kernel(x), x.attribute("group", 1)
    n = len(kernel)
    if x.attribute("output_shape"):
        raise x.error("expected pads instead of output_shape")
    return x.make(
        "Deconvolution",
        _all(x),
        kernel=kernel,
        stride=x.attribute("strides", [1] * n),
        dilate=x.attribute("dilations", [1] * n),
        pad=_symmetric(x, n),
        adj=x.attribute("output_padding", [0] * n),
        num_filter=x.size(1, 1) * group,
        num_group=group,
        no_bias=not x.has(2),
    )


@inverse_of("Gemm")
def gemm(x: Inverse) -> ir.Value:
    x.expect(alpha=1.0, beta=1.0, transA=0)
    weight = x.input(1)
    is_transposed = bool(x.attribute("transB", 0))
    n = x.size(1, 0 if is_transposed else 1)
    if not is_transposed:
        weight = x.make("transpose", [weight], "_weight")
    has_bias = x.has(2) and x.shape(2) == (n,)
    inputs = [x.input(0), weight, *([x.input(2)] if has_bias else [])]
    suffix = "_product" if x.has(2) and not has_bias else ""
    out = x.make("FullyConnected", inputs, suffix, num_hidden=n, no_bias=not has_bias)
    return x.make("broadcast_add", [out, x.input(2)]) if suffix else out


@inverse_of("MatMul")
def matmul(x: Inverse) -> ir.Value:
    a, b = len(x.shape(0)), len(x.shape(1))
    if b <= 2 and a >= 2:
        return x.make("dot", [x.input(0), x.input(1)])
    if a == b == 3 and x.shape(0)[0] == x.shape(1)[0]:
        return x.make("batch_dot", [x.input(0), x.input(1)])
    raise x.error(f"expected two matrices, or two stacks of as many, but ranks {a} and {b} came")


@inverse_of("BatchNormalization")
def batch_normalization(x: Inverse) -> ir.Value:
    x.expect(training_mode=0)
    inputs = [x.input(i, is_auxiliary=i > 2) for i in range(5)]
    return x.make(
        "BatchNorm",
        inputs,
        eps=x.attribute("epsilon", 1e-5),
        momentum=x.attribute("momentum", 0.9),
        fix_gamma=False,
    )


@inverse_of("InstanceNormalization")
def instance_normalization(x: Inverse) -> ir.Value:
    return x.make("InstanceNorm", _all(x), eps=x.attribute("epsilon", 1e-5))


@inverse_of("LayerNormalization")
def layer_normalization(x: Inverse) -> ir.Value:
    if x.attribute("axis", -1) not in (-1, len(x.shape(0)) - 1) or not x.has(2):
        raise x.error("expected the last axis, scale and bias")
    return x.make("LayerNorm", _all(x), axis=-1, eps=x.attribute("epsilon", 1e-5))


@inverse_of("LRN")
def lrn(x: Inverse) -> ir.Value:
    return x.make(
        "LRN",
        [x.input(0)],
        alpha=x.attribute("alpha", 1e-4),
        beta=x.attribute("beta", 0.75),
        knorm=x.attribute("bias", 1.0),
        nsize=x.attribute("size"),
    )


def _pool(x: Inverse, kind: str, count_include_pad: bool | None) -> ir.Value:
    kernel = list(x.attribute("kernel_shape"))
    n = len(kernel)
    x.expect(storage_order=0)
    if list(x.attribute("dilations", [1] * n)) != [1] * n:
        raise x.error("expected no dilations, of which MXNet's pools have none")
    return x.make(
        "Pooling",
        [x.input(0)],
        kernel=kernel,
        pool_type=kind,
        stride=x.attribute("strides", [1] * n),
        pad=_symmetric(x, n),
        pooling_convention="full" if x.attribute("ceil_mode", 0) else "valid",
        count_include_pad=count_include_pad,
    )


@inverse_of("MaxPool")
def max_pool(x: Inverse) -> ir.Value:
    if len(x.node.outputs) > 1:
        raise x.error("expected one output: MXNet's pools tell no positions")
    return _pool(x, "max", None)


@inverse_of("AveragePool")
def average_pool(x: Inverse) -> ir.Value:
    return _pool(x, "avg", bool(x.attribute("count_include_pad", 0)))


@inverse_of("GlobalMaxPool", "GlobalAveragePool")
def global_pool(x: Inverse) -> ir.Value:
    kind = "max" if x.node.op_type == "GlobalMaxPool" else "avg"
    n = len(x.shape(0)) - 2
    return x.make("Pooling", [x.input(0)], global_pool=True, pool_type=kind, kernel=[1] * n)


ACTIVATIONS = {
    "Relu": "relu",
    "Sigmoid": "sigmoid",
    "Tanh": "tanh",
    "Softplus": "softrelu",
    "Softsign": "softsign",
}


@inverse_of(*ACTIVATIONS)
def activation(x: Inverse) -> ir.Value:
    return x.make("Activation", [x.input(0)], act_type=ACTIVATIONS[x.node.op_type])


@inverse_of("LeakyRelu", "Elu")
def leaky(x: Inverse) -> ir.Value:
    is_leaky = x.node.op_type == "LeakyRelu"
    slope = x.attribute("alpha", 0.01 if is_leaky else 1.0)
    return x.make("LeakyReLU", [x.input(0)], act_type="leaky" if is_leaky else "elu", slope=slope)


@inverse_of("Selu", "Gelu")
def fixed_activation(x: Inverse) -> ir.Value:
    x.expect(approximate="none")
    return x.make("LeakyReLU", [x.input(0)], act_type=x.node.op_type.lower())


@inverse_of("PRelu")
def prelu(x: Inverse) -> ir.Value:
    slope, rank = x.shape(1), len(x.shape(0))
    gamma = x.input(1)
    channels = slope[0] if len(slope) >= rank - 1 and len(slope) < rank else None
    if len(slope) > 1 and (channels is None or any(n != 1 for n in slope[1:])):
        raise x.error(f"expected a slope for each channel, but shape {slope} came")
    if len(slope) > 1:
        gamma = x.make("Reshape", [gamma], "_gamma", shape=(-1,))
    return x.make("LeakyReLU", [x.input(0), gamma], act_type="prelu")


@inverse_of("HardSigmoid")
def hard_sigmoid(x: Inverse) -> ir.Value:
    alpha, beta = x.attribute("alpha", 0.2), x.attribute("beta", 0.5)
    return x.make("hard_sigmoid", [x.input(0)], alpha=alpha, beta=beta)


@inverse_of("Softmax", "LogSoftmax")
def softmax(x: Inverse) -> ir.Value:
    op = "softmax" if x.node.op_type == "Softmax" else "log_softmax"
    return x.make(op, [x.input(0)], axis=x.attribute("axis", -1))


@inverse_of("Dropout")
def dropout(x: Inverse) -> ir.Value:
    ratio: Sequence[float] | None = None
    if x.has(1):
        array = x.constant(1)
        ratio = None if array is None else [float(array)]
    return x.make("Dropout", [x.input(0)], p=ratio[0] if ratio else 0.5)
