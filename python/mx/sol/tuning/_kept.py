"""Results of tuning on the disk, for the next start: in the cache of `mx.cache`.

An entry has all measurements of layers for one processor, number of threads and set of libraries,
another one what was chosen for a model. Layers and models are known by hashes of what they compute.
"""

from __future__ import annotations

import functools
import hashlib
import json
import os
from collections.abc import Callable, Iterable, Mapping
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import ffi

from ... import _library, _onednn
from ...cache import FileError
from ...cache._file import PieceWriter
from ...cache._use import Cache
from ...threads import get_num_threads
from ._choices import all_backends
from ._measure import Measured
from ._tuning import Tuning

_cpu_level = ffi.get_global_func("mx.cpu_level")

_PIECE = "results"
_PACKAGES = ("mxffi", "onednn-cpu-gomp", "onnx", "onnx-ir")


def environment() -> str:
    """What results depend on besides the model: processor and MXNET_CPU_LEVEL, libraries, backends,
    threads."""
    packages = [(name, _version(name)) for name in _PACKAGES]
    names = [one.name for one in all_backends()]
    parts = [_processor(), _cpu_level(), packages, _builds(), names, get_num_threads()]
    return json.dumps(parts)


@functools.cache
def _processor() -> str:
    """The model and the instructions of the processor."""
    wanted = ("model name", "cpu family", "model", "stepping", "flags", "CPU part", "Features")
    try:
        with open("/proc/cpuinfo", encoding="ascii", errors="replace") as file:
            lines = [line.strip() for line in file if line.split("\t")[0].strip() in wanted]
    except OSError:
        return " ".join(os.uname())
    return "\n".join(dict.fromkeys(lines))


@functools.cache
def _builds() -> list[tuple[int, int]]:
    """What tells one build of this package's libraries from another one of the same version."""
    found = [os.stat(path) for path in (_library.PATH, _onednn._PATH) if os.path.exists(path)]
    return [(status.st_size, status.st_mtime_ns) for status in found]


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return ""


def _key(*parts: str) -> str:
    return hashlib.sha256("\n".join(["mx.sol.tuning 1", *parts]).encode()).hexdigest()[:40]


class Kept:
    """What is kept for this process's processor, libraries and threads."""

    def __init__(self) -> None:
        """Without a folder to keep it in, nothing is kept."""
        self._cache = Cache.find()
        self._environment = environment()

    def model(self, key: str) -> Tuning | None:
        """What was chosen for a model."""
        found = self._read(_key(self._environment, key), Tuning.from_json)
        return found if isinstance(found, Tuning) else None

    def layers(self) -> dict[str, Measured]:
        """All layers that were measured, by their keys."""

        def read(data: Any) -> dict[str, Measured]:
            return {str(key): Measured.from_json(one) for key, one in data.items()}

        return self._read(_key(self._environment), read) or {}

    def keep(self, key: str, name: str, tuning: Tuning, layers: Mapping[str, Measured]) -> None:
        """Keeps the results of a model, and measurements besides those that others have kept."""
        if self._cache is None:
            return
        about = {"accelerator": "tuning", "nodes": len(tuning.layers), "seconds": tuning.seconds}
        whole = _key(self._environment)
        with self._cache.locked(whole):
            known = {**self.layers(), **layers}
            data = {one: measured.as_json() for one, measured in known.items()}
            named = {"accelerator": "tuning", "nodes": len(data), "graph": "layers of all models"}
            self._cache.write(whole, _writer(data, named))
        own = _key(self._environment, key)
        with self._cache.locked(own):
            self._cache.write(own, _writer(tuning.as_json(), {**about, "graph": name}))

    def _read(self, key: str, convert: Callable[[Any], Any]) -> Any:
        file = None if self._cache is None else self._cache.open(key)
        if file is None:
            return None
        with file:
            try:
                return convert(json.loads(file.data(_PIECE)))
            except (FileError, KeyError, TypeError, ValueError, AttributeError):
                return None  # of another version of this package: it is measured again


def _writer(data: Any, about: dict[str, Any]) -> Callable[[PieceWriter], dict[str, Any]]:
    def write(writer: PieceWriter) -> dict[str, Any]:
        writer.add(_PIECE, json.dumps(data).encode())
        return about

    return write


def key_of(parts: Iterable[Any]) -> str:
    """A key of what parts describe, such as a graph's nodes."""
    digest = hashlib.sha256()
    for part in parts:
        digest.update(json.dumps(part, sort_keys=True, default=str).encode())
    return digest.hexdigest()
