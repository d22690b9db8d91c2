"""Runs tests of accelerators with the runtime and libraries of accelerators/ under sanitizers.

    MXFFI_SANITIZE=address,undefined python -m tools.check_sanitized_accelerators FOLDER [TESTS]

FOLDER has the `ffi` package built with those sanitizers, as `make sanitized` leaves it. `mx` is
that of the source tree: the operators need no sanitizers here, and are quicker without. What leaks
is a failure, too, where it was allocated by a sanitized library; what the interpreter and others
leave behind at their end is theirs.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

from tools.run_sanitized import environment

ROOT = Path(__file__).resolve().parents[1]
# What goes through every function of a library; the other tests look at what users see of them.
TESTS = (
    "refacc",
    "test_contract.py",
    "test_faults.py",
    "test_indexing.py",
    "test_operands.py",
)
FRAME = re.compile(r" +#\d+ (?P<module>\S+) in ")
# Where a library was, that is no longer loaded, there is none.
OURS = re.compile(r"/(libmxnet_\w+|mxnet_acc_server|lib(refacc|myacc)|core\.cpython)[^/]*$|<null>$")
# The interpreter's, and that of libraries in a process of their own. Compilers that tests start
# unload libraries, too.
PROGRAMS = (Path(sys.executable).name, "mxnet_acc_server")
NOT_LOOKED_AT = re.compile(r"/lib(asan|ubsan|stdc\+\+|c)\.so[^/]*$")


def is_ours(leak: str) -> bool:
    """Whether what allocated it is a sanitized library, or one that has been unloaded."""
    modules = [match["module"] for match in FRAME.finditer(leak)]
    callers = [module for module in modules if not NOT_LOOKED_AT.search(module)]
    return bool(callers) and OURS.search(callers[0]) is not None


def own_leaks(reports: Path) -> Iterator[str]:
    """The leaks in all reports that are ours. An error other than a leak has failed its test."""
    for report in sorted(reports.iterdir()):
        if report.name.removeprefix("report.").rpartition(".")[0] not in PROGRAMS:
            continue
        for paragraph in report.read_text(errors="replace").split("\n\n"):
            if "leak of" in paragraph and is_ours(paragraph):
                yield paragraph


def run(packages: Path, arguments: Sequence[str], reports: Path) -> int:
    """Runs pytest; its exit status."""
    address = (
        "detect_leaks=1",
        "handle_segv=0",  # some tests are of that signal
        "stack_trace_format='    #%n %m in %f %S'",
    )
    settings = {
        **os.environ,
        "ASAN_OPTIONS": ":".join(address),
        # Reports go where the tests do not look, and a leak alone fails no process.
        "LSAN_OPTIONS": f"exitcode=0:log_exe_name=1:log_path={reports / 'report'}",
        "PYTHONPATH": str(ROOT / "python"),
    }
    command = [sys.executable, "-m", "pytest", *arguments]
    return subprocess.run(
        command, cwd=ROOT, env=environment(packages, settings), check=False
    ).returncode


def main() -> int:
    """0 if all passed and nothing leaked."""
    built, *arguments = sys.argv[1:]
    if not os.environ.get("MXFFI_SANITIZE"):
        raise SystemExit("MXFFI_SANITIZE says with which sanitizers the libraries are built")
    arguments = arguments or [f"tests/acc/{name}" for name in TESTS]
    with tempfile.TemporaryDirectory() as folder:
        packages, reports = Path(folder, "packages"), Path(folder, "reports")
        packages.mkdir()
        reports.mkdir()
        (packages / "ffi").symlink_to(Path(built, "ffi").resolve(strict=True))
        status = run(packages, arguments, reports)
        leaks = list(own_leaks(reports))
    for leak in leaks:
        print(leak, file=sys.stderr)
    print(f"{len(leaks)} leaks of sanitized libraries")
    return status or bool(leaks)


if __name__ == "__main__":
    sys.exit(main())
