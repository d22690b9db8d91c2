"""Finds accelerators in the environment, in this package and in other installed packages.

This module is imported when an accelerator is first asked for, so that importing mx costs nothing.
Libraries that do not load are kept, with the reason, for whoever asks for them.

MXNET_ACC_LIBRARIES  libraries, and folders of libraries, separated as in PATH
MXNET_ACC_TRUSTED    the same of those that are loaded although others may write to them; 1 for all
MXNET_ACC_AUTOLOAD   0 has nothing loaded but what load_acc is given
"""

from __future__ import annotations

import os
import re
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

from ffi.trust import distrust

from . import attribute
from .attribute import AUTOLOAD as AUTOLOAD
from .attribute import BUNDLED, VARIABLE
from .loading import LIBRARY_SUFFIXES, library_in, load_library

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

TRUSTED = "MXNET_ACC_TRUSTED"
GROUP = "mx.accelerators"

_FILE_NAME = re.compile(r"(?:lib)?(.+?)\.so")
# A library that exports neither is no accelerator; another one in the folder may need it.
_ENTRIES = frozenset({"mxacc_get_api", "getAccName"})


@dataclass(frozen=True)
class Failure:
    """An accelerator that was found and did not load; name is what it is presumed to be called."""

    name: str
    path: str
    found: str
    error: Exception


@dataclass(frozen=True)
class _Candidate:
    """A possible accelerator; locate gives the path of its library."""

    name: str
    path: str
    found: str
    locate: Callable[[], str]
    acc_name: str | None = None


class Discovery:
    """Where accelerators were looked for so far, and what did not load."""

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self._listed: set[Callable[[], Iterator[_Candidate]]] = set()
        self._waiting: list[_Candidate] = []
        self._failures: list[Failure] = []
        os.register_at_fork(after_in_child=self._free_lock)

    def _free_lock(self) -> None:
        self._lock = threading.RLock()

    def look_for(self, name: str | None = None, installed: bool = True) -> None:
        """Loads what was found and may be called that; without a name all that was found.

        installed says whether installed packages are asked, too, which takes some milliseconds.
        """
        if not attribute.is_on():
            return
        with self._lock:
            for among in (_in_environment, _bundled, *((_installed,) if installed else ())):
                if among not in self._listed:
                    self._listed.add(among)
                    self._waiting.extend(among())
            due = [c for c in self._waiting if name is None or c.acc_name in (None, name)]
            self._waiting = [c for c in self._waiting if c not in due]
            for candidate in due:
                self._load(candidate)
            if not self._failures:
                attribute.withdraw()

    def failures(self, name: str | None = None) -> list[Failure]:
        """What did not load, or what of that is presumed to be called so."""
        return [each for each in self._failures if name in (None, each.name)]

    def check(self, name: str) -> None:
        """Raises why the accelerator of that name did not load, if it was found and did not."""
        for failure in self.failures(name):
            raise failure.error.with_traceback(None)

    def _load(self, candidate: _Candidate) -> None:
        path = candidate.path
        try:
            path = candidate.locate()
            load_library(path, candidate.acc_name, candidate.found)
        # Code of other packages may raise anything.
        except Exception as error:
            self._failures.append(Failure(candidate.name, path, candidate.found, error))


def _in_environment() -> Iterator[_Candidate]:
    for location in _paths(VARIABLE):
        for file in _libraries_in(location) or [location]:
            yield _Candidate(_presumed_name(file), file, VARIABLE, _trusted(file))


def _paths(variable: str) -> list[str]:
    """The absolute paths that a variable lists."""
    listed = os.environ.get(variable, "").split(os.pathsep)
    return [os.path.abspath(location) for location in listed if location]


def _trusted(path: str) -> Callable[[], str]:
    def locate() -> str:
        reason = distrust(path) if os.path.exists(path) else None
        if reason is not None and not _is_allowed(path):
            raise PermissionError(
                f"{path} is not loaded, because {reason}: what {VARIABLE} names may be written by "
                f"you and root alone, unless {TRUSTED} names it, too, or is 1"
            )
        return library_in(path)

    return locate


def _is_allowed(path: str) -> bool:
    if os.environ.get(TRUSTED) == "1":
        return True
    return any(
        path == location or path.startswith(location.rstrip("/") + "/")
        for location in _paths(TRUSTED)
    )


def _bundled() -> Iterator[_Candidate]:
    for file in _libraries_in(BUNDLED):
        yield _Candidate(_presumed_name(file), file, "bundled", partial(library_in, file))


def _installed() -> Iterator[_Candidate]:
    from importlib.metadata import entry_points

    for entry in entry_points(group=GROUP):
        found = f"package {entry.dist.name}" if entry.dist else "entry point"
        yield _Candidate(entry.name, entry.value, found, _of_entry(entry), acc_name=entry.name)


def _of_entry(entry: EntryPoint) -> Callable[[], str]:
    def locate() -> str:
        location = entry.load()
        if isinstance(location, ModuleType):
            location = os.path.dirname(location.__file__ or "")
        elif callable(location):
            location = location()
        if not isinstance(location, (str, os.PathLike)):
            kind = type(location).__name__
            raise TypeError(f"the entry point {entry.value} expected to give a path, got {kind}")
        return library_in(location)

    return locate


def _libraries_in(folder: str) -> list[str]:
    """The libraries of a folder without those that only others need; none if it is no folder."""
    try:
        with os.scandir(folder) as entries:
            files = sorted(entry.path for entry in entries if entry.name.endswith(LIBRARY_SUFFIXES))
    except OSError:
        return []
    return [file for file in files if not _is_other_library(file)]


def _is_other_library(path: str) -> bool:
    from ffi import elf

    try:
        symbols = elf.read(Path(path))
    except OSError:
        return False
    return symbols is not None and not _ENTRIES.intersection(symbols.defined)


def _presumed_name(path: str) -> str:
    match = _FILE_NAME.match(os.path.basename(path))
    return match[1] if match else os.path.basename(path)


DISCOVERY = Discovery()
