"""Makes the calls of one version's tables for valgrind to count: what version_instructions.py runs.

It runs in the root of any version of the project and takes that version's own calls, so that it
needs nothing of this one.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

# The folder of this file has the modules of this version.
sys.path[0] = os.getcwd()

from benchmarks.compare import cases  # noqa: E402
from benchmarks.compare.model import OURS  # noqa: E402
from benchmarks.compare.timing import LOOP, block_of  # noqa: E402
from benchmarks.peers import elementwise_peers, mxffi_peer, roster  # noqa: E402

ELEMENTWISE = [(OURS, elementwise_peers.own_calls)]
LONG_VALUES = {
    name
    for table in (cases.ARRAY_IN, cases.ARRAY_OUT, cases.MAP_IN, cases.MAP_OUT)
    for name in (table[1000], cases.as_typed(table[1000]))
}


def main() -> None:
    """Writes the names of the cases, then makes the calls of each, with a mark before and after."""
    output, few, many = Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
    long_work = set(roster.Gathered(ELEMENTWISE).calls) | LONG_VALUES
    gathered = roster.Gathered([*roster.OWN, *ELEMENTWISE])
    calls = {name: row[OURS] for name, row in gathered.calls.items() if OURS in row}
    numbers = {name: few if name in long_work else many for name in calls}
    output.write_text(json.dumps([numbers, gathered.failures]))
    mark = mxffi_peer.library().mark
    blocks = [(block_of(LOOP), many)]
    blocks += [(block_of(calls[name]), number) for name, number in numbers.items()]
    for block, number in blocks:
        block(number)  # what happens at first only
    mark()
    for block, number in blocks:
        block(number)
        mark()


if __name__ == "__main__":
    main()
