"""The differences that are meant, and how to know them; docs/guide/arrays.md has users' part.

What statements never contain, as it differs by design: Python floats that make an array without a
dtype (float32), lists as operands (weak), Python integers beyond 64 bits, an out= larger than the
result, orders other than "C", std and var as integers or complex numbers, and flip of an array
without axes (of NumPy a number, of mx.np a view).
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from . import compare
from .compare import COMPLEX, ELEMENTARY, POWERS, PRODUCTS, SUMS
from .dtypes import BFLOAT16, kind

if TYPE_CHECKING:
    from .execute import Difference


@dataclass(frozen=True)
class Known:
    """A difference that is meant, and why; or, where it is to be mended, what is wrong."""

    reason: str
    covers: Callable[[Difference], bool]
    to_be_mended: bool = False


def is_value(d: Difference, kinds: str) -> bool:
    """Whether elements differ, of an array of one of these kinds."""
    return d.kind == "value" and kind(d.expected.dtype) in kinds


def raises(d: Difference, expected: Any, found: Any) -> bool:
    """Whether both sides raised exceptions of these classes; None is that they did not."""
    pairs = ((d.expected, expected), (d.found, found))
    return d.kind == "error" and all(
        side is None if wanted is None else isinstance(side, wanted) for side, wanted in pairs
    )


def floats_of(d: Difference) -> np.ndarray:
    """All floats that a statement converts: elements of its operands, and literals."""
    arrays = [a.real.ravel() for a in d.operands.values() if kind(a.dtype) in "fc"]
    literals = [n.value for n in ast.walk(ast.parse(d.line)) if isinstance(n, ast.Constant)]
    numbers = [np.asarray([n.real]) for n in literals if isinstance(n, (float, complex))]
    return np.concatenate([np.empty(0), *(a.astype("float64") for a in arrays + numbers)])


def out_of_range(d: Difference) -> bool:
    if not is_value(d, "iu"):
        return False
    limits, floats = np.iinfo(d.expected.dtype), np.trunc(floats_of(d))
    fits = (floats >= float(limits.min)) & (floats < float(limits.max) + 1)
    return "invalid value" in d.flags or not bool(np.all(fits))


def not_finite_complex(d: Difference) -> bool:
    if not is_value(d, "c"):
        return False
    which = d.differing
    return bool(np.all(~np.isfinite(d.expected[which]) | ~np.isfinite(d.found[which])))


# What a message says to be wrong, by words of it; the first that fits.
FAULTS = {
    "shape": ("broadcast", "has shape", "shape mismatch", "a sequence", "dimensional", "mismatch"),
    "writing": ("read-only",),
    "position": ("out of bounds for axis", "empty axes", "too many indices", "boolean index"),
    "type": ("argument must be", "cast", "not supported", "ufunc"),
    "range": (
        "expected number",
        "out of bounds for",
        "too large",
        "to convert",
        "infinity",
        "NaN",
        "negative",
    ),
}


def fault(error: object) -> str:
    """What an exception says to be wrong."""
    text = str(error)
    return next((kind for kind, words in FAULTS.items() if any(w in text for w in words)), "")


def two_faults(d: Difference) -> bool:
    both = fault(d.expected), fault(d.found)
    return raises(d, Exception, Exception) and all(both) and both[0] != both[1]


def one_element(d: Difference) -> bool:
    numbers = "only 0-dimensional arrays can be converted" in str(d.expected)
    return d.kind == "error" and (numbers or "with a sequence" in str(d.found))


def without_elements(d: Difference) -> bool:
    """NumPy took it, mx.np raised, and an operand has no elements."""
    empty = any(not array.size for array in d.operands.values())
    powers = "negative integer powers" in str(d.found)
    return raises(d, None, (ValueError, IndexError)) and (empty or powers)


def read_only(d: Difference) -> bool:
    return raises(d, ValueError, None) and "read-only" in str(d.expected)


def element_in_place(d: Difference) -> bool:
    subscript = isinstance(getattr(ast.parse(d.line).body[0], "target", None), ast.Subscript)
    changed = isinstance(d.found, TypeError) or "('out') has shape ()" in str(d.found)
    return subscript and d.kind == "error" and changed


def overflown(d: Difference) -> bool:
    if not is_value(d, "fc") or d.label not in SUMS | PRODUCTS | POWERS:
        return False
    which = d.differing
    return bool(np.all(~np.isfinite(d.expected[which]) | ~np.isfinite(d.found[which])))


def full_rejects(d: Difference) -> bool:
    wrong = (TypeError, ValueError, OverflowError)
    either = raises(d, None, wrong) or raises(d, OverflowError, None)
    return d.label in ("full", "full_like") and either


def statistics(d: Difference) -> bool:
    return d.label in ("mean", "std", "var")


def square_root(d: Difference) -> bool:
    """Of minus infinity and of -0. NumPy decides by rows whether there is one exponent."""
    if d.label != "power" or d.kind not in ("value", "sign") or kind(d.expected.dtype) != "f":
        return False
    if d.kind == "sign":
        return True
    which = d.differing
    return bool(np.all(np.isinf(d.expected[which]) | np.isinf(d.found[which])))


EXTREMA = {"min", "max", "minimum", "maximum", "fmin", "fmax", "clip", "sort", "unique"}


def zero_of_many(d: Difference) -> bool:
    return d.kind == "sign" and d.label in SUMS | PRODUCTS | POWERS | EXTREMA


def zero_part(d: Difference) -> bool:
    rounds = d.label in COMPLEX | ELEMENTARY
    return d.kind == "sign" and kind(d.expected.dtype) == "c" and rounds


def integers_alone(d: Difference) -> bool:
    return all(kind(array.dtype) in "biu" for array in d.operands.values())


def bfloat16_beside_others(d: Difference) -> bool:
    """Beside other types, Python's numbers included, or where NumPy has no loop for it."""
    dtypes = {array.dtype for array in d.operands.values()}
    if BFLOAT16 not in dtypes and "bfloat16" not in d.line:
        return False
    if d.kind == "error":
        no_type = "DType" in str(d.expected)
        return no_type or isinstance(d.expected, Exception) != isinstance(d.found, Exception)
    mixed = len(dtypes) > 1 or any(isinstance(n, ast.Constant) for n in ast.walk(ast.parse(d.line)))
    # NumPy's sort has no order for bfloat16's NaN.
    sorts = d.label in ("sort", "argsort", "unique")
    return d.kind in ("dtype", "type") or mixed or sorts or d.label in SUMS | PRODUCTS | POWERS


