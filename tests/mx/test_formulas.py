"""Elementwise operators mean what formulas.inc says: every loop of theirs, element by element.
So do conversions of floats to integers what conversions.inc says."""

import numpy as np
import pytest

import ffi
import mx

from .. import formulas
from .compare import quiet

OPERATORS = {operator.name: operator for operator in formulas.operators()}
# Elementwise by its description, and of other formulas than that of its name.
OTHERS = {"round"}


def function_of(name):
    return getattr(mx.np, name, None) or getattr(mx.npx, name)


def apart(x):
    """The same elements, each far from the next."""
    spread = mx.np.zeros((x.size, 3), dtype=x.dtype)
    spread[:, 1] = mx.np.array(x)
    return spread[:, 1]


def test_the_name_of_an_operator_leads_to_its_formulas():
    is_elementwise = ffi.get_global_func("testing.is_elementwise")
    names = [n for n in ffi.list_global_func_names() if n.startswith(("_npi.", "_npx."))]
    found = {n.partition(".")[2] for n in names if is_elementwise(ffi.get_global_func(n))}
    assert found - OTHERS == set(OPERATORS)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
def test_one_exponent_for_all(dtype):
    bases = formulas.special(formulas.DTYPES[dtype])
    for exponent in bases:
        exponents = np.full_like(bases, exponent)
        expected = formulas.evaluate("power_of_one", False, bases, exponents)
        found = mx.np.power(mx.np.array(bases), mx.np.array(exponents[:1])).asnumpy()
        formulas.assert_means(found, expected, [bases, exponents], formulas.ULPS["power"])


@pytest.mark.parametrize("decimals", formulas.DECIMALS)
@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
def test_round_to_decimals(dtype, decimals):
    values = formulas.special(formulas.DTYPES[dtype])
    found = mx.np.round(mx.np.array(values), decimals).asnumpy()
    formulas.assert_means(found, formulas.rounded(values, decimals), [values])


@pytest.mark.parametrize("goal", formulas.INTEGERS)
@pytest.mark.parametrize("origin", formulas.FLOATS)
def test_loops_convert_floats_to_integers(origin, goal):
    values = formulas.to_convert(formulas.DTYPES[origin])
    expected = formulas.integers_of(values, formulas.DTYPES[goal])
    given = [mx.np.array(values), apart(values), apart(values)[::-1][::-1]]
    if origin in ("float32", "float64"):
        parts = mx.np.zeros(values.size, dtype="complex64" if origin == "float32" else "complex128")
        parts.real[...] = mx.np.array(values)
        given.append(parts)
    for x in given:
        # Of few, and of numbers of elements that leave some beside vectors.
        for begin in (0, 1, values.size - 3):
            found = x[begin:].astype(goal).asnumpy()
            formulas.assert_means(found, expected[begin:], [values[begin:]])
        out = mx.np.zeros((values.size, 2), dtype=goal)
        out[:, 1] = x
        formulas.assert_means(out[:, 1].asnumpy(), expected, [values])
    for value, integer in zip(values[-64:], expected[-64:], strict=True):
        found = mx.np.array(value).astype(goal).asnumpy()
        formulas.assert_means(found[None], integer[None], [value[None]])


@pytest.mark.parametrize("dtype", formulas.DTYPES)
@pytest.mark.parametrize("name", formulas.reductions())
def test_reductions_combine_by_the_formula(name, dtype):
    pairs = formulas.pairs(formulas.DTYPES[dtype])
    with quiet():
        expected = formulas.reduced(name, pairs[:, 0], pairs[:, 1])
    for array, axis in ((pairs, 1), (np.ascontiguousarray(pairs.T), 0)):
        for x in (mx.np.array(array), apart(array.ravel()).reshape(array.shape)):
            found = getattr(mx.np, name)(x, axis=axis).asnumpy()
            if found.ndim == 2:
                found = found.take(1, axis)
            formulas.assert_means(found, expected, [pairs[:, 0], pairs[:, 1]])


@pytest.mark.parametrize("dtype", formulas.DTYPES)
@pytest.mark.parametrize("name", OPERATORS)
def test_loops_compute_the_formula(name, dtype):
    operator = OPERATORS[name]
    operands = formulas.cases(operator, formulas.DTYPES[dtype])
    function = function_of(name)
    arrays = [mx.np.array(x) for x in operands]
    if not operator.takes(formulas.DTYPES[dtype]):
        with pytest.raises(TypeError, match="not supported for data type"):
            function(*arrays)
        return
    ulps = formulas.ULPS.get(name, 0)
    with quiet():
        expected = formulas.meaning(operator, *operands)
    formulas.assert_means(function(*arrays).asnumpy(), expected, operands, ulps)
    strided = [apart(x) for x in operands]
    formulas.assert_means(function(*strided).asnumpy(), expected, operands, ulps)
