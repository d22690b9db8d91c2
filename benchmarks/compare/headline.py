"""The few ratios that the README shows, between two marks."""

from __future__ import annotations

import re
from collections.abc import Mapping

from benchmarks.compare import cases, targets
from benchmarks.compare.model import GroupResult
from benchmarks.compare.report import markdown_table

BEGIN = "<!-- benchmarks:begin -->"
END = "<!-- benchmarks:end -->"

INTRODUCTION = """\
What it costs: ratios of medians, ours divided by the other, of one run on the machine that
docs/benchmarks.md names (smaller is better; the times are there too):
"""

# A row's text, its group, its case, and the column that ours is compared with.
SHOWN = (
    ("`library.f()`", "calls", cases.as_typed(cases.NO_ARGUMENTS), "nanobind"),
    (f"`library.{cases.ZEROS}`", "calls", cases.as_typed(cases.ZEROS), targets.TVM),
    ("`library.f(array)`, NumPy's", "calls", cases.as_typed(cases.NUMPY_IN), "nanobind"),
    ("`library.f(tensor)`, PyTorch's", "calls", cases.as_typed(cases.TORCH_IN), targets.TVM),
    ("`library.f(g)`, which calls `g`", "calls", cases.as_typed(cases.CALLBACK), "nanobind"),
    ("`mx.np.zeros((3, 4))`", "workloads", cases.as_typed(cases.NP_ZEROS), "numpy"),
    ("`a + b`, 2 x 2", "workloads", cases.NP_ADD, "numpy"),
)


def headline(results: Mapping[str, GroupResult]) -> str:
    """The table of those ratios that a run has measured."""
    rows = []
    for text, group, case, column in SHOWN:
        value = targets.ratio(group, case, column)(results)
        if value is not None:
            rows.append([text, column, f"{value:.3g}"])
    return INTRODUCTION + "\n" + markdown_table(["what", "against", "ratio"], rows)


def with_headline(readme: str, results: Mapping[str, GroupResult]) -> str:
    """The README with the table of a run in place of the former one."""
    marked = re.compile(f"{re.escape(BEGIN)}\n.*{re.escape(END)}", re.S)
    text = f"{BEGIN}\n{headline(results)}{END}"
    return marked.sub(lambda _: text, readme)
