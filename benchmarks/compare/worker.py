"""A contestant in another process, for what one process cannot hold twice.

The two paths of the boundary, and a small and a grown registry, exclude each other in a process. A
worker times blocks there when told to, so that they still take turns with the others: only one of
the processes runs at a time.
"""

from __future__ import annotations

import gc
import json
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from benchmarks.compare import cases
from benchmarks.compare.model import OURS, Call
from benchmarks.compare.timing import LOOP, LOOP_NAME, Block, block_of

ROOT = Path(__file__).resolve().parents[2]
WARM_UP_CALLS = 10_000
# Above so much memory that calls leave behind it is looked at so many times more.
MUCH_BYTES = 64 << 10
MORE_RUNS = 2


class WorkerError(RuntimeError):
    """A worker could not start or could not run a case; the message has its own words."""


class Worker:
    """A worker process, seen from outside. Use it in a `with` statement."""

    def __init__(self, environment: Mapping[str, str], registered: int = 0) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", "benchmarks.compare.worker", str(registered)],
            cwd=ROOT,
            env={**os.environ, **environment},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        try:
            ready = self._answer()
        except WorkerError:
            self.close()
            raise
        self.cases: list[str] = ready["cases"]
        self.failures: list[str] = ready["failures"]

    def __enter__(self) -> Worker:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Ends the process."""
        assert self._process.stdin is not None and self._process.stdout is not None
        self._process.stdin.close()
        self._process.wait()
        self._process.stdout.close()

    def block(self, case: str) -> Block:
        """The block of a case over there."""
        return lambda number: float(self._ask("time", case, number)["seconds"])

    def growth(self, case: str, number: int) -> int:
        """Bytes of resident memory that many calls leave behind."""
        return int(self._ask("growth", case, number)["bytes"])

    def _ask(self, action: str, case: str, number: int) -> dict[str, Any]:
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps([action, case, number]) + "\n")
        self._process.stdin.flush()
        return self._answer()

    def _answer(self) -> dict[str, Any]:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        answer: dict[str, Any] = json.loads(line) if line else {"error": "the worker ended"}
        if "error" in answer:
            raise WorkerError(answer["error"])
        return answer


def resident_bytes() -> int:
    """Resident memory of this process, from the kernel."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")


def growth(block: Block, number: int) -> int:
    """Bytes of resident memory that so many calls leave behind, once warm.

    Where that is much, the least of several such runs: what leaks grows in each of them, while what
    something takes once, such as the heap of a thread, is in one.
    """
    block(min(number, WARM_UP_CALLS))
    least = grown(block, number)
    for _ in range(MORE_RUNS):
        if least > MUCH_BYTES:
            least = min(least, grown(block, number))
    return least


def grown(block: Block, number: int) -> int:
    """Bytes of resident memory that so many calls leave behind now."""
    gc.collect()
    before = resident_bytes()
    block(number)
    gc.collect()
    return resident_bytes() - before


def own_calls(registered: int) -> tuple[dict[str, Call], list[str]]:
    """Our calls by case, after registering that many more functions, and what failed."""
    from benchmarks.peers import mxffi_peer, roster
    from benchmarks.peers.common import require

    ffi = require("ffi")
    body = mxffi_peer.built_in("nop").value
    for index in range(registered):
        ffi.register_func(f"benchmarks.filler_{index}", body)
    gathered = roster.Gathered(roster.OWN)
    found = {case: row[OURS] for case, row in gathered.calls.items()}
    twice = roster.Gathered(roster.LIBRARY).calls
    found |= {
        cases.in_column(case, column): call
        for case, row in twice.items()
        for column, call in row.items()
    }
    lookup = Call("f('testing.nop')", {"f": ffi.get_global_func})
    return {**found, cases.LOOKUP: lookup, LOOP_NAME: LOOP}, gathered.failures


def serve(calls: Mapping[str, Call]) -> None:
    """Answers requests, a line of JSON each, until standard input ends."""
    blocks: dict[str, Block] = {}
    for line in sys.stdin:
        action, case, number = json.loads(line)
        block = blocks.setdefault(case, block_of(calls[case]))
        if action == "time":
            block(max(1, number // 4))  # the caches, after the other worker's turn
            answer = {"seconds": block(number)}
        else:
            answer = {"bytes": growth(block, number)}
        print(json.dumps(answer), flush=True)


def main() -> None:
    """Serves on standard input and output, on the same core as the other workers."""
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    try:
        calls, failures = own_calls(int(sys.argv[1]))
    except Exception as error:
        print(json.dumps({"error": f"{type(error).__name__}: {error}"}), flush=True)
        return
    print(json.dumps({"cases": list(calls), "failures": failures}), flush=True)
    serve(calls)


if __name__ == "__main__":
    main()
