"""Each operator of MXNet against what NumPy or torch gives, with known and with named shapes."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from onnx.reference.ops.op_rnn import CommonRNN

from mx.graph import GraphError
from mx.importers.mxnet.conversion import convert
from mx.importers.mxnet.table import TABLE

from .running import heads_of, run

RNG = np.random.default_rng(7)
Case = tuple[str, dict[str, Any], list[np.ndarray], Any]


def f32(*shape: int) -> np.ndarray:
    return RNG.standard_normal(shape).astype("float32")


def positive(*shape: int) -> np.ndarray:
    return (RNG.random(shape) + 0.1).astype("float32")


def of_torch(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function of torch as one of NumPy."""

    def call(*arrays: np.ndarray) -> Any:
        out = function(*(torch.from_numpy(np.ascontiguousarray(a)) for a in arrays))
        if isinstance(out, (tuple, list)):
            return [one.detach().numpy() for one in out]
        return out.detach().numpy()

    return call


IMAGE, WEIGHT, BIAS = f32(2, 4, 9, 8), f32(6, 4, 3, 2), f32(6)
GROUPED = f32(6, 2, 3, 2)
C4 = [positive(4) for _ in range(4)]


def last(x: np.ndarray) -> np.ndarray:
    return np.moveaxis(x, 1, -1)


def pooled(kind: str, **more: Any) -> Callable[..., Any]:
    function = {"max": F.max_pool2d, "avg": F.avg_pool2d}[kind]
    return of_torch(lambda x: function(x, **more))


def summed(x: np.ndarray, p: int = 1) -> np.ndarray:
    x = torch.from_numpy(x**p)
    return (F.avg_pool2d(x, (3, 2), (2, 1), divisor_override=1) ** (1 / p)).numpy()


CONVOLUTIONS: list[Case] = [
    (
        "Convolution",
        {"kernel": (3, 2), "num_filter": 6},
        [IMAGE, WEIGHT, BIAS],
        of_torch(F.conv2d),
    ),
    (
        "Convolution",
        {"kernel": "(3L, 2L)", "num_filter": 6, "stride": (2, 1), "pad": (1, 1), "dilate": "[2,1]"}
        | {"num_group": 2, "no_bias": True, "workspace": 512, "cudnn_tune": "off"},
        [IMAGE, GROUPED],
        of_torch(lambda x, w: F.conv2d(x, w, None, (2, 1), (1, 1), (2, 1), 2)),
    ),
    (
        "Convolution",
        {"kernel": (3, 2), "num_filter": 6, "layout": "NHWC"},
        [last(IMAGE), last(WEIGHT), BIAS],
        lambda x, w, b: last(of_torch(F.conv2d)(IMAGE, WEIGHT, b)),
    ),
    (
        "Convolution",
        {"kernel": (3,), "num_filter": 5},
        [f32(2, 3, 8), f32(5, 3, 3), f32(5)],
        of_torch(F.conv1d),
    ),
    (
        "Convolution",
        {"kernel": (2, 2, 2), "num_filter": 5},
        [f32(1, 3, 4, 4, 4), f32(5, 3, 2, 2, 2), f32(5)],
        of_torch(F.conv3d),
    ),
    (
        "Deconvolution",
        {"kernel": (3, 2), "num_filter": 5, "stride": (2, 2), "pad": (1, 0), "adj": (1, 1)},
        [IMAGE, f32(4, 5, 3, 2)],
        of_torch(lambda x, w: F.conv_transpose2d(x, w, None, (2, 2), (1, 0), (1, 1))),
    ),
    (
        "Deconvolution",
        {"kernel": (4, 4), "num_filter": 2, "stride": (2, 2), "no_bias": False}
        | {"target_shape": (18, 16)},
        [IMAGE, f32(4, 2, 4, 4), f32(2)],
        of_torch(lambda x, w, b: F.conv_transpose2d(x, w, b, 2, 1)),
    ),
    (
        "Pooling",
        {"kernel": (3, 2), "stride": (2, 1)},
        [IMAGE],
        pooled("max", kernel_size=(3, 2), stride=(2, 1)),
    ),
    (
        "Pooling",
        {"kernel": (3, 3), "stride": (2, 2), "pad": (1, 1), "pooling_convention": "full"},
        [IMAGE],
        pooled("max", kernel_size=3, stride=2, padding=1, ceil_mode=True),
    ),
    (
        "Pooling",
        {"kernel": (3, 3), "stride": (2, 2), "pad": (1, 1), "pool_type": "avg"},
        [IMAGE],
        pooled("avg", kernel_size=3, stride=2, padding=1),
    ),
    (
        "Pooling",
        {"kernel": (3, 3), "stride": (2, 2), "pad": (1, 1), "pool_type": "avg"}
        | {"pooling_convention": "full", "count_include_pad": False},
        [IMAGE],
        pooled("avg", kernel_size=3, stride=2, padding=1, ceil_mode=True, count_include_pad=False),
    ),
    (
        "Pooling",
        {"kernel": (3, 3), "stride": (2, 2), "pool_type": "avg", "pooling_convention": "full"},
        [IMAGE],
        pooled("avg", kernel_size=3, stride=2, ceil_mode=True),
    ),
    (
        "Pooling",
        {"kernel": (2,), "stride": (2,), "pooling_convention": "same"},
        [f32(2, 3, 7)],
        of_torch(lambda x: F.max_pool1d(F.pad(x, (0, 1), value=-1e9), 2, 2)),
    ),
    ("Pooling", {"kernel": (3, 2), "stride": (2, 1), "pool_type": "sum"}, [IMAGE], summed),
    (
        "Pooling",
        {"kernel": (3, 2), "stride": (2, 1), "pool_type": "lp", "p_value": 2},
        [IMAGE],
        lambda x: summed(x, 2),
    ),
    ("Pooling", {"global_pool": True}, [IMAGE], lambda x: x.max((2, 3), keepdims=True)),
    (
        "Pooling",
        {"global_pool": True, "pool_type": "avg", "kernel": (7, 7)},
        [IMAGE],
        lambda x: x.mean((2, 3), keepdims=True),
    ),
    (
        "Pooling",
        {"global_pool": True, "pool_type": "sum", "layout": "NHWC"},
        [IMAGE],
        lambda x: x.sum((1, 2), keepdims=True),
    ),
    (
        "_contrib_AdaptiveAvgPooling2D",
        {"output_size": (3, 4)},
        [IMAGE],
        of_torch(lambda x: F.adaptive_avg_pool2d(x, (3, 4))),
    ),
    (
        "FullyConnected",
        {"num_hidden": 5},
        [f32(2, 3, 4), f32(5, 12), f32(5)],
        lambda x, w, b: x.reshape(2, 12) @ w.T + b,
    ),
    (
        "FullyConnected",
        {"num_hidden": 5, "flatten": False},
        [f32(2, 3, 4), f32(5, 4), f32(5)],
        lambda x, w, b: x @ w.T + b,
    ),
    (
        "FullyConnected",
        {"num_hidden": "5", "no_bias": "True"},
        [f32(2, 3), f32(5, 3)],
        lambda x, w: x @ w.T,
    ),
]


def normalized(x: np.ndarray, axes: tuple[int, ...], eps: float) -> np.ndarray:
    variance = x.var(axes, keepdims=True)
    return (x - x.mean(axes, keepdims=True)) / np.sqrt(variance + eps)


def with_channels(x: np.ndarray, gamma: np.ndarray, beta: np.ndarray) -> np.ndarray:
    return x * gamma[:, None, None] + beta[:, None, None]


def batch_normalized(x: Any, gamma: Any, beta: Any, mean: Any, variance: Any) -> Any:
    return of_torch(lambda x, g, b, m, v: F.batch_norm(x, m, v, g, b, training=False, eps=1e-3))(
        x, gamma, beta, mean, variance
    )


