"""Rules of functions of single elements: values and data types."""

import math

import pytest
import torch
import torch.nn.functional as F

from .running import Batch, Case, bools, floats, ints, positive

A = torch.ops.aten
SPECIAL = torch.tensor([float("nan"), float("inf"), -float("inf"), 0.0, -1.5, 2.5])


def unary() -> list[Case]:
    names = """abs acos acosh asin asinh atan atanh ceil cos cosh erf erfc exp exp2 expm1 floor log
        log10 log1p log2 logical_not neg reciprocal round rsqrt sigmoid sign sgn sin sinh sqrt tan
        tanh trunc isnan isinf isfinite square positive frac""".split()
    cases = []
    for name in names:
        function = getattr(torch, name)
        x = positive(2, 3) + 1 if name == "acosh" else positive(2, 3)
        wide = name in "abs ceil floor round trunc sign neg frac erf tanh".split()
        cases.append(Case(name, function, [floats(2, 3) * 3 if wide else x]))
        if name in "erfc exp2 expm1 log log10 log1p log2 rsqrt sin trunc".split():
            cases.append(Case(f"{name} f16", function, [x.half()]))
        if name not in ("frac", "acosh"):
            values = torch.tensor([1, 0, 1]) if name in ("atanh", "acos", "asin") else ints(3)
            cases.append(Case(f"{name} int32", function, [values.to(torch.int32)]))
    cases += [
        Case("small expm1", torch.expm1, [torch.tensor([1e-6, -1e-6, 1e-3, 30.0, -30.0, 0.0])]),
        Case("small log1p", torch.log1p, [torch.tensor([1e-6, -1e-6, 1e-3, 30.0, -0.9, 0.0])]),
        Case("special numbers", lambda x: (x.isnan(), x.isinf(), x.isfinite()), [SPECIAL]),
        Case("nan_to_num", torch.nan_to_num, [SPECIAL]),
        Case("nan_to_num, given", lambda x: torch.nan_to_num(x, 1.0, 2.0, 3.0), [SPECIAL]),
        Case("round.decimals", lambda x: torch.round(x, decimals=1), [floats(5)]),
        Case("round to tens", lambda x: torch.round(x, decimals=-1), [floats(5) * 30]),
        Case("signbit", torch.signbit, [torch.tensor([-0.0, 0.0, -1.0, 2.0])]),
        Case("neg uint8", torch.neg, [ints(4, low=0, dtype=torch.uint8)]),
        Case("bitwise_not", torch.bitwise_not, [ints(4)]),
        Case("bitwise_not bool", torch.bitwise_not, [bools(4)]),
        Case("abs bool", lambda x: torch.sgn(x), [bools(4)]),
        Case("sigmoid bf16", torch.sigmoid, [floats(4).bfloat16()]),
        Case("exp f64", torch.exp, [floats(4).double()]),
        Case("view.dtype", lambda x: x.view(torch.int32), [floats(4)]),
    ]
    for source in (torch.float32, torch.int8, torch.bool, torch.uint8, torch.float16):
        for target in (torch.float64, torch.int64, torch.bool, torch.float16, torch.bfloat16):
            x = (floats(4) * 3).abs().to(source)
            cases.append(Case(f"{source} to {target}", lambda x, to=target: x.to(to) * 1, [x]))
    return cases


def operands() -> dict[str, tuple[object, object]]:
    """Pairs of different types: what torch promotes them to is the result's type."""
    return {
        "f32 f32": (floats(2, 3), floats(3) + 3),
        "f32 int": (floats(2, 3), 2),
        "f16 f32": (floats(2, 3).half(), floats(2, 3)),
        "f16 0-d f32": (floats(2, 3).half(), torch.tensor(2.5)),
        "f16 float": (floats(2, 3).half(), 2.5),
        "bf16 int": (floats(2, 3).bfloat16(), 3),
        "i32 i64": (ints(2, 3, dtype=torch.int32), ints(3, low=1)),
        "i32 0-d i64": (ints(2, 3, dtype=torch.int32), torch.tensor(3)),
        "i64 float": (ints(2, 3), 2.5),
        "u8 int": (ints(2, 3, low=0, dtype=torch.uint8), 3),
        "u8 i8": (ints(2, 3, low=0, dtype=torch.uint8), ints(2, 3, low=1, dtype=torch.int8)),
        "bool f32": (bools(2, 3), floats(2, 3)),
        "bool int": (bools(2, 3), 2),
    }


