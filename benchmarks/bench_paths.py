"""The same calls on the Cython and the ctypes path, a process each.

A row's microseconds are nanoseconds a call.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any

import pytest

from benchmarks.compare import cases
from benchmarks.compare.fixtures import ROUNDS
from benchmarks.compare.paths import ENVIRONMENTS, start_workers
from benchmarks.compare.worker import Worker

CALLS = 1000


@pytest.fixture(scope="module")
def workers() -> Iterator[dict[str, Worker]]:
    """A process on each path."""
    with ExitStack() as stack:
        yield start_workers(stack)


@pytest.mark.parametrize("path", ENVIRONMENTS)
@pytest.mark.parametrize("case", [*cases.WORKLOADS, *cases.CALLS])
def test_paths(benchmark: Any, workers: dict[str, Worker], case: str, path: str) -> None:
    """A thousand calls on one path."""
    worker = workers[path]
    if case not in worker.cases:
        pytest.skip(f"not a case of ours here: {case}")
    benchmark.pedantic(worker.block(case), args=(CALLS,), rounds=ROUNDS, warmup_rounds=1)