NORMS: list[Case] = [
    (
        "BatchNorm",
        {},
        [IMAGE, *C4],
        lambda x, g, *more: batch_normalized(x, np.ones_like(g), *more),
    ),
    ("BatchNorm", {"fix_gamma": False, "use_global_stats": True}, [IMAGE, *C4], batch_normalized),
    (
        "BatchNorm",
        {"fix_gamma": "0", "axis": -1, "eps": 1e-3},
        [last(IMAGE), *C4],
        lambda x, *more: last(batch_normalized(IMAGE, *more)),
    ),
    (
        "BatchNorm",
        {"fix_gamma": False, "output_mean_var": True},
        [IMAGE, *C4],
        lambda x, g, b, m, v: [batch_normalized(x, g, b, m, v), m, 1 / np.sqrt(v + 1e-3)],
    ),
    (
        "LayerNorm",
        {},
        [f32(2, 3, 4), f32(4), f32(4)],
        lambda x, g, b: normalized(x, (2,), 1e-5) * g + b,
    ),
    (
        "LayerNorm",
        {"axis": 1, "output_mean_var": True},
        [f32(2, 3, 4), f32(3), f32(3)],
        lambda x, g, b: [
            normalized(x, (1,), 1e-5) * g[:, None] + b[:, None],
            x.mean(1, keepdims=True),
            np.sqrt(x.var(1, keepdims=True) + 1e-5),
        ],
    ),
    (
        "InstanceNorm",
        {},
        [IMAGE, *C4[:2]],
        lambda x, g, b: with_channels(normalized(x, (2, 3), 1e-3), g, b),
    ),
    (
        "GroupNorm",
        {"num_groups": 2},
        [IMAGE, *C4[:2]],
        of_torch(lambda x, g, b: F.group_norm(x, 2, g, b)),
    ),
    (
        "GroupNorm",
        {"num_groups": 2},
        [IMAGE, C4[0][:2], C4[1][:2]],
        lambda x, g, b: of_torch(lambda *a: F.group_norm(a[0], 2, *a[1:]))(
            x, g.repeat(2), b.repeat(2)
        ),
    ),
    *(
        (
            "L2Normalization",
            {"mode": mode},
            [IMAGE],
            lambda x, axes=axes: x / np.sqrt((x * x).sum(axes, keepdims=True) + 1e-10),
        )
        for mode, axes in (("instance", (1, 2, 3)), ("channel", (1,)), ("spatial", (2, 3)))
    ),
    (
        "LRN",
        {"nsize": 3, "alpha": 0.1},
        [f32(4, 4, 5, 6)],  # as many images as channels: the reference mixes them up
        of_torch(lambda x: F.local_response_norm(x, 3, 0.1, 0.75, 2.0)),
    ),
]


def softmax(x: np.ndarray, axis: int = -1) -> np.ndarray:
    e = np.exp(x - x.max(axis, keepdims=True))
    return e / e.sum(axis, keepdims=True)


SMALL = f32(2, 3, 4)
ACTIVATIONS: list[Case] = [
    *(
        ("Activation", {"act_type": kind}, [SMALL], of_torch(function))
        for kind, function in {
            "relu": F.relu,
            "sigmoid": torch.sigmoid,
            "tanh": torch.tanh,
            "softrelu": F.softplus,
            "softsign": F.softsign,
            "mish": F.mish,
            "log_sigmoid": F.logsigmoid,
        }.items()
    ),
    ("LeakyReLU", {}, [SMALL], of_torch(lambda x: F.leaky_relu(x, 0.25))),
    ("LeakyReLU", {"act_type": "elu", "slope": 0.3}, [SMALL], of_torch(lambda x: F.elu(x, 0.3))),
    ("LeakyReLU", {"act_type": "selu"}, [SMALL], of_torch(F.selu)),
    ("LeakyReLU", {"act_type": "gelu"}, [SMALL], of_torch(F.gelu)),
    ("LeakyReLU", {"act_type": "rrelu"}, [SMALL], of_torch(lambda x: F.leaky_relu(x, 0.2295))),
    ("LeakyReLU", {"act_type": "prelu"}, [SMALL, f32(3)], of_torch(F.prelu)),
    ("LeakyReLU", {"act_type": "prelu"}, [SMALL, f32(1)], of_torch(F.prelu)),
    ("Dropout", {"p": 0.7}, [SMALL], lambda x: x),
    ("softmax", {}, [SMALL], softmax),
    ("softmax", {"axis": 1, "temperature": 2.0}, [SMALL], lambda x: softmax(x / 2, 1)),
    ("log_softmax", {"axis": -1}, [SMALL], lambda x: np.log(softmax(x))),
    (
        "softmax",
        {"use_length": True},
        [SMALL, np.array([[1, 2, 3], [4, 4, 1]], "int32")],
        lambda x, n: np.stack(
            [
                [np.pad(softmax(x[i, j, : n[i, j]]), (0, 4 - n[i, j])) for j in range(3)]
                for i in range(2)
            ]
        ),
    ),
    ("softmin", {}, [SMALL], lambda x: softmax(-x)),
    (
        "masked_softmax",
        {"temperature": 2.0},
        [SMALL, np.arange(24).reshape(2, 3, 4) % 3 > 0],
        lambda x, m: softmax(np.where(m, x / 2, -np.inf)),
    ),
    (
        "masked_log_softmax",
        {},
        [SMALL, np.arange(24).reshape(2, 3, 4) % 3 > 0],
        lambda x, m: np.where(m, np.log(softmax(np.where(m, x, -np.inf)) + 1e-30), -np.inf),
    ),
    ("SoftmaxActivation", {"mode": "channel"}, [SMALL], lambda x: softmax(x, 1)),
    (
        "SoftmaxActivation",
        {},
        [SMALL],
        lambda x: softmax(x.reshape(2, 12)).reshape(2, 3, 4),
    ),
    ("SoftmaxOutput", {}, [f32(2, 5), f32(2)], lambda x, y: softmax(x)),
    (
        "SoftmaxOutput",
        {},
        [SMALL, f32(2)],
        lambda x, y: softmax(x.reshape(2, 12)).reshape(2, 3, 4),
    ),
    ("SoftmaxOutput", {"multi_output": True}, [SMALL, f32(2, 4)], lambda x, y: softmax(x, 1)),
    ("Softmax", {"preserve_shape": True}, [SMALL, f32(2, 3)], lambda x, y: softmax(x)),
    ("LinearRegressionOutput", {}, [f32(2, 3), f32(2, 3)], lambda x, y: x),
    ("MAERegressionOutput", {"grad_scale": 2}, [f32(2, 1), f32(2)], lambda x, y: x),
    (
        "LogisticRegressionOutput",
        {},
        [f32(2, 3), f32(2, 3)],
        lambda x, y: 1 / (1 + np.exp(-x)),
    ),
    ("SVMOutput", {}, [f32(2, 3), f32(2)], lambda x, y: x),
    (
        "softmax_cross_entropy",
        {},
        [f32(3, 4), np.array([0, 3, 1], "float32")],
        lambda x, y: -np.log(softmax(x))[np.arange(3), y.astype(int)].sum(keepdims=True),
    ),
    ("MakeLoss", {"grad_scale": 0.5}, [SMALL], lambda x: x),
    ("BlockGrad", {}, [SMALL], lambda x: x),
    ("identity", {}, [SMALL], lambda x: x),
]

