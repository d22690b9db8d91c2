"""The command line of mxacc-check."""

from __future__ import annotations

import argparse
import json
import os
import shutil
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from . import page, text
from .groups import GROUPS
from .report import EXIT_STATUS, GroupReport, Report
from .runner import Runner
from .suite import Group, Options

LIBRARY_SUFFIXES = {".so", ".dylib", ".dll"}

_DESCRIPTION = """\
Tries whether a finished accelerator library keeps to mxnet_acc.h.

LIBRARY is a shared library, or a folder that holds one. Each group of checks runs in a process of
its own, so that a crash or a hang is a finding like any other. The checks call the functions of
the library's table directly; results of operators are compared with those of the CPU. What the
header says that MXNet never does is not tried.
"""

_EPILOG = """\
exit status:
  0  the library conforms: nothing was found
  1  there are findings; each tells what was tried, what was expected and what came, and the
     sentence of mxnet_acc.h that it follows from
  2  the library could not be checked: it is not there, has no device here, or does not start

examples:
  mxacc-check libfoo.so
  mxacc-check libfoo.so --only copies --only streams -v
  mxacc-check build/ --quick --html report.html
"""


def _positive(kind: type) -> object:
    def read(given: str) -> float:
        value: float = kind(given)
        if value <= 0:
            raise argparse.ArgumentTypeError(f"{given} is not above 0")
        return value

    read.__name__ = kind.__name__
    return read


def _seed(given: str) -> int:
    if not given.isdecimal():
        raise argparse.ArgumentTypeError(f"{given} is no number of at least 0")
    return int(given)


def parser() -> argparse.ArgumentParser:
    made = argparse.ArgumentParser(
        prog="mxacc-check",
        description=_DESCRIPTION,
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    made.add_argument("library", metavar="LIBRARY", nargs="?", help="the library, or its folder")
    made.add_argument(
        "--device", type=int, metavar="N", help="only this device (the first, then all others)"
    )
    made.add_argument(
        "--only",
        action="append",
        default=[],
        metavar="NAME",
        help="only this group or check; may be given several times",
    )
    made.add_argument("--list", action="store_true", help="list the groups and their checks")
    made.add_argument("--quick", action="store_true", help="fewer cases of each check")
    made.add_argument("-v", "--verbose", action="store_true", help="tell of every check")
    made.add_argument("--json", type=Path, metavar="FILE", help="write the report as JSON")
    made.add_argument("--html", type=Path, metavar="FILE", help="write the report as a page")
    made.add_argument(
        "--timeout",
        type=_positive(float),  # type: ignore[arg-type]
        default=60.0,
        metavar="SECONDS",
        help="how long one call may take before it counts as hanging (60)",
    )
    made.add_argument(
        "--loads",
        type=_positive(int),  # type: ignore[arg-type]
        default=Options.loads,
        metavar="N",
        help=f"how often the library is loaded and unloaded ({Options.loads})",
    )
    made.add_argument(
        "--tolerance",
        type=_positive(float),  # type: ignore[arg-type]
        default=1.0,
        metavar="FACTOR",
        help="by how much more results of operators may be off (1)",
    )
    made.add_argument(
        "--seed",
        type=_seed,
        default=0,
        metavar="N",
        help="of the first random graph; the next one has the seed N + 1 (0)",
    )
    return made


def _print_list() -> None:
    for group in GROUPS:
        print(f"{group.name}: {group.title}")
        for check in group.checks:
            print(f"  {check.id:<26} {check.title}")


def _find(path: str) -> str:
    """The library, or the only one in a folder; OSError or ValueError where there is none."""
    library = Path(path).absolute()
    if library.is_dir():
        found = sorted(file for file in library.iterdir() if file.suffix in LIBRARY_SUFFIXES)
        if len(found) > 1:
            names = ", ".join(file.name for file in found)
            raise ValueError(f"the folder {library} holds several libraries, name one: {names}")
        if not found:
            raise FileNotFoundError(f"the folder {library} holds no library")
        (library,) = found
    if not library.is_file():
        raise FileNotFoundError(f"there is no file {library}")
    return str(library)


def _chosen(names: Sequence[str]) -> list[Group]:
    """The groups of these names, and those that have checks of these names, with no others."""
    if not names:
        return list(GROUPS[1:])
    chosen = []
    for group in GROUPS[1:]:
        checks = [one for one in group.checks if group.name in names or one.id in names]
        if checks:
            chosen.append(replace(group, checks=checks))
    return chosen


def _show(step: str) -> None:
    """What is tried now, in one line of the terminal that the next one takes."""
    width = shutil.get_terminal_size().columns - 1
    print(f"\r\033[K{step[:width]}", end="", file=sys.stderr, flush=True)


def _run(arguments: argparse.Namespace, library: str) -> Report:
    options = Options(
        library,
        arguments.device or 0,
        arguments.device is None,
        arguments.quick,
        arguments.loads,
        arguments.tolerance,
        arguments.seed,
    )
    chosen = _chosen(arguments.only)
    runner = Runner(options, arguments.timeout, _show if sys.stderr.isatty() else lambda step: None)
    begun = False

    def tell(report: Report, done: GroupReport) -> None:
        nonlocal begun
        runner.show("")
        if not begun:
            print(text.head(report), flush=True)
            begun = True
        print(text.group(done, arguments.verbose), flush=True)

    try:
        return runner.report(chosen, tell)
    finally:
        runner.close()


def main(given: Sequence[str] | None = None) -> int:
    """Checks a library as the command line says; returns the exit status."""
    try:
        status = _main(given)
        sys.stdout.flush()
    except BrokenPipeError:
        # The reader, such as `head`, has closed the pipe: the rest of the output is dropped.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        status = 0
    return status


def _main(given: Sequence[str] | None) -> int:
    made = parser()
    arguments = made.parse_args(given)
    if arguments.list:
        _print_list()
        return 0
    if arguments.library is None:
        made.error("the following arguments are required: LIBRARY")
    known = {name for group in GROUPS for name in (group.name, *(one.id for one in group.checks))}
    for name in arguments.only:
        if name not in known:
            made.error(f"there is no group or check {name}; --list names all")
    try:
        library = _find(arguments.library)
    except (OSError, ValueError) as error:
        print(f"mxacc-check: {error}", file=sys.stderr)
        return 2
    report = _run(arguments, library)
    for line in text.matrix(report):
        print(line)
    if not arguments.verbose:
        for note in text.notes(report):
            print(note)
    print(text.end(report))
    if arguments.json:
        arguments.json.write_text(json.dumps(report.to_json(), indent=1) + "\n")
    if arguments.html:
        arguments.html.write_text(page.render(report))
    return EXIT_STATUS[report.verdict]
