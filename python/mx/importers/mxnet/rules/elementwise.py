"""What is computed element by element: of one array, of two, of an array and a number."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import onnx_ir as ir

from ..expansion import Expansion
from ..table import counted, optional, register, required, same_shapes

BOOL = ir.DataType.BOOL
Unary = Callable[[Expansion, ir.Value], ir.Value]
Binary = Callable[[Expansion, ir.Value, ir.Value], ir.Value]


def _onnx(op_type: str) -> Unary:
    return lambda x, a: x.op(op_type, a)


def _rounded(x: Expansion, a: ir.Value) -> ir.Value:
    """Halves go away from zero, where ONNX rounds them to even numbers."""
    up = x.op("Floor", x.op("Add", x.op("Abs", a), x.number(0.5, a)))
    return x.op("Mul", x.op("Sign", a), up)


def _halves_down(x: Expansion, a: ir.Value) -> ir.Value:
    return x.op("Ceil", x.op("Sub", a, x.number(0.5, a)))


def _truncated(x: Expansion, a: ir.Value) -> ir.Value:
    return x.op("Mul", x.op("Sign", a), x.op("Floor", x.op("Abs", a)))


def _cube_root(x: Expansion, a: ir.Value) -> ir.Value:
    root = x.op("Pow", x.op("Abs", a), x.number(1 / 3, a))
    return x.op("Mul", x.op("Sign", a), root)


def _times(factor: float) -> Unary:
    return lambda x, a: x.op("Mul", a, x.number(factor, a))


def _then(*steps: Unary) -> Unary:
    def apply(x: Expansion, a: ir.Value) -> ir.Value:
        for step in steps:
            a = step(x, a)
        return a

    return apply


def _plus(number: float) -> Unary:
    return lambda x, a: x.op("Add", a, x.number(number, a))


def _not(x: Expansion, a: ir.Value) -> ir.Value:
    return x.op("Not", x.cast(a, BOOL))


def _finite(x: Expansion, a: ir.Value) -> ir.Value:
    return x.op("Not", x.op("Or", x.op("IsNaN", a), x.op("IsInf", a)))


# Name, what it gives, how, and its further names besides that of `mx.np`.
UNARY: list[tuple[str, str, Unary, str]] = [
    ("relu", "max(x, 0)", _onnx("Relu"), "_npx_relu"),
    ("sigmoid", "1 / (1 + exp(-x))", _onnx("Sigmoid"), "_npx_sigmoid"),
    ("softsign", "x / (1 + abs(x))", _onnx("Softsign"), ""),
    ("mish", "x * tanh(log(1 + exp(x)))", _onnx("Mish"), ""),
    ("tanh", "the hyperbolic tangent", _onnx("Tanh"), "_npi_tanh"),
    ("exp", "e to the power of x", _onnx("Exp"), "_npi_exp"),
    ("log", "the natural logarithm", _onnx("Log"), "_npi_log"),
    ("log2", "the logarithm to base 2", _then(_onnx("Log"), _times(1 / math.log(2))), "_npi_log2"),
    (
        "log10",
        "the logarithm to base 10",
        _then(_onnx("Log"), _times(1 / math.log(10))),
        "_npi_log10",
    ),
    ("log1p", "log(1 + x)", _then(_plus(1), _onnx("Log")), "_npi_log1p"),
    ("expm1", "exp(x) - 1", _then(_onnx("Exp"), _plus(-1)), "_npi_expm1"),
    ("sqrt", "the square root", _onnx("Sqrt"), "_npi_sqrt"),
    ("rsqrt", "1 / sqrt(x)", _then(_onnx("Sqrt"), _onnx("Reciprocal")), ""),
    ("cbrt", "the cube root", _cube_root, "_npi_cbrt"),
    ("rcbrt", "1 / cbrt(x)", _then(_cube_root, _onnx("Reciprocal")), ""),
    ("square", "x * x", lambda x, a: x.op("Mul", a, a), "_npi_square"),
    ("reciprocal", "1 / x", _onnx("Reciprocal"), "_npi_reciprocal"),
    ("abs", "the absolute value", _onnx("Abs"), "_npi_absolute _npi_abs"),
    ("sign", "-1, 0 or 1", _onnx("Sign"), "_npi_sign"),
    ("negative", "-x", _onnx("Neg"), "_npi_negative"),
    ("round", "the nearest whole number, halves away from zero", _rounded, ""),
    ("rint", "the nearest whole number, halves downwards", _halves_down, "_npi_rint"),
    ("ceil", "the next whole number upwards", _onnx("Ceil"), "_npi_ceil"),
    ("floor", "the next whole number downwards", _onnx("Floor"), "_npi_floor"),
    ("trunc", "the next whole number towards zero", _truncated, "_npi_trunc fix _npi_fix"),
    ("sin", "the sine", _onnx("Sin"), "_npi_sin"),
    ("cos", "the cosine", _onnx("Cos"), "_npi_cos"),
    ("tan", "the tangent", _onnx("Tan"), "_npi_tan"),
    ("arcsin", "the inverse sine", _onnx("Asin"), "_npi_arcsin"),
    ("arccos", "the inverse cosine", _onnx("Acos"), "_npi_arccos"),
    ("arctan", "the inverse tangent", _onnx("Atan"), "_npi_arctan"),
    ("sinh", "the hyperbolic sine", _onnx("Sinh"), "_npi_sinh"),
    ("cosh", "the hyperbolic cosine", _onnx("Cosh"), "_npi_cosh"),
    ("arcsinh", "the inverse hyperbolic sine", _onnx("Asinh"), "_npi_arcsinh"),
    ("arccosh", "the inverse hyperbolic cosine", _onnx("Acosh"), "_npi_arccosh"),
    ("arctanh", "the inverse hyperbolic tangent", _onnx("Atanh"), "_npi_arctanh"),
    ("degrees", "radians in degrees", _times(180 / math.pi), "_npi_degrees _npi_rad2deg"),
    ("radians", "degrees in radians", _times(math.pi / 180), "_npi_radians _npi_deg2rad"),
    ("erf", "the error function", _onnx("Erf"), "_npx_erf"),
]
# These give truth values, which before `mx.np` were numbers of the type of the data.
TRUTHS: list[tuple[str, str, Unary, str]] = [
    ("logical_not", "whether x is 0", _not, "_npi_logical_not"),
    ("isnan", "whether x is not a number", _onnx("IsNaN"), "_npi_isnan"),
    ("isinf", "whether x is infinite", _onnx("IsInf"), "_npi_isinf"),
    ("isfinite", "whether x is a finite number", _finite, "_npi_isfinite"),
]


def _add_unary(name: str, doc: str, of: Unary, aliases: str) -> None:
    register(name, f"{doc[0].upper()}{doc[1:]}.", aliases=aliases)(lambda x: of(x, x.inputs[0]))


def _add_truth(name: str, doc: str, of: Unary, of_numpy: str) -> None:
    text = f"{doc[0].upper()}{doc[1:]}"
    register(name, f"{text}, as 1 or 0.")(
        lambda x: x.cast(of(x, x.inputs[0]), x.inputs[0].dtype or ir.DataType.FLOAT)
    )
    register(of_numpy, f"{text}.")(lambda x: of(x, x.inputs[0]))


def _promoted(x: Expansion, a: ir.Value, b: ir.Value) -> tuple[ir.Value, ir.Value]:
    """Both in one type: a floating one where either is, else NumPy's."""
    if a.dtype is None or b.dtype is None or a.dtype == b.dtype:
        return a, b
    if x.is_floating(a) != x.is_floating(b):
        common = a.dtype if x.is_floating(a) else b.dtype
    else:
        common = ir.DataType.from_numpy(np.promote_types(a.dtype.numpy(), b.dtype.numpy()))
    return x.cast(a, common), x.cast(b, common)


