"""What the bench_<topic>.py files share: their parameters, and the timing of one of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from benchmarks.compare.model import Call
from benchmarks.compare.timing import block_of
from benchmarks.peers.roster import Gathered, Loader

ROUNDS = 20


def parameters(loaders: Sequence[Loader], order: Sequence[str]) -> list[Any]:
    """A parameter set (case, column, call) each; one that skips or fails for each left out.

    What is left out has its reason as the case and no call. It fails where it is this project's.
    """
    gathered = Gathered(loaders)
    found = [
        pytest.param(case, column, call, id=f"{case}: {column}")
        for case in order
        for column, call in gathered.calls.get(case, {}).items()
    ]
    left_out = [
        pytest.param(
            note,
            "",
            None,
            id=note[:60],
            marks=() if note in gathered.failures else pytest.mark.skip(reason=note),
        )
        for note in gathered.notes
    ]
    return found + left_out


def time_call(benchmark: Any, case: str, column: str, call: Call | None, calls: int) -> None:
    """Times blocks of so many calls; with a thousand, a row's microseconds are ns a call."""
    if call is None:
        pytest.fail(case)
    benchmark.extra_info.update(column=column, calls=calls)
    benchmark.pedantic(block_of(call), args=(calls,), rounds=ROUNDS, warmup_rounds=1)