HALVES = np.array([-2.5, -1.5, -0.5, 0, 0.5, 1.5, 2.5, 1.2, -1.7], "float32")
UNARY: list[Case] = [
    *(
        (name, {}, [SMALL], getattr(np, name))
        for name in "exp tanh square abs sign negative ceil floor trunc sin cos tan arctan sinh "
        "cosh arcsinh cbrt degrees radians expm1 isnan isinf isfinite logical_not".split()
    ),
    *((name, {}, [positive(2, 3)], getattr(np, name)) for name in "log log2 log10 log1p".split()),
    *((name, {}, [positive(2, 3)], getattr(np, name)) for name in ("sqrt", "reciprocal")),
    *((name, {}, [f32(5) * 0.1], getattr(np, name)) for name in ("arcsin", "arccos", "arctanh")),
    ("arccosh", {}, [positive(5) + 1], np.arccosh),
    ("rsqrt", {}, [positive(5)], lambda x: 1 / np.sqrt(x)),
    ("rcbrt", {}, [positive(5)], lambda x: 1 / np.cbrt(x)),
    ("relu", {}, [SMALL], lambda x: np.maximum(x, 0)),
    ("sigmoid", {}, [SMALL], lambda x: 1 / (1 + np.exp(-x))),
    ("softsign", {}, [SMALL], lambda x: x / (1 + abs(x))),
    ("erf", {}, [SMALL], of_torch(torch.erf)),
    ("round", {}, [HALVES], lambda x: np.sign(x) * np.floor(abs(x) + 0.5)),
    ("rint", {}, [HALVES], lambda x: np.ceil(x - 0.5)),
    ("fix", {}, [HALVES], np.fix),
    ("isnan", {}, [np.array([1, np.nan, np.inf], "float32")], np.isnan),
    ("isfinite", {}, [np.array([1, np.nan, np.inf], "float32")], np.isfinite),
    ("_npi_isinf", {}, [np.array([1, np.nan, np.inf], "float32")], np.isinf),
    ("clip", {"a_min": -0.5, "a_max": 0.25}, [SMALL], lambda x: x.clip(-0.5, 0.25)),
    ("clip", {"a_min": 1.5, "a_max": 3}, [np.arange(6)], lambda x: x.clip(1, 3)),
    ("hard_sigmoid", {}, [SMALL], lambda x: (0.2 * x + 0.5).clip(0, 1)),
    ("Cast", {"dtype": "int32"}, [SMALL], lambda x: x.astype("int32")),
    ("Cast", {"dtype": "float32"}, [SMALL], lambda x: x),
    ("Cast", {"dtype": "float64"}, [np.arange(4)], lambda x: x.astype("float64")),
    (
        "smooth_l1",
        {"scalar": 2.0},
        [SMALL],
        lambda x: np.where(abs(x) < 0.25, 2 * x * x, abs(x) - 0.125),
    ),
    ("_contrib_quadratic", {"a": 2, "b": 3, "c": 4}, [SMALL], lambda x: 2 * x * x + 3 * x + 4),
    ("_contrib_div_sqrt_dim", {}, [SMALL], lambda x: x / 2),
    (
        "amp_multicast",
        {"num_outputs": 2},
        [f32(2).astype("float16"), f32(3)],
        lambda a, b: [a.astype("float32"), b],
    ),
]


def truth(function: Callable[..., Any]) -> Callable[..., Any]:
    return lambda a, b: function(a, b).astype(a.dtype)


A, B = f32(2, 3), f32(2, 3)
WHOLE, OTHER = np.array([[3, -4, 5], [7, 8, -9]]), np.array([[2, 3, -4], [-2, 3, 9]])
ARITHMETIC = {
    "add": np.add,
    "sub": np.subtract,
    "mul": np.multiply,
    "div": np.divide,
}
OTHERS = {
    "mod": np.mod,
    "maximum": np.maximum,
    "minimum": np.minimum,
    "hypot": np.hypot,
}
COMPARED = {
    "equal": np.equal,
    "not_equal": np.not_equal,
    "greater": np.greater,
    "greater_equal": np.greater_equal,
    "lesser": np.less,
    "lesser_equal": np.less_equal,
    "logical_and": np.logical_and,
    "logical_or": np.logical_or,
    "logical_xor": np.logical_xor,
}
SAME = np.array([[1, 0, 2], [0, 5, 1]], "float32"), np.array([[1, 2, 0], [0, 1, 1]], "float32")
BINARY: list[Case] = [
    *((f"elemwise_{name}", {}, [A, B], function) for name, function in ARITHMETIC.items()),
    *((f"broadcast_{name}", {}, [A, f32(1, 3)], f) for name, f in (ARITHMETIC | OTHERS).items()),
    *((f"_{name}", {}, [A, B], function) for name, function in OTHERS.items()),
    ("_power", {}, [positive(2, 3), B], np.power),
    ("broadcast_power", {}, [positive(2, 3), f32(1, 3)], np.power),
    ("_mod", {}, [A, A * 0], lambda a, b: b),
    *((f"_{name}", {}, list(SAME), truth(function)) for name, function in COMPARED.items()),
    *((f"broadcast_{n}", {}, [SAME[0], SAME[1][:1]], truth(f)) for n, f in COMPARED.items()),
    *((f"_npi_{n.replace('lesser', 'less')}", {}, list(SAME), f) for n, f in COMPARED.items()),
    *(
        (f"_{name}_scalar", {"scalar": 2}, [SAME[0]], lambda x, f=f: f(x, 2).astype("float32"))
        for name, f in ({"plus": np.add, "minus": np.subtract} | OTHERS | COMPARED).items()
    ),
    ("_mul_scalar", {"scalar": "1.5"}, [A], lambda x: x * 1.5),
    ("_div_scalar", {"scalar": 3}, [A], lambda x: x / 3),
    ("_power_scalar", {"scalar": 2}, [A], lambda x: x**2),
    ("_rminus_scalar", {"scalar": 2}, [A], lambda x: 2 - x),
    ("_rdiv_scalar", {"scalar": 2}, [A], lambda x: 2 / x),
    ("_rmod_scalar", {"scalar": 2}, [A], lambda x: np.mod(2, x)),
    ("_rpower_scalar", {"scalar": 2}, [A], lambda x: 2**x),
    ("_PlusScalar", {"scalar": 2.7}, [WHOLE], lambda x: x + 2),
    ("_npi_add_scalar", {"scalar": 2.5, "is_int": False}, [WHOLE], lambda x: (x + 2.5).astype("f")),
    ("_npi_add_scalar", {"scalar": 2}, [WHOLE], lambda x: x + 2),
    ("_npi_rsubtract_scalar", {"scalar": 2}, [A], lambda x: 2 - x),
    ("_npi_true_divide", {}, [WHOLE, OTHER], lambda a, b: (a / b).astype("float32")),
    ("_npi_true_divide_scalar", {"scalar": 4}, [WHOLE], lambda a: (a / 4).astype("float32")),
    ("_npi_rtrue_divide_scalar", {"scalar": 4}, [A], lambda a: 4 / a),
    ("_npi_floor_divide", {}, [WHOLE, OTHER], np.floor_divide),
    ("_npi_floor_divide", {}, [A, B], np.floor_divide),
    ("_npi_mod", {}, [WHOLE, OTHER], np.mod),
    ("_npi_fmod", {}, [A, B], np.fmod),
    ("_npi_add", {}, [WHOLE, A], lambda a, b: (a + b).astype("float32")),
    ("_npi_add", {}, [WHOLE.astype("int32"), OTHER], np.add),
    ("_npi_power", {}, [positive(2, 3), B], np.power),
    ("_npi_logaddexp", {}, [A, B], np.logaddexp),
    ("_npi_copysign", {}, [A, B], np.copysign),
    ("_npi_ldexp", {}, [A, B], lambda a, b: a * 2**b),
    (
        "_npi_arctan2",
        {},
        [np.r_[A[0], 0, 0, 1, -1].astype("f"), np.r_[B[0], -1, 1, 0, 0].astype("f")],
        np.arctan2,
    ),
    ("_npi_bitwise_and", {}, [WHOLE, OTHER], np.bitwise_and),
    ("_npi_bitwise_or", {}, [WHOLE, OTHER], np.bitwise_or),
    ("_npi_bitwise_xor", {}, [WHOLE, OTHER], np.bitwise_xor),
    ("add_n", {}, [A, B, A], lambda a, b, c: a + b + c),
    ("ElementWiseSum", {}, [A], lambda a: a),
    ("where", {}, [SAME[0], A, B], lambda c, a, b: np.where(c != 0, a, b)),
    ("where", {}, [np.array([0, 1], "float32"), A, B], lambda c, a, b: np.stack([b[0], a[1]])),
    ("_npi_where", {}, [SAME[0], A, B[0]], lambda c, a, b: np.where(c != 0, a, b)),
    ("_npi_where_lscalar", {"scalar": 3}, [SAME[0], A], lambda c, a: np.where(c != 0, 3, a)),
    ("_npi_where_rscalar", {"scalar": 3}, [SAME[0], A], lambda c, a: np.where(c != 0, a, 3)),
]

