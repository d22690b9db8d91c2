"""Times contestants in turns, so that whatever else the machine does meets all of them alike."""

from __future__ import annotations

import gc
import statistics
import time
import timeit
from collections.abc import Callable, Mapping, Sequence

from benchmarks.compare.model import OURS, Call, CaseResult, Column, Effort, Ratio

Block = Callable[[int], float]
"""Runs a contestant that many times and returns the seconds it took."""

Rounds = dict[str, list[float]]
"""Nanoseconds a call in every round, by contestant."""

LOOP = Call("pass")


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


def in_turns(
    blocks: Mapping[str, Block], effort: Effort, settle_seconds: float = 0.0
) -> tuple[Rounds, dict[str, int]]:
    """Nanoseconds a call in every round, and calls a block, of each contestant.

    Every round runs one block of each; the round's first contestant moves on by one each time.
    settle_seconds is slept before a block, for contestants with thread pools that spin a while.
    """
    calls = {name: calibrate(block, effort.block_seconds) for name, block in blocks.items()}
    names = list(blocks)
    rounds: Rounds = {name: [] for name in names}
    gc.collect()
    for turn in range(effort.rounds):
        start = turn % len(names)
        for name in names[start:] + names[:start]:
            if settle_seconds:
                time.sleep(settle_seconds)
            rounds[name].append(blocks[name](calls[name]) / calls[name] * 1e9)
    return rounds, calls


def summarize(
    rounds: Mapping[str, Sequence[float]], calls: Mapping[str, int], ours: str = OURS
) -> CaseResult:
    """Medians, quartiles, and the ratios of ours to every other contestant."""
    columns = {}
    for name, values in rounds.items():
        low, median, high = statistics.quantiles(values, n=4, method="inclusive")
        columns[name] = Column(median, low, high, calls.get(name, 1))
    ratios = {}
    for name, values in rounds.items():
        if ours not in rounds or name == ours or columns[name].median <= 0:
            continue
        pairs = zip(rounds[ours], values, strict=True)
        of_rounds = statistics.median(a / b for a, b in pairs if b > 0)
        ratios[name] = Ratio(columns[ours].median / columns[name].median, of_rounds)
    return CaseResult(columns, ratios)


def compare(
    contestants: Mapping[str, Call], effort: Effort, settle_seconds: float = 0.0
) -> CaseResult:
    """Times the contestants of one case in turns, less the cost of the loop itself."""
    blocks = {name: block_of(call) for name, call in contestants.items()}
    return compare_blocks(blocks, effort, block_of(LOOP), OURS, settle_seconds)


def compare_blocks(
    blocks: Mapping[str, Block],
    effort: Effort,
    loop: Block,
    ours: str,
    settle_seconds: float = 0.0,
) -> CaseResult:
    """The same for blocks that may run elsewhere; `loop` is the empty loop among them."""
    rounds, calls = in_turns_net(blocks, effort, loop, settle_seconds)
    return summarize(rounds, calls, ours)


def in_turns_net(
    blocks: Mapping[str, Block], effort: Effort, loop: Block, settle_seconds: float = 0.0
) -> tuple[Rounds, dict[str, int]]:
    """`in_turns`, less the median of the empty loop."""
    rounds, calls = in_turns({**blocks, "": loop}, effort, settle_seconds)
    overhead = statistics.median(rounds.pop(""))
    net = {name: [max(v - overhead, 0.0) for v in values] for name, values in rounds.items()}
    return net, calls
