"""What summaries say of the steps of plans, in one line."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from .lowering._segment import Step

# The backends of which Python executes a node.
_PYTHON = ("reference", "alone")


def names_of(operators: Iterable[str]) -> str:
    """Operators with how many nodes there are of each, the most frequent first."""
    return ", ".join(f"{name} x{count}" for name, count in Counter(operators).most_common())


def backends_of(steps: Iterable[Step]) -> str:
    """How many nodes each backend executes; a node counts once, however many plans it is in."""
    counts = Counter(step.backend for step in _once(steps))
    return ", ".join(f"{name} {count}" for name, count in counts.most_common())


def in_python(steps: Iterable[Step]) -> str:
    """The end of a summary, with the operators that Python executes; empty where there is none."""
    slow = names_of(step.node.op_type for step in _once(steps) if step.backend in _PYTHON)
    return f"; in Python: {slow}" if slow else ""


def _once(steps: Iterable[Step]) -> Iterable[Step]:
    return {step.node: step for step in steps}.values()