def _of_two(op_type: str) -> Binary:
    return lambda x, a, b: x.op(op_type, a, b)


def _quotient(x: Expansion, a: ir.Value, b: ir.Value) -> ir.Value:
    """The quotient as a number with a fraction, of whole numbers, too."""
    if not x.is_floating(a):
        a, b = x.cast(a, "float32"), x.cast(b, "float32")
    return x.op("Div", a, b)


def _floor_quotient(x: Expansion, a: ir.Value, b: ir.Value) -> ir.Value:
    if x.is_floating(a):
        return x.op("Floor", x.op("Div", a, b))
    return x.op("Div", x.op("Sub", a, x.op("Mod", a, b)), b)


def _remainder(x: Expansion, a: ir.Value, b: ir.Value) -> ir.Value:
    """It has the sign of the divisor, and is 0 where that is 0."""
    if not x.is_floating(a):
        return x.op("Mod", a, b)
    zero = x.number(0, b)
    rest = x.op("Sub", a, x.op("Mul", x.op("Floor", x.op("Div", a, b)), b))
    return x.op("Where", x.op("Equal", b, zero), zero, rest)


def _hypotenuse(x: Expansion, a: ir.Value, b: ir.Value) -> ir.Value:
    return x.op("Sqrt", x.op("Add", x.op("Mul", a, a), x.op("Mul", b, b)))


