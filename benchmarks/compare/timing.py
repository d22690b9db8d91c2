"""Times contestants in turns, so that whatever else the machine does meets all of them alike."""

from __future__ import annotations

import gc
import statistics
import time
import timeit
from collections.abc import Callable, Mapping, Sequence

from benchmarks.compare.model import OURS, Call, CaseResult, Column, Effort, Ratio

SETTLE_SECONDS = 0.15
"""Longer than OpenBLAS's threads look for work once they have had some, which is 0.1 seconds."""

Block = Callable[[int], float]
"""Runs a contestant that many times and returns the seconds it took."""

Rounds = dict[str, list[float]]
"""Nanoseconds a call in every round, by contestant."""

Table = Mapping[str, Mapping[str, Block]]
"""Blocks by case and contestant."""

LOOP = Call("pass")
LOOP_NAME = "the empty loop"


def block_of(call: Call) -> Block:
    """A block for a call in this process. timeit keeps the garbage collector off meanwhile."""
    setup = "\n".join(f"{name} = _names[{name!r}]" for name in call.names) or "pass"
    timer = timeit.Timer(
        call.statement, setup, time.perf_counter, globals={"_names": dict(call.names)}
    )
    return timer.timeit


def calibrate(block: Block, seconds: float) -> int:
    """How many calls take about that long. Warms the call up on the way."""
    calls = 1
    while (taken := block(calls)) < seconds / 4 and calls < 1 << 24:
        calls *= 2
    return max(1, round(calls * seconds / max(taken, 1e-9)))


class Row:
    """The contestants of one case: what each runs, how often a block, and what it took."""

    def __init__(self, blocks: Mapping[str, Block], effort: Effort) -> None:
        self.blocks = dict(blocks)
        self.calls = {
            name: calibrate(block, effort.block_seconds) for name, block in blocks.items()
        }
        self.rounds: Rounds = {name: [] for name in blocks}

    def turn(self, number: int, settle_seconds: float = 0.0) -> None:
        """Times a block of each, beginning with another one in every turn."""
        names = list(self.blocks)
        start = number % len(names)
        for name in names[start:] + names[:start]:
            if settle_seconds:
                time.sleep(settle_seconds)
            seconds = self.blocks[name](self.calls[name])
            self.rounds[name].append(seconds / self.calls[name] * 1e9)

    def without_loop(self) -> Rounds:
        """The rounds less the median of the empty loop, where that is among the contestants."""
        loop = self.rounds.get(LOOP_NAME)
        overhead = statistics.median(loop) if loop else 0.0
        return {
            name: [max(value - overhead, 0.0) for value in values]
            for name, values in self.rounds.items()
            if name != LOOP_NAME
        }


def in_turns(table: Table, effort: Effort, settle_seconds: float = 0.0) -> dict[str, Row]:
    """Measures a table, a round of every row before the next round of any.

    So a row's rounds lie far apart, and a burst of other work on the machine spoils few of them.
    settle_seconds is slept before a block, for contestants with thread pools that spin a while.
    """
    rows = {case: Row(blocks, effort) for case, blocks in table.items()}
    gc.collect()
    for number in range(effort.rounds):
        for row in rows.values():
            row.turn(number, settle_seconds)
    return rows


def column(values: Sequence[float], calls: int = 1) -> Column:
    """Median and quartiles of the rounds; of a single round that value."""
    low = median = high = values[0]
    if len(values) > 1:
        low, median, high = statistics.quantiles(values, n=4, method="inclusive")
    return Column(median, low, high, calls)


def summarize(
    rounds: Mapping[str, Sequence[float]], calls: Mapping[str, int], ours: str = OURS
) -> CaseResult:
    """Medians, quartiles, and the ratios of ours to every other contestant."""
    columns = {}
    for name, values in rounds.items():
        columns[name] = column(values, calls.get(name, 1))
    ratios = {}
    for name, values in rounds.items():
        if ours not in rounds or name == ours or columns[name].median <= 0:
            continue
        pairs = zip(rounds[ours], values, strict=True)
        of_rounds = statistics.median(a / b for a, b in pairs if b > 0)
        ratios[name] = Ratio(columns[ours].median / columns[name].median, of_rounds)
    return CaseResult(columns, ratios)


def compare(
    table: Table, effort: Effort, loop: Block, ours: str, settle_seconds: float = 0.0
) -> dict[str, CaseResult]:
    """The rows of a table, less the cost of the loop itself. `loop` is an empty one."""
    with_loop = {case: {**blocks, LOOP_NAME: loop} for case, blocks in table.items()}
    rows = in_turns(with_loop, effort, settle_seconds)
    return {case: summarize(row.without_loop(), row.calls, ours) for case, row in rows.items()}
