"""Numbers that torch knows by a symbol: lengths of axes and arithmetic with them."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Sequence
from typing import Any

import onnx_ir as ir

from .._builder import Builder, Number, Size, dtype_of
from .._promotion import Operand, common_type, promoted
from .._rule import Unsupported, rule
from .binary import floor_divided

_DOUBLE = ir.DataType.DOUBLE
_INT64 = ir.DataType.INT64


@rule(operator.getitem)
def getitem(b: Builder, values: Sequence[Any], index: int) -> Any:
    if values[index] is None:
        raise Unsupported(f"result {index} of it has no ONNX operator")
    return values[index]


@rule("sym_size.int")
def sym_size(b: Builder, x: ir.Value, dim: int) -> Size:
    return b.size(x, dim)


@rule("sym_numel")
def sym_numel(b: Builder, x: ir.Value) -> Size:
    return b.product(b.sizes(x))


@rule("sym_storage_offset")
def sym_storage_offset(b: Builder, x: ir.Value) -> Size:
    return 0


@rule("sym_stride.int")
def sym_stride(b: Builder, x: ir.Value, dim: int) -> Size:
    """Arrays of a graph are contiguous."""
    return b.product(b.sizes(x)[dim:][1:])


@rule("_local_scalar_dense", "item")
def local_scalar(b: Builder, x: ir.Value) -> ir.Value:
    value = b.Reshape(x, b.ints([])) if x.shape is None or len(x.shape) else b.Identity(x)
    kind = dtype_of(x)
    if kind == ir.DataType.BOOL:
        return value
    return b.cast(value, _DOUBLE if kind.is_floating_point() else _INT64)


def _arithmetic(name: str) -> Callable[[Builder, Operand, Operand], Operand]:
    known: Callable[[Any, Any], Any] = getattr(operator, name)

    def write(b: Builder, x: Operand, y: Operand) -> Operand:
        if not isinstance(x, ir.Value) and not isinstance(y, ir.Value):
            result: Number = known(x, y)
            return result
        values = promoted(b, x, y)
        return b.op({"add": "Add", "sub": "Sub", "mul": "Mul"}[name], *values)[0]

    return write


for _name in ("add", "sub", "mul"):
    rule(getattr(operator, _name))(_arithmetic(_name))


@rule(operator.floordiv)
def floordiv(b: Builder, x: Operand, y: Operand) -> ir.Value:
    return floor_divided(b, *promoted(b, x, y))


@rule(operator.mod)
def modulo(b: Builder, x: Operand, y: Operand) -> ir.Value:
    x, y = promoted(b, x, y)
    if dtype_of(x) == _INT64:
        return b.Mod(x, y)
    return b.Sub(x, b.Mul(floor_divided(b, x, y), y))


@rule(operator.truediv)
def truediv(b: Builder, x: Operand, y: Operand) -> ir.Value:
    return b.Div(*promoted(b, x, y, dtype=_DOUBLE))


@rule(operator.pow)
def power(b: Builder, x: Operand, y: Operand) -> ir.Value:
    return b.Pow(*promoted(b, x, y))


@rule(operator.neg)
def negate(b: Builder, x: ir.Value) -> ir.Value:
    return b.Neg(x)


@rule(operator.abs)
def absolute(b: Builder, x: ir.Value) -> ir.Value:
    return b.Abs(x)


def _comparison(name: str) -> Callable[[Builder, Operand, Operand], ir.Value]:
    def write(b: Builder, x: Operand, y: Operand) -> ir.Value:
        return b.op(name, *promoted(b, x, y))[0]

    return write


for _function, _name in {
    operator.eq: "Equal",
    operator.ge: "GreaterOrEqual",
    operator.gt: "Greater",
    operator.le: "LessOrEqual",
    operator.lt: "Less",
}.items():
    rule(_function)(_comparison(_name))


@rule(operator.ne)
def not_equal(b: Builder, x: Operand, y: Operand) -> ir.Value:
    return b.Not(b.Equal(*promoted(b, x, y)))


for _function, _name in {operator.and_: "And", operator.or_: "Or", operator.xor: "Xor"}.items():
    rule(_function)(_comparison(_name))


def _rounding(name: str) -> Callable[[Builder, ir.Value], ir.Value]:
    def write(b: Builder, x: ir.Value) -> ir.Value:
        return x if dtype_of(x) == _INT64 else b.cast(b.op(name, x)[0], _INT64)

    return write


rule(math.floor)(_rounding("Floor"))
rule(math.ceil)(_rounding("Ceil"))
rule(round)(_rounding("Round"))


@rule(math.trunc)
def truncate(b: Builder, x: ir.Value) -> ir.Value:
    return b.cast(x, _INT64)


@rule(math.sqrt)
def square_root(b: Builder, x: ir.Value) -> ir.Value:
    return b.Sqrt(b.cast(x, _DOUBLE))


@rule("torch.sym_float")
def sym_float(b: Builder, x: Operand) -> ir.Value:
    return b.cast(x, _DOUBLE)


@rule("torch.sym_int")
def sym_int(b: Builder, x: Operand) -> ir.Value:
    return b.cast(x, _INT64)


@rule("torch.sym_not")
def sym_not(b: Builder, x: Operand) -> ir.Value:
    return b.Not(b.cast(x, ir.DataType.BOOL))


@rule("torch.sym_max")
def sym_max(b: Builder, x: Operand, y: Operand) -> ir.Value:
    return b.Max(*promoted(b, x, y))


@rule("torch.sym_min")
def sym_min(b: Builder, x: Operand, y: Operand) -> ir.Value:
    return b.Min(*promoted(b, x, y))


@rule("torch.sym_ite")
def sym_ite(b: Builder, condition: Operand, x: Operand, y: Operand) -> ir.Value:
    return b.Where(b.cast(condition, ir.DataType.BOOL), *promoted(b, x, y))


@rule("torch._sym_sqrt")
def sym_sqrt(b: Builder, x: Operand) -> ir.Value:
    return b.Sqrt(b.cast(x, _DOUBLE))


@rule("torch.sym_sum")
def sym_sum(b: Builder, numbers: Sequence[Operand]) -> Operand:
    total: Operand = numbers[0]
    for number in numbers[1:]:
        if isinstance(total, ir.Value) or isinstance(number, ir.Value):
            dtype = common_type(total, number)
            total = b.Add(b.cast(total, dtype), b.cast(number, dtype))
        else:
            total = total + number
    return total


@rule(
    "_assert_async.msg",
    "_assert_scalar",
    "_assert_tensor_metadata",
    "sym_constrain_range",
    "sym_constrain_range_for_size",
    "_functional_assert_async.msg",
    "torch._check",
)
def nothing(b: Builder, *_: object, **__: object) -> None:
    """What torch checks while it runs, which the graph does not."""
