"""Runs torch's own samples of modules and operators through the optimizer:

    python -m tests.sol.samples [--turn 3] [--samples 4] [NAME ...]

All of them take half an hour. What is rejected, or meant to differ, is in `known.py`; anything
else is printed, and the exit status is 1 then.
"""

from __future__ import annotations

import argparse
import faulthandler
import sys

import torch

import mx
from mx.importers.torch._rule import rules

from . import known
from .compared import outcome
from .of_torch import TURNS, modules, operators


def judged(name: str, state: str, words: str) -> str:
    """What is unexpected of an outcome, in words."""
    if state == "rejected" and not any(one in words for one in (*known.NO_RULE, *known.REJECTED)):
        return f"rejected: {words}"
    if state == "wrong" and name not in known.DIFFERENT:
        return f"wrong: {words}"
    return ""


def main() -> int:
    parser = argparse.ArgumentParser(prog="tests.sol.samples")
    parser.add_argument("names", nargs="*", help="operators and modules, all of the turn if none")
    parser.add_argument("--turn", type=int, choices=range(TURNS), help="one of the parts, not all")
    parser.add_argument("--samples", type=int, default=4, help="at most so many of each operator")
    parser.add_argument("--verbose", action="store_true", help="print each outcome")
    options = parser.parse_args()
    faulthandler.enable()
    # They are too small to be shared between threads.
    torch.set_num_threads(1)
    mx.set_num_threads(1)
    given = [str(one) for one in rules()]
    imported = [one for one in known.NO_RULE if any(rule.startswith(one) for rule in given)]
    for operator in imported:
        print(f"{operator} has a rule: its line of NO_RULE is no longer true")
    unexpected, counts = len(imported), {"right": 0, "rejected": 0, "wrong": 0, "none": 0}
    for family in (modules, operators):
        for name, samples in family(options.turn, options.samples):
            if (options.names and name not in options.names) or name in known.LEFT_OUT:
                continue
            for sample in samples:
                # Where the process ends, this is what it was at.
                print(f"\r{sample.name}", end="", file=sys.stderr, flush=True)
                state, words = outcome(sample, name not in known.RANDOM)
                counts[state] += 1
                said = judged(name, state, words)
                unexpected += bool(said)
                if said or options.verbose:
                    print(f"{sample.name}: {said or f'{state}: {words}'}", flush=True)
    print(", ".join(f"{count} {state}" for state, count in counts.items()))
    return int(unexpected > 0)


if __name__ == "__main__":
    sys.exit(main())
