"""The formulas of elementwise operators and reductions, evaluated one element at a time.

They are those of include/mxnet/op/formulas.inc, compiled into the library of the tests, beside what
to compare. Whoever computes with them, in vectors or on a device, is held to them.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass

import ml_dtypes
import numpy as np

import ffi

from . import library

BFLOAT16 = np.dtype(ml_dtypes.bfloat16)
DTYPES = {
    name: BFLOAT16 if name == "bfloat16" else np.dtype(name)
    for name in (
        *("bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"),
        *("float16", "bfloat16", "float32", "float64"),
    )
}
FAMILIES = {"b": "Bool", "i": "Int", "u": "Int"}

# Units in the last place by which an operator of floats may differ from its formula: where that
# calls a function of which libraries have several. Of others each bit is that of the formula.
ULPS = {
    **dict.fromkeys(("exp", "exp2", "expm1", "log", "log2", "log10", "log1p", "cbrt"), 4),
    **dict.fromkeys(("sin", "cos", "tan", "arcsin", "arccos", "arctan", "arctan2"), 4),
    **dict.fromkeys(("sinh", "cosh", "tanh", "arcsinh", "arccosh", "arctanh", "hypot"), 4),
    **dict.fromkeys(("power", "sigmoid", "logaddexp", "erf"), 4),
}


@dataclass(frozen=True)
class Operator:
    """An operator that has formulas: its MXNetTypeRule, and what its result is."""

    name: str
    operands: int
    rule: str
    result: str
    families: frozenset[str]

    def takes(self, dtype: np.dtype) -> bool:
        """Whether there is a formula for operands of that type, converted by the rule or not."""
        return family_of(computed(self, dtype)) in self.families


def family_of(dtype: np.dtype) -> str:
    return FAMILIES.get(dtype.kind, "Float")


@functools.cache
def operators() -> tuple[Operator, ...]:
    """All that formulas.inc has."""
    library.load()
    families: dict[str, set[str]] = {}
    for line in ffi.get_global_func("testing.formulas")().splitlines():
        name, family = line.split()
        families.setdefault(name, set()).add(family)
    rows = ffi.get_global_func("testing.elementwise_operators")().splitlines()
    split = [row.split() for row in rows]
    return tuple(
        Operator(name, int(operands), rule, result, frozenset(families[name]))
        for name, operands, rule, result in split
    )


def computed(operator: Operator, dtype: np.dtype) -> np.dtype:
    """The type that operands of one type are converted to."""
    if operator.rule == "CommonNoBool" and dtype.kind == "b":
        return np.dtype("int8")
    if operator.rule == "TrueDivide" and dtype.kind in "biu":
        return np.dtype("float64")
    if operator.rule == "Float" and dtype.kind in "biu":
        return np.dtype(f"float{min(64, 16 * dtype.itemsize)}")
    return dtype


def evaluate(name: str, gives_bool: bool, *operands: np.ndarray) -> np.ndarray:
    """A formula of operands of one type that it is computed for, those of two bytes as float32."""
    dtype = operands[0].dtype
    wide = np.dtype("float32") if dtype.itemsize == 2 and dtype.kind in "fV" else dtype
    arrays = [np.ascontiguousarray(x, dtype=wide) for x in operands]
    arrays += [arrays[-1]] * (3 - len(arrays))
    out = np.empty(arrays[0].shape, bool if gives_bool else wide)
    ffi.get_global_func("testing.formula")(name, out, *arrays)
    with np.errstate(all="ignore"):
        return out if gives_bool else out.astype(dtype)


def meaning(operator: Operator, *operands: np.ndarray) -> np.ndarray:
    """What an operator gives for operands of one type."""
    dtype = computed(operator, operands[0].dtype)
    converted = [x.astype(dtype) for x in operands]
    return evaluate(operator.name, operator.result == "Bool", *converted)


@functools.cache
def reductions() -> dict[str, str]:
    """The formulas of reductions that combine elements, by name."""
    library.load()
    rows = ffi.get_global_func("testing.reductions")().splitlines()
    # A mean is divided, too.
    return {name: formula for name, formula in map(str.split, rows) if name != "mean"}


def reduced(name: str, a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """What a reduction of pairs, or the second element of a scan, gives."""
    formula = reductions()[name]
    if name in ("argmax", "argmin"):
        return evaluate(formula, True, a, b).astype("int64")
    if name in ("any", "all"):
        return evaluate(formula, True, a, b)
    if formula in ("add", "multiply") and a.dtype.kind in "biu":
        wide = np.dtype("uint64" if a.dtype.kind == "u" else "int64")
        a, b = a.astype(wide), b.astype(wide)
    # A sum begins with 0, and is not -0.
    first = evaluate("add", False, np.zeros_like(a), a) if name == "sum" else a
    return evaluate(formula, False, first, b)


def pairs(dtype: np.dtype) -> np.ndarray:
    """Special values of a type, each with each."""
    values = special(dtype)
    values = values[:: max(1, len(values) // 64)]
    return np.stack([grid.ravel() for grid in np.meshgrid(values, values, indexing="ij")], axis=1)


# What round to decimals is tested with: by 300 no float32 is multiplied, by 5 no float16.
DECIMALS = (-300, -39, -5, -1, 1, 2, 5, 39, 300)


def rounded(a: np.ndarray, decimals: int) -> np.ndarray:
    """What round to decimals gives of floats."""
    dtype = a.dtype
    wide = a.astype("float32") if dtype.itemsize == 2 else a
    with np.errstate(over="ignore"):
        scale = np.full_like(wide, np.float64(10.0) ** abs(decimals))
    name = "round_decimals" if decimals > 0 else "round_tens"
    with np.errstate(all="ignore"):
        return evaluate(name, False, wide, scale).astype(dtype)


@functools.cache
def special(dtype: np.dtype) -> np.ndarray:
    """Values of a type at which operators have their exceptions; of one byte all."""
    if dtype.kind == "b":
        return np.array([False, True])
    if dtype.kind in "iu":
        limits = np.iinfo(dtype)
        if dtype.itemsize == 1:
            return np.arange(limits.min, limits.max + 1).astype(dtype)
        bits = 8 * dtype.itemsize
        near = [0, 1, 2, 3, 5, 7, 8, 10, 31, 63, 100, 127, 255, bits - 1, bits, bits + 1]
        near += [2**k + d for k in (bits // 2, bits - 2) for d in (-1, 0, 1)]
        near += [limits.max, limits.max - 1]
        values = {x for n in near for x in (n, -n, -n - 1) if limits.min <= x <= limits.max}
        return np.array(sorted(values), dtype)
    info = ml_dtypes.finfo(dtype)
    largest, tiny, least = float(info.max), float(info.tiny), float(info.smallest_subnormal)
    values = [0.0, 0.25, 0.5, 1 / 3, 1, 1.5, 2, 2.5, 3, 3.5, 7, 10, 88.5, 1e4]
    values += [1 + float(info.eps), 1 - float(info.eps) / 2, 0.5 - float(info.eps) / 4]
    values += [2.0 ** (info.nmant - 1) + 0.5, 2.0**info.nmant + 1, np.pi, np.pi / 2]
    values += [largest, largest / 2, tiny, least, 3 * least, tiny / 2, np.sqrt(largest)]
    values += [float("inf")]
    with np.errstate(over="ignore"):
        wide = np.array([*values, *(-x for x in values), float("nan")], "float64")
        return wide.astype(dtype)


FLOATS = tuple(name for name, dtype in DTYPES.items() if family_of(dtype) == "Float")
INTEGERS = tuple(name for name in DTYPES if name not in FLOATS)


@functools.cache
def to_convert(dtype: np.dtype) -> np.ndarray:
    """Floats of a type whose integers are compared: about the limits of all; of two bytes all."""
    if dtype.itemsize == 2:
        return np.arange(2**16, dtype="uint16").view(dtype)
    powers = [2.0**bits for bits in (7, 8, 15, 16, 31, 32, 63, 64)]
    limits = np.array([*powers, *(-power for power in powers)], dtype)
    near = [np.nextafter(limits, dtype.type(end)) for end in (-np.inf, np.inf)]
    near += [limits + dtype.type(distance) for distance in (-1.5, -1, -0.5, 0, 0.5, 1, 1.5)]
    return np.concatenate([special(dtype), *near])


def integers_of(values: np.ndarray, dtype: np.dtype) -> np.ndarray:
    """What conversions.inc says that floats are as integers of a type, or as bool."""
    library.load()
    out = np.empty(values.shape, dtype)
    wide = values.astype("float32") if values.dtype.itemsize == 2 else values
    ffi.get_global_func("testing.integer_of_float")(out, wide)
    return out


def cases(operator: Operator, dtype: np.dtype) -> list[np.ndarray]:
    """Operands of one type: special values, of several operands each with each."""
    values = special(dtype)
    if operator.operands == 3:
        values = values[:: max(1, len(values) // 24)]
    grids = np.meshgrid(*[values] * operator.operands, indexing="ij")
    operands = [np.ascontiguousarray(grid.ravel()) for grid in grids]
    if operator.name == "power" and computed(operator, dtype).kind == "i":
        operands = [x[operands[1] >= 0] for x in operands]
    return operands


def assert_means(
    found: np.ndarray, expected: np.ndarray, operands: list[np.ndarray], ulps: float = 0
) -> None:
    """Each element is the expected one, or a float some units in the last place from it."""
    assert found.dtype == expected.dtype
    assert found.shape == expected.shape
    if expected.dtype.kind in "biu":
        wrong = found != expected
    else:
        a, b = (x.astype("float64") for x in (found, expected))
        alike = ((a == b) & (np.signbit(a) == np.signbit(b))) | (np.isnan(a) & np.isnan(b))
        with np.errstate(all="ignore"):
            near = np.abs(a - b) <= ulps * np.spacing(np.abs(expected)).astype("float64")
        wrong = ~(alike | (near & (a != b)))
    if not wrong.any():
        return
    i = int(np.argmax(wrong))
    given = ", ".join(repr(x[i]) for x in operands)
    raise AssertionError(
        f"of ({given}) it gives {found[i]!r}, its formula {expected[i]!r}; "
        f"{int(wrong.sum())} of {len(wrong)} differ"
    )