WITH_NAN = np.where(abs(SMALL) > 1, np.nan, SMALL).astype("float32")
REDUCED = {"sum": np.sum, "mean": np.mean, "prod": np.prod, "max": np.max, "min": np.min}
REDUCTIONS: list[Case] = [
    *(
        (name, {}, [SMALL], lambda x, f=f: f(x, keepdims=True).reshape(1))
        for name, f in REDUCED.items()
    ),
    *(
        (name, {"axis": (0, 2)}, [SMALL], lambda x, f=f: f(x, (0, 2)))
        for name, f in REDUCED.items()
    ),
    *(
        (name, {"axis": -1, "keepdims": 1}, [SMALL], lambda x, f=f: f(x, -1, keepdims=True))
        for name, f in REDUCED.items()
    ),
    *(
        (name, {"axis": 1, "exclude": True}, [SMALL], lambda x, f=f: f(x, (0, 2)))
        for name, f in REDUCED.items()
    ),
    *(
        (f"_npi_{name}", {}, [SMALL], lambda x, f=f: np.asarray(f(x)))
        for name, f in REDUCED.items()
    ),
    *(
        (f"_npi_{name}", {"axis": 1}, [SMALL], lambda x, f=f: f(x, 1))
        for name, f in REDUCED.items()
    ),
    ("_npi_mean", {}, [WHOLE], lambda x: np.asarray(x.mean(), "float32")),
    ("_np_sum", {"dtype": "float64", "axis": "(1,)"}, [A], lambda x: x.sum(1, dtype="float64")),
    ("sum_axis", {"axis": 1}, [SMALL], lambda x: x.sum(1)),
    ("nansum", {"axis": 1}, [WITH_NAN], lambda x: np.nansum(x, 1)),
    ("nanprod", {}, [WITH_NAN], lambda x: np.nanprod(x).reshape(1)),
    ("norm", {}, [SMALL], lambda x: np.sqrt((x * x).sum()).reshape(1)),
    (
        "norm",
        {"ord": 1, "axis": 1, "keepdims": True},
        [SMALL],
        lambda x: abs(x).sum(1, keepdims=True),
    ),
    ("_square_sum", {"axis": 1}, [SMALL], lambda x: (x * x).sum(1)),
    ("_npi_var", {"axis": 1}, [SMALL], lambda x: x.var(1)),
    ("_npi_std", {"ddof": 1}, [SMALL], lambda x: np.asarray(x.std(ddof=1))),
    ("moments", {"axes": (0, 2)}, [SMALL], lambda x: [x.mean((0, 2)), x.var((0, 2))]),
    ("argmax", {"axis": 1}, [SMALL], lambda x: x.argmax(1).astype("float32")),
    (
        "argmin",
        {"axis": -1, "keepdims": True},
        [SMALL],
        lambda x: x.argmin(-1, keepdims=True).astype("f"),
    ),
    ("argmax", {}, [SMALL], lambda x: np.array([x.argmax()], "float32")),
    ("_npi_argmax", {"axis": 1}, [SMALL], lambda x: x.argmax(1)),
    ("_npi_argmin", {}, [SMALL], lambda x: np.asarray(x.argmin())),
    ("argmax_channel", {}, [A], lambda x: x.argmax(1).astype("float32")),
    ("broadcast_axis", {"axis": 1, "size": 3}, [f32(2, 1)], lambda x: np.repeat(x, 3, 1)),
    (
        "broadcast_axes",
        {"axis": (0, 2), "size": (2, 3)},
        [f32(1, 4, 1)],
        lambda x: np.broadcast_to(x, (2, 4, 3)),
    ),
    ("broadcast_to", {"shape": (0, 3)}, [f32(2, 1)], lambda x: np.repeat(x, 3, 1)),
    ("_np_broadcast_to", {"shape": (4, 2, 3)}, [A], lambda x: np.broadcast_to(x, (4, 2, 3))),
    ("broadcast_like", {}, [f32(1, 3), A], lambda x, y: np.broadcast_to(x, (2, 3))),
    (
        "broadcast_like",
        {"lhs_axes": (0,), "rhs_axes": (-1,)},
        [f32(1, 2), A],
        lambda x, y: np.repeat(x, 3, 0),
    ),
    ("_np_cumsum", {"axis": 1}, [A], lambda x: x.cumsum(1)),
    ("cumsum", {}, [A], lambda x: x.cumsum()),
]


def reshaped(*shape: int) -> Callable[..., Any]:
    return lambda x: x.reshape(shape)