def _log_of_sum(x: Expansion, a: ir.Value, b: ir.Value) -> ir.Value:
    most = x.op("Max", a, b)
    apart = x.op("Neg", x.op("Abs", x.op("Sub", a, b)))
    return x.op("Add", most, x.op("Log", x.op("Add", x.op("Exp", apart), x.number(1, a))))


def _with_sign(x: Expansion, a: ir.Value, b: ir.Value) -> ir.Value:
    size = x.op("Abs", a)
    return x.op("Where", x.op("Less", b, x.number(0, b)), x.op("Neg", size), size)


def _scaled_by_power(x: Expansion, a: ir.Value, b: ir.Value) -> ir.Value:
    return x.op("Mul", a, x.op("Pow", x.number(2, a), x.cast(b, a.dtype)))


def _angle(x: Expansion, a: ir.Value, b: ir.Value) -> ir.Value:
    """The angle of the point (b, a), from half turn to half turn."""
    zero, pi = x.number(0, a), x.number(math.pi, a)
    straight = x.op("Atan", x.op("Div", a, b))
    is_below = x.op("Less", a, zero)
    turned = x.op("Add", straight, x.op("Where", is_below, x.op("Neg", pi), pi))
    half = x.number(math.pi / 2, a)
    upright = x.op("Where", is_below, x.op("Neg", half), half)
    upright = x.op("Where", x.op("Equal", a, zero), zero, upright)
    out = x.op("Where", x.op("Less", b, zero), turned, straight)
    return x.op("Where", x.op("Equal", b, zero), upright, out)


def _logic(op_type: str) -> Binary:
    return lambda x, a, b: x.op(op_type, x.cast(a, BOOL), x.cast(b, BOOL))


def _unequal(x: Expansion, a: ir.Value, b: ir.Value) -> ir.Value:
    return x.op("Not", x.op("Equal", a, b))


