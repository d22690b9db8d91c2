"""The argument cases through every binding. A row's microseconds are nanoseconds a call."""

from __future__ import annotations

from typing import Any

import pytest

from benchmarks.compare import cases
from benchmarks.compare.fixtures import parameters, time_call
from benchmarks.compare.model import Call
from benchmarks.peers import roster


@pytest.mark.parametrize(("case", "column", "call"), parameters(roster.CALLS, cases.CALLS))
def test_calls(benchmark: Any, case: str, column: str, call: Call | None) -> None:
    """A thousand calls with one kind of argument."""
    time_call(benchmark, case, column, call, calls=1000)
