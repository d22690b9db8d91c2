"""Large products, which should cost what the BLAS beneath costs."""

from __future__ import annotations

from typing import Any

import pytest

from benchmarks.compare import cases
from benchmarks.compare.fixtures import parameters, time_call
from benchmarks.compare.model import Call
from benchmarks.peers import roster


@pytest.mark.parametrize(("case", "column", "call"), parameters(roster.LARGE, cases.LARGE))
def test_large(benchmark: Any, case: str, column: str, call: Call | None) -> None:
    """One product."""
    time_call(benchmark, case, column, call, calls=1)