def binary() -> list[Case]:
    cases = []
    functions = {
        "add": torch.add,
        "sub": torch.sub,
        "mul": torch.mul,
        "div": torch.div,
        "div trunc": lambda x, y: torch.div(x, y, rounding_mode="trunc"),
        "div floor": lambda x, y: torch.div(x, y, rounding_mode="floor"),
        "floor_divide": torch.floor_divide,
        "remainder": torch.remainder,
        "fmod": torch.fmod,
        "eq": torch.eq,
        "ne": torch.ne,
        "lt": torch.lt,
        "le": torch.le,
        "gt": torch.gt,
        "ge": torch.ge,
        "where": lambda x, y: torch.where(x > 0, x, y),
        "rsub": lambda x, y: 1 - x * 1 if not isinstance(y, torch.Tensor) else y - x,
    }
    for types, (x, y) in operands().items():
        for name, function in functions.items():
            if types.startswith("bool") and name in ("sub", "rsub"):
                continue
            cases.append(Case(f"{name} {types}", function, [x, y]))
        if isinstance(y, torch.Tensor):
            cases.append(Case(f"maximum {types}", torch.maximum, [x, y]))
            cases.append(Case(f"minimum {types}", torch.minimum, [x, y]))
            cases.append(Case(f"fmax {types}", torch.fmax, [x, y]))
    return cases


def more() -> list[Case]:
    i, j, b, c = ints(2, 3), ints(2, 3, low=0, high=5), bools(2, 3), bools(2, 3)
    u8 = ints(4, low=0, dtype=torch.uint8)
    x, y = floats(2, 3), floats(2, 3)
    nan = torch.tensor([float("nan"), 1.0, float("nan")])
    angles = torch.tensor([1.0, -1.0, 0.0, 0.0, 1.0, -2.0, float("inf"), 0.0, -0.5])
    zeros = torch.tensor([-0.0, -0.0, 1.0, -1.0, 0.0, torch.nan, 0.0, -0.0, float("inf")])
    angles_x = torch.tensor([1.0, -1.0, 1.0, -1.0, 0.0, 0.0, float("inf"), 0.0, -3.0])
    return [
        Case("bool +", lambda x, y: x + y, [b, c]),
        Case("bool *", lambda x, y: x * y, [b, c]),
        Case("bool <", lambda x, y: (x < y, x == y, x != y, x >= y), [b, c]),
        Case("bool maximum", lambda x, y: (torch.maximum(x, y), torch.minimum(x, y)), [b, c]),
        Case("of numbers", lambda x, y: (x.fmax(y), x.fmin(y), y.fmax(x), y.fmin(x)), [x, nan]),
        Case("logical", lambda x, y: (x.logical_and(y), x.logical_or(y), x.logical_xor(y)), [i, j]),
        Case("bitwise", lambda x, y: (x & y, x | y, x ^ y, x & 3, x | 3, x ^ 3), [i, j]),
        Case("bitwise bool", lambda x, y: (x & y, x | y, x ^ y), [b, c]),
        Case("bitwise mixed", lambda x, y: x & y, [i, b]),
        Case("shifts", lambda x, y: (x << y, x >> y, x << 2, x >> 1), [j, j]),
        Case("negative shifts", lambda x, y: (x << y, x >> y), [i, j]),
        Case("uint8 shifts", lambda x: (x << 1, x >> 1), [u8]),
        Case("add alpha", lambda x, y: torch.add(x, y, alpha=2), [x, y]),
        Case("sub alpha", lambda x, y: torch.sub(x, y, alpha=2.5), [x, y]),
        Case("rsub alpha", lambda x, y: torch.rsub(x, y, alpha=3), [x, y]),
        Case("pow 2", lambda x: x**2, [x]),
        Case("pow 3", lambda x: x**3, [i]),
        Case("pow 1", lambda x: x**1, [x]),
        Case("pow 0.5", lambda x: x**0.5, [x.abs()]),
        Case("pow -0.5", lambda x: x**-0.5, [x.abs() + 1]),
        Case("pow -1", lambda x: x**-1, [x]),
        Case("pow 2.5", lambda x: x**2.5, [x.abs()]),
        Case("pow of a number", lambda x: 2.0**x, [x]),
        Case("pow int by float", lambda x: x**0.5, [j]),
        Case("pow tensors", lambda x, y: x.abs() ** y, [x, y]),
        Case("pow ints", lambda x, y: x**y, [i, j]),
        Case("pow int8", lambda x: x**4, [ints(4, low=-3, high=3, dtype=torch.int8)]),
        Case("pow f16 by ints", lambda x, y: x**y, [x.half(), j]),
        Case("atan2", torch.atan2, [angles, angles_x]),
        Case("atan2 of zeros", torch.atan2, [zeros, zeros.flip(0)]),
        Case("entr", torch.special.entr, [angles]),
        Case("logit of a bound", lambda x: torch.logit(x, 0.1), [x]),
        Case("atan2 ints", torch.atan2, [ints(5, low=1), ints(5, low=1)]),
        Case("zero divisor", lambda x: torch.div(x, 0.0, rounding_mode="floor"), [x]),
        Case("clamp", lambda x: x.clamp(-0.5, 0.5), [x]),
        Case("clamp from below", lambda x: x.clamp(min=0), [x]),
        Case("clamp from above", lambda x: x.clamp(max=0), [x]),
        Case("clamp ints by a float", lambda x: x.clamp(min=0.5), [i]),
        Case("clamp int8", lambda x: x.clamp(-3, 3), [ints(4, dtype=torch.int8)]),
        Case("clamp by tensors", lambda x, y: torch.clamp(x, y, y + 1), [x, y]),
        Case("clamp_min", lambda x, y: x.clamp_min(y), [x, y]),
        Case("clamp_max", lambda x, y: x.clamp_max(y), [x, y]),
        Case("where scalars", lambda x: torch.where(x > 0, 1.0, -1), [x]),
        Case("where mixed", lambda b, x, i: torch.where(b, x, i), [b, x, i]),
        Case("where 0-d", lambda b, x: torch.where(b, x, torch.tensor(1.0)), [b, x.half()]),
        Case("masked_fill", lambda x, b: x.masked_fill(b, -float("inf")), [x, b]),
        Case("masked_fill tensor", lambda x, b: x.masked_fill(b, torch.tensor(2)), [x, b]),
        Case("lerp", lambda x, y: torch.lerp(x, y, 0.3), [x, y]),
        Case("addcmul", lambda x, y: torch.addcmul(x, y, y, value=2), [x, y]),
        Case("addcdiv", lambda x, y: torch.addcdiv(x, y, y + 5), [x, y]),
        Case("hypot", torch.hypot, [x, y]),
        Case("logaddexp", torch.logaddexp, [x, y]),
        Case("copysign", lambda x: torch.copysign(x, -1.0), [x]),
        Case("xlogy", torch.xlogy, [x.abs(), y.abs()]),
        Case("heaviside", lambda x, y: torch.heaviside(x, y), [x, y]),
        Case("isclose", torch.isclose, [x, x + 1e-9]),
        Case("deg2rad", torch.deg2rad, [x]),
        Case("sinc", torch.sinc, [x]),
        Case("logit", torch.logit, [positive(3)]),
        Case("pi", lambda x: x * math.pi + math.e, [x]),
    ]


