"""What a run was made on: figures mean little without it."""

from __future__ import annotations

import datetime
import os
import platform
import shlex
import subprocess
from collections.abc import Iterable
from importlib import metadata
from pathlib import Path

DISTRIBUTIONS = (
    "mxffi",
    "numpy",
    "torch",
    "apache-tvm-ffi",
    "onnxruntime",
    "nanobind",
    "pybind11",
    "cffi",
    "Cython",
)

# What whole models are executed by.
MODELS = ("mxffi", "numpy", "onednn-cpu-gomp", "onnxruntime", "openvino", "torch")


def processor() -> str:
    """The processor's model name as the system gives it."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    fields = (line.partition(":") for line in lines)
    names = [value.strip() for key, _, value in fields if key.strip() == "model name"]
    return names[0] if names else platform.machine()


def compiler() -> str:
    """First line of what the C++ compiler says of itself; peers are compiled with it."""
    command = [*shlex.split(os.environ.get("CXX", "c++")), "--version"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return "none"
    return done.stdout.splitlines()[0]


def versions(names: Iterable[str] = DISTRIBUTIONS) -> dict[str, str]:
    """Versions of the distributions that are installed."""
    found = {}
    for name in names:
        try:
            found[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    return found


def instructions() -> str:
    """The most of a processor's vector instructions that operators have loops for."""
    from mx.test_utils import cpu_level

    level: str = cpu_level()
    return {"avx2": "AVX2", "avx512": "AVX-512"}.get(level, level)


def of_models(threads: int | None = None) -> str:
    """A line about a comparison of whole models: processor, threads and versions."""
    found = ", ".join(f"{name} {version}" for name, version in versions(MODELS).items())
    used = "" if threads is None else f"{threads} threads; "
    return f"{processor()} with {instructions()}; {used}{found}"


def describe(command: str) -> dict[str, str]:
    """Date, command, machine and software of this run."""
    now = datetime.datetime.now(datetime.timezone.utc)
    return {
        "date": now.strftime("%Y-%m-%d %H:%M UTC"),
        "command": command,
        "processor": f"{processor()}, {os.cpu_count()} cores",
        "system": f"{platform.system()} {platform.machine()}",
        "python": f"{platform.python_implementation()} {platform.python_version()}",
        "compiler": compiler(),
        **versions(),
    }
