"""Products of 8-bit integers against ONNX's reference: the same integers."""

from __future__ import annotations

import numpy
import pytest

from mx.sol.backends.gen import Declined, Target

from .running import TARGETS, Case, Table

random = numpy.random.default_rng(0)


def _bytes(dtype: str, *shape: int) -> numpy.ndarray:
    limits = numpy.iinfo(dtype)
    found = random.integers(limits.min, limits.max + 1, shape).astype(dtype)
    if found.size > 1:  # the products of these are the largest
        found.reshape(-1)[:2] = limits.min, limits.max
    return found


def _sums(a: str, b: str, sizes: tuple[int, int, int], zeros: str = "both") -> Case:
    rows, depth, columns = sizes
    a_zero = numpy.array(numpy.iinfo(a).max - 3, a) if zeros != "none" else None
    b_zero = {
        "none": None,
        "a": None,
        "both": numpy.array(numpy.iinfo(b).min + 5, b),
        "columns": _bytes(b, columns),
    }[zeros]
    inputs = (_bytes(a, rows, depth), _bytes(b, depth, columns), a_zero, b_zero)
    return Case("MatMulInteger", inputs, (1, 3) if b_zero is not None else (1,))


def _scale(value: float) -> numpy.ndarray:
    return numpy.array(value, numpy.float32)


def _quantized(a: str, b: str, y: str, columns: bool = False) -> Case:
    b_scale = numpy.linspace(0.01, 0.02, 19, dtype=numpy.float32) if columns else _scale(0.0173)
    inputs = (
        _bytes(a, 21, 30),
        _scale(0.0371),
        numpy.array(3, a),
        _bytes(b, 30, 19),
        b_scale,
        numpy.array(0, b),
        _scale(0.531),
        numpy.array(4, y),
    )
    return Case("QLinearMatMul", inputs, (3, 5))


CASES = {
    f"sums_{a}_{b}": _sums(a, b, (13, 37, 50)) for a in ("uint8", "int8") for b in ("uint8", "int8")
}
CASES |= {
    "sums_plain": _sums("uint8", "int8", (1, 64, 33), "none"),
    "sums_dynamic": _sums("uint8", "int8", (60, 20, 17), "a"),
    "sums_columns": _sums("uint8", "uint8", (5, 9, 20), "columns"),
    "sums_deep": _sums("int8", "int8", (3, 2500, 5)),
    "sums_no_depth": _sums("uint8", "int8", (3, 0, 5)),
    "quantized_uint8": _quantized("uint8", "int8", "uint8"),
    "quantized_int8": _quantized("int8", "int8", "int8", columns=True),
}
CASES |= {
    "conv_sums": Case(
        "ConvInteger",
        (
            _bytes("uint8", 2, 6, 7, 8),
            _bytes("int8", 4, 3, 3, 2),
            numpy.array(200, "uint8"),
            numpy.array(-7, "int8"),
        ),
        (1, 3),
        {"group": 2, "strides": [2, 1], "pads": [1, 0, 1, 2], "dilations": [1, 2]},
    ),
    "conv_quantized": Case(
        "QLinearConv",
        (
            _bytes("uint8", 1, 3, 9, 8),
            _scale(0.0371),
            numpy.array(13, "uint8"),
            _bytes("int8", 5, 3, 3, 3),
            numpy.linspace(0.01, 0.02, 5, dtype=numpy.float32),
            numpy.zeros(5, "int8"),
            _scale(0.431),
            numpy.array(99, "uint8"),
            random.integers(-1000, 1000, 5).astype("int32"),
        ),
        (3, 5),
        {"pads": [1, 1, 1, 1]},
    ),
}
DYNAMIC = {
    "usual": random.standard_normal((5, 13)).astype(numpy.float32),
    "above": random.random(64).astype(numpy.float32) + 1,
    "below": -random.random(3).astype(numpy.float32),
    "zeros": numpy.zeros(20, numpy.float32),
}
CASES |= {f"dynamic_{name}": Case("DynamicQuantizeLinear", (x,)) for name, x in DYNAMIC.items()}
TABLE = Table({name: case.kernel for name, case in CASES.items()})


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("name", CASES)
def test_integers_are_the_same(target: str, name: str) -> None:
    case = CASES[name]
    got = TABLE.run(target, name, case.inputs)
    for ours, expected in zip(got, case.expected(wide=False), strict=True):
        assert ours.dtype == expected.dtype
        numpy.testing.assert_array_equal(ours, expected)


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"known": ()}, "no constants"),
        ({"inputs": (_bytes("uint8", 2, 3), _bytes("uint8", 2, 3, 4))}, "shapes"),
        ({"inputs": (numpy.zeros((2, 3), "int32"), _bytes("uint8", 3, 4))}, "8 bits"),
    ],
)
def test_declines(change, reason: str) -> None:
    inputs = (_bytes("uint8", 2, 3), _bytes("uint8", 3, 4))
    case = Case(**{"operator": "MatMulInteger", "inputs": inputs, "known": (1,), **change})
    with pytest.raises(Declined, match=reason):
        case.kernel(Target.named("c"))