FOUR = f32(2, 3, 4, 5)
SHAPES: list[Case] = [
    ("_npi_vstack", {}, [f32(3), f32(3)], lambda a, b: np.vstack([a, b])),
    ("_npi_hstack", {}, [A, B], lambda a, b: np.hstack([a, b])),
    ("_npi_hstack", {}, [f32(3), f32(2)], lambda a, b: np.hstack([a, b])),
    ("_npi_tril", {"k": 1}, [SMALL], lambda x: np.tril(x, 1)),
    ("_npi_triu", {"k": -1}, [SMALL], lambda x: np.triu(x, -1)),
    (
        "_npi_pad",
        {"pad_width": ((1, 0), (2, 1)), "constant_values": 3},
        [A],
        lambda x: np.pad(x, ((1, 0), (2, 1)), constant_values=3),
    ),
    (
        "_npi_pad",
        {"pad_width": "((0, 1), (1, 0))", "mode": "edge"},
        [A],
        lambda x: np.pad(x, ((0, 1), (1, 0)), "edge"),
    ),
    *(
        ("Reshape", {"shape": codes}, [FOUR], reshaped(*shape))
        for codes, shape in {
            (0, -1): (2, 60),
            (-1, 5): (24, 5),
            (6, 1, 20): (6, 1, 20),
            (-2,): (2, 3, 4, 5),
            (0, 3, -2): (2, 3, 4, 5),
            (-3, -3): (6, 20),
            (0, -3, 0): (2, 12, 5),
            (0, 0, -4, 2, -1, -2): (2, 3, 2, 2, 5),
            (-4, 1, 2, -2): (1, 2, 3, 4, 5),
            (-3, -4, 2, 2, 0): (6, 2, 2, 5),
            (0, -4, -1, 3, 0, 5): (2, 1, 3, 4, 5),
            (1, -2): (1, 3, 4, 5),
        }.items()
        if np.prod(shape) == 120
    ),
    ("Reshape", {"shape": (-1, 0), "reverse": True}, [f32(10, 5, 4)], reshaped(50, 4)),
    ("Reshape", {"shape": (-1, 0, 0), "reverse": True}, [FOUR], reshaped(6, 4, 5)),
    ("Reshape", {"shape": (-3, 0), "reverse": True}, [f32(2, 3, 4)], reshaped(6, 4)),
    ("Reshape", {"target_shape": (2, 0)}, [FOUR], reshaped(2, 60)),
    ("Reshape", {"target_shape": "(0,12,5)", "keep_highest": True}, [FOUR], reshaped(2, 12, 5)),
    *(
        ("_npx_reshape", {"newshape": codes}, [array], reshaped(*shape))
        for codes, array, shape in [
            ((-1, 20), FOUR, (6, 20)),
            ((-2, -2, -1), FOUR, (2, 3, 20)),
            ((-2, -4), FOUR, (2, 3, 4, 5)),
            ((-5, -4), FOUR, (6, 4, 5)),
            ((-6, 1, -1, -4), FOUR, (1, 2, 3, 4, 5)),
            ((-2, -3, -1), f32(2, 1, 4, 5), (2, 20)),
            ((-3, -5, -2), f32(1, 2, 4, 5), (8, 5)),
        ]
    ),
    ("_np_reshape", {"newshape": (-1,)}, [FOUR], reshaped(120)),
    ("reshape_like", {}, [FOUR, f32(6, 20)], lambda x, y: x.reshape(6, 20)),
    (
        "reshape_like",
        {"lhs_begin": 0, "lhs_end": 2, "rhs_begin": 0, "rhs_end": 1},
        [FOUR, f32(6, 20)],
        lambda x, y: x.reshape(6, 4, 5),
    ),
    ("Flatten", {}, [FOUR], reshaped(2, 60)),
    ("transpose", {}, [FOUR], lambda x: x.T),
    ("transpose", {"axes": (0, 2, 3, 1)}, [FOUR], lambda x: x.transpose(0, 2, 3, 1)),
    ("_npi_transpose", {"axes": (0, -1, 1, 2)}, [FOUR], lambda x: x.transpose(0, 3, 1, 2)),
    ("SwapAxis", {"dim1": 1, "dim2": 3}, [FOUR], lambda x: x.swapaxes(1, 3)),
    (
        "_np_moveaxis",
        {"source": (0, 1), "destination": (-1, 0)},
        [FOUR],
        lambda x: np.moveaxis(x, (0, 1), (-1, 0)),
    ),
    ("expand_dims", {"axis": 1}, [A], lambda x: x[:, None]),
    ("expand_dims", {"axis": -1}, [A], lambda x: x[..., None]),
    ("squeeze", {}, [f32(2, 1, 3, 1)], reshaped(2, 3)),
    ("squeeze", {"axis": 1}, [f32(2, 1, 3, 1)], reshaped(2, 3, 1)),
    ("_np_squeeze", {"axis": "(1, -1)"}, [f32(2, 1, 3, 1)], reshaped(2, 3)),
    ("Concat", {}, [A, f32(2, 4)], lambda a, b: np.concatenate([a, b], 1)),
    ("concat", {"dim": 0}, [A, B], lambda a, b: np.concatenate([a, b])),
    ("_npi_concatenate", {"axis": -1}, [A, B], lambda a, b: np.concatenate([a, b], -1)),
    ("stack", {"axis": 1}, [A, B], lambda a, b: np.stack([a, b], 1)),
    ("SliceChannel", {"num_outputs": 2}, [f32(2, 4)], lambda x: np.split(x, 2, 1)),
    (
        "split",
        {"num_outputs": 3, "axis": 1, "squeeze_axis": 1},
        [SMALL],
        lambda x: [x[:, i] for i in range(3)],
    ),
    ("SliceChannel", {"num_outputs": 1}, [A], lambda x: [x]),
    (
        "_split_v2",
        {"indices": (0, 1, 3), "axis": 2},
        [SMALL],
        lambda x: [x[..., :1], x[..., 1:3], x[..., 3:]],
    ),
    ("_split_v2", {"sections": 2, "axis": 2}, [SMALL], lambda x: np.split(x, 2, 2)),
    ("slice", {"begin": (0, 1), "end": (2, 3)}, [SMALL], lambda x: x[0:2, 1:3]),
    (
        "slice",
        {"begin": (None, -1), "end": (None, 0), "step": (1, -1)},
        [SMALL],
        lambda x: x[:, -1:0:-1],
    ),
    (
        "slice",
        {"begin": "(None, None)", "end": (None, None), "step": (None, -1)},
        [SMALL],
        lambda x: x[:, ::-1],
    ),
    ("slice_axis", {"axis": 1, "begin": 1, "end": None}, [SMALL], lambda x: x[:, 1:]),
    ("slice_axis", {"axis": -1, "begin": -3, "end": -1}, [SMALL], lambda x: x[..., -3:-1]),
    ("slice_like", {}, [FOUR, f32(1, 2, 3, 4)], lambda x, y: x[:1, :2, :3, :4]),
    ("slice_like", {"axes": (2, -1)}, [FOUR, f32(1, 2, 3, 4)], lambda x, y: x[:, :, :3, :4]),
    ("tile", {"reps": (2, 1, 3)}, [A], lambda x: np.tile(x, (2, 1, 3))),
    ("tile", {"reps": (2,)}, [A], lambda x: np.tile(x, 2)),
    ("repeat", {"repeats": 2, "axis": 1}, [SMALL], lambda x: x.repeat(2, 1)),
    ("repeat", {"repeats": 3, "axis": -1}, [SMALL], lambda x: x.repeat(3, -1)),
    ("repeat", {"repeats": 2}, [A], lambda x: x.repeat(2)),
    (
        "Pad",
        {"mode": "constant", "pad_width": (0, 0, 0, 0, 1, 2, 3, 0), "constant_value": 2.5},
        [FOUR],
        lambda x: np.pad(x, ((0, 0), (0, 0), (1, 2), (3, 0)), constant_values=2.5),
    ),
    *(
        (
            "pad",
            {"mode": mode, "pad_width": (0, 0, 0, 0, 1, 2, 3, 0)},
            [FOUR],
            lambda x, mode=mode: np.pad(x, ((0, 0), (0, 0), (1, 2), (3, 0)), mode),
        )
        for mode in ("edge", "reflect")
    ),
    ("reverse", {"axis": (0, 2)}, [SMALL], lambda x: x[::-1, :, ::-1]),
    ("flip", {"axis": 1}, [SMALL], lambda x: x[:, ::-1]),
    (
        "depth_to_space",
        {"block_size": 2},
        [f32(1, 8, 2, 3)],
        lambda x: x.reshape(1, 2, 2, 2, 2, 3).transpose(0, 3, 4, 1, 5, 2).reshape(1, 2, 4, 6),
    ),
    (
        "space_to_depth",
        {"block_size": 2},
        [f32(1, 2, 4, 6)],
        lambda x: x.reshape(1, 2, 2, 2, 3, 2).transpose(0, 3, 5, 1, 2, 4).reshape(1, 8, 2, 3),
    ),
    ("shape_array", {}, [SMALL], lambda x: np.array(x.shape)),
    ("size_array", {}, [SMALL], lambda x: np.array([x.size])),
    ("_np_roll", {"shift": 2, "axis": 1}, [SMALL], lambda x: np.roll(x, 2, 1)),
    ("_np_roll", {"shift": (-1,)}, [A], lambda x: np.roll(x, -1)),
]

