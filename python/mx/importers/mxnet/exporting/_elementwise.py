"""What is computed element by element, and reductions."""

from __future__ import annotations

import onnx_ir as ir

from ..expansion import numpy_name
from ._inverse import Inverse, inverse_of

UNARY = {
    "Abs": "abs",
    "Acos": "arccos",
    "Acosh": "arccosh",
    "Asin": "arcsin",
    "Asinh": "arcsinh",
    "Atan": "arctan",
    "Atanh": "arctanh",
    "Ceil": "ceil",
    "Cos": "cos",
    "Cosh": "cosh",
    "Erf": "erf",
    "Exp": "exp",
    "Floor": "floor",
    "Identity": "identity",
    "Log": "log",
    "Neg": "negative",
    "Reciprocal": "reciprocal",
    "Sign": "sign",
    "Sin": "sin",
    "Sinh": "sinh",
    "Sqrt": "sqrt",
    "Tan": "tan",
}
# For equal shapes, broadcast, a number on the right, a number on the left.
BINARY = {
    "Add": ("elemwise_add", "broadcast_add", "_plus_scalar", "_plus_scalar"),
    "Sub": ("elemwise_sub", "broadcast_sub", "_minus_scalar", "_rminus_scalar"),
    "Mul": ("elemwise_mul", "broadcast_mul", "_mul_scalar", "_mul_scalar"),
    "Div": ("elemwise_div", "broadcast_div", "_div_scalar", "_rdiv_scalar"),
    "Pow": ("_power", "broadcast_power", "_power_scalar", "_rpower_scalar"),
    "Max": ("_maximum", "broadcast_maximum", "_maximum_scalar", "_maximum_scalar"),
    "Min": ("_minimum", "broadcast_minimum", "_minimum_scalar", "_minimum_scalar"),
}
REDUCED = {
    "ReduceSum": "sum",
    "ReduceMean": "mean",
    "ReduceMax": "max",
    "ReduceMin": "min",
    "ReduceProd": "prod",
}


@inverse_of(*UNARY)
def unary(x: Inverse) -> ir.Value:
    return x.make(UNARY[x.node.op_type], [x.input(0)])


def _number(x: Inverse, i: int) -> float | None:
    array = x.constant(i)
    if array is None or array.size != 1 or array.ndim > 1:
        return None
    return float(array.reshape(()))


@inverse_of(*BINARY)
def binary(x: Inverse) -> ir.Value:
    equal, broadcast, right, left = BINARY[x.node.op_type]
    if len(x) != 2:
        raise x.error(f"expected two inputs, but {len(x)} came")
    for i, op in ((1, right), (0, left)):
        number = _number(x, i)
        if number is not None and x.constant(1 - i) is None:
            return x.make(op, [x.input(1 - i)], scalar=number)
    a, b = x.shape(0), x.shape(1)
    if a == b and None not in a:
        return x.make(equal, [x.input(0), x.input(1)])
    # MXNet broadcasts arrays of as many axes.
    values = [x.input(0), x.input(1)]
    for i, shape in enumerate((a, b)):
        for n in range(max(len(a), len(b)) - len(shape)):
            values[i] = x.make("expand_dims", [values[i]], f"_{'lr'[i]}hs{n}", axis=0)
    return x.make(broadcast, values)


@inverse_of("Sum")
def total(x: Inverse) -> ir.Value:
    return x.make("add_n", [x.input(i) for i in range(len(x))], num_args=len(x))


@inverse_of("Clip")
def clip(x: Inverse) -> ir.Value:
    bounds = []
    for i, default in ((1, -3.4028235e38), (2, 3.4028235e38)):
        number = _number(x, i) if x.has(i) else default
        if number is None:
            raise x.error(f"expected a constant as input {i}: MXNet has a parameter there")
        bounds.append(number)
    return x.make("clip", [x.input(0)], a_min=bounds[0], a_max=bounds[1])


@inverse_of("Cast")
def cast(x: Inverse) -> ir.Value:
    dtype = numpy_name(ir.DataType(x.attribute("to")))
    return x.make("Cast", [x.input(0)], dtype=dtype)


@inverse_of(*REDUCED)
def reduce(x: Inverse) -> ir.Value:
    axes = x.numbers(1) if x.has(1) else []
    if not axes and x.attribute("noop_with_empty_axes", 0):
        return x.make("identity", [x.input(0)])
    keepdims = bool(x.attribute("keepdims", 1))
    if not keepdims and (not axes or len(axes) == len(x.shape(0))):
        raise x.error("expected keepdims=1 for all axes, which MXNet reduces to one of 1")
    axis = tuple(axes) if axes else None
    return x.make(REDUCED[x.node.op_type], [x.input(0)], axis=axis, keepdims=keepdims)
