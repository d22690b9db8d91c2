"""Every operator, indexing form and method against NumPy, by size, data type and layout.

Rows come from the registry and from the class of arrays, so that what is added there is measured
or, where this knows no operands for it, fails. As a program it prints every row:
`python -m benchmarks.compare.operators [PATTERN ...] [--size N] [--dtype D] [--layout L]`, each
with its ratio, ours / NumPy, and nanoseconds of both; a pattern is looked for in an expression.
"""

from __future__ import annotations

import argparse
import gc
import math
import statistics
import time
import warnings
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy

from benchmarks.compare import operator_rows as rows
from benchmarks.compare.model import QUICK, RATIO, CaseResult, Column, Effort, GroupResult
from benchmarks.compare.operator_rows import DTYPES, LAYOUTS, SIZES, VIEWS, Row
from benchmarks.compare.timing import SETTLE_SECONDS

TITLE = "Every operator, method and index against NumPy: ours / NumPy"
SLOW = 1.1
ALL_ROWS = "geometric mean of all rows"
VIEW_ROWS = "geometric mean of views and integer indices"
HIGHEST = "the highest row"
# Of a row: the least of so many blocks of each, which take turns, and how long a block takes.
ROUNDS = 7
BLOCK_SECONDS = 0.0002
# After a pause: a thread that was asleep takes up to a millisecond to come, of either side.
WARM_UP_SECONDS = 0.005
# A row that takes longer has fewer rounds.
ROW_SECONDS = 0.03
FEWEST_ROUNDS = 2
# A row above SLOW is measured so many times more once all others have been, and its median counts:
# other work on the machine meets some row of thousands each time, and seldom the same one. Then it
# has so many times as many rounds.
REPEATS = 2
MORE_ROUNDS = 5


@dataclass(frozen=True)
class Setting:
    """What a row is measured on."""

    dtype: str
    size: int
    layout: str


@dataclass(frozen=True)
class Measured:
    """Seconds of a run of each side, the least that was seen."""

    row: Row
    setting: Setting
    ours: float
    numpys: float

    @property
    def ratio(self) -> float:
        """Ours divided by NumPy's."""
        return self.ours / self.numpys


# What NumPy hands to OpenBLAS.
OF_BLAS = ("dot(", "inner(", "matmul(", "@")

Block = Callable[[int], float]


def block_of(text: str, names: dict[str, Any]) -> Block:
    """A function that runs a statement so many times and returns the seconds it took."""
    arguments = ", ".join(names)
    source = (
        f"def block(count, clock, {arguments}):\n"
        f"    repeat = [None] * count\n"
        f"    start = clock()\n"
        f"    for _ in repeat:\n"
        f"        {text}\n"
        f"    return clock() - start\n"
    )
    found: dict[str, Any] = {}
    exec(source, found)
    run = found["block"]
    values = tuple(names.values())
    return lambda count: run(count, time.perf_counter, *values)


def calibrated(block: Block) -> tuple[int, float]:
    """How many runs make a block, and the seconds of one."""
    count = 1
    block(count)  # what happens at first only
    while (taken := block(count)) < BLOCK_SECONDS / 2 and count < 1 << 20:
        count *= 4
    return max(1, math.ceil(count * BLOCK_SECONDS / max(taken, 1e-9))), taken / count


def warm_up(block: Block, count: int) -> None:
    """Runs a block until its threads, which a pause has put to sleep, are back at work."""
    end = time.perf_counter() + WARM_UP_SECONDS
    while time.perf_counter() < end:
        block(count)


def timed(
    sides: Sequence[Block], effort: Effort, times: int, settle_seconds: float
) -> tuple[float, ...]:
    """The least seconds of a run of each side; they take turns, after a pause.

    With `times` as many rounds as a row has by itself.
    """
    prepared = [calibrated(block) for block in sides]
    expected = sum(count * seconds for count, seconds in prepared)
    most = ROUNDS if effort is not QUICK else FEWEST_ROUNDS
    rounds = min(most, max(FEWEST_ROUNDS, int(ROW_SECONDS / max(expected, 1e-9)))) * times
    best = [math.inf] * len(sides)
    for number in range(rounds):
        for side in range(len(sides)) if number % 2 else reversed(range(len(sides))):
            count = prepared[side][0]
            if settle_seconds:
                time.sleep(settle_seconds)
                warm_up(sides[side], count)
            best[side] = min(best[side], sides[side](count) / count)
    time.sleep(settle_seconds)
    return tuple(best)


