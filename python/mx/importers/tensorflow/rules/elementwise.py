"""Operators that compute each element by itself, of one operand or of several broadcast ones."""

from __future__ import annotations

import math
from collections.abc import Callable

import onnx_ir as ir

from ..._builder import dtype_of, rank_of, shape_of
from ..._erfc import erfc as _erfc
from ..._layout import elementwise, with_bias
from .._call import Builder, Call, Unsupported, rule
from .._origin import has_own_gradient
from ._batch_norm import batch_norm

_FLOATS = (
    ir.DataType.FLOAT16,
    ir.DataType.BFLOAT16,
    ir.DataType.FLOAT,
    ir.DataType.DOUBLE,
)

_UNARY = {
    "Abs": "Abs",
    "Acos": "Acos",
    "Acosh": "Acosh",
    "Asin": "Asin",
    "Asinh": "Asinh",
    "Atan": "Atan",
    "Atanh": "Atanh",
    "Ceil": "Ceil",
    "Cos": "Cos",
    "Cosh": "Cosh",
    "Elu": "Elu",
    "Erf": "Erf",
    "Exp": "Exp",
    "Floor": "Floor",
    "Inv": "Reciprocal",
    "Invert": "BitwiseNot",
    "IsInf": "IsInf",
    "IsNan": "IsNaN",
    "Log": "Log",
    "LogicalNot": "Not",
    "Neg": "Neg",
    "Reciprocal": "Reciprocal",
    "Relu": "Relu",
    "Rint": "Round",
    "Round": "Round",
    "Selu": "Selu",
    "Sigmoid": "Sigmoid",
    "Sign": "Sign",
    "Sin": "Sin",
    "Sinh": "Sinh",
    "Softplus": "Softplus",
    "Softsign": "Softsign",
    "Sqrt": "Sqrt",
    "Tan": "Tan",
    "Tanh": "Tanh",
}
_SAME = ("Identity", "Snapshot", "CheckNumerics", "EnsureShape")
_BINARY = {
    "BitwiseAnd": "BitwiseAnd",
    "BitwiseOr": "BitwiseOr",
    "BitwiseXor": "BitwiseXor",
    "Div": "Div",
    "Equal": "Equal",
    "Greater": "Greater",
    "GreaterEqual": "GreaterOrEqual",
    "Less": "Less",
    "LessEqual": "LessOrEqual",
    "LogicalAnd": "And",
    "LogicalOr": "Or",
    "Maximum": "Max",
    "Minimum": "Min",
    "Mul": "Mul",
    "Pow": "Pow",
    "RealDiv": "Div",
    "Sub": "Sub",
    "TruncateDiv": "Div",
}


def unary(b: Builder, x: ir.Value, write: Callable[[ir.Value], ir.Value]) -> ir.Value:
    """What a function of one value gives, whatever the order of its axes is."""

    def shaped(x: ir.Value) -> ir.Value:
        result = write(x)
        result.shape = x.shape
        return result

    return elementwise(b, shaped, x)


def _register(operator: str, name: str) -> None:
    @rule(operator)
    def one(b: Builder, call: Call) -> ir.Value:
        return unary(b, call[0], lambda x: b.op(name, x)[0])


def _register_binary(operator: str, name: str) -> None:
    @rule(operator)
    def two(b: Builder, call: Call) -> ir.Value:
        return elementwise(b, lambda x, y: b.op(name, x, y)[0], call[0], call[1])


for _operator, _name in _UNARY.items():
    _register(_operator, _name)
for _operator, _name in _BINARY.items():
    _register_binary(_operator, _name)


@rule(*_SAME)
def same(b: Builder, call: Call) -> ir.Value:
    return call[0]


@rule("IdentityN")
def same_all(b: Builder, call: Call) -> list[ir.Value]:
    if b.stops and has_own_gradient(call.op):
        raise Unsupported("a function with a gradient of its own (tf.custom_gradient)")
    return call.inputs


@rule("StopGradient", "PreventGradient")
def stop(b: Builder, call: Call) -> ir.Value:
    return b.op("StopGradient", call[0], domain="mxffi.sol")[0] if b.stops else call[0]


