"""The Markdown page of a run."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from benchmarks.compare.model import OURS, RATIO, CaseResult, GroupResult
from benchmarks.compare.targets import Outcome

FORM_PREFIXES = ("nanobind ", "pybind11 ")

METHOD = """\
All contestants of a row take turns in one process: a round times a block of about two milliseconds
of each, with the garbage collector off, and begins with another one each time; every row has its
round before any has its next. A figure is the median over the rounds, less the cost of the empty
loop. A ratio is ours divided by the other's, of the medians and, in brackets, the median of the
ratios within a round. Contestants that cannot share a process take turns across processes. The GIL
is held during a call, except in the column `tvm-ffi`, which is its default.
"""

FORMS_NOTE = """\
The table above has the bindings' typed functions, which convert every argument to a C++ value, as
ours do. Other forms of the same functions follow: `handle` passes Python objects on unconverted
(`py::array` for an array), `args` takes any number of them, `function` is a `std::function`,
`buffer` a `py::buffer`.
"""


def duration(nanoseconds: float) -> str:
    """A time with a unit that suits it, in three or four digits."""
    for factor, unit in ((1e9, "s"), (1e6, "ms"), (1e3, "µs")):
        if abs(nanoseconds) >= factor * 0.9995:
            return f"{nanoseconds / factor:.2f} {unit}"
    return f"{nanoseconds:.1f} ns"


def figure(value: float, unit: str) -> str:
    """A median in a table's unit."""
    if unit == RATIO:
        return f"{value:.2f}"
    return duration(value) if unit == "ns" else f"{value:,.1f} {unit}"


def markdown_table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A Markdown table; the first column is text and the others are figures."""
    lines = ["| " + " | ".join(header) + " |", "|---|" + "---:|" * (len(header) - 1)]
    lines += ["| " + " | ".join(row) + " |" for row in rows]
    return "\n".join(lines) + "\n"


def columns_of(cases: Mapping[str, CaseResult]) -> list[str]:
    """All columns, in the order in which rows first have them."""
    return list(dict.fromkeys(name for case in cases.values() for name in case.columns))


def times(group: GroupResult, columns: Sequence[str], beside: Sequence[str] = ()) -> str:
    """The medians of some columns, in the rows that have any; `beside` are shown next to them."""
    shown = [*beside, *columns]

    def cell(case: CaseResult, column: str) -> str:
        found = case.columns.get(column)
        return figure(found.median, group.unit) if found else ""

    rows = [
        [f"`{name}`", *(cell(case, column) for column in shown)]
        for name, case in group.cases.items()
        if not case.columns.keys().isdisjoint(columns)
    ]
    return markdown_table(["", *shown], rows)


def ratios(group: GroupResult, columns: Sequence[str]) -> str:
    """The ratios of ours to some columns, or nothing where there are none."""
    rows = []
    for name, case in group.cases.items():
        found = [case.ratios.get(column) for column in columns]
        if any(found):
            shown = [f"{r.of_medians:.3g} ({r.of_rounds:.3g})" if r else "" for r in found]
            rows.append([f"`{name}`", *shown])
    return markdown_table(["ours divided by", *columns], rows) if rows else ""


def section(group: GroupResult) -> str:
    """A group's tables and notes."""
    columns = columns_of(group.cases)
    forms = [c for c in columns if c.startswith(FORM_PREFIXES)]
    shown = [c for c in columns if c not in forms]
    peers = list(dict.fromkeys(c for case in group.cases.values() for c in case.ratios))
    parts = [f"## {group.title}"]
    if group.cases:
        parts += [times(group, shown), ratios(group, [c for c in peers if c in shown])]
    if forms:
        ours = [OURS] if OURS in columns else []
        parts += [FORMS_NOTE, times(group, forms, ours), ratios(group, forms)]
    parts.append("\n".join(f"- {note}" for note in group.notes))
    return "\n\n".join(part.strip() for part in parts if part)


def targets_section(outcomes: Sequence[Outcome]) -> str:
    """The targets and whether they were met."""
    words = {True: "met", False: "**not met**", None: "not measured"}
    rows = [[o.text, o.limit, o.measured or "", words[o.met]] for o in outcomes]
    met = sum(o.met is True for o in outcomes)
    return "\n\n".join(
        [
            f"## Targets: {met} of {len(outcomes)} met",
            markdown_table(["ours", "target", "measured", ""], rows),
        ]
    )


def page(
    environment: Mapping[str, str],
    results: Mapping[str, GroupResult],
    outcomes: Sequence[Outcome],
    chart: str,
) -> str:
    """The whole page. `chart` is the image's address relative to it."""
    facts = "\n".join(f"| {key} | {value} |" for key, value in environment.items())
    parts = [
        "# Benchmarks",
        f"Written by `{environment['command']}`; do not edit.",
        f"![Cost of a call through each binding]({chart})",
        METHOD,
        targets_section(outcomes),
        *(section(group) for group in results.values()),
        f"## Environment\n\n| | |\n|---|---|\n{facts}",
    ]
    return "\n\n".join(part.strip() for part in parts) + "\n"
