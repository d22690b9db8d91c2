"""Cases of functions of single elements, of several tensors, and of reductions."""

from __future__ import annotations

import numpy
import torch
from torch.nn import functional as F

from .cases import case, h, ints, p, r, u

A = torch

case("Abs", u(2, 3), torch=A.abs)
case("Acos", u(2, 3), torch=A.acos)
case("Acosh", p(2, 3) + 1, torch=A.acosh)
case("Asin", u(2, 3), torch=A.asin)
case("Asinh", r(2, 3), torch=A.asinh)
case("Atan", r(2, 3), torch=A.atan)
case("Atanh", u(2, 3), torch=A.atanh)
case("Cos", r(2, 3), torch=A.cos)
case("Cosh", r(2, 3), torch=A.cosh)
case("Erf", r(2, 3), torch=A.erf)
case("Exp", r(2, 3), torch=A.exp)
case("Identity", r(2, 3), torch=lambda x: x)
case("Log", p(2, 3), torch=A.log)
case("Neg", r(2, 3), torch=A.neg)
case("Reciprocal", p(2, 3), torch=A.reciprocal)
case("Sin", r(2, 3), torch=A.sin)
case("Sinh", r(2, 3), torch=A.sinh)
case("Sqrt", p(2, 3), torch=A.sqrt)
case("Tan", u(2, 3), torch=A.tan)
case("Cast", r(2, 3), to=11, torch=lambda x: x)
case("CastLike", r(2, 3), r(2), fixed=(1,), torch=lambda x, y: x)

case("Relu", u(2, 3), torch=A.relu)
case("Sigmoid", r(2, 3), torch=A.sigmoid)
case("Tanh", r(2, 3), torch=A.tanh)
case("Gelu", r(2, 3), torch=F.gelu)
case("Gelu", r(2, 3), approximate="tanh", torch=lambda x: F.gelu(x, approximate="tanh"))
case("Swish", r(2, 3), alpha=1.5, torch=lambda x: x * A.sigmoid(1.5 * x))
case("Softmax", r(2, 3, 2), axis=1, torch=lambda x: A.softmax(x, 1))
case("LogSoftmax", r(2, 3), torch=lambda x: A.log_softmax(x, -1))
case("LeakyRelu", u(2, 3), alpha=0.3, torch=lambda x: F.leaky_relu(x, 0.3))
case("PRelu", u(2, 3, 2), r(3, 1), torch=lambda x, w: A.where(x > 0, x, w * x))
case("Elu", u(2, 3), alpha=0.7, torch=lambda x: F.elu(x, 0.7))
case("Selu", u(2, 3), torch=F.selu)
case("Celu", u(2, 3), alpha=0.7, torch=lambda x: F.celu(x, 0.7))
case("Softplus", r(2, 3), torch=F.softplus)
case("Softsign", u(2, 3), torch=F.softsign)
case("ThresholdedRelu", r(2, 3), alpha=0.2, torch=lambda x: F.threshold(x, 0.2, 0.0))
case("HardSigmoid", 3 * r(2, 3), alpha=0.25, torch=lambda x: A.clamp(0.25 * x + 0.5, 0, 1))
case("HardSwish", 3 * r(2, 3), torch=F.hardswish)
case("Mish", r(2, 3), torch=F.mish)
case(
    "Shrink",
    u(2, 3),
    lambd=0.4,
    bias=0.1,
    torch=lambda x: A.where(x > 0.4, x - 0.1, A.where(x < -0.4, x + 0.1, 0 * x)),
)
case("SwiGLU", r(2, 4), r(2, 4), torch=lambda x, g: F.silu(x) * g)

case("Add", r(2, 3), r(3), torch=A.add)
case("Add", r(2, 1, 3), r(4, 1), torch=A.add)
case("Sub", r(2, 3), r(2, 1), torch=A.sub)
case("Mul", r(2, 3), r(1, 3), torch=A.mul)
case("Mul", r(), r(2, 2), torch=A.mul)
case("Div", r(2, 3), p(3), torch=A.div)
case("Pow", p(2, 3), r(3), torch=A.pow)
case("Pow", u(2, 3), numpy.array(3.0), fixed=(1,), torch=lambda x, n: x**3)
case("Pow", u(2, 3), numpy.array(2.0), constant=(1,), torch=lambda x, n: x**2)
case("Mod", 3 * p(2, 3), p(3), fmod=1, torch=A.fmod)
case("Where", numpy.array([[True], [False]]), r(2, 3), r(3), torch=A.where)
case("Sum", r(2, 3), r(3), r(1), torch=lambda x, y, z: x + y + z)
case("Mean", r(2, 3), r(3), torch=lambda x, y: (x + y) / 2)
case("Max", r(2, 3), r(3), torch=A.maximum)
case("Min", r(2, 3), r(3), torch=A.minimum)
case(
    "Clip",
    r(4, 3),
    numpy.array(-0.5),
    numpy.array(0.6),
    torch=lambda x, a, b: A.minimum(A.maximum(x, a), b),
)
case("DequantizeLinear", ints(1, 5, 7).astype("uint8"), h(), torch=lambda x, s: x * s)
BYTES = (numpy.arange(24) * 5 % 17).astype("int8").reshape(2, 3, 4)
case(
    "DequantizeLinear",
    BYTES,
    h(3),
    BYTES[0, :, 0],
    torch=lambda x, s, z: (x.int() - z.int()[:, None]) * s[:, None],
)
case("DequantizeLinear", BYTES, h(4), axis=-1, torch=lambda x, s: x * s)
case(
    "DequantizeLinear",
    BYTES,
    h(2, 2, 4),
    BYTES[:, :2],
    axis=1,
    block_size=2,
    torch=lambda x, s, z: (
        (x.int() - z.int().repeat_interleave(2, 1)[:, :3]) * s.repeat_interleave(2, 1)[:, :3]
    ),
)

