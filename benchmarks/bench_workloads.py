"""Small arrays against NumPy and PyTorch. A row's microseconds are nanoseconds a call."""

from __future__ import annotations

from typing import Any

import pytest

from benchmarks.compare import cases
from benchmarks.compare.fixtures import parameters, time_call
from benchmarks.compare.model import Call
from benchmarks.peers import roster


@pytest.mark.parametrize(("case", "column", "call"), parameters(roster.WORKLOADS, cases.WORKLOADS))
def test_workloads(benchmark: Any, case: str, column: str, call: Call | None) -> None:
    """A thousand calls of one workload."""
    time_call(benchmark, case, column, call, calls=1000)