@rule("Add", "AddV2", "BiasAdd", "BiasAddV1")
def add(b: Builder, call: Call) -> ir.Value:
    x, y = call[0], call[1]
    if call.op.type.startswith("BiasAdd") and rank_of(x) > 2:
        attributes = call.op.node_def.attr
        if "data_format" in attributes and call.attr("data_format") == "NCHW":
            known = shape_of(y)
            y = b.reshape(y, [-1, *[1] * (rank_of(x) - 2)])
            y.shape = ir.Shape([*known, *[1] * (rank_of(x) - 2)])
    found = batch_norm(b, call)
    if found is None and call.used_once(0):
        found = with_bias(b, x, y)
    if found is not None:
        return found
    return elementwise(b, b.Add, x, y)


@rule("AddN")
def add_all(b: Builder, call: Call) -> ir.Value:
    return elementwise(b, b.Sum, *call.inputs) if len(call.inputs) > 1 else call[0]


@rule("NotEqual")
def not_equal(b: Builder, call: Call) -> ir.Value:
    return elementwise(b, lambda x, y: b.Not(b.Equal(x, y)), call[0], call[1])


@rule("FloorDiv")
def floor_div(b: Builder, call: Call) -> ir.Value:
    if dtype_of(call[0]) in _FLOATS:
        return elementwise(b, lambda x, y: b.Floor(b.Div(x, y)), call[0], call[1])

    def write(x: ir.Value, y: ir.Value) -> ir.Value:
        # Mod has the sign of the divisor, as the remainder of a division that is rounded down.
        return b.Div(b.Sub(x, b.Mod(x, y)), y)

    return elementwise(b, write, call[0], call[1])


@rule("FloorMod")
def floor_mod(b: Builder, call: Call) -> ir.Value:
    if dtype_of(call[0]) not in _FLOATS:
        return elementwise(b, b.Mod, call[0], call[1])

    def write(x: ir.Value, y: ir.Value) -> ir.Value:
        rest = b.Mod(x, y, fmod=1)
        other = b.And(b.Not(b.Equal(rest, 0.0)), b.Xor(b.Less(rest, 0.0), b.Less(y, 0.0)))
        return b.Where(other, b.Add(rest, y), rest)

    return elementwise(b, write, call[0], call[1])


@rule("TruncateMod", "Mod")
def truncate_mod(b: Builder, call: Call) -> ir.Value:
    return elementwise(b, lambda x, y: b.Mod(x, y, fmod=1), call[0], call[1])


@rule("DivNoNan")
def div_no_nan(b: Builder, call: Call) -> ir.Value:
    def write(x: ir.Value, y: ir.Value) -> ir.Value:
        return b.Where(b.Equal(y, 0.0), b.constant(0, dtype_of(x)), b.Div(x, y))

    return elementwise(b, write, call[0], call[1])


@rule("MulNoNan")
def mul_no_nan(b: Builder, call: Call) -> ir.Value:
    def write(x: ir.Value, y: ir.Value) -> ir.Value:
        return b.Where(b.Equal(y, 0.0), b.constant(0, dtype_of(x)), b.Mul(x, y))

    return elementwise(b, write, call[0], call[1])


@rule("Xdivy", "Xlogy", "Xlog1py")
def zero_of_zero(b: Builder, call: Call) -> ir.Value:
    """0 where the first operand is 0, and so its gradients, whatever the second one is."""

    def write(x: ir.Value, y: ir.Value) -> ir.Value:
        is_zero = b.Equal(x, 0.0)
        safe = b.Where(is_zero, b.constant(1, dtype_of(x)), y)
        if call.op.type == "Xdivy":
            found = b.Div(x, safe)
        else:
            found = b.Mul(x, b.Log(safe) if call.op.type == "Xlogy" else _log1p(b, safe))
        return b.Where(is_zero, b.constant(0, dtype_of(x)), found)

    return elementwise(b, write, call[0], call[1])


@rule("SquaredDifference")
def squared_difference(b: Builder, call: Call) -> ir.Value:
    def write(x: ir.Value, y: ir.Value) -> ir.Value:
        difference = b.Sub(x, y)
        return b.Mul(difference, difference)

    return elementwise(b, write, call[0], call[1])


@rule("Square")
def square(b: Builder, call: Call) -> ir.Value:
    return unary(b, call[0], lambda x: b.Mul(x, x))


@rule("Rsqrt")
def rsqrt(b: Builder, call: Call) -> ir.Value:
    return unary(b, call[0], lambda x: b.Reciprocal(b.Sqrt(x)))


@rule("Relu6")
def relu6(b: Builder, call: Call) -> ir.Value:
    return unary(
        b,
        call[0],
        lambda x: b.Clip(x, b.constant(0, dtype_of(x)), b.constant(6, dtype_of(x))),
    )


