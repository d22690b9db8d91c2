"""Reports for the terminal."""

from __future__ import annotations

import textwrap
from collections import Counter

from .report import (
    BROKEN,
    CONFORMING,
    FINDING,
    OK,
    SKIPPED,
    Counts,
    GroupReport,
    Matrix,
    Report,
    Result,
)

_WIDTH = 100
_SHOWN_REASONS = 10
_MARKS = {OK: "ok", FINDING: "FINDING", SKIPPED: "skipped", BROKEN: "BROKEN"}


def _plural(count: int, word: str) -> str:
    return f"{count} {word}{'' if count == 1 else 's'}"


def head(report: Report) -> str:
    """What was checked."""
    library = report.library
    told = [library.get("name") or "no name"]
    if library.get("release"):
        told.append(f"release {library['release']}")
    if "abi" in library:
        told.append(f"interface {library['abi']}")
    if "num_devices" in library:
        told.append(_plural(library["num_devices"], "device"))
    lines = [f"{report.path}: {', '.join(told)}"]
    devices = library.get("devices", [])
    if 0 <= report.device < len(devices):
        device = devices[report.device]
        names = [device[key] for key in ("name", "vendor", "driver") if device[key]]
        flags = f" [{', '.join(device['flags'])}]" if device["flags"] else ""
        lines.append(f"device {report.device}: {', '.join(names) or 'not described'}{flags}")
    return "\n".join(lines)


def _counts(results: list[Result]) -> str:
    counts = Counter(result.status for result in results)
    told = [f"{counts[OK]} ok"] if counts[OK] else []
    findings = counts[FINDING]
    if findings:
        told.append(_plural(findings, "finding"))
    if counts[BROKEN]:
        told.append(f"{counts[BROKEN]} broken")
    if counts[SKIPPED]:
        told.append(f"{counts[SKIPPED]} skipped")
    cases = sum(result.cases for result in results)
    rejected = sum(result.rejected for result in results)
    if cases:
        told.append(f"{_plural(cases, 'case')}" + (f", {rejected} rejected" if rejected else ""))
    return ", ".join(told)


def group(done: GroupReport, verbose: bool = False) -> str:
    """One line for a group; all its checks if verbose; and what there is to say of them."""
    reasons = {result.reason for result in done.results if result.status == SKIPPED}
    all_skipped = all(result.status == SKIPPED for result in done.results)
    counts = (
        f"skipped: {reasons.pop()}" if all_skipped and len(reasons) == 1 else _counts(done.results)
    )
    where = "" if done.device is None else f"device {done.device}: "
    lines = [f"{done.name:<10} {where}{counts}"]
    for result in done.results:
        if verbose or result.status in (FINDING, BROKEN):
            lines += _result(result, verbose)
    return "\n".join(lines)


def _result(result: Result, verbose: bool) -> list[str]:
    mark = _MARKS[result.status]
    lines = [f"  {mark:<8} {result.id}: {result.title}"]
    if verbose:
        lines[0] += f" ({result.cases} cases, {result.seconds:.2f} s)" if result.cases else ""
    if result.status == BROKEN or (verbose and result.reason):
        lines.append(textwrap.indent(result.reason.rstrip(), " " * 11))
    for finding in result.findings:
        rows = {
            "at": finding.at,
            "expected": finding.expected,
            "got": finding.got,
            "header": f'"{finding.says}"',
        }
        for name, text in rows.items():
            if text:
                lines.append(_row(name, text))
    if result.more_findings:
        lines.append(f"{'':11}and {_plural(result.more_findings, 'case')} like these")
    if verbose:
        lines += [_row("note", note) for note in result.notes]
        lines += [_row("rejected", text) for text in _rejections(result)]
    return lines


def _rejections(result: Result) -> list[str]:
    """Reasons for what is rejected, the most frequent first."""
    found = sorted(result.rejections, key=lambda one: -one.cases)
    told = [
        f"{_plural(one.cases, 'case')}, such as {one.example}: {one.reason}"
        for one in found[:_SHOWN_REASONS]
    ]
    rest = found[_SHOWN_REASONS:]
    if rest:
        cases = _plural(sum(one.cases for one in rest), "case")
        told.append(f"{cases} for {_plural(len(rest), 'other reason')}")
    return told


def _row(name: str, text: str) -> str:
    first, *rest = text.splitlines() or [""]
    lines = textwrap.wrap(first, _WIDTH - 22) or [""]
    for line in rest:
        lines += textwrap.wrap(line, _WIDTH - 22)
    return f"{'':11}{name:<9}  " + f"\n{'':22}".join(lines)


def mark(counts: Counts | None) -> str:
    """How an operator in one type did, as one sign."""
    if counts is None:
        return " "
    if counts.wrong:
        return "!"
    return "-" if not counts.ran else "+" if counts.ran == counts.tried else "~"


def counts_of(whole: Matrix) -> str:
    """How much of all operators ran."""
    ran = [name for name, row in whole.items() if any(one.ran for one in row.values())]
    cells = [counts for row in whole.values() for counts in row.values()]
    done, tried = sum(one.ran for one in cells), sum(one.tried for one in cells)
    return f"{len(ran)} of {_plural(len(whole), 'operator')} ran, {done} of {tried} cases"


def dtypes_of(whole: Matrix) -> list[str]:
    """The columns of the matrix."""
    return list(dict.fromkeys(dtype for row in whole.values() for dtype in row))


def matrix(report: Report) -> list[str]:
    """Which operators ran in which types; those that are alike share a line."""
    whole = report.operators()
    if not whole:
        return []
    lines = [counts_of(whole)]
    dtypes = dtypes_of(whole)
    alike: dict[str, list[str]] = {}
    for name, row in sorted(whole.items()):
        if any(one.ran for one in row.values()):
            signs = "".join(f"{mark(row.get(dtype)):^{len(dtype) + 1}}" for dtype in dtypes)
            alike.setdefault(signs, []).append(name)
    lines.append("  + all cases ran, ~ some, - none, ! some came out wrong; blank: not tried")
    lines.append("  " + " ".join(dtypes))
    for signs, names in alike.items():
        lines.append(f"  {signs.rstrip()}")
        indent = " " * 6
        lines += textwrap.wrap(
            ", ".join(names), _WIDTH, initial_indent=indent, subsequent_indent=indent
        )
    return lines


def notes(report: Report) -> list[str]:
    """What the contract allows and one may want to know."""
    told = {note: result.id for result in report.results() for note in result.notes}
    found = [f"{name}: {note}" for note, name in told.items()]
    return [textwrap.fill(f"note: {text}", _WIDTH, subsequent_indent=" " * 6) for text in found]


def end(report: Report) -> str:
    """The verdict."""
    results = list(report.results())
    findings = sum(result.status == FINDING for result in results)
    if report.verdict != CONFORMING and report.failure:
        return f"{report.verdict}: {report.failure}"
    checks = _plural(len(results), "check")
    return f"{report.verdict}: {checks}, {_plural(findings, 'finding')}, {report.seconds:.1f} s"
