"""Products of matrices against ONNX's reference in float64."""

from __future__ import annotations

import numpy
import pytest

from mx.sol.backends.gen import Declined, Spec, Target, emit
from mx.sol.backends.gen.products import Extra, Step
from mx.sol.backends.gen.products.matmul import gemm, matmul

from .running import TARGETS, Case, Table

random = numpy.random.default_rng(0)


def _of(*shape: int) -> numpy.ndarray:
    return random.standard_normal(shape).astype(numpy.float32)


SHAPES = {
    "odd": ((5, 7), (7, 3)),
    "row": ((1, 64), (64, 33)),
    "long_row": ((1, 700), (700, 133)),
    "row_of_whole_lines": ((1, 20), (20, 192)),
    "long_vector": ((700,), (700, 70)),
    "blocks": ((70, 700), (700, 65)),
    "rows": ((150, 20), (20, 50)),
    "wide": ((3, 9), (9, 200)),
    "batch": ((2, 3, 17, 20), (2, 3, 20, 19)),
    "broadcast": ((2, 1, 17, 20), (3, 20, 90)),
    "batch_of_rows": ((4, 17, 20), (20, 33)),
    "vector_matrix": ((7,), (7, 5)),
    "matrix_vector": ((5, 7), (7,)),
    "vectors": ((9,), (9,)),
    "no_depth": ((3, 0), (0, 4)),
    "no_rows": ((0, 3), (3, 4)),
    "no_columns": ((2, 3), (3, 0)),
    "one": ((1, 1), (1, 1)),
}
CASES = {
    f"{name}_{'constant' if known else 'input'}": Case("MatMul", (_of(*a), _of(*b)), known)
    for name, (a, b) in SHAPES.items()
    for known in ((), (1,))
}
CASES |= {
    f"gemm_{turn_a}{turn_b}_{'constant' if known else 'input'}_{name}": Case(
        "Gemm",
        (
            _of(*((40, 21) if turn_a else (21, 40))),
            _of(*((37, 40) if turn_b else (40, 37))),
            c,
        ),
        known,
        {"transA": turn_a, "transB": turn_b},
    )
    for turn_a in (0, 1)
    for turn_b in (0, 1)
    for known in ((), (1,))
    for name, c in {"column": _of(37), "row": _of(21, 1)}.items()
}
CASES["gemm_scaled"] = Case("Gemm", (_of(6, 5), _of(5, 4), _of(4)), (1,), {"alpha": 0.5})
CASES["gemm_without_c"] = Case("Gemm", (_of(6, 5), _of(5, 4)), (), {})
CASES["gemm_beta_zero"] = Case("Gemm", (_of(6, 5), _of(5, 4), _of(4)), (), {"beta": 0.0})

SCALAR = Spec((), "float32")
EPILOGUE = (
    Step("Relu"),
    Step.binary("Mul", Spec((1,), "float32")),
)
LIMITS = Step("Clip", ("result", Extra(SCALAR, number=-3.0), Extra(SCALAR, number=2.5)))
# Rows, terms and columns; the matrix of the first one is no constant.
ENDED = {
    "epilogue": (9, 12, 37),
    "epilogue_of_a_row": (1, 300, 141),
    "epilogue_of_far_results": (331, 64, 203),
}
FACTORS = {
    name: (_of(rows, terms), _of(terms, columns)) for name, (rows, terms, columns) in ENDED.items()
}


def _ended(name: str):
    rows, terms, columns = ENDED[name]
    steps = (
        Step.binary("Add", Spec((columns,), "float32")),
        *EPILOGUE,
        Step.binary("Sub", Spec((rows, columns), "float32"), swapped=True),
        LIMITS,
    )
    specs = [Spec((rows, terms), "float32"), Spec((terms, columns), "float32")]
    known = {} if rows == 9 else {1: FACTORS[name][1]}
    return lambda target: matmul(target, specs, {}, known, steps)


TABLE = Table(
    {
        **{name: case.kernel for name, case in CASES.items()},
        **{name: _ended(name) for name in ENDED},
    }
)


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("name", CASES)
def test_products(target: str, name: str) -> None:
    case = CASES[name]
    (got,) = TABLE.run(target, name, case.inputs)
    (expected,) = case.expected()
    assert got.shape == expected.shape
    numpy.testing.assert_allclose(got, expected, rtol=1e-5, atol=1e-4)


@pytest.mark.parametrize("name", ENDED)
@pytest.mark.parametrize("target", TARGETS)
def test_epilogue(target: str, name: str) -> None:
    rows, _, columns = ENDED[name]
    a, b = FACTORS[name]
    bias, scale, other = _of(columns), _of(1), _of(rows, columns)
    if rows > 1:
        a = a.copy()
        a[2, 3] = numpy.nan
    (got,) = TABLE.run(target, name, (a, b, bias, scale, other))
    product = numpy.maximum(a.astype(float) @ b + bias, 0) * scale
    numpy.testing.assert_allclose(got, numpy.clip(other - product, -3, 2.5), rtol=1e-5, atol=1e-4)


@pytest.mark.parametrize("target", TARGETS)
def test_keeps_nan_and_infinity_in_their_rows(target: str) -> None:
    a, b = CASES["rows_constant"].inputs
    assert a is not None and b is not None
    a = a.copy()
    a[3, 1], a[70, 2] = numpy.nan, numpy.inf
    (got,) = TABLE.run(target, "rows_constant", (a, b))
    numpy.testing.assert_array_equal(numpy.isfinite(got).all(1), numpy.isfinite(a).all(1))
    assert numpy.isnan(got[3]).all() and numpy.isinf(got[70]).all()


@pytest.mark.parametrize(
    ("operator", "shapes", "dtype", "attributes", "reason"),
    [
        ("MatMul", [(2, 3), (4, 5)], "float32", {}, "do not fit"),
        ("MatMul", [(2, 3), (3, 5)], "float64", {}, "only float32, got float64"),
        ("MatMul", [(), (3, 5)], "float32", {}, "a scalar"),
        ("MatMul", [(2, 4, 3), (3, 3, 5)], "float32", {}, "do not fit"),
        ("Gemm", [(2, 3), (3, 5), (5,)], "float32", {"beta": 2.0}, "beta"),
        ("Gemm", [(2, 3), (3, 5)], "float32", {"alpha": 2.0}, "alpha"),
    ],
)
def test_declines(operator: str, shapes, dtype: str, attributes, reason: str) -> None:
    with pytest.raises(Declined, match=reason):
        emit(Target.named("c"), operator, [Spec(s, dtype) for s in shapes], attributes)


def test_equal_products_are_one_kernel() -> None:
    specs = [Spec((2, 3), "float32"), Spec((3, 4), "float32")]
    one, two = (gemm(Target.named("c"), specs, {}, {1: _of(3, 4)}) for _ in range(2))
    assert one.symbol == two.symbol