@rule("LeakyRelu")
def leaky_relu(b: Builder, call: Call) -> ir.Value:
    return unary(b, call[0], lambda x: b.LeakyRelu(x, alpha=call.attr("alpha")))


def _log1p(b: Builder, x: ir.Value) -> ir.Value:
    # Where 1 + x rounds to 1 the logarithm is x; else what the rounding took is divided out.
    above = b.Add(x, 1.0)
    rounded = b.Sub(above, 1.0)
    safe = b.Where(b.Equal(rounded, 0.0), b.constant(1, dtype_of(x)), rounded)
    exact = b.Div(b.Mul(b.Log(above), x), safe)
    small = b.Where(b.Equal(rounded, 0.0), x, exact)
    return b.Where(b.IsInf(x), b.Log(above), small)


@rule("Log1p")
def log1p(b: Builder, call: Call) -> ir.Value:
    return unary(b, call[0], lambda x: _log1p(b, x))


@rule("Expm1")
def expm1(b: Builder, call: Call) -> ir.Value:
    def write(x: ir.Value) -> ir.Value:
        # exp(x) - 1 = 2 tanh(x/2) / (1 - tanh(x/2)) loses no digits near 0.
        half = b.Tanh(b.Mul(x, 0.5))
        near = b.Div(b.Mul(half, 2.0), b.Sub(b.constant(1, dtype_of(x)), half))
        return b.Where(b.Less(b.Abs(x), 0.5), near, b.Sub(b.Exp(x), 1.0))

    return unary(b, call[0], write)


@rule("Erfc")
def erfc(b: Builder, call: Call) -> ir.Value:
    return unary(b, call[0], lambda x: _erfc(b, x))


@rule("IsFinite")
def is_finite(b: Builder, call: Call) -> ir.Value:
    return unary(b, call[0], lambda x: b.Not(b.Or(b.IsInf(x), b.IsNaN(x))))


@rule("Atan2")
def atan2(b: Builder, call: Call) -> ir.Value:
    def write(y: ir.Value, x: ir.Value) -> ir.Value:
        dtype = dtype_of(x)
        zero, pi = b.constant(0, dtype), b.constant(math.pi, dtype)
        ratio = b.Atan(b.Div(y, x))
        left = b.Where(b.Less(y, zero), b.Sub(ratio, pi), b.Add(ratio, pi))
        found = b.Where(b.Less(x, zero), left, ratio)
        half = b.Mul(b.Sign(y), math.pi / 2)
        return b.Where(b.Equal(x, zero), half, found)

    return elementwise(b, write, call[0], call[1])


@rule("Cast")
def cast(b: Builder, call: Call) -> ir.Value:
    wanted = call.dtype("DstT")
    return unary(b, call[0], lambda x: b.cast(x, wanted)) if call[0].dtype != wanted else call[0]


@rule("Select", "SelectV2")
def select(b: Builder, call: Call) -> ir.Value:
    condition = call[0]
    missing = rank_of(call[1]) - rank_of(condition)
    if call.op.type == "Select" and rank_of(condition) == 1 and missing > 0:
        # The first form chooses rows by a vector.
        rows = shape_of(condition)
        condition = b.reshape(condition, [-1, *[1] * missing])
        condition.shape = ir.Shape([*rows, *[1] * missing])
    return elementwise(b, b.Where, condition, call[1], call[2])


@rule("ClipByValue")
def clip(b: Builder, call: Call) -> ir.Value:
    return elementwise(b, lambda x, low, high: b.Min(b.Max(x, low), high), *call.inputs)


@rule("ZerosLike")
def zeros_like(b: Builder, call: Call) -> ir.Value:
    return b.full(b.sizes(call[0]), 0, dtype_of(call[0]))


@rule("OnesLike")
def ones_like(b: Builder, call: Call) -> ir.Value:
    return b.full(b.sizes(call[0]), 1, dtype_of(call[0]))


@rule("LeftShift", "RightShift")
def shift(b: Builder, call: Call) -> ir.Value:
    if not dtype_of(call[0]).name.startswith("UINT"):
        raise Unsupported("shifts of numbers with a sign")
    direction = call.op.type.removesuffix("Shift").upper()
    return elementwise(b, lambda x, y: b.BitShift(x, y, direction=direction), *call.inputs)
