"""Primitives that compute each element by itself."""

from __future__ import annotations

import math
from collections.abc import Callable

import jax
import numpy as np
import onnx_ir as ir

from ..._builder import dtype_of, shape_of
from ..._erfc import erfc as _erfc
from ..._layout import elementwise, with_bias
from .._call import Builder, Equation, Unsupported, known, rule

_UNARY = {
    "abs": "Abs",
    "acos": "Acos",
    "acosh": "Acosh",
    "asin": "Asin",
    "asinh": "Asinh",
    "atan": "Atan",
    "atanh": "Atanh",
    "ceil": "Ceil",
    "copy": "Identity",
    "copy_p": "Identity",
    "cos": "Cos",
    "cosh": "Cosh",
    "erf": "Erf",
    "exp": "Exp",
    "floor": "Floor",
    "log": "Log",
    "logistic": "Sigmoid",
    "neg": "Neg",
    "optimization_barrier": "Identity",
    "sign": "Sign",
    "sin": "Sin",
    "sinh": "Sinh",
    "sqrt": "Sqrt",
    "tan": "Tan",
    "tanh": "Tanh",
}
_BINARY = {
    "add_any": "Add",
    "div": "Div",
    "eq": "Equal",
    "ge": "GreaterOrEqual",
    "gt": "Greater",
    "le": "LessOrEqual",
    "lt": "Less",
    "mul": "Mul",
    "pow": "Pow",
    "sub": "Sub",
}
_LOGIC = {"and": ("And", "BitwiseAnd"), "or": ("Or", "BitwiseOr"), "xor": ("Xor", "BitwiseXor")}


def _narrow(call: Equation) -> list[ir.Value]:
    """The operands, those that were only broadcast as they were before: ONNX broadcasts them."""
    wanted = call.shape()
    whole = [list(shape_of(x)) == wanted and "narrow" not in x.meta for x in call.inputs]
    if not any(whole):
        whole[0] = True
    return [
        x if is_whole else x.meta.get("narrow", x)
        for x, is_whole in zip(call.inputs, whole, strict=True)
    ]


def computed(b: Builder, call: Equation, write: Callable[..., ir.Value]) -> ir.Value:
    """What a function of the operands gives."""
    return elementwise(b, write, *_narrow(call))


def _register(primitive: str, name: str) -> None:
    @rule(primitive)
    def one(b: Builder, call: Equation) -> ir.Value:
        if name == "Identity":
            return call[0]
        return computed(b, call, lambda *xs: b.op(name, *xs)[0])


for _primitive, _name in {**_UNARY, **_BINARY}.items():
    _register(_primitive, _name)


def _register_logic(primitive: str, of_bool: str, of_bits: str) -> None:
    @rule(primitive)
    def logic(b: Builder, call: Equation) -> ir.Value:
        name = of_bool if dtype_of(call[0]) == ir.DataType.BOOL else of_bits
        return computed(b, call, lambda x, y: b.op(name, x, y)[0])


for _primitive, _names in _LOGIC.items():
    _register_logic(_primitive, *_names)


@rule("add")
def add(b: Builder, call: Equation) -> ir.Value:
    x, y = _narrow(call)
    for one, other, once in ((x, y, call.used_once[0]), (y, x, call.used_once[1])):
        if once and list(shape_of(one)) == call.shape():
            found = with_bias(b, one, other)
            if found is not None:
                return found
    return elementwise(b, b.Add, x, y)


@rule("lt_to", "le_to")
def total_order(b: Builder, call: Equation) -> ir.Value:
    """Comparisons in which a NaN is larger than all numbers."""
    x, y = call.inputs
    is_less = call.eqn.primitive.name == "lt_to"
    found = b.Less(x, y) if is_less else b.LessOrEqual(x, y)
    if not dtype_of(x).is_floating_point():
        return found
    is_last = b.And(b.IsNaN(y), b.Not(b.IsNaN(x))) if is_less else b.IsNaN(y)
    return b.Or(found, is_last)