# What it gives, how, and the names: for equal shapes, broadcast, with a number on the right and on
# the left, and those of mx.np. The first name of each is the one that files have.
Names = tuple[str, str, str, str, str, str, str]
ARITHMETIC: list[tuple[str, Binary, Names]] = [
    (
        "lhs + rhs",
        _of_two("Add"),
        (
            "elemwise_add _add _plus _Plus _grad_add",
            "broadcast_add broadcast_plus",
            "_plus_scalar _PlusScalar",
            "",
            "_npi_add",
            "_npi_add_scalar",
            "",
        ),
    ),
    (
        "lhs - rhs",
        _of_two("Sub"),
        (
            "elemwise_sub _sub _minus _Minus",
            "broadcast_sub broadcast_minus",
            "_minus_scalar _MinusScalar",
            "_rminus_scalar _RMinusScalar",
            "_npi_subtract",
            "_npi_subtract_scalar",
            "_npi_rsubtract_scalar",
        ),
    ),
    (
        "lhs * rhs",
        _of_two("Mul"),
        (
            "elemwise_mul _mul _Mul",
            "broadcast_mul",
            "_mul_scalar _MulScalar",
            "",
            "_npi_multiply",
            "_npi_multiply_scalar",
            "",
        ),
    ),
    (
        "lhs / rhs",
        _of_two("Div"),
        (
            "elemwise_div _div _Div",
            "broadcast_div",
            "_div_scalar _DivScalar",
            "_rdiv_scalar _RDivScalar",
            "",
            "",
            "",
        ),
    ),
    (
        "lhs / rhs",
        _quotient,
        ("", "", "", "", "_npi_true_divide", "_npi_true_divide_scalar", "_npi_rtrue_divide_scalar"),
    ),
    (
        "the whole part of lhs / rhs, downwards",
        _floor_quotient,
        (
            "",
            "",
            "",
            "",
            "_npi_floor_divide",
            "_npi_floor_divide_scalar",
            "_npi_rfloor_divide_scalar",
        ),
    ),
    (
        "what lhs / rhs leaves, with the sign of rhs",
        _remainder,
        (
            "_mod _Mod",
            "broadcast_mod",
            "_mod_scalar _ModScalar",
            "_rmod_scalar _RModScalar",
            "_npi_mod",
            "_npi_mod_scalar",
            "_npi_rmod_scalar",
        ),
    ),
    (
        "what lhs / rhs leaves, with the sign of lhs",
        lambda x, a, b: x.op("Mod", a, b, fmod=1),
        ("", "", "", "", "_npi_fmod", "_npi_fmod_scalar", "_npi_rfmod_scalar"),
    ),
    (
        "lhs to the power of rhs",
        _of_two("Pow"),
        (
            "_power _Power",
            "broadcast_power",
            "_power_scalar _PowerScalar",
            "_rpower_scalar _RPowerScalar",
            "_npi_power",
            "_npi_power_scalar",
            "_npi_rpower_scalar",
        ),
    ),
    (
        "the larger one",
        _of_two("Max"),
        (
            "_maximum _Maximum",
            "broadcast_maximum _npi_maximum",
            "_maximum_scalar _MaximumScalar _npi_maximum_scalar",
            "",
            "_npi_fmax",
            "_npi_fmax_scalar",
            "",
        ),
    ),
    (
        "the smaller one",
        _of_two("Min"),
        (
            "_minimum _Minimum",
            "broadcast_minimum _npi_minimum",
            "_minimum_scalar _MinimumScalar _npi_minimum_scalar",
            "",
            "_npi_fmin",
            "_npi_fmin_scalar",
            "",
        ),
    ),
    (
        "sqrt(lhs * lhs + rhs * rhs)",
        _hypotenuse,
        (
            "_hypot _Hypot",
            "broadcast_hypot",
            "_hypot_scalar _HypotScalar _npi_hypot_scalar",
            "",
            "_npi_hypot",
            "",
            "",
        ),
    ),
    (
        "log(exp(lhs) + exp(rhs))",
        _log_of_sum,
        ("", "", "", "", "_npi_logaddexp", "_npi_logaddexp_scalar", ""),
    ),
    (
        "lhs with the sign of rhs",
        _with_sign,
        ("", "", "", "", "_npi_copysign", "_npi_copysign_scalar", "_npi_rcopysign_scalar"),
    ),
    (
        "lhs * 2 ** rhs",
        _scaled_by_power,
        ("", "", "", "", "_npi_ldexp", "_npi_ldexp_scalar", "_npi_rldexp_scalar"),
    ),
    (
        "the angle of the point (rhs, lhs)",
        _angle,
        ("", "", "", "", "_npi_arctan2", "_npi_arctan2_scalar", "_npi_rarctan2_scalar"),
    ),
    (
        "the bits that both have",
        _of_two("BitwiseAnd"),
        ("", "", "", "", "_npi_bitwise_and", "_npi_bitwise_and_scalar", ""),
    ),
    (
        "the bits that either has",
        _of_two("BitwiseOr"),
        ("", "", "", "", "_npi_bitwise_or", "_npi_bitwise_or_scalar", ""),
    ),
    (
        "the bits that one of them has",
        _of_two("BitwiseXor"),
        ("", "", "", "", "_npi_bitwise_xor", "_npi_bitwise_xor_scalar", ""),
    ),
]
COMPARISONS: list[tuple[str, Binary, str, str, str, str]] = [
    ("lhs == rhs", _of_two("Equal"), "equal", "_Equal", "_EqualScalar", "equal"),
    ("lhs != rhs", _unequal, "not_equal", "_Not_Equal", "_NotEqualScalar", "not_equal"),
    ("lhs > rhs", _of_two("Greater"), "greater", "_Greater", "_GreaterScalar", "greater"),
    (
        "lhs >= rhs",
        _of_two("GreaterOrEqual"),
        "greater_equal",
        "_Greater_Equal",
        "_GreaterEqualScalar",
        "greater_equal",
    ),
    ("lhs < rhs", _of_two("Less"), "lesser", "_Lesser", "_LesserScalar", "less"),
    (
        "lhs <= rhs",
        _of_two("LessOrEqual"),
        "lesser_equal",
        "_Lesser_Equal",
        "_LesserEqualScalar",
        "less_equal",
    ),
    (
        "lhs and rhs",
        _logic("And"),
        "logical_and",
        "_Logical_And",
        "_LogicalAndScalar",
        "logical_and",
    ),
    ("lhs or rhs", _logic("Or"), "logical_or", "_Logical_Or", "_LogicalOrScalar", "logical_or"),
    (
        "one of lhs and rhs",
        _logic("Xor"),
        "logical_xor",
        "_Logical_Xor",
        "_LogicalXorScalar",
        "logical_xor",
    ),
]
SCALAR = (required("scalar", "float"), optional("is_int", "bool", True))


