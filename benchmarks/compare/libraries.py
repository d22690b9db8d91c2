"""An op of a library built in the run against the same op built into the package."""

from __future__ import annotations

from dataclasses import replace

from benchmarks.compare import cases
from benchmarks.compare.model import OURS, Effort, GroupResult
from benchmarks.compare.paths import failed
from benchmarks.compare.timing import LOOP_NAME, Rounds, in_turns, summarize
from benchmarks.compare.worker import Worker, WorkerError
from benchmarks.peers.mxffi_peer import BUILT_IN

COLUMNS = (OURS, BUILT_IN)
ROUNDS_FACTOR = 4  # the two should differ by less than other tables can tell


def libraries(effort: Effort) -> GroupResult:
    """Times both in turns, in several processes: where the code of each lies makes a difference."""
    result = GroupResult("An op of a library built in the run, and the same op built in", "ns")
    rounds: dict[str, Rounds] = {}
    for _ in range(effort.process_pairs):
        try:
            with Worker({}) as worker:
                measure(worker, effort, rounds)
        except WorkerError as error:
            return failed(result, error)
    for case, values in rounds.items():
        result.cases[case] = summarize(values, {})
    if not result.cases:
        result.notes.append("left out: the library could not be built")
    return result


def measure(worker: Worker, effort: Effort, rounds: dict[str, Rounds]) -> None:
    """Adds the rounds of one process, by case."""
    table = {
        case: {name: worker.block(cases.in_column(case, name)) for name in COLUMNS}
        | {LOOP_NAME: worker.block(LOOP_NAME)}
        for case in cases.LIBRARY
        if cases.in_column(case, OURS) in worker.cases
    }
    many = replace(effort, rounds=effort.rounds * ROUNDS_FACTOR)
    for case, row in in_turns(table, many).items():
        for name, values in row.without_loop().items():
            rounds.setdefault(case, {}).setdefault(name, []).extend(values)
