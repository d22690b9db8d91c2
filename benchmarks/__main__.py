"""Measures everything and writes the page, the figures and the chart: `python -m benchmarks`."""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path

from benchmarks.compare.chart import draw
from benchmarks.compare.environment import describe
from benchmarks.compare.groups import GROUPS, ROOT, run_apart
from benchmarks.compare.headline import with_headline
from benchmarks.compare.model import GroupResult
from benchmarks.compare.report import page, targets_section
from benchmarks.compare.targets import Outcome, outcomes

CHART = "docs/images/benchmarks.svg"


def parse(arguments: Sequence[str]) -> argparse.Namespace:
    """The command's options."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument(
        "--quick",
        "--smoke",
        action="store_true",
        help="a smoke run of seconds; writes below build/ and its figures mean nothing",
    )
    parser.add_argument(
        "--group", action="append", choices=GROUPS, help="only this table; may be repeated"
    )
    parser.add_argument(
        "--output",
        type=Path,
        help="folder to write docs/ and benchmarks/ in; default: the project, or below build/ "
        "for a run that is quick or has not all tables",
    )
    return parser.parse_args(arguments)


def measure(names: Sequence[str], quick: bool) -> dict[str, GroupResult]:
    """Runs the groups one after another, and says so."""
    results = {}
    for name in names:
        start = time.monotonic()
        print(f"{name} ...", end=" ", file=sys.stderr, flush=True)
        results[name] = run_apart(name, quick)
        print(f"{time.monotonic() - start:.0f} s", file=sys.stderr)
    return results


def write(
    folder: Path,
    environment: Mapping[str, str],
    results: Mapping[str, GroupResult],
    reached: Sequence[Outcome],
) -> None:
    """Writes docs/benchmarks.md, docs/images/benchmarks.* and benchmarks/results.json.

    In the project's folder the table of the README, too.
    """
    chart = folder / CHART
    if "calls" in results:
        draw(results["calls"], [chart, chart.with_suffix(".png")])
    docs = folder / "docs"
    docs.mkdir(parents=True, exist_ok=True)
    relative = chart.relative_to(docs).as_posix()
    (docs / "benchmarks.md").write_text(page(environment, results, reached, relative))
    readme = folder / "README.md"
    if readme.exists():
        readme.write_text(with_headline(readme.read_text(), results))
    data = {
        "environment": environment,
        "targets": [asdict(item) for item in reached],
        "groups": {name: group.to_json() for name, group in results.items()},
    }
    target = folder / "benchmarks" / "results.json"
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(json.dumps(data, indent=1, ensure_ascii=False) + "\n")


def main(arguments: Sequence[str]) -> int:
    """Returns 1 where something of this project could not be measured."""
    options = parse(arguments)
    names = options.group or list(GROUPS)
    partial = options.quick or options.group
    folder = options.output or (ROOT / "build" / "benchmarks" / "partial" if partial else ROOT)
    groups = [f"--group {name}" for name in options.group or ()]
    command = " ".join(["python -m benchmarks", *["--quick"] * options.quick, *groups])
    results = measure(names, options.quick)
    reached = outcomes(results)
    write(folder, describe(command), results, reached)
    print(targets_section([o for o in reached if o.met is not None]))
    print(f"written to {folder / 'docs' / 'benchmarks.md'}")
    failures = [note for group in results.values() for note in group.failures]
    for note in failures:
        print(f"failed: {note}", file=sys.stderr)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