def activations() -> list[Case]:
    functions = {
        "relu": F.relu,
        "relu6": F.relu6,
        "gelu": F.gelu,
        "gelu tanh": lambda x: F.gelu(x, approximate="tanh"),
        "silu": F.silu,
        "mish": F.mish,
        "hardswish": F.hardswish,
        "hardsigmoid": F.hardsigmoid,
        "hardtanh": F.hardtanh,
        "hardtanh 2": lambda x: F.hardtanh(x, -0.2, 0.3),
        "leaky_relu": F.leaky_relu,
        "leaky_relu 0.2": lambda x: F.leaky_relu(x, 0.2),
        "rrelu": lambda x: F.rrelu(x, 0.1, 0.4),
        "rrelu with noise": lambda x: A.rrelu_with_noise_functional(x, x)[0],
        "elu": lambda x: F.elu(x, 0.7),
        "elu scaled": lambda x: A.elu(x, 0.7, 1.5, 0.5),
        "celu": lambda x: F.celu(x, 0.7),
        "selu": F.selu,
        "softplus": F.softplus,
        "softplus beta": lambda x: F.softplus(x, 2.0, 1.0),
        "logsigmoid": F.logsigmoid,
        "hardshrink": F.hardshrink,
        "softshrink": lambda x: F.softshrink(x, 0.3),
        "tanhshrink": F.tanhshrink,
        "softsign": F.softsign,
        "threshold": lambda x: F.threshold(x, 0.1, -2.0),
        "glu": lambda x: F.glu(x, -1),
        "softmax": lambda x: F.softmax(x, 1),
        "softmax 0": lambda x: F.softmax(x, 0),
        "softmax dtype": lambda x: F.softmax(x, -1, dtype=torch.float64),
        "log_softmax": lambda x: F.log_softmax(x, -1),
        "softmin": lambda x: F.softmin(x, 1),
        "dropout": lambda x: F.dropout(x, 0.5, training=False),
    }
    x = floats(3, 4) * 2
    cases = [Case(name, function, [x]) for name, function in functions.items()]
    cases += [
        Case("prelu", F.prelu, [floats(2, 3, 4), floats(3)]),
        Case("prelu shared", F.prelu, [floats(2, 3), floats(1)]),
        Case("prelu of a number", F.prelu, [torch.tensor(-2.0), floats(1)]),
        Case("relu int8", F.relu, [ints(4, dtype=torch.int8)]),
        Case("softmax of a number", lambda x: F.softmax(x, 0), [torch.tensor(2.0)]),
        Case("softmax of ints", lambda x: F.softmax(x, 0, dtype=torch.float32), [ints(3)]),
        Case(
            "_safe_softmax",
            lambda x: A._safe_softmax(x.masked_fill(x > -9, -float("inf")), -1),
            [x],
        ),
    ]
    return cases


CASES = [*unary(), *binary(), *more(), *activations()]
BATCH = Batch(CASES)


@pytest.mark.parametrize("index", range(len(CASES)), ids=[case.name for case in CASES])
def test_rule(index: int) -> None:
    BATCH.check(index)