EMBEDDED = np.array([[0, 4], [2, 9], [-3, 1]], "float32")
INDEXING: list[Case] = [
    (
        "Embedding",
        {"input_dim": 5, "output_dim": 3},
        [EMBEDDED, f32(5, 3)],
        lambda i, w: w[i.astype(int).clip(0, 4)],
    ),
    ("take", {}, [f32(5, 3), EMBEDDED], lambda x, i: x[i.astype(int).clip(0, 4)]),
    (
        "take",
        {"axis": 1, "mode": "wrap"},
        [f32(5, 3), EMBEDDED],
        lambda x, i: x[:, i.astype(int) % 3],
    ),
    ("take", {"axis": -1, "mode": "raise"}, [f32(5, 3), np.array([0, 2])], lambda x, i: x[:, i]),
    ("batch_take", {}, [A, np.array([2, 0], "int32")], lambda x, i: x[[0, 1], i]),
    ("pick", {}, [A, np.array([2, 7], "float32")], lambda x, i: x[[0, 1], [2, 2]]),
    (
        "pick",
        {"axis": 0, "keepdims": True},
        [A, np.array([1, 0, 1], "float32")],
        lambda x, i: x[[[1, 0, 1]], [[0, 1, 2]]],
    ),
    (
        "one_hot",
        {"depth": 3, "on_value": 2, "off_value": -1},
        [np.array([[0, 2], [-1, 5]], "float32")],
        lambda i: np.where(i[..., None] == np.arange(3), 2, -1).astype("float32"),
    ),
    (
        "one_hot",
        {"depth": 3, "dtype": "int32"},
        [np.array([1, 0])],
        lambda i: np.eye(3, dtype="int32")[i],
    ),
    ("gather_nd", {}, [SMALL, np.array([[0, 1, 1], [2, 0, 1]])], lambda x, i: x[i[0], i[1]]),
    (
        "scatter_nd",
        {"shape": (2, 3)},
        [np.array([5, 6], "float32"), np.array([[0, 1], [2, 0]])],
        lambda x, i: np.array([[0, 0, 5], [6, 0, 0]], "float32"),
    ),
    (
        "_contrib_boolean_mask",
        {},
        [A, np.array([0, 1], "float32")],
        lambda x, i: x[i != 0],
    ),
    ("sort", {}, [SMALL], np.sort),
    ("sort", {"axis": 0, "is_ascend": False}, [SMALL], lambda x: np.sort(x, 0)[::-1]),
    ("sort", {"axis": None}, [SMALL], lambda x: np.sort(x, None)),
    ("argsort", {}, [SMALL], lambda x: np.argsort(x).astype("float32")),
    ("argsort", {"axis": 1, "dtype": "int32"}, [SMALL], lambda x: np.argsort(x, 1).astype("int32")),
    ("topk", {"k": 2}, [SMALL], lambda x: np.argsort(-x)[..., :2].astype("float32")),
    (
        "topk",
        {"k": 2, "axis": 1, "ret_typ": "both", "is_ascend": True, "dtype": "int64"},
        [SMALL],
        lambda x: [np.sort(x, 1)[:, :2], np.argsort(x, 1)[:, :2]],
    ),
    ("topk", {"k": 0, "ret_typ": "value"}, [SMALL], lambda x: -np.sort(-x)),
    (
        "topk",
        {"k": 2, "ret_typ": "mask"},
        [SMALL],
        lambda x: (x >= np.sort(x)[..., -2:-1]).astype("float32"),
    ),
    (
        "topk",
        {"k": 5, "ret_typ": "mask", "axis": None},
        [SMALL],
        lambda x: (x >= np.sort(x, None)[-5]).astype("float32"),
    ),
]