def _of_arrays(names: str, doc: str, of: Binary, equal: bool, truth: bool = False) -> None:
    """An operator of two arrays; `truth` gives 1 or 0 for what is true or false."""
    name, _, aliases = names.partition(" ")

    def expand(x: Expansion) -> ir.Value:
        a, b = _promoted(x, *x.inputs)
        out = of(x, a, b)
        return x.cast(out, a.dtype or ir.DataType.FLOAT) if truth else out

    shapes = same_shapes if equal else None
    register(name, f"{doc[0].upper()}{doc[1:]}.", (), "lhs rhs", shapes=shapes, aliases=aliases)(
        expand
    )


def _with_number(names: str, doc: str, of: Binary, left: bool, numpy: bool, truth: bool) -> None:
    """An operator of an array and the number `scalar`; `numpy` gives a whole array a fraction."""
    name, _, aliases = names.partition(" ")

    def expand(x: Expansion) -> ir.Value:
        (a,) = x.inputs
        if numpy and not x.is_floating(a) and x.p.scalar != int(x.p.scalar):
            a = x.cast(a, "float32")
        number = x.number(x.p.scalar, a)
        out = of(x, number, a) if left else of(x, a, number)
        return x.cast(out, a.dtype or ir.DataType.FLOAT) if truth else out

    words = {"lhs": "scalar" if left else "data", "rhs": "data" if left else "scalar"}
    text = " ".join(words.get(word, word) for word in doc.split())
    register(name, f"{text[0].upper()}{text[1:]}.", SCALAR, aliases=aliases)(expand)


for _one in UNARY:
    _add_unary(*_one)
for _one in TRUTHS:
    _add_truth(*_one)
for _doc, _of, _names in ARITHMETIC:
    _equal, _broadcast, _right, _left, _numpy, _numpy_right, _numpy_left = _names
    for _name, _is_equal in ((_equal, True), (_broadcast, False), (_numpy, False)):
        if _name:
            _of_arrays(_name, _doc, _of, _is_equal)
    for _name, _is_left, _is_numpy in (
        (_right, False, False),
        (_left, True, False),
        (_numpy_right, False, True),
        (_numpy_left, True, True),
    ):
        if _name:
            _with_number(_name, _doc, _of, _is_left, _is_numpy, False)
for _doc, _of, _name, _old, _old_scalar, _new in COMPARISONS:
    _of_arrays(f"_{_name} {_old}", _doc, _of, True, True)
    _of_arrays(f"broadcast_{_name}", _doc, _of, False, True)
    _with_number(f"_{_name}_scalar {_old_scalar}", _doc, _of, False, False, True)
    _of_arrays(f"_npi_{_new}", _doc, _of, False)
    _with_number(f"_npi_{_new}_scalar", _doc, _of, False, True, False)


@register(
    "clip",
    "The data with what is below a_min or above a_max replaced by that.",
    [optional("a_min", "float"), optional("a_max", "float")],
    aliases="_npi_clip",
)
def clip(x: Expansion) -> ir.Value:
    (data,) = x.inputs
    bounds = [None if b is None else x.number(b, data) for b in (x.p.a_min, x.p.a_max)]
    return x.op("Clip", data, *bounds)


@register(
    "hard_sigmoid",
    "Clips alpha * x + beta to 0 and 1.",
    [optional("alpha", "float", 0.2), optional("beta", "float", 0.5)],
)
def hard_sigmoid(x: Expansion) -> ir.Value:
    return x.op("HardSigmoid", x.inputs[0], alpha=x.p.alpha, beta=x.p.beta)


@register(
    "Cast",
    "The data in another data type.",
    [required("dtype", "dtype")],
    aliases=("cast amp_cast _npi_cast _npx_cast _npi_amp_cast"),
)
def cast(x: Expansion) -> ir.Value:
    (data,) = x.inputs
    out = x.cast(data, x.p.dtype)
    return x.op("Identity", data) if out is data else out


