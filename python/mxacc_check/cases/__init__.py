"""The operators that are tried: tables, and what makes their rows into calls of the library."""

from .case import Call, Case, call_of, expected_of
from .difference import TOLERANCES, difference
from .elements import NO_BFLOAT16
from .sections import SECTIONS, odd_bools

__all__ = [
    "NO_BFLOAT16",
    "SECTIONS",
    "TOLERANCES",
    "Call",
    "Case",
    "call_of",
    "difference",
    "expected_of",
    "odd_bools",
]
