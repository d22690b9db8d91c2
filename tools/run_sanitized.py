"""Runs Python with the packages that `make sanitized` has built under AddressSanitizer and UBSan.

    make sanitized
    python tools/run_sanitized.py -m pytest tests/mx -k sum
    python tools/run_sanitized.py -c 'import mx; print(mx.np.ones(3))'

The first error ends the process. What ASAN_OPTIONS or UBSAN_OPTIONS say goes before what is here;
MXFFI_SANITIZED is the folder of the packages where that is not build/sanitized.
"""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PRELOADED = ("libasan.so", "libubsan.so", "libstdc++.so.6")
# Leaks of the interpreter's own are not ours to report; tools/check_sanitized_accelerators.py tells
# them apart. That there is not so much memory is for the libraries to say; a stack for signals of
# each thread would have to be had, or the process ends. What UBSan finds is an illegal instruction,
# which AddressSanitizer shows with its line.
ADDRESS = "detect_leaks=0:allocator_may_return_null=1:use_sigaltstack=0:handle_sigill=1"


def preload(environ: Mapping[str, str] = os.environ) -> str:
    """The sanitizers, as the interpreter has none, and libstdc++, so that they see exceptions."""
    compiler = shlex.split(environ.get("CXX", "c++"))
    return " ".join(
        subprocess.check_output([*compiler, f"-print-file-name={name}"], text=True).strip()
        for name in PRELOADED
    )


def environment(packages: Path, environ: Mapping[str, str] = os.environ) -> dict[str, str]:
    """What a process needs to have the packages of a folder, sanitized, before all others."""

    def joined(separator: str, *parts: str) -> str:
        return separator.join(part for part in parts if part)

    return {
        **environ,
        "LD_PRELOAD": preload(environ),
        "ASAN_OPTIONS": joined(":", ADDRESS, environ.get("ASAN_OPTIONS", "")),
        "UBSAN_OPTIONS": joined(":", "print_stacktrace=1", environ.get("UBSAN_OPTIONS", "")),
        # Of the interpreter's own allocator the sanitizer sees nothing.
        "PYTHONMALLOC": "malloc",
        "PYTHONPATH": joined(os.pathsep, str(packages), environ.get("PYTHONPATH", "")),
    }


def main(arguments: list[str]) -> None:
    """Becomes the interpreter with these arguments."""
    packages = Path(os.environ.get("MXFFI_SANITIZED") or ROOT / "build" / "sanitized").resolve()
    if not (packages / "ffi").is_dir():
        raise SystemExit(f"{packages} has no packages; make sanitized builds them")
    os.execve(sys.executable, [sys.executable, *arguments], environment(packages))


if __name__ == "__main__":
    main(sys.argv[1:])