case(
    "ReduceSum", r(2, 3, 2), ints(0, 2), constant=(1,), keepdims=0, torch=lambda x, n: x.sum((0, 2))
)
case("ReduceSum", r(2, 3), torch=lambda x: x.sum((0, 1), keepdim=True))
case("ReduceMean", r(2, 3, 2), ints(1), constant=(1,), torch=lambda x, n: x.mean(1, True))
case(
    "ReduceMean",
    r(2, 3, 2),
    ints(-1, 0),
    constant=(1,),
    keepdims=0,
    torch=lambda x, n: x.mean((2, 0)),
)
_zeros = numpy.array([[2.0, 0, 3, 5], [0, 0, 1, 2], [3, 2, 7, 0], [0, 2, 0, 3]])
case("ReduceMax", r(2, 3), ints(1), constant=(1,), keepdims=0, torch=lambda x, n: x.amax(1))
case("ReduceMin", r(2, 3), torch=lambda x: x.amin((0, 1), True))
case("ReduceProd", r(2, 3, 2), ints(0, 2), constant=(1,), torch=lambda x, n: x.prod(0).prod(-1))
case(
    "ReduceProd",
    numpy.array([[2.0, 0, 3], [0, 0, 1]]),
    ints(1),
    constant=(1,),
    keepdims=0,
    torch=lambda x, n: x.prod(1),
)
case("ReduceL1", u(2, 3), ints(1), constant=(1,), torch=lambda x, n: x.norm(1, 1))
case("ReduceL2", r(2, 3), ints(0), constant=(1,), keepdims=0, torch=lambda x, n: x.norm(2, 0))
case("ReduceSumSquare", r(2, 3), torch=lambda x: (x * x).sum())
case("ReduceLogSum", p(2, 3), ints(1), constant=(1,), torch=lambda x, n: x.sum(1).log())
case("ReduceLogSumExp", r(2, 3), ints(1), constant=(1,), torch=lambda x, n: x.logsumexp(1))
for operator, function in (
    ("Sum", A.sum),
    ("Mean", A.mean),
    ("Max", A.amax),
    ("Min", A.amin),
    ("Prod", lambda x, axes: x.prod(-1).prod(0)),
    ("L1", lambda x, axes: x.norm(1, axes)),
    ("L2", lambda x, axes: x.norm(2, axes)),
    ("LogSumExp", A.logsumexp),
):
    # Along axes that are computed.
    for kept in (0, 1):
        case(
            f"Reduce{operator}",
            u(2, 3, 2),
            ints(0, -1),
            keepdims=kept,
            torch=lambda x, n, function=function: function(x, (0, -1)),
        )
case("ReduceProd", _zeros, ints(1), keepdims=0, torch=lambda x, n: x.prod(1))
case(
    "CumSum",
    r(2, 3),
    ints(1)[0],
    exclusive=1,
    reverse=1,
    torch=lambda x, n: x.flip(1).cumsum(1).flip(1) - x,
)
case("CumSum", r(2, 3), ints(0)[0], torch=lambda x, n: x.cumsum(0))
case("CumProd", p(2, 3), ints(1)[0], torch=lambda x, n: x.cumprod(1))
case(
    "CumProd",
    p(2, 3),
    ints(1)[0],
    exclusive=1,
    torch=lambda x, n: F.pad(x[:, :2] - 1, (1, 0)).add(1).cumprod(1),
)
case("CumProd", _zeros, ints(1)[0], torch=lambda x, n: x.cumprod(1))
case(
    "CumProd",
    _zeros,
    ints(0)[0],
    exclusive=1,
    reverse=1,
    torch=lambda x, n: F.pad(x[1:] - 1, (0, 0, 0, 1)).add(1).flip(0).cumprod(0).flip(0),
)
case("LpNormalization", r(2, 3), axis=1, p=2, torch=lambda x: F.normalize(x, 2, 1))
case("LpNormalization", u(2, 3), axis=0, p=1, torch=lambda x: F.normalize(x, 1, 0))
for axes in ({}, {"axes": [1, -1]}):
    along = axes.get("axes", [0, 2, 3])
    case(
        "MeanVarianceNormalization",
        r(2, 3, 2, 2),
        **axes,
        torch=lambda x, along=along: (
            (x - x.mean(along, True)) / x.var(along, correction=0, keepdim=True).sqrt()
        ),
    )