def attention(x: np.ndarray, heads: int, parts: int) -> list[np.ndarray]:
    length, batch, n = x.shape
    apart = x.reshape(length, batch, heads, parts, n // heads // parts)
    moved = apart.transpose(3, 1, 2, 0, 4)
    return list(moved.reshape(parts, batch * heads, length, -1))


def heads_together(x: np.ndarray, heads: int) -> np.ndarray:
    many, length, n = x.shape
    return x.reshape(-1, heads, length, n).transpose(2, 0, 1, 3).reshape(length, -1, heads * n)


QKV, KV, QUERY = f32(5, 2, 24), f32(6, 2, 16), f32(5, 2, 8)
LINEAR: list[Case] = [
    ("_npi_einsum", {"subscripts": "ij,kj->ik"}, [A, B], lambda a, b: a @ b.T),
    (
        "_npi_tensordot_int_axes",
        {"axes": 2},
        [f32(5, 2, 3), f32(2, 3, 4)],
        lambda a, b: np.tensordot(a, b, 2),
    ),
    ("dot", {}, [f32(2, 3), f32(3, 4)], np.dot),
    (
        "dot",
        {"transpose_a": True, "transpose_b": True},
        [f32(3, 2), f32(4, 3)],
        lambda a, b: a.T @ b.T,
    ),
    ("dot", {}, [f32(3), f32(3)], lambda a, b: np.dot(a, b).reshape(1)),
    ("dot", {}, [f32(2, 5, 3), f32(3, 4, 2)], lambda a, b: np.tensordot(a, b, 1)),
    (
        "dot",
        {"transpose_a": True},
        [f32(3, 2, 5), f32(3, 4)],
        lambda a, b: np.tensordot(a, b, ((0,), (0,))),
    ),
    ("_np_dot", {}, [f32(2, 3), f32(5, 3, 4)], np.dot),
    ("_npi_matmul", {}, [f32(5, 2, 3), f32(3, 4)], np.matmul),
    ("batch_dot", {}, [f32(5, 2, 3), f32(5, 3, 4)], np.matmul),
    (
        "batch_dot",
        {"transpose_a": 1, "transpose_b": 1},
        [f32(5, 3, 2), f32(5, 4, 3)],
        lambda a, b: a.swapaxes(1, 2) @ b.swapaxes(1, 2),
    ),
    (
        "_linalg_gemm2",
        {"alpha": 2, "transpose_b": True},
        [f32(5, 2, 3), f32(5, 4, 3)],
        lambda a, b: 2 * a @ b.swapaxes(1, 2),
    ),
    (
        "linalg_gemm",
        {"alpha": 2, "beta": 3},
        [f32(2, 3), f32(3, 4), f32(2, 4)],
        lambda a, b, c: 2 * a @ b + 3 * c,
    ),
    (
        "_contrib_interleaved_matmul_selfatt_qk",
        {"heads": 2},
        [QKV],
        lambda x: attention(x, 2, 3)[0] / 2 @ attention(x, 2, 3)[1].swapaxes(1, 2),
    ),
    (
        "_contrib_interleaved_matmul_selfatt_valatt",
        {"heads": 2},
        [QKV, f32(4, 5, 5)],
        lambda x, a: heads_together(a @ attention(x, 2, 3)[2], 2),
    ),
    (
        "_contrib_interleaved_matmul_encdec_qk",
        {"heads": 2},
        [QUERY, KV],
        lambda q, kv: attention(q, 2, 1)[0] / 2 @ attention(kv, 2, 2)[0].swapaxes(1, 2),
    ),
    (
        "_contrib_interleaved_matmul_encdec_valatt",
        {"heads": 2},
        [KV, f32(4, 5, 6)],
        lambda kv, a: heads_together(a @ attention(kv, 2, 2)[1], 2),
    ),
]

CREATION: list[Case] = [
    ("_zeros", {"shape": (0, 3)}, [], lambda: np.zeros((1, 3), "float32")),
    ("_ones", {"shape": (2, 3), "dtype": "int32"}, [], lambda: np.ones((2, 3), "int32")),
    ("_full", {"shape": (2,), "value": 1.5}, [], lambda: np.full(2, 1.5, "float32")),
    ("_npi_zeros", {"shape": ()}, [], lambda: np.zeros((), "float32")),
    ("_npi_ones", {"shape": (2, 0)}, [], lambda: np.ones((2, 0), "float32")),
    ("_npi_full", {"shape": 3, "fill_value": 2}, [], lambda: np.full(3, 2, "float32")),
    ("zeros_like", {}, [A], np.zeros_like),
    ("ones_like", {}, [WHOLE], np.ones_like),
    ("_npi_full_like", {"fill_value": 3}, [A], lambda x: np.full_like(x, 3)),
    (
        "_arange",
        {"start": 2, "stop": 8, "step": 2, "repeat": 2},
        [],
        lambda: np.array([2, 2, 4, 4, 6, 6], "f"),
    ),
    ("_arange", {"start": 3}, [], lambda: np.arange(3, dtype="float32")),
    (
        "_npi_arange",
        {"start": 0, "stop": 1, "step": 0.3, "dtype": "float64"},
        [],
        lambda: np.arange(0, 1, 0.3),
    ),
    (
        "_contrib_arange_like",
        {"axis": 1, "start": 2, "step": 0.5},
        [A],
        lambda x: np.array([2, 2.5, 3], "f"),
    ),
    ("_contrib_arange_like", {}, [A], lambda x: np.arange(6, dtype="f").reshape(2, 3)),
    ("_linspace", {"start": 0, "stop": 1, "num": 5}, [], lambda: np.linspace(0, 1, 5, dtype="f")),
    ("_eye", {"N": 3, "M": 4, "k": 1}, [], lambda: np.eye(3, 4, 1, dtype="float32")),
]

LENGTHS = np.array([1, 3], "float32")
TIME = f32(4, 2, 3)


def masked(x: np.ndarray, n: np.ndarray, value: float = 0) -> np.ndarray:
    return np.where(np.arange(len(x))[:, None, None] < n[:, None], x, value).astype("float32")


def reversed_to(x: np.ndarray, n: np.ndarray) -> np.ndarray:
    x = x.copy()
    for i, k in enumerate(n.astype(int)):
        x[:k, i] = x[:k, i][::-1]
    return x


SEQUENCES: list[Case] = [
    ("SequenceMask", {}, [TIME], lambda x: x),
    (
        "SequenceMask",
        {"use_sequence_length": True, "value": -1},
        [TIME, LENGTHS],
        lambda x, n: masked(x, n, -1),
    ),
    (
        "SequenceMask",
        {"use_sequence_length": True, "axis": 1},
        [TIME.swapaxes(0, 1).copy(), LENGTHS],
        lambda x, n: masked(x.swapaxes(0, 1), n).swapaxes(0, 1),
    ),
    ("SequenceLast", {}, [TIME], lambda x: x[-1]),
    (
        "SequenceLast",
        {"use_sequence_length": True},
        [TIME, LENGTHS],
        lambda x, n: x[[0, 2], [0, 1]],
    ),
    (
        "SequenceLast",
        {"use_sequence_length": True, "axis": 1},
        [TIME.swapaxes(0, 1).copy(), LENGTHS],
        lambda x, n: x[[0, 1], [0, 2]],
    ),
    ("SequenceReverse", {}, [TIME], lambda x: x[::-1]),
    ("SequenceReverse", {"use_sequence_length": True}, [TIME, LENGTHS], reversed_to),
]

IMAGES: list[Case] = [
    (
        "GridGenerator",
        {"transform_type": "affine", "target_shape": (3, 5)},
        [f32(2, 6)],
        of_torch(
            lambda m: F.affine_grid(m.view(2, 2, 3), [2, 1, 3, 5], align_corners=True).permute(
                0, 3, 1, 2
            )
        ),
    ),
    (
        "SpatialTransformer",
        {"transform_type": "affine", "sampler_type": "bilinear", "target_shape": (3, 5)},
        [IMAGE, f32(2, 6)],
        of_torch(
            lambda x, m: F.grid_sample(
                x,
                F.affine_grid(m.view(2, 2, 3), [2, 1, 3, 5], align_corners=True),
                align_corners=True,
            )
        ),
    ),
    (
        "UpSampling",
        {"scale": 2, "sample_type": "nearest"},
        [IMAGE],
        lambda x: x.repeat(2, 2).repeat(2, 3),
    ),
    (
        "UpSampling",
        {"scale": 2, "sample_type": "nearest"},
        [IMAGE, np.ascontiguousarray(IMAGE.repeat(2, 2).repeat(2, 3))],
        lambda x, y: np.concatenate([x.repeat(2, 2).repeat(2, 3), y], 1),
    ),
    (
        "UpSampling",
        {"scale": 2, "sample_type": "bilinear", "num_filter": 4, "num_args": 2},
        [IMAGE, f32(4, 1, 4, 4)],
        of_torch(lambda x, w: F.conv_transpose2d(x, w, None, 2, 1, groups=4)),
    ),
    (
        "_contrib_BilinearResize2D",
        {"height": 5, "width": 12},
        [IMAGE],
        of_torch(lambda x: F.interpolate(x, (5, 12), mode="bilinear", align_corners=True)),
    ),
    (
        "_contrib_BilinearResize2D",
        {"mode": "like", "align_corners": False},
        [IMAGE, f32(1, 1, 18, 16)],
        of_torch(lambda x, y: F.interpolate(x, (18, 16), mode="bilinear", align_corners=False)),
    ),
    ("Crop", {"h_w": (3, 4), "offset": (1, 2)}, [IMAGE], lambda x: x[:, :, 1:4, 2:6]),
    ("Crop", {"center_crop": True}, [IMAGE, f32(1, 1, 5, 4)], lambda x, y: x[:, :, 2:7, 2:6]),
    (
        "BilinearSampler",
        {},
        [IMAGE, RNG.uniform(-1, 1, (2, 2, 3, 5)).astype("float32")],
        of_torch(lambda x, g: F.grid_sample(x, g.permute(0, 2, 3, 1), align_corners=True)),
    ),
]


def roi_means(data: np.ndarray, rois: np.ndarray) -> np.ndarray:
    """The means of 2 by 2 cells of regions, of 2 by 2 samples each."""
    made = []
    for image, *corners in rois:
        x1, y1, x2, y2 = (c * 0.5 for c in corners)
        steps = (np.arange(4) + 0.5) / 4
        ys, xs = y1 + steps * max(y2 - y1, 1), x1 + steps * max(x2 - x1, 1)
        points = np.stack(np.meshgrid(2 * xs / 7 - 1, 2 * ys / 8 - 1), -1)[None].astype("float32")
        given = torch.from_numpy(data[int(image)][None]), torch.from_numpy(points)
        samples = F.grid_sample(*given, align_corners=True).numpy()
        made.append(samples.reshape(1, 4, 2, 2, 2, 2).mean((3, 5)))
    return np.concatenate(made)


ROIS = np.array([[1, 2, 2, 10, 12], [0, 0, 4, 6, 5]], "float32")
STEPS = np.array([[1, 2, 3], [-4, 5, -6]])
SCALARS: dict[str, Callable[..., Any]] = {
    "subtract": np.subtract,
    "multiply": np.multiply,
    "mod": np.mod,
    "fmod": np.fmod,
    "floor_divide": np.floor_divide,
    "power": lambda x, n: abs(x) ** n,
    "ldexp": lambda x, n: x * 2**n,
    "logaddexp": np.logaddexp,
    "copysign": np.copysign,
    "arctan2": np.arctan2,
    "fmax": np.fmax,
    "fmin": np.fmin,
    **{name.replace("lesser", "less"): function for name, function in COMPARED.items()},
}
REVERSED = ("mod", "fmod", "floor_divide", "copysign", "arctan2")
REST: list[Case] = [
    *(
        (f"_npi_{n}_scalar", {"scalar": 2}, [abs(A)], lambda x, f=f: f(x, 2))
        for n, f in SCALARS.items()
    ),
    *((f"_npi_r{n}_scalar", {"scalar": 2}, [A], lambda x, n=n: SCALARS[n](2, x)) for n in REVERSED),
    ("_npi_rpower_scalar", {"scalar": 2}, [A], lambda x: 2**x),
    ("_npi_rldexp_scalar", {"scalar": 2}, [A], lambda x: 2 * 2**x),
    *(
        (
            f"_npi_bitwise_{n}_scalar",
            {"scalar": 6},
            [STEPS],
            lambda x, n=n: getattr(np, f"bitwise_{n}")(x, 6),
        )
        for n in ("and", "or", "xor")
    ),
    *(
        (f"_npi_{n}", {}, [A, B], getattr(np, n))
        for n in ("subtract", "multiply", "fmax", "fmin", "hypot")
    ),
    *((f"_npi_{n}", {}, [SAME[0]], getattr(np, n)) for n in ("isnan", "isfinite", "logical_not")),
    ("log_sigmoid", {}, [A], of_torch(F.logsigmoid)),
    ("mish", {}, [A], of_torch(F.mish)),
    ("make_loss", {}, [A], lambda x: x),
    ("_contrib_gradientmultiplier", {"scalar": 3}, [A], lambda x: x),
    ("_identity_with_attr_like_rhs", {}, [A, B], lambda a, b: a),
    ("IdentityAttachKLSparseReg", {}, [A, f32(3)], lambda x, m: x),
    ("_rnn_param_concat", {"dim": 0}, [f32(3), f32(2)], lambda a, b: np.r_[a, b]),
    ("_contrib_SyncBatchNorm", {"fix_gamma": False, "ndev": 2}, [IMAGE, *C4], batch_normalized),
    (
        "_contrib_BatchNormWithReLU",
        {"fix_gamma": False},
        [IMAGE, *C4],
        lambda *a: np.maximum(batch_normalized(*a), 0),
    ),
    (
        "_contrib_ROIAlign",
        {"pooled_size": (2, 2), "spatial_scale": 0.5, "sample_ratio": 2},
        [IMAGE, ROIS],
        roi_means,
    ),
]

CASES = [
    *REST,
    *CONVOLUTIONS,
    *NORMS,
    *ACTIVATIONS,
    *UNARY,
    *BINARY,
    *REDUCTIONS,
    *SHAPES,
    *INDEXING,
    *LINEAR,
    *CREATION,
    *SEQUENCES,
    *IMAGES,
]
NAMES = [f"{op}-{i}" for i, (op, *_) in enumerate(CASES)]


def compare(outputs: list[np.ndarray], expected: Any) -> None:
    many = expected if isinstance(expected, (list, tuple)) else [expected]
    assert len(outputs) == len(many)
    for out, want in zip(outputs, many, strict=True):
        assert out.shape == np.shape(want)
        if out.dtype != np.asarray(want).dtype:  # what NumPy has as truth values, or as float64
            assert np.asarray(want).dtype.name in ("float64", "bool")
        np.testing.assert_allclose(out, want, rtol=2e-4, atol=2e-5)


@pytest.mark.parametrize(("op", "parameters", "inputs", "expected"), CASES, ids=NAMES)
def test_operators(op: str, parameters: dict, inputs: list, expected: Callable) -> None:
    compare(run(op, parameters, inputs), expected(*inputs))


@pytest.mark.parametrize(("op", "parameters", "inputs", "expected"), CASES, ids=NAMES)
def test_operators_with_named_shapes(
    op: str, parameters: dict, inputs: list, expected: Callable
) -> None:
    if not inputs:
        return
    for named in ([0], list(range(inputs[0].ndim))):
        try:
            outputs = run(op, parameters, inputs, named)
        except GraphError as error:
            assert "tell the shapes" in str(error)
        else:
            compare(outputs, expected(*inputs))


GATES = {"rnn_tanh": 1, "rnn_relu": 1, "lstm": 4, "gru": 3}


@pytest.mark.parametrize("bidirectional", [False, True])
@pytest.mark.parametrize("layers", [1, 2])
@pytest.mark.parametrize("mode", GATES)
@pytest.mark.parametrize("named", [(), (0, 1)], ids=["numbers", "names"])
def test_rnn(
    mode: str,
    layers: int,
    bidirectional: bool,
    named: tuple[int, ...],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    torch.manual_seed(3)
    if mode == "rnn_relu":  # which the reference lacks
        relu = lambda self, name, alpha, beta: lambda x: np.maximum(x, 0)  # noqa: E731
        monkeypatch.setattr(CommonRNN, "choose_act", relu)
    kinds = {"lstm": torch.nn.LSTM, "gru": torch.nn.GRU}
    more = {} if mode in kinds else {"nonlinearity": mode[4:]}
    net = kinds.get(mode, torch.nn.RNN)(5, 4, layers, bidirectional=bidirectional, **more)
    names = [name for name, _ in net.named_parameters()]
    ordered = [n for n in names if "weight" in n] + [n for n in names if "bias" in n]
    weights = dict(net.named_parameters())
    packed = torch.cat([weights[name].flatten() for name in ordered]).detach().numpy()
    x = f32(6, 3, 5)
    states = [f32(layers * (1 + bidirectional), 3, 4) for _ in range(1 + (mode == "lstm"))]
    parameters = {"state_size": 4, "num_layers": layers, "mode": mode, "state_outputs": True}
    parameters["bidirectional"] = bidirectional
    outputs = run("RNN", parameters, [x, packed, *states], named)
    given = [torch.from_numpy(state) for state in states]
    out, last = net(torch.from_numpy(x), given[0] if len(given) == 1 else tuple(given))
    expected = [out, *(last if mode == "lstm" else [last])]
    compare(outputs, [one.detach().numpy() for one in expected])


@pytest.mark.parametrize(
    ("op", "parameters", "inputs", "message"),
    [
        ("Convolution", {"num_filter": 3}, [IMAGE, WEIGHT, BIAS], "kernel: expected a value"),
        (
            "Convolution",
            {"kernel": "x", "num_filter": 6},
            [IMAGE],
            "kernel: expected whole numbers",
        ),
        (
            "Convolution",
            {"kernel": (3, 2), "num_filter": 1.5},
            [IMAGE],
            "num_filter: expected a whole",
        ),
        ("Activation", {"act_type": "swish"}, [A], "act_type: expected one of relu, sigmoid"),
        (
            "Convolution",
            {"kernel": (3, 2), "num_filter": 6},
            [IMAGE, f32(5, 4, 3, 2), BIAS],
            "argument 'weight': expected shape (6, 4, 3, 2), but (5, 4, 3, 2) came",
        ),
        ("elemwise_add", {}, [A], "expected inputs lhs, rhs, but 1 came"),
        ("dot", {}, [A, A], "node 'node' (dot): expected inputs that MatMul takes"),
        ("norm", {"ord": 3}, [A], "expected ord 1 or 2, but 3 came"),
        ("sum", {"axis": 5}, [A], "node 'node' (sum)"),
        ("Reshape", {"shape": (-4, -1, -1)}, [A], "expected two sizes after code -4"),
        ("_arange", {"start": 0, "stop": 1e12}, [], "expected at most 16777216 elements"),
        (
            "RNN",
            {"mode": "lstm", "state_size": 4, "num_layers": 1},
            [f32(2, 3, 5), f32(10), f32(1, 3, 4), f32(1, 3, 4)],
            "argument 'parameters': expected shape (176,), but (10,) came",
        ),
    ],
)
def test_what_does_not_fit(op: str, parameters: dict, inputs: list, message: str) -> None:
    with pytest.raises(GraphError) as caught:
        run(op, parameters, inputs)
    assert message in str(caught.value)


def test_roi_pooling_is_that_of_onnx() -> None:
    """Which the reference implementation lacks."""
    heads = heads_of("ROIPooling", {"pooled_size": (2, 3), "spatial_scale": 0.5}, 2)
    graph = convert(heads, {"a0": IMAGE.shape, "a1": ROIS.shape})
    (node,) = graph.nodes
    assert node.op_type == "MaxRoiPool" and graph.outputs[0].shape == (2, 4, 2, 3)
    assert list(node.attributes["pooled_shape"].value) == [2, 3]


def test_each_operator_has_a_case() -> None:
    tried = {id(TABLE[op]) for op, *_ in CASES} | {id(TABLE[op]) for op in ("RNN", "ROIPooling")}
    assert not sorted({one.name for one in TABLE.values() if id(one) not in tried})


def test_each_operator_is_described() -> None:
    for operator in {id(one): one for one in TABLE.values()}.values():
        assert operator.doc.endswith(".") and operator.doc[0].upper() == operator.doc[0]
        assert math.isfinite(len(operator.parameters))


ODD = [
    "((1, 2), (3, 4))",
    "0",
    "-1",
    "-7",
    "3",
    "99999999999",
    "1e30",
    "nan",
    "None",
    "()",
    "(0,)",
    "(-5, 9)",
    "x",
    "",
]


@pytest.mark.parametrize("op", sorted({op for op, *_ in CASES}))
def test_odd_parameters_are_errors_of_the_graph(op: str) -> None:
    """Files can have anything as a parameter; what comes of it is a model or a GraphError."""
    for _, parameters, inputs, _ in [case for case in CASES if case[0] == op][:2]:
        for parameter in TABLE[op].parameters:
            for odd in ODD:
                given = parameters | {parameter.name: odd}
                try:
                    heads = heads_of(op, given, len(inputs))
                    shapes = {f"a{i}": array.shape for i, array in enumerate(inputs)}
                    convert(heads, shapes, {f"a{i}": str(a.dtype) for i, a in enumerate(inputs)})
                except GraphError as error:
                    assert "node 'node'" in str(error), (given, error)
