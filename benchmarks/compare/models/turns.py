"""Blocks of runs that take turns, and how two of them compare."""

from __future__ import annotations

import gc
import math
import random
import statistics
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from time import perf_counter, sleep

BLOCK_SECONDS = 0.1
# Longer than threads look for work after a last loop, those of torch's OpenMP and, for 50 ms, those
# of ONNX Runtime: they take a processor from whoever comes next.
SETTLE_SECONDS = 0.08
FEWEST_ROUNDS = 5
# What takes longer than this, in seconds, is not run untimed before: what the one before has left
# in caches is nothing of it.
LONG_RUN = 1.0

Run = Callable[[], object]


@dataclass(frozen=True)
class Turns:
    """Seconds of a run by name, a number for each round."""

    blocks: dict[str, list[float]]

    def seconds(self) -> dict[str, float]:
        """The medians."""
        return {name: statistics.median(block) for name, block in self.blocks.items()}

    def ratio(self, one: str, other: str) -> float:
        """What one takes divided by what the other takes, each time in the same round: a machine
        that others use swings by more within minutes than most of what is compared here."""
        pairs = zip(self.blocks[one], self.blocks[other], strict=True)
        return statistics.median(first / second for first, second in pairs)


def in_turns(runs: Mapping[str, Run], seconds: float) -> Turns:
    """Runs blocks of each for so many seconds each or longer, in another order in each round, so
    that nobody always comes behind the same one."""
    last = {}
    for name, run in runs.items():
        begin = perf_counter()
        run()
        last[name] = perf_counter() - begin
    repeats = {name: max(1, math.ceil(BLOCK_SECONDS / last[name])) for name in runs}
    blocks: dict[str, list[float]] = {name: [] for name in runs}
    shuffled = random.Random(0)
    gc.disable()
    end = perf_counter() + seconds * len(runs)
    rounds = 0
    while rounds < FEWEST_ROUNDS or perf_counter() < end:
        for name in shuffled.sample(list(runs), len(runs)):
            settle(runs[name], last[name])
            begin = perf_counter()
            for _ in range(repeats[name]):
                runs[name]()
            blocks[name].append((perf_counter() - begin) / repeats[name])
        rounds += 1
    gc.enable()
    return Turns(blocks)


def settle(run: Run, seconds: float) -> None:
    """Runs what takes about so many seconds, untimed, until what the one before has left in threads
    and caches is gone."""
    if seconds > LONG_RUN:
        sleep(SETTLE_SECONDS)
        return
    end = perf_counter() + SETTLE_SECONDS
    run()
    while perf_counter() < end:
        run()