@rule("max", "min")
def extreme(b: Builder, call: Equation) -> ir.Value:
    is_max = call.eqn.primitive.name == "max"
    operands = _narrow(call)
    for x, other in (operands, operands[::-1]):
        array = known(other)
        is_zero = array is not None and array.size == 1 and not array.any()
        if (
            is_max
            and is_zero
            and dtype_of(x).is_floating_point()
            and list(shape_of(x)) == call.shape()
        ):
            return elementwise(b, b.Relu, x)
    if dtype_of(call[0]) == ir.DataType.BOOL:
        return elementwise(b, b.Or if is_max else b.And, *operands)
    return elementwise(b, b.Max if is_max else b.Min, *operands)


@rule("not")
def not_(b: Builder, call: Equation) -> ir.Value:
    is_bool = dtype_of(call[0]) == ir.DataType.BOOL
    return computed(b, call, b.Not if is_bool else b.BitwiseNot)


@rule("ne")
def not_equal(b: Builder, call: Equation) -> ir.Value:
    return computed(b, call, lambda x, y: b.Not(b.Equal(x, y)))


@rule("rem")
def remainder(b: Builder, call: Equation) -> ir.Value:
    return computed(b, call, lambda x, y: b.Mod(x, y, fmod=1))


@rule("square")
def square(b: Builder, call: Equation) -> ir.Value:
    return computed(b, call, lambda x: b.Mul(x, x))


@rule("integer_pow")
def integer_pow(b: Builder, call: Equation) -> ir.Value:
    power = int(call.param("y"))

    def write(x: ir.Value) -> ir.Value:
        result: ir.Value | None = None
        factor, left = x, abs(power)
        while left:  # by squares, as JAX computes it
            if left & 1:
                result = factor if result is None else b.Mul(result, factor)
            left >>= 1
            factor = b.Mul(factor, factor) if left else factor
        if result is None:
            return b.full(b.sizes(x), 1, dtype_of(x))
        return b.Reciprocal(result) if power < 0 else result

    return computed(b, call, write) if power != 1 else call[0]


@rule("exp2")
def exp2(b: Builder, call: Equation) -> ir.Value:
    return computed(b, call, lambda x: b.Exp(b.Mul(x, math.log(2))))


@rule("rsqrt")
def rsqrt(b: Builder, call: Equation) -> ir.Value:
    return computed(b, call, lambda x: b.Reciprocal(b.Sqrt(x)))


@rule("cbrt")
def cbrt(b: Builder, call: Equation) -> ir.Value:
    return computed(b, call, lambda x: b.Mul(b.Sign(x), b.Pow(b.Abs(x), 1 / 3)))


@rule("log1p")
def log1p(b: Builder, call: Equation) -> ir.Value:
    def write(x: ir.Value) -> ir.Value:
        above = b.Add(x, 1.0)
        rounded = b.Sub(above, 1.0)
        nothing = b.Equal(rounded, 0.0)
        safe = b.Where(nothing, b.constant(1, dtype_of(x)), rounded)
        small = b.Where(nothing, x, b.Div(b.Mul(b.Log(above), x), safe))
        return b.Where(b.IsInf(x), b.Log(above), small)

    return computed(b, call, write)


@rule("expm1")
def expm1(b: Builder, call: Equation) -> ir.Value:
    def write(x: ir.Value) -> ir.Value:
        half = b.Tanh(b.Mul(x, 0.5))
        near = b.Div(b.Mul(half, 2.0), b.Sub(b.constant(1, dtype_of(x)), half))
        return b.Where(b.Less(b.Abs(x), 0.5), near, b.Sub(b.Exp(x), 1.0))

    return computed(b, call, write)


@rule("erfc")
def erfc(b: Builder, call: Equation) -> ir.Value:
    return computed(b, call, lambda x: _erfc(b, x))


@rule("is_finite")
def is_finite(b: Builder, call: Equation) -> ir.Value:
    return computed(b, call, lambda x: b.Not(b.Or(b.IsInf(x), b.IsNaN(x))))


