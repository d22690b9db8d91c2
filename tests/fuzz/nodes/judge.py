"""Whether what executes a case is right: as the reference has it, or ONNX Runtime."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from . import execute, known
from .draw import Case
from .execute import Rejected, differences

EXECUTORS: dict[str, Callable[[Case], list[Any]]] = {
    "plan": execute.by_plan,
    "named": lambda case: execute.by_plan(case, named=True),
    "loaded": execute.by_loaded,
    "optimized": execute.by_optimized,
    "generated": execute.by_generated,
    "deployed": execute.by_deployed,
}


# Operators whose results are rounded to integers, of products in any order.
_ROUNDED = ("QLinearConv", "QLinearMatMul", "QuantizeLinear", "DynamicQuantizeLinear")


# What errors say of what somebody is not meant for.
_LIMITS = {
    # onnx's inference gives the last part of a Split less than nothing.
    "deployed": (
        "cannot be deployed",
        "expected a tensor, got seq",
        "has a negative extent",
    ),
    "optimized": ("expected a tensor, got seq",),
}


def outcome(run: Callable[[Case], list[Any]], case: Case) -> list[Any] | str:
    """The outputs, or why there are none."""
    try:
        return run(case)
    except Rejected as error:
        return str(error)


def judged(case: Case, names: Sequence[str], doubts: bool = False) -> list[str]:
    """What is wrong with what some executors give, in words."""
    reference = other = "it gives something else"
    if case.operator not in known.REFERENCE or doubts:
        reference = outcome(execute.by_reference, case)
    if case.operator not in known.ONNXRUNTIME or doubts:
        other = outcome(execute.by_onnxruntime, case)
    found = []
    for name in names:
        got = outcome(EXECUTORS[name], case)
        if isinstance(got, str) and any(words in got for words in _LIMITS.get(name, ())):
            continue
        words = verdict(got, reference, other, doubts, case.operator in _ROUNDED)
        if words:
            found.append(f"{name}: {words}")
    return found


def verdict(got: Any, reference: Any, other: Any, doubts: bool = False, most: int = 0) -> str:
    """What is wrong with outputs, in words: they are neither what the reference gives nor what
    ONNX Runtime does; with `doubts` where one of these gives something else."""
    if isinstance(got, str):
        has = [
            name
            for name, one in (("reference", reference), ("onnxruntime", other))
            if not isinstance(one, str)
        ]
        return f"rejects what {' and '.join(has)} give: {got}" if has else ""
    said = {
        name: differences(got, wanted, most)
        for name, wanted in (("reference", reference), ("onnxruntime", other))
        if not isinstance(wanted, str)
    }
    wrong = {name: words for name, words in said.items() if words}
    words = " | ".join(f"{name}: {one}" for name, one in wrong.items())
    if wrong and (len(wrong) == len(said) or doubts):
        return f"{'wrong' if len(wrong) == len(said) else 'doubtful'}: {words}"
    return ""
