"""The processor instructions of a call, which other work on the machine does not change.

As a program, which valgrind runs: `python -m benchmarks.compare.instructions` makes the calls and
marks the points between which they are counted.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from benchmarks.compare import cases
from benchmarks.compare.model import OURS, Effort, GroupResult
from benchmarks.compare.paths import failed
from benchmarks.compare.timing import LOOP, block_of, summarize
from benchmarks.peers.build import MissingPeer
from benchmarks.peers.mxffi_peer import BUILT_IN, library, library_calls

ROOT = Path(__file__).resolve().parents[2]
TITLE = "Instructions of a call of a library's op, and of the same op built in"
VALGRIND = "valgrind"
NUMBER = 2_000
COLUMNS = (OURS, BUILT_IN)


def make_calls() -> None:
    """Makes many calls of each contestant, with a mark before and after."""
    table, mark = library_calls(), library().mark
    calls = [table[case][column] for case in cases.LIBRARY for column in COLUMNS]
    blocks = [block_of(call) for call in (LOOP, *calls)]
    for block in blocks:
        block(NUMBER)  # what happens at first only
    mark()
    for block in blocks:
        block(NUMBER)
        mark()


def counted() -> list[float]:
    """Instructions of an iteration of the empty loop and then of each contestant's."""
    with tempfile.TemporaryDirectory() as folder:
        command = [
            *(VALGRIND, "--tool=callgrind", f"--callgrind-out-file={folder}/counted"),
            *(sys.executable, "-m", "benchmarks.compare.instructions"),
        ]
        subprocess.run(
            command,
            cwd=ROOT,
            env={**os.environ, "PYTHONHASHSEED": "0"},
            check=True,
            capture_output=True,
            text=True,
        )
        # A file at each mark, with what was counted since the one before.
        files = sorted(Path(folder).glob("counted.*"), key=lambda path: int(path.suffix[1:]))
        totals = [re.findall(r"^totals: (\d+)", path.read_text(), re.M) for path in files]
    return [int(total) / NUMBER for (total,) in totals[1 : 2 + len(cases.LIBRARY) * len(COLUMNS)]]


def instructions(_: Effort) -> GroupResult:
    """Counts with valgrind, where that is installed."""
    result = GroupResult(TITLE, "instructions")
    try:
        if not shutil.which(VALGRIND) or not hasattr(library(), "mark"):
            raise MissingPeer(f"{VALGRIND}, with its headers, is not installed")
        loop, *values = counted()
    except MissingPeer as error:
        result.notes.append(f"left out: {error}")
        return result
    except subprocess.CalledProcessError as error:
        return failed(result, RuntimeError(error.stderr.strip()[-600:]))
    for index, case in enumerate(cases.LIBRARY):
        pair = values[index * len(COLUMNS) :][: len(COLUMNS)]
        found = {name: [value - loop] for name, value in zip(COLUMNS, pair, strict=True)}
        result.cases[case] = summarize(found, dict.fromkeys(COLUMNS, NUMBER))
    return result


if __name__ == "__main__":
    make_calls()