def namespaces(setting: Setting) -> tuple[dict[str, Any], dict[str, Any]]:
    """The names of both sides: ours, and NumPy's."""
    import mx

    of_numpy = rows.operands(setting.dtype, setting.size, setting.layout)

    def ours(value: Any) -> Any:
        if not isinstance(value, numpy.ndarray):
            return value
        base = value if value.base is None else value.base
        array = mx.np.array(base)
        return array if base is value else array[..., ::2]

    of_ours = {name: ours(value) for name, value in of_numpy.items()}
    return {"np": mx.np, "npx": mx.npx, **of_ours}, {"np": numpy, **of_numpy}


def rejection(text: str, names: dict[str, Any]) -> Exception | None:
    """What an expression raises on these operands."""
    try:
        exec(text, dict(names))
    except Exception as error:
        return error
    return None


def measure(
    wanted: Iterable[Row], setting: Setting, effort: Effort, failures: list[str], times: int
) -> Iterator[Measured]:
    """Measures rows in a setting, but for those whose operands NumPy rejects, too."""
    of_ours, of_numpy = namespaces(setting)
    for row in wanted:
        if setting.size > row.most or rejection(row.numpy_text, of_numpy):
            continue
        if error := rejection(row.text, of_ours):
            failures.append(f"{row.text}, {setting.dtype}: {error}")
            continue
        sides = [block_of(row.text, of_ours), block_of(row.numpy_text, of_numpy)]
        settle_seconds = SETTLE_SECONDS if is_of_blas(row, setting) else 0.0
        yield Measured(row, setting, *timed(sides, effort, times, settle_seconds))


def is_of_blas(row: Row, setting: Setting) -> bool:
    """Whether NumPy runs it on threads of OpenBLAS, which take a processor from what comes next."""
    return setting.size >= SIZES[2] and any(part in row.text for part in OF_BLAS)


def all_rows() -> tuple[list[Row], list[str]]:
    """The rows, and the names of operators and methods that have none."""
    import mx
    from mx import _registry

    functions = {**_registry.FUNCTIONS, **_registry.EXTENSION.public_functions()}
    operators = [name for name in functions if name not in _registry.ALIASES]
    methods = [name for name in dir(mx.np.ndarray) if name not in rows.NOT_COMPARED]
    methods = [name for name in methods if not name.startswith("_") or name.startswith("__")]
    found = [
        *rows.operator_rows(operators, functions),
        *rows.indexing_rows(),
        *rows.method_rows(methods),
    ]
    subjects = {row.subject for row in found}
    missing = [name for name in (*operators, *methods) if name not in subjects]
    return found, missing


def settings(
    dtypes: Collection[str] = DTYPES,
    sizes: Collection[int] = SIZES,
    layouts: Collection[str] = LAYOUTS,
) -> list[Setting]:
    """All settings of these."""
    return [
        Setting(dtype, size, layout) for size in sizes for dtype in dtypes for layout in layouts
    ]


def sweep(
    wanted: Sequence[Row],
    where: Iterable[Setting],
    effort: Effort,
    failures: list[str],
    times: int = 1,
) -> Iterator[Measured]:
    """Measures rows in settings, without warnings of what the operands do."""
    gc.collect()
    gc.disable()
    try:
        with warnings.catch_warnings(), numpy.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            for setting in where:
                yield from measure(wanted, setting, effort, failures, times)
    finally:
        gc.enable()


