"""Kernels mean what formulas.inc says, element by element, as the loops of the CPU do."""

import numpy as np
import pytest

from mxacc_check.plugin import AccError

from ... import formulas
from .cases import run
from .conftest import KINDS

OPERATORS = {operator.name: operator for operator in formulas.operators()}
PARAMETERS = {
    "clip": ("a", "a_min", "a_max"),
    "where": ("condition", "x", "y"),
    1: ("x",),
    2: ("x1", "x2"),
}

OF_FAMILY = {
    family: [name for name, dtype in formulas.DTYPES.items() if formulas.family_of(dtype) == family]
    for family in ("Bool", "Int", "Float")
}


def types_of(kind, i, families=tuple(OF_FAMILY)):
    """The types that an operator is tested with, by its number."""
    if kind != "opencl":
        return formulas.DTYPES
    # A kernel takes its compiler's time, so that there is one for each formula; all operators
    # together have those of all types.
    return [of[i % len(of)] for family, of in OF_FAMILY.items() if family in families]


@pytest.mark.parametrize("exponent", [-1, 0.5, 2, 3])
@pytest.mark.parametrize("dtype", ["float16", "float64"])
def test_one_exponent_for_all(plugin, dtype, exponent):
    bases = formulas.special(formulas.DTYPES[dtype])
    exponents = np.full_like(bases, exponent)
    expected = formulas.evaluate("power_of_one", False, bases, exponents)
    for inputs, attributes in (({"x2": exponents[:1]}, {}), ({}, {"x2": exponent})):
        found = run(plugin, "power", {"x1": bases, **inputs}, expected, **attributes)
        formulas.assert_means(found, expected, [bases, exponents], formulas.ULPS["power"])


@pytest.mark.parametrize("decimals", formulas.DECIMALS)
@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_round_to_decimals(plugin, dtype, decimals):
    values = formulas.special(formulas.DTYPES[dtype])
    found = run(plugin, "round", {"a": values}, values, decimals=decimals)
    formulas.assert_means(found, formulas.rounded(values, decimals), [values])


@pytest.mark.parametrize("goal", formulas.INTEGERS)
@pytest.mark.parametrize("origin", formulas.FLOATS)
def test_conversions_to_integers(plugin, origin, goal):
    values = formulas.to_convert(formulas.DTYPES[origin])
    expected = formulas.integers_of(values, formulas.DTYPES[goal])
    found = run(plugin, "astype", {"a": values}, expected, dtype=goal)
    formulas.assert_means(found, expected, [values])


REDUCTIONS = [
    (kind, name, dtype)
    for kind in KINDS
    for i, name in enumerate(formulas.reductions())
    for dtype in types_of(kind, i)
    if not name.startswith("cum")
]


@pytest.mark.parametrize(("plugin", "name", "dtype"), REDUCTIONS, indirect=["plugin"])
def test_reductions_combine_by_the_formula(plugin, name, dtype):
    pairs = formulas.pairs(formulas.DTYPES[dtype])
    with np.errstate(all="ignore"):
        expected = formulas.reduced(name, pairs[:, 0], pairs[:, 1])
    found = run(plugin, name, {"a": pairs}, expected, axis=1)
    formulas.assert_means(found, expected, [pairs[:, 0], pairs[:, 1]])


CASES = [
    (kind, name, dtype)
    for kind in KINDS
    for i, (name, operator) in enumerate(OPERATORS.items())
    for dtype in types_of(kind, i, operator.families)
]


@pytest.mark.parametrize(("plugin", "name", "dtype"), CASES, indirect=["plugin"])
def test_kernels_compute_the_formula(plugin, name, dtype):
    operator = OPERATORS[name]
    operands = formulas.cases(operator, formulas.DTYPES[dtype])
    names = PARAMETERS.get(name) or PARAMETERS[operator.operands]
    inputs = dict(zip(names, operands, strict=True))
    signed_power = name == "power" and formulas.DTYPES[dtype].kind == "i"
    if signed_power or not operator.takes(formulas.DTYPES[dtype]):
        with pytest.raises(AccError, match=f"{name} of ({dtype}|integers)") as caught:
            run(plugin, name, inputs, operands[0])
        assert caught.value.code == "unsupported"
        return
    with np.errstate(all="ignore"):
        expected = formulas.meaning(operator, *operands)
    found = run(plugin, name, inputs, expected)
    formulas.assert_means(found, expected, operands, formulas.ULPS.get(name, 0))
