"""Generated code means what mx's operators mean, element by element, of special values.

Operators that only ONNX has are compared with its reference evaluator, in test_elementwise.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy
import onnx
import pytest

import mx
from mx.sol.backends.gen import GroupNode, Target, emit, emit_group
from mx.sol.backends.gen._operators import OPERATORS

from ... import formulas
from ...mx.compare import quiet
from .running import Job, dtype_of, run, spec_of
from .test_elementwise import FLOATS, INTEGERS, NUMBERS

VECTORS = ("float32", "int32", "bool")
# As far as vectors of vec.h may be from the right result; single elements call libm.
ULPS = {**formulas.ULPS, "tanh": 7, "erf": 7}


@dataclass(frozen=True)
class Row:
    """An operator of ONNX, the formula that means the same, and the types that both have."""

    name: str
    meaning: str
    dtypes: tuple[str, ...]
    attributes: dict[str, Any] = field(default_factory=dict)


def _rows(dtypes: tuple[str, ...], meanings: str) -> list[Row]:
    """Rows of operators: Name=meaning, or Name where the meaning has that name."""
    pairs = [text.partition("=") for text in meanings.split()]
    return [Row(name, meaning or name.lower(), dtypes) for name, _, meaning in pairs]


TABLE = [
    *_rows(
        FLOATS,
        """Exp Log Tanh Erf Sin Cos Tan Sinh Cosh Asin=arcsin Acos=arccos Atan=arctan Asinh=arcsinh
        Acosh=arccosh Atanh=arctanh Sqrt Floor Ceil Round=rint Reciprocal Sigmoid Softsign IsNaN
        IsInf Div=divide""",
    ),
    *_rows(
        NUMBERS,
        """Relu Sign Neg=negative Abs=absolute Add Sum=add Sub=subtract Mul=multiply Max=maximum
        Min=minimum Mod=remainder Pow=power Clip Less LessOrEqual=less_equal Greater
        GreaterOrEqual=greater_equal""",
    ),
    *_rows((*NUMBERS, "bool"), "Equal Where"),
    *_rows(
        INTEGERS,
        """BitwiseNot=invert BitwiseAnd=bitwise_and BitwiseOr=bitwise_or BitwiseXor=bitwise_xor""",
    ),
    *_rows(("bool",), "Not=logical_not And=logical_and Or=logical_or Xor=logical_xor"),
    Row("BitShift", "left_shift", INTEGERS, {"direction": "LEFT"}),
    Row("BitShift", "right_shift", INTEGERS, {"direction": "RIGHT"}),
]
# What mx has no operator of.
OF_ONNX = {
    *"Identity Mean HardSwish Mish Softplus HardSigmoid Gelu Swish LeakyRelu PRelu".split(),
    *"ThresholdedRelu Elu Celu Selu Shrink BatchNormalization".split(),
}
MEANINGS = {operator.name: operator for operator in formulas.operators()}


def test_every_operator_is_compared():
    compared = {row.name for row in TABLE} | {"Cast", "CastLike"}
    assert compared | OF_ONNX == set(OPERATORS)
    assert not compared & OF_ONNX
    meant = {name for name, operator in OPERATORS.items() if operator.meaning}
    assert meant <= compared
    for row in TABLE:
        assert OPERATORS[row.name].meaning in ("", row.meaning)


def single(target: Target, name: str, specs: list[Any], attributes: dict[str, Any]) -> Any:
    """A kernel of single elements, where one of vectors would be taken: with float64 beside it."""
    last = len(specs)
    wide = {"to": onnx.TensorProto.DOUBLE}
    nodes = [
        GroupNode(name, tuple(range(last)), attributes),
        GroupNode("Cast", (last,), wide),
    ]
    return emit_group(target, specs, nodes, [last, last + 1])


def operands_of(row: Row, dtype: str) -> list[Any]:
    """Special values, each with each."""
    operands = formulas.cases(MEANINGS[row.meaning], formulas.DTYPES[dtype])
    return [operands[0].astype(bool), *operands[1:]] if row.name == "Where" else operands


def expected_of(row: Row, operands: list[Any]) -> Any:
    """What the operator of mx means."""
    given = [operand.astype(operands[-1].dtype) for operand in operands]
    gives_bool = MEANINGS[row.meaning].result == "Bool"
    return formulas.evaluate(row.meaning, gives_bool, *given)


def compare(target: Target, dtypes: tuple[str, ...], make: Any) -> None:
    """Compiles a kernel of each row and type, and compares it."""
    jobs, rows = [], []
    for row in TABLE:
        for dtype in row.dtypes:
            if dtype in dtypes:
                operands = operands_of(row, dtype)
                specs = [spec_of(operand) for operand in operands]
                jobs.append(Job(make(target, row.name, specs, row.attributes), operands))
                rows.append(row)
    for row, job, found in zip(rows, jobs, run(jobs, target), strict=True):
        expected = expected_of(row, list(job.inputs))
        try:
            formulas.assert_means(found[0], expected, job.inputs, ULPS.get(row.meaning, 0))
        except AssertionError as error:
            raise AssertionError(f"{row.name} of {job.inputs[-1].dtype}: {error}") from error


@pytest.mark.parametrize("target", ["c", "host"])
def test_vectors(target):
    chosen = Target.host() if target == "host" else Target.named(target)
    compare(chosen, VECTORS, emit)


def test_single_elements():
    compare(Target.host(), tuple(formulas.DTYPES), single)


def test_known_exponents():
    target, exponents = Target.host(), (0.5, 1.0, 2.0, 3.0, -1.0, -2.0)
    jobs = []
    for dtype in FLOATS:
        bases = formulas.special(formulas.DTYPES[dtype])
        for exponent in exponents:
            power = numpy.full((), exponent, bases.dtype)
            kernel = emit(target, "Pow", [spec_of(bases), spec_of(power)], {}, {1: power})
            jobs.append(Job(kernel, [bases, power]))
    for job, found in zip(jobs, run(jobs, target), strict=True):
        bases, power = job.inputs
        operands = [bases, numpy.full_like(bases, power)]
        formulas.assert_means(found[0], formulas.evaluate("power", False, *operands), operands, 4)


def origins(dtype: str) -> Any:
    """Elements to convert to floats of two bytes: all of those, and wider ones between them."""
    if dtype in ("float16", "bfloat16"):
        return numpy.arange(2**16, dtype="uint16").view(dtype_of(dtype))
    values = formulas.special(formulas.DTYPES[dtype])
    if dtype == "float32":
        high = numpy.arange(2**16, dtype="uint32") << 16
        low = [0, 1, 0x7FFF, 0x8000, 0x8001, 0x0FFF, 0x1000, 0x1001, 0x2FFF, 0x3000, 0x3001]
        return numpy.concatenate([values, *((high | rest).view("float32") for rest in low)])
    if dtype == "float64":
        with numpy.errstate(all="ignore"):
            numbers = [origins(name).astype(dtype) for name in ("float16", "bfloat16")]
            ties = numpy.concatenate([(each[1:] + each[:-1]) / 2 for each in numbers])
            near = [numpy.nextafter(ties, end) for end in (-numpy.inf, numpy.inf)]
        return numpy.concatenate([values, ties, *near])
    return values


def test_conversions():
    jobs, target = [], Target.host()
    for origin in formulas.DTYPES:
        for goal in formulas.DTYPES:
            is_narrow = "float16" in f"{origin} {goal}"
            array = origins(origin) if is_narrow else formulas.special(formulas.DTYPES[origin])
            if origin in FLOATS and goal in formulas.INTEGERS:
                array = formulas.to_convert(formulas.DTYPES[origin])
            to = onnx.helper.np_dtype_to_tensor_dtype(formulas.DTYPES[goal])
            jobs.append(Job(emit(target, "Cast", [spec_of(array)], {"to": to}), [array]))
    for job, found in zip(jobs, run(jobs, target), strict=True):
        (array,) = job.inputs
        if str(array.dtype) in FLOATS and str(found[0].dtype) in formulas.INTEGERS:
            expected = formulas.integers_of(array, found[0].dtype)
        else:
            with quiet():
                expected = mx.np.array(array).astype(str(found[0].dtype)).asnumpy()
        try:
            with quiet():
                formulas.assert_means(found[0], expected, [array])
        except AssertionError as error:
            raise AssertionError(f"{array.dtype} to {expected.dtype}: {error}") from error
