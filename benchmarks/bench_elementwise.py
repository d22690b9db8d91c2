"""Operators on large arrays against NumPy and PyTorch. A row's microseconds are those of a call."""

from __future__ import annotations

from typing import Any

import pytest

from benchmarks.compare import cases
from benchmarks.compare.fixtures import parameters, time_call
from benchmarks.compare.model import Call
from benchmarks.peers import roster


@pytest.mark.parametrize(
    ("case", "column", "call"), parameters(roster.ELEMENTWISE, cases.ELEMENTWISE)
)
def test_elementwise(benchmark: Any, case: str, column: str, call: Call | None) -> None:
    """One operator on one kind of array."""
    time_call(benchmark, case, column, call, calls=1)
