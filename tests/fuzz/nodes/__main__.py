"""Runs random nodes of ONNX's operators, and prints each difference:

python -m tests.fuzz.nodes [--cases 100] [--seed 1] [--with plan optimized] [OPERATOR ...]
"""

from __future__ import annotations

import argparse
import faulthandler
import os
import signal
import sys
import tempfile
import traceback
import warnings
from collections import Counter
from pathlib import Path

from .judge import EXECUTORS, judged
from .table import MAKERS, case_of


def run_one(operator: str, seed: int, names: list[str], doubts: bool) -> list[str]:
    """What is wrong with what some executors give for a case."""
    try:
        case = case_of(operator, seed)
    except Exception:
        return [f"no case: {traceback.format_exc()[-500:]}"]
    try:
        return [f"{one}\n    {case}" for one in judged(case, names, doubts)]
    except Exception:
        return [f"crash: {traceback.format_exc()[-900:]}\n    {case}"]


def child(work: list[tuple[str, int]], options: argparse.Namespace, at: Path, out: Path) -> None:
    """Runs cases and prints what is wrong; `at` has the one that is running."""
    faulthandler.enable()
    warnings.simplefilter("ignore")
    with out.open("a", encoding="utf-8") as file:
        for number, (operator, seed) in enumerate(work):
            at.write_text(str(number))
            for words in run_one(operator, seed, options.names, options.doubts):
                file.write(f"{operator}\n")
                file.flush()
                if Counter(out.read_text().split())[operator] <= options.most:
                    print(f"{operator} {seed} {words}", flush=True)


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz.nodes", description=__doc__)
    parser.add_argument("operators", nargs="*", help="all if there are none")
    parser.add_argument("--cases", type=int, default=50, help="of each operator")
    parser.add_argument("--seed", type=int, default=0, help="of the first case")
    parser.add_argument("--with", nargs="+", dest="names", default=["plan"], choices=EXECUTORS)
    parser.add_argument("--most", type=int, default=3, help="differences of an operator to print")
    parser.add_argument("--doubts", action="store_true", help="print where references differ")
    options = parser.parse_args()
    chosen = options.operators or sorted(MAKERS)
    work = [
        (operator, seed)
        for operator in chosen
        for seed in range(options.seed, options.seed + options.cases)
    ]
    folder = Path(tempfile.mkdtemp())
    at, out = folder / "at", folder / "out"
    out.touch()
    while work:
        pid = os.fork()
        if pid == 0:
            child(work, options, at, out)
            os._exit(0)
        _, status = os.waitpid(pid, 0)
        done = int(at.read_text()) + 1
        if status:
            operator, seed = work[done - 1]
            name = signal.Signals(os.WTERMSIG(status)).name if os.WIFSIGNALED(status) else status
            print(f"{operator} {seed} crash: {name}\n    {case_of(operator, seed)}", flush=True)
            with out.open("a") as file:
                file.write(f"{operator}\n")
        work = work[done:] if status else []
    counts = Counter(out.read_text().split())
    print(dict(counts))
    return int(bool(counts))


if __name__ == "__main__":
    sys.exit(main())
