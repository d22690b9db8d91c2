"""The few ratios that the README shows, between two marks."""

from __future__ import annotations

import re
from collections.abc import Mapping

from benchmarks.compare import targets
from benchmarks.compare.model import GroupResult
from benchmarks.compare.report import markdown_table

BEGIN = "<!-- benchmarks:begin -->"
END = "<!-- benchmarks:end -->"

INTRODUCTION = """\
Ratios of medians, ours divided by the other, of one run on the machine that docs/benchmarks.md
names (smaller is better; the times are there too):
"""

# Products with two threads are left out: the threads of one BLAS spin while the other computes.
SHOWN = {
    "calls": (targets.CALLS, ""),
    "values": (targets.VALUES, ""),
    "libraries": (targets.LIBRARIES, "; ours of a library built in the run"),
    "inline": (targets.INLINE, ""),
    "workloads": (targets.WORKLOADS, ""),
    "large-one-thread": (targets.LARGE, ", one thread"),
}


def headline(results: Mapping[str, GroupResult]) -> str:
    """The table of those ratios that a run has measured."""
    rows = []
    for group, (limits, remark) in SHOWN.items():
        for case, column in limits:
            value = targets.ratio(group, case, column)(results)
            if value is not None:
                rows.append([f"`{case}`", column + remark, f"{value:.3g}"])
    return INTRODUCTION + "\n" + markdown_table(["what", "against", "ratio"], rows)


def with_headline(readme: str, results: Mapping[str, GroupResult]) -> str:
    """The README with the table of a run in place of the former one."""
    marked = re.compile(f"{re.escape(BEGIN)}\n.*{re.escape(END)}", re.S)
    text = f"{BEGIN}\n{headline(results)}{END}"
    return marked.sub(lambda _: text, readme)
