"""The instructions of the calls in the tables of two versions of the project, side by side.

`python -m benchmarks.compare.version_instructions FORMER [--pattern TEXT]`: FORMER is the root of a
checkout of another version, built in its own .venv by `make build`. Valgrind counts each version's
calls of the tables of calls, values, small arrays and operators in one process of its own. Prints a
row a case, and returns 1 where a row of this version takes more than 3 % more than the former's.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SCRIPT = Path(__file__).with_name("version_calls.py")
LIMIT = 1.03
# How often calls that work on many elements are made, and short ones.
FEW, MANY = 4, 400


@dataclass
class Counted:
    """Instructions of a call by case, less those of the loop, and what did not run."""

    cases: dict[str, float] = field(default_factory=dict)
    failures: list[str] = field(default_factory=list)


def interpreter(root: Path) -> str:
    """The Python of a checkout: that of its .venv, or this one for this checkout without one."""
    own = root / ".venv" / "bin" / "python"
    return str(own) if own.exists() else sys.executable


def totals(folder: Path) -> list[int]:
    """What callgrind counted between the marks, in their order."""
    files = sorted(folder.glob("counted.*"), key=lambda path: int(path.suffix[1:]))
    found = [re.search(r"^totals: (\d+)", path.read_text(), re.M) for path in files]
    return [int(match[1]) for match in found if match]


def count(root: Path, few: int = FEW, many: int = MANY) -> Counted:
    """Counts the calls of the version whose checkout is there."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        command = [
            *("valgrind", "--tool=callgrind", f"--callgrind-out-file={folder}/counted"),
            *(interpreter(root), str(SCRIPT), str(folder / "cases"), str(few), str(many)),
        ]
        # What threads that wait for work count depends on when they run.
        names = ("MXNET_NUM_THREADS", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS")
        environment = {**os.environ, **dict.fromkeys(names, "1"), "PYTHONHASHSEED": "0"}
        subprocess.run(command, cwd=root, env=environment, check=True, capture_output=True)
        numbers, failures = json.loads((folder / "cases").read_text())
        # The first is what happened before the first mark.
        loop, *found = totals(folder)[1:]
    overhead = loop / many
    cases = {
        case: total / number - overhead
        for (case, number), total in zip(numbers.items(), found, strict=False)
    }
    return Counted(cases, failures)


def main() -> int:
    """Prints the rows of both versions; 1 where one is above the limit or did not run."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("former", type=Path)
    parser.add_argument("--pattern", default="", help="only print cases that contain this")
    options = parser.parse_args()
    if not shutil.which("valgrind"):
        parser.error("valgrind is not installed")
    former, present = count(options.former.resolve()), count(ROOT)
    above = 0
    print(f"{'former':>12} {'present':>12} {'ratio':>7}")
    for case, value in present.cases.items():
        before = former.cases.get(case)
        if before is None or options.pattern not in case:
            continue
        ratio = value / before
        above += ratio > LIMIT
        mark = "  above" if ratio > LIMIT else ""
        print(f"{before:12.1f} {value:12.1f} {ratio:7.3f}  {case}{mark}")
    for failure in (*former.failures, *present.failures):
        print(failure)
    print(f"{above} rows above {LIMIT}")
    return 1 if above or present.failures else 0


if __name__ == "__main__":
    sys.exit(main())