@register(
    "amp_multicast",
    "All arguments in the widest data type of them, or the narrowest.",
    [required("num_outputs", "int"), optional("cast_narrow", "bool", False)],
    counted("num_outputs", "data"),
    outputs=counted("num_outputs", "output"),
    aliases="_npi_amp_multicast",
)
def amp_multicast(x: Expansion) -> list[ir.Value]:
    types = [value.dtype for value in x.inputs]
    known = [dtype for dtype in types if dtype is not None]
    if len(known) != len(types):
        raise x.error("expected inputs of known data types")
    order = sorted(known, key=lambda dtype: dtype.bitwidth)
    target = order[0] if x.p.cast_narrow else order[-1]
    return [x.op("Cast", value, to=target.value) for value in x.inputs]


@register(
    "add_n",
    "The sum of all arguments.",
    [required("num_args", "int")],
    counted(prefix="arg"),
    aliases="ElementWiseSum _npx_add_n _sum",
    variadic=True,
)
def add_n(x: Expansion) -> ir.Value:
    return x.op("Sum", *x.inputs)


def _chosen(x: Expansion, condition: ir.Value, a: ir.Value, b: ir.Value) -> ir.Value:
    a, b = _promoted(x, a, b)
    return x.op("Where", x.cast(condition, BOOL), a, b)


@register(
    "where",
    "Elements of x where condition is not 0, else those of y.",
    (),
    "condition x y",
)
def where(x: Expansion) -> ir.Value:
    condition, a, b = x.inputs
    if condition.shape is not None and a.shape is not None:
        after = len(a.shape) - len(condition.shape)
        if len(condition.shape) == 1 and after > 0:
            condition = x.unsqueeze(condition, *range(1, after + 1))
    return _chosen(x, condition, a, b)


@register(
    "_npi_where",
    "Elements of x where condition is not 0, else those of y.",
    (),
    "condition x y",
)
def where_of_numpy(x: Expansion) -> ir.Value:
    return _chosen(x, *x.inputs)


@register(
    "_npi_where_lscalar",
    "The scalar where condition is not 0, else elements of x.",
    [required("scalar", "float")],
    "condition x",
)
def where_left_scalar(x: Expansion) -> ir.Value:
    condition, data = x.inputs
    return _chosen(x, condition, x.number(x.p.scalar, data), data)


@register(
    "_npi_where_rscalar",
    "Elements of x where condition is not 0, else the scalar.",
    [required("scalar", "float")],
    "condition x",
)
def where_right_scalar(x: Expansion) -> ir.Value:
    condition, data = x.inputs
    return _chosen(x, condition, data, x.number(x.p.scalar, data))


@register(
    "smooth_l1",
    "Squares near 0 and absolute values away from it; scalar says where one becomes the other.",
    [optional("scalar", "float", 1.0), optional("is_int", "bool", True)],
    aliases="_npx_smooth_l1",
)
def smooth_l1(x: Expansion) -> ir.Value:
    (data,) = x.inputs
    bound = 1 / x.p.scalar**2
    size = x.op("Abs", data)
    square = x.op("Mul", x.op("Mul", data, data), x.number(0.5 / bound, data))
    straight = x.op("Sub", size, x.number(0.5 * bound, data))
    return x.op("Where", x.op("Less", size, x.number(bound, data)), square, straight)


@register(
    "_contrib_quadratic",
    "The polynomial a * x * x + b * x + c.",
    [optional("a", "float", 0.0), optional("b", "float", 0.0), optional("c", "float", 0.0)],
)
def quadratic(x: Expansion) -> ir.Value:
    (data,) = x.inputs
    inner = x.op("Add", x.op("Mul", data, x.number(x.p.a, data)), x.number(x.p.b, data))
    return x.op("Add", x.op("Mul", inner, data), x.number(x.p.c, data))


@register("_contrib_div_sqrt_dim", "Divides by the square root of the last dimension.")
def divide_by_root_of_dimension(x: Expansion) -> ir.Value:
    (data,) = x.inputs
    size = x.op("Cast", x.size_along(data, -1), to=(data.dtype or ir.DataType.FLOAT).value)
    return x.op("Div", data, x.op("Sqrt", size))