@rule("round")
def round_(b: Builder, call: Equation) -> ir.Value:
    if "EVEN" in str(call.param("rounding_method")).upper():
        return computed(b, call, b.Round)

    def away(x: ir.Value) -> ir.Value:
        return b.Mul(b.Sign(x), b.Floor(b.Add(b.Abs(x), 0.5)))

    return computed(b, call, away)


@rule("convert_element_type")
def convert(b: Builder, call: Equation) -> ir.Value:
    if dtype_of(call[0]) == call.out():
        return call[0]
    return computed(b, call, lambda x: b.cast(x, call.out()))


@rule("reduce_precision")
def reduce_precision(b: Builder, call: Equation) -> ir.Value:
    """A narrower type of as many bits, or nothing, where the type has no more than are to be kept.

    What is too small for the type to have all bits of the mantissa is 0, once it is rounded.
    """
    kept = call.param("exponent_bits"), call.param("mantissa_bits")
    had = jax.numpy.finfo(call.eqn.invars[0].aval.dtype)
    if kept[0] >= had.nexp and kept[1] >= had.nmant:
        return call[0]
    narrow = {(8, 7): ir.DataType.BFLOAT16, (5, 10): ir.DataType.FLOAT16}.get(kept)
    if narrow is None or had.bits != 32:
        raise Unsupported(
            f"{kept[0]} bits of the exponent and {kept[1]} of the mantissa, of {had.dtype}"
        )

    def write(x: ir.Value) -> ir.Value:
        rounded = b.cast(b.cast(x, narrow), dtype_of(x))
        if narrow == ir.DataType.BFLOAT16:
            return rounded  # whose exponents are those of float32
        is_small = b.Less(b.Abs(x), 2.0**-14 - 2.0**-26)
        return b.Where(is_small, b.Mul(x, 0.0), rounded)

    return elementwise(b, write, call[0])


@rule("population_count", "clz")
def bits(b: Builder, call: Equation) -> ir.Value:
    """How many bits of an integer are 1, and how many are 0 before the first 1."""
    own = dtype_of(call[0])
    count = own.itemsize * 8
    unsigned = ir.DataType[f"UINT{int(count)}"]
    x = b.Unsqueeze(b.cast(call[0], unsigned), [-1])
    positions = b.constant(np.arange(count), unsigned)
    each = b.BitwiseAnd(b.BitShift(x, positions, direction="RIGHT"), b.constant(1, unsigned))
    each = b.cast(each, ir.DataType.INT32)
    if call.eqn.primitive.name == "population_count":
        return b.cast(b.ReduceSum(each, [-1], keepdims=0), own)
    numbers = b.constant(np.arange(1, count + 1), ir.DataType.INT32)
    highest = b.ReduceMax(b.Mul(each, numbers), [-1], keepdims=0)
    return b.cast(b.Sub(b.constant(count, ir.DataType.INT32), highest), own)


@rule("clamp")
def clamp(b: Builder, call: Equation) -> ir.Value:
    low, x, high = call.inputs
    if known(low) is not None and known(high) is not None and not shape_of(low):
        if dtype_of(x).is_floating_point():
            return elementwise(b, lambda x: b.Clip(x, low, high), x)
    return elementwise(b, lambda x, low, high: b.Min(b.Max(x, low), high), x, low, high)


@rule("select_n")
def select(b: Builder, call: Equation) -> ir.Value:
    which, *cases = _narrow(call)
    if len(cases) == 1:
        return cases[0]
    if dtype_of(which) != ir.DataType.BOOL:
        result = cases[0]
        for number, case in enumerate(cases[1:], 1):
            chosen = elementwise(b, lambda x, n=number: b.Equal(x, n), which)
            result = elementwise(b, b.Where, chosen, case, result)
        return result
    return elementwise(b, b.Where, which, cases[1], cases[0])


@rule("stop_gradient")
def stop(b: Builder, call: Equation) -> ir.Value:
    return b.op("StopGradient", call[0], domain="mxffi.sol")[0] if b.stops else call[0]