def repeated(measured: Sequence[Measured], effort: Effort) -> list[Measured]:
    """The same rows, those above SLOW as the median of what they are now and of some repeats."""
    found: dict[tuple[Setting, Row], list[Measured]] = defaultdict(list)
    again: dict[Setting, list[Row]] = defaultdict(list)
    for one in measured:
        found[one.setting, one.row].append(one)
        if one.ratio > SLOW:
            again[one.setting].append(one.row)
    for _ in range(REPEATS):
        for setting, slow in again.items():
            for one in sweep(slow, [setting], effort, [], MORE_ROUNDS):
                found[setting, one.row].append(one)
    return [
        sorted(all_of, key=lambda one: one.ratio)[len(all_of) // 2] for all_of in found.values()
    ]


def geometric_mean(values: Iterable[float]) -> float:
    """The mean of logarithms, as a number."""
    return math.exp(statistics.fmean(math.log(value) for value in values))


def figures(by_size: dict[int, float]) -> CaseResult:
    """A row of the table: a column for each size."""
    return CaseResult(
        {
            f"{size:,}": Column(by_size[size], by_size[size], by_size[size])
            for size in SIZES
            if size in by_size
        }
    )


def by_size(measured: Iterable[Measured]) -> dict[int, list[float]]:
    """The ratios of each size."""
    found: dict[int, list[float]] = defaultdict(list)
    for one in measured:
        found[one.setting.size].append(one.ratio)
    return found


def summary(measured: Sequence[Measured]) -> dict[str, CaseResult]:
    """The means, the highest ratio, and the highest of each expression that has one above SLOW."""
    everywhere = by_size(measured)
    views = by_size(one for one in measured if one.row.text in VIEWS)
    table = {
        ALL_ROWS: figures({size: geometric_mean(found) for size, found in everywhere.items()}),
        VIEW_ROWS: figures({size: geometric_mean(found) for size, found in views.items()}),
        HIGHEST: figures({size: max(found) for size, found in everywhere.items()}),
    }
    worst: dict[str, dict[int, float]] = defaultdict(dict)
    for one in measured:
        of_row, size = worst[one.row.text], one.setting.size
        of_row[size] = max(one.ratio, of_row.get(size, 0.0))
    ordered = sorted(worst.items(), key=lambda item: -max(item[1].values()))
    table |= {name: figures(found) for name, found in ordered if max(found.values()) > SLOW}
    return table


def operators(effort: Effort) -> GroupResult:
    """The table; an operator or method without a row is a failure, as is one that raises."""
    wanted, missing = all_rows()
    failures = [f"{name}: no row in benchmarks/compare/operator_rows.py" for name in missing]
    where = settings(sizes=SIZES[:1]) if effort is QUICK else settings()
    measured = list(sweep(wanted, where, effort, failures))
    if effort is not QUICK:
        measured = repeated(measured, effort)
    seen = {one.row for one in measured}
    failures += [f"{row.text}: NumPy rejects all operands" for row in wanted if row not in seen]
    slow = sum(one.ratio > SLOW for one in measured)
    notes = [
        f"{len(measured)} rows: {len(seen)} expressions on {', '.join(DTYPES)}, contiguous and "
        f"with every other element of an array; {slow} of them are above {SLOW}, and of their "
        "expressions the highest ratio of each size is shown.",
        "Each ratio is that of the least times of several blocks, which take turns; one above "
        f"{SLOW} is measured {REPEATS} times more at the end, in {MORE_ROUNDS} times as many "
        "blocks, and is the median.",
    ]
    return GroupResult(TITLE, RATIO, summary(measured), notes + failures, failures)


def main() -> None:
    """Prints what is asked for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("patterns", nargs="*")
    parser.add_argument("--size", type=int, action="append")
    parser.add_argument("--dtype", action="append")
    parser.add_argument("--layout", action="append")
    options = parser.parse_args()
    wanted = [
        row
        for row in all_rows()[0]
        if not options.patterns or any(pattern in row.text for pattern in options.patterns)
    ]
    where = settings(options.dtype or DTYPES, options.size or SIZES, options.layout or LAYOUTS)
    found: list[Measured] = []
    failures: list[str] = []
    for one in sweep(wanted, where, Effort(), failures):
        found.append(one)
        at = one.setting
        print(
            f"{one.ratio:6.2f}  {one.row.text:32} {at.dtype:8} {at.size:8} {at.layout:10}"
            f" {one.ours * 1e9:12.0f} {one.numpys * 1e9:12.0f}",
            flush=True,
        )
    for size, ratios in by_size(found).items():
        print(f"{size:,}: geometric mean {geometric_mean(ratios):.3f} of {len(ratios)}")
    for failure in failures:
        print(failure)


if __name__ == "__main__":
    main()