KNOWN = (
    Known(
        "the sign of a zero that is a sum, or the least or largest of many, is a matter of order",
        zero_of_many,
    ),
    Known("the sign of a zero that is a part of a complex number, where it rounds", zero_part),
    Known(
        "bfloat16 is a type of the package's own; NumPy takes it in part", bfloat16_beside_others
    ),
    Known("floats that no integer of the target's type holds convert to any number", out_of_range),
    Known("which part of a complex number that is not finite is NaN", not_finite_complex),
    Known("where a sum overflows on the way is a matter of its order", overflown),
    Known("of two faults each side tells the one that it sees first", two_faults),
    Known("one element takes no value with axes", one_element),
    Known("keys and shapes are checked, too, where there are no elements", without_elements),
    Known("views that are read-only in NumPy, of imag and others, are not in mx.np", read_only),
    Known(
        "elements are arrays: a[0] += 0.5 of integers is the TypeError of a += 0.5",
        element_in_place,
    ),
    Known("full takes the numbers that its dtype holds, and as a bool any", full_rejects),
    Known(
        "mean, std and var take axis 0 of an array without axes, as sum does",
        lambda d: statistics(d) and raises(d, np.exceptions.AxisError, None),
    ),
    Known(
        "mean with an integer dtype= divides a total that does not wrap",
        lambda d: d.label == "mean" and is_value(d, "iu"),
    ),
    Known(
        "tril and triu of an array without axes: a ValueError, where NumPy trips over itself",
        lambda d: d.label in ("tril", "triu") and raises(d, TypeError, ValueError),
    ),
    Known(
        "a power that raises has written nothing, NumPy the elements before the wrong one",
        lambda d: d.label == "power" and "raised" in d.flags and is_value(d, "iufc"),
    ),
    Known(
        "where takes no Python integer beyond the other operand's type",
        lambda d: d.label == "where" and raises(d, None, OverflowError),
    ),
    Known(
        "0 times NaN or infinity is NaN in tensordot, too",
        lambda d: (
            d.label == "tensordot" and is_value(d, "fc") and np.isnan(d.found[d.differing]).all()
        ),
    ),
    Known(
        "logical functions take any Python integer",
        lambda d: d.label.startswith("logical_") and raises(d, OverflowError, None),
    ),
    Known(
        "one power of 0.5 is the square root of float16, too, but in NumPy's power, which is C's",
        square_root,
    ),
    Known(
        "a number of NumPy's is assigned as an array without axes is, by a cast",
        lambda d: (
            raises(d, (OverflowError, ValueError), None)
            and (d.line.endswith(")[()]") or re.match(r"\w+\[.*\] \S+= ", d.line) is not None)
        ),
    ),
    Known(
        "an out= that is read-only is rejected, also where nothing would be rounded",
        lambda d: d.label == "round" and raises(d, None, ValueError),
    ),
    Known(
        "the reciprocal of the integer 0 is 0; NumPy's is the processor's, and goes into out= so",
        lambda d: d.label == "reciprocal" and d.kind == "value" and "divide by zero" in d.flags,
    ),
    Known(
        "an index out of bounds is told before a complex number that fits no element",
        lambda d: d.label == "setitem" and raises(d, TypeError, IndexError) and "complex" in d.line,
    ),
    Known(
        "float16 is rounded in float32; NumPy first rounds it times 10**decimals to float16",
        lambda d: d.label == "round" and d.kind == "value" and d.expected.dtype.itemsize == 2,
    ),
    Known(
        "integers are rounded before they are put into an out= of floats, without a -0",
        lambda d: d.label == "round" and d.kind == "sign",
    ),
    Known(
        "what is assigned by positions is read first; NumPy reads what it has written already",
        lambda d: d.label == "setitem" and d.kind == "value" and "overlap" in d.flags,
    ),
    Known(
        "a real out= is rejected before complex numbers are rounded; NumPy has written by then",
        lambda d: (
            d.label == "round"
            and d.kind == "value"
            and kind(d.expected.dtype) != "c"
            and any(kind(a.dtype) == "c" for a in d.operands.values())
        ),
    ),
    Known(
        "the sign of a NaN that an operator made is the library's that computed it",
        lambda d: (
            d.label == "copysign"
            and bool(np.isnan(floats_of(d)).any())
            and compare.same(np.abs(d.found), np.abs(d.expected))
        ),
    ),
    Known(
        "the sign of a zero is 0, of bfloat16, too; ml_dtypes keeps -0",
        lambda d: d.label == "sign" and d.kind == "sign" and d.expected.dtype == BFLOAT16,
    ),
    Known(
        "NumPy may take the loop of bfloat16 for small integers, once that has been used",
        lambda d: d.kind == "dtype" and d.expected.dtype == BFLOAT16 and integers_alone(d),
    ),
    Known(
        "round takes bools with decimals",
        lambda d: d.label == "round" and raises(d, TypeError, None),
    ),
)
