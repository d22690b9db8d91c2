"""Time to import a package, as the wall time of a fresh interpreter that does only that."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from dataclasses import replace

from benchmarks.compare.model import CaseResult, Effort, GroupResult
from benchmarks.compare.timing import Block, in_turns, summarize

BARE = "bare interpreter"
FFI = "import ffi"
MX = "import mx"
NUMPY = "import numpy"
WALL = "wall time"
OVER_BARE = "over a bare interpreter"
OVER_NUMPY = "over importing numpy"

# As users start it: with byte code kept, whatever this run was started with.
ENVIRONMENT = {key: v for key, v in os.environ.items() if key != "PYTHONDONTWRITEBYTECODE"}

STATEMENTS = {
    BARE: "pass",
    FFI: "import ffi",
    NUMPY: "import numpy",
    MX: "import mx",
    "import tvm_ffi": "import tvm_ffi",
    "import torch": "import torch",
}


def interpreter(statement: str) -> Block:
    """A block that starts an interpreter for a statement."""

    command = [sys.executable, "-c", statement]

    def block(number: int) -> float:
        start = time.perf_counter()
        for _ in range(number):
            subprocess.run(command, env=ENVIRONMENT, check=True, stderr=subprocess.DEVNULL)
        return time.perf_counter() - start

    return block


def importable(statement: str) -> bool:
    """Whether the statement runs. Compiles the package's byte code on the way."""
    command = [sys.executable, "-c", statement]
    ran = subprocess.run(command, env=ENVIRONMENT, stderr=subprocess.DEVNULL, check=False)
    return ran.returncode == 0


def imports(effort: Effort) -> GroupResult:
    """Import times in milliseconds, taken in turns; differences are taken within a round."""
    result = GroupResult("Import", "ms")
    present = {name: text for name, text in STATEMENTS.items() if importable(text)}
    for name in STATEMENTS.keys() - present.keys():
        note = f"{name} does not run here"
        result.notes.append(note)
        if name in (FFI, MX):
            result.failures.append(note)
    blocks = {name: interpreter(text) for name, text in present.items()}
    once = replace(effort, rounds=effort.process_rounds, block_seconds=1e-6)
    rounds = in_turns({WALL: blocks}, once)[WALL].rounds
    walls = {name: [value / 1e6 for value in values] for name, values in rounds.items()}
    for name, values in walls.items():
        shown = {WALL: values}
        for column, base in ((OVER_BARE, BARE), (OVER_NUMPY, NUMPY)):
            if base in walls and name != base and (base == BARE or name == MX):
                shown[column] = [a - b for a, b in zip(values, walls[base], strict=True)]
        columns = summarize(shown, {}).columns
        result.cases[name] = CaseResult(columns)
    return result
