"""The functions and classes `testing.*`: what only tests and benchmarks call.

Tests of ffi find them registered, and so do the scripts that these run by `run_python`.
"""

import fcntl
import functools
import os
import subprocess
from pathlib import Path

import ffi

SOURCES = Path(__file__).resolve().parent
OUT = SOURCES.parents[1] / "build" / "tests"


@functools.cache
def path() -> str:
    """The library, which is built where it is not or its sources have changed."""
    OUT.mkdir(parents=True, exist_ok=True)
    packages = Path(ffi.__file__).parents[1]
    command = ["make", "--no-print-directory", "-s", "-C", str(SOURCES)]
    environment = {k: v for k, v in os.environ.items() if k not in ("MAKEFLAGS", "MAKELEVEL")}
    with open(OUT / "lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        subprocess.run(
            [*command, f"OUT={OUT}", f"LIB_ROOT={packages}"], check=True, env=environment
        )
    return str(OUT / "libmxnet_testing.so")


@functools.cache
def load() -> ffi.Module:
    """Loads it; its functions are registered, and in what is returned."""
    return ffi.load_library(path())
