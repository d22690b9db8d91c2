"""A folder of files of pieces, each under a key, that many processes use at once.

An entry is written beside the others and moved there by a rename, so that readers see a whole one
or none and need no lock. Who makes an entry has the lock of its key meanwhile. A lock ends with its
process; a file that a process which was killed had not finished goes with the next use of its lock.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import re
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from ._file import FileError, PieceFile, PieceWriter, write_whole

_ENTRY, _PARTIAL, _LOCK = ".compiled", ".part", ".lock"
_KEY = re.compile(r"[0-9a-f]{40}")


@dataclass(frozen=True)
class Entry:
    """A compiled model that is kept; `problem` is what is wrong with its file, "" for nothing."""

    key: str
    size: int
    used: float  # seconds since the epoch, of the last use
    about: dict[str, Any]
    problem: str = ""


class Store:
    """The entries of a folder, which is there. Keys are 40 hexadecimal digits."""

    def __init__(self, folder: str) -> None:
        self._folder = folder

    def open(self, key: str) -> PieceFile | None:
        """The file of an entry, all of whose checksums are right; None where there is none.

        Raises FileError for one that is damaged, and OSError.
        """
        path = self._path(key, _ENTRY)
        try:
            file = PieceFile(path)
        except FileNotFoundError:
            return None
        try:
            file.check()
        except BaseException:
            file.close()
            raise
        with contextlib.suppress(OSError):  # of a folder that cannot be written to
            os.utime(path)
        return file

    def has(self, key: str) -> bool:
        """Whether there is an entry, damaged or not."""
        return os.path.exists(self._path(key, _ENTRY))

    def write(self, key: str, write: Callable[[PieceWriter], dict[str, Any]]) -> int:
        """Makes an entry; whoever calls it has the lock of the key. Its size."""
        return write_whole(self._path(key, _ENTRY), self._path(key, _PARTIAL), write)

    def remove(self, key: str) -> None:
        """Removes an entry, if it is there. Who has it open can go on reading it."""
        with contextlib.suppress(FileNotFoundError):
            os.unlink(self._path(key, _ENTRY))

    @contextlib.contextmanager
    def lock(self, key: str, wait: bool = True) -> Iterator[bool]:
        """Keeps other threads and processes from the key; whether it did, which may need no wait.

        OSError where the folder has no locks.
        """
        path = self._path(key, _LOCK)
        while True:
            with open(path, "w") as file:
                try:
                    fcntl.flock(file, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
                except BlockingIOError:
                    yield False
                    return
                # Who had the lock before may have removed its file since that was opened.
                if os.fstat(file.fileno()).st_nlink == 0:
                    continue
                try:
                    yield True
                finally:
                    for suffix in (_PARTIAL, _LOCK):
                        with contextlib.suppress(OSError):
                            os.unlink(self._path(key, suffix))
                return

    def entries(self) -> list[Entry]:
        """All entries, the one that was used last first."""
        found = []
        for key in self._keys(_ENTRY):
            try:
                status = os.stat(self._path(key, _ENTRY))
            except OSError:
                continue  # removed since
            about, problem = {}, ""
            try:
                with PieceFile(self._path(key, _ENTRY)) as file:
                    about = file.about
            except (FileError, OSError) as error:
                problem = str(error)
            found.append(Entry(key, status.st_size, status.st_mtime, about, problem))
        return sorted(found, key=lambda entry: -entry.used)

    def problem_of(self, key: str) -> str:
        """What is wrong with the file of an entry; "" for nothing."""
        try:
            with PieceFile(self._path(key, _ENTRY)) as file:
                file.check()
        except FileNotFoundError:
            return ""
        except (FileError, OSError) as error:
            return str(error)
        return ""

    def trim(self, most: int) -> int:
        """Removes entries, the one first whose last use is longest ago, until the rest has at most
        that many bytes, for -1 all; how many. What killed processes left behind goes, too."""
        for key in {*self._keys(_PARTIAL), *self._keys(_LOCK)}:
            with contextlib.suppress(OSError), self.lock(key, wait=False):
                pass  # its end removes both files
        sizes = []
        for key in self._keys(_ENTRY):
            with contextlib.suppress(OSError):
                status = os.stat(self._path(key, _ENTRY))
                sizes.append((status.st_mtime_ns, status.st_size, key))
        total = sum(size for _, size, _ in sizes)
        removed = 0
        for _, size, key in sorted(sizes):
            if total <= most:
                break
            self.remove(key)
            total -= size
            removed += 1
        return removed

    def _keys(self, suffix: str) -> list[str]:
        with os.scandir(self._folder) as found:
            names = [item.name for item in found if item.name.endswith(suffix)]
        keys = [name.removesuffix(suffix) for name in names]
        # Other files may be somebody else's.
        return [key for key in keys if _KEY.fullmatch(key)]

    def _path(self, key: str, suffix: str) -> str:
        return os.path.join(self._folder, key + suffix)


def ago(seconds: float) -> str:
    """How long ago a time was, for people."""
    past = max(0.0, time.time() - seconds)
    for unit, length in (("days", 86400), ("hours", 3600), ("minutes", 60)):
        if past >= 2 * length:
            return f"{int(past // length)} {unit} ago"
    return f"{int(past)} seconds ago"
