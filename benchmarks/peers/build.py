"""Compiles a peer's module into a cache folder, once for each source and set of flags."""

from __future__ import annotations

import hashlib
import importlib.util
import os
import shlex
import subprocess
import sysconfig
from collections.abc import Sequence
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import ModuleType

SOURCES = Path(__file__).resolve().parent
CACHE = SOURCES.parents[1] / "build" / "benchmarks" / "peers"
COMMON_FLAGS = ("-O3", "-DNDEBUG", "-fPIC", "-shared", "-fvisibility=hidden")


class MissingPeer(Exception):
    """A peer that cannot be measured here; the message says why."""


def compiler(source: Path) -> list[str]:
    """Command of the C or C++ compiler that fits a source file's suffix."""
    if source.suffix == ".c":
        return shlex.split(os.environ.get("CC", "cc"))
    return [*shlex.split(os.environ.get("CXX", "c++")), "-std=c++17"]


def python_include() -> str:
    """Folder of Python.h."""
    return sysconfig.get_paths()["include"]


def build(name: str, sources: Sequence[Path], flags: Sequence[str] = (), key: str = "") -> Path:
    """Compiles `sources` into one shared library and returns its path.

    The library is reused while the sources, the flags and `key` (the peer's version) stay the
    same. Raises MissingPeer with the compiler's words where it cannot be built.
    """
    command = [*compiler(sources[0]), *COMMON_FLAGS]
    tail = [*map(str, sources), *flags]
    digest = hashlib.sha256("\0".join([*command, *tail, key]).encode())
    for source in [*sources, *sorted(SOURCES.glob("*.h"))]:
        digest.update(source.read_bytes())
    suffix = sysconfig.get_config_var("EXT_SUFFIX")
    folder = CACHE / digest.hexdigest()[:16]
    target = folder / f"{name}{suffix}"
    if target.exists():
        return target
    folder.mkdir(parents=True, exist_ok=True)
    partial = folder / f"{name}.{os.getpid()}.partial"
    try:
        result = subprocess.run(
            [*command, "-o", str(partial), *tail], capture_output=True, text=True, check=False
        )
    except OSError as error:
        raise MissingPeer(f"no compiler: {error}") from error
    if result.returncode != 0:
        raise MissingPeer(f"{name} does not build: {result.stderr.strip()[-400:]}")
    partial.replace(target)
    return target


def load(name: str, path: Path) -> ModuleType:
    """Imports the extension module `name` from a file."""
    spec: ModuleSpec | None = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise MissingPeer(f"{path} is not an extension module")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
