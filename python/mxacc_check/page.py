"""Reports as a page of HTML that needs no other file."""

from __future__ import annotations

from html import escape

from . import text
from .report import BROKEN, FINDING, OK, SKIPPED, Finding, GroupReport, Report, Result

_STYLE = """
:root { color-scheme: light dark; --ok: #1a7f37; --bad: #c62828; --dim: #777; --line: #8884; }
body { font: 15px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem; }
h1 { font-size: 1.4rem; margin-bottom: 0; } h2 { font-size: 1.05rem; margin: 1.6rem 0 .3rem; }
code { font: .92em ui-monospace, monospace; overflow-wrap: anywhere; white-space: pre-wrap; }
.ok { color: var(--ok); } .finding, .broken { color: var(--bad); }
.skipped, .dim { color: var(--dim); }
.verdict { font-size: 1.1rem; font-weight: 600; }
table { border-collapse: collapse; width: 100%; }
td { padding: .25rem .6rem .25rem 0; border-top: 1px solid var(--line); vertical-align: top; }
td:first-child { width: 5rem; } td:last-child { text-align: right; width: 9rem; }
dl { display: grid; grid-template-columns: 6rem 1fr; gap: .1rem .6rem; margin: .3rem 0 .8rem; }
dt { color: var(--dim); } dd { margin: 0; } blockquote { margin: 0; font-style: italic; }
.wide { overflow-x: auto; } .matrix td, .matrix th { padding: 0 .4rem; text-align: center;
width: auto; font-size: .85em; font-weight: 400; } .matrix th:first-child { text-align: left; }
details { margin: .2rem 0; } summary { cursor: pointer; color: var(--dim); }
"""

_SHOWN_REASONS = 30
_CELLS = {"+": "ok", "~": "ok", "-": "dim", "!": "finding", " ": ""}
_CLASSES = {OK: "ok", FINDING: "finding", SKIPPED: "skipped", BROKEN: "broken"}


def _finding(finding: Finding) -> str:
    rows = {"at": finding.at, "expected": finding.expected, "got": finding.got}
    parts = "".join(
        f"<dt>{name}</dt><dd><code>{escape(told)}</code></dd>"
        for name, told in rows.items()
        if told
    )
    says = f"<dt>header</dt><dd><blockquote>{escape(finding.says)}</blockquote></dd>"
    return f"<dl>{parts}{says}</dl>"


def _list(title: str, items: list[str]) -> str:
    if not items:
        return ""
    rows = "".join(f"<li><code>{escape(item)}</code></li>" for item in items)
    return f"<details><summary>{title} ({len(items)})</summary><ul>{rows}</ul></details>"


def _rejections(result: Result) -> list[str]:
    """Reasons, the most frequent first."""
    found = sorted(result.rejections, key=lambda one: -one.cases)
    rest = found[_SHOWN_REASONS:]
    told = [f"{one.cases}, such as {one.example}: {one.reason}" for one in found[:_SHOWN_REASONS]]
    more = sum(one.cases for one in rest)
    return told + ([f"{more} for {len(rest)} other reasons"] if rest else [])


def _matrix(report: Report) -> str:
    """Which operators ran in which types, as a table."""
    whole = report.operators()
    if not whole:
        return ""
    dtypes = text.dtypes_of(whole)
    head = "".join(f"<th>{escape(dtype)}</th>" for dtype in dtypes)
    rows = []
    for name, row in sorted(whole.items()):
        cells = []
        for counts in map(row.get, dtypes):
            told = "" if counts is None else f"{counts.ran} of {counts.tried}"
            kind = _CELLS[text.mark(counts)]
            cells.append(f"<td class='{kind}' title='{told}'>{text.mark(counts)}</td>")
        rows.append(f"<tr><th>{escape(name)}</th>{''.join(cells)}</tr>")
    return (
        f"<h2>{text.counts_of(whole)}</h2>"
        "<p class=dim>+ all cases ran, ~ some, - none, ! some came out wrong</p>"
        f"<div class=wide><table class=matrix><tr><th></th>{head}</tr>{''.join(rows)}</table></div>"
    )


def _result(result: Result) -> str:
    parts = [f"{escape(result.title)} <span class=dim>{escape(result.id)}</span>"]
    if result.reason:
        parts.append(f"<div class=dim><code>{escape(result.reason)}</code></div>")
    parts += [_finding(finding) for finding in result.findings]
    if result.more_findings:
        parts.append(f"<div>and {result.more_findings} more like these</div>")
    parts.append(_list("notes", result.notes))
    parts.append(_list(f"{result.rejected} cases rejected: reasons", _rejections(result)))
    cases = f"{result.cases} cases, " if result.cases else ""
    return (
        f"<tr><td class={_CLASSES[result.status]}>{result.status}</td><td>{''.join(parts)}</td>"
        f"<td class=dim>{cases}{result.seconds:.2f} s</td></tr>"
    )


def _group(group: GroupReport) -> str:
    rows = "".join(map(_result, group.results))
    where = "" if group.device is None else f" (device {group.device})"
    return f"<h2>{escape(group.name)}: {escape(group.title)}{where}</h2><table>{rows}</table>"


def render(report: Report) -> str:
    """The whole page."""
    library = report.library
    facts = {
        "library": report.path,
        "accelerator": " ".join(filter(None, [library.get("name"), library.get("release")])),
        "interface": library.get("abi", ""),
        "device": str(report.device),
    }
    devices = library.get("devices", [])
    for number, device in enumerate(devices):
        told = [device[key] for key in ("name", "vendor", "driver", "reason") if device[key]]
        facts[f"device {number}"] = ", ".join([*told, *device["flags"]])
    rows = "".join(
        f"<dt>{escape(name)}</dt><dd><code>{escape(fact)}</code></dd>"
        for name, fact in facts.items()
        if fact
    )
    kind = {"conforming": "ok", "not conforming": "finding"}.get(report.verdict, "broken")
    why = f": {escape(report.failure)}" if report.failure else ""
    title = f"mxacc-check: {escape(library.get('name') or report.path)}"
    return (
        "<!doctype html><html lang=en><meta charset=utf-8>"
        '<meta name=viewport content="width=device-width, initial-scale=1">'
        f"<title>{title}</title><style>{_STYLE}</style><h1>{title}</h1>"
        f"<p class='verdict {kind}'>{report.verdict}{why}</p><dl>{rows}</dl>"
        f"{''.join(map(_group, report.groups))}{_matrix(report)}"
        f"<p class=dim>{report.seconds:.1f} s</p></html>\n"
    )
