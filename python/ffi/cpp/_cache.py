"""The folder of what has been compiled: private to the user, safe for many processes at once.

Each library has a folder named by its key, a hash of all that was asked for. `manifest.json` in it
names the present library and the files that it was made of, with size and time. A library is
written beside the others and put in its place by a rename, then the manifest is; so a reader sees a
whole library or none, and needs no lock.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import stat
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

_MANIFEST = "manifest.json"


def cache_dir() -> str:
    """The folder of the cache, which is made where it is missing.

    MXFFI_CACHE_DIR names it; else it is mxffi in XDG_CACHE_HOME or in ~/.cache. Raises
    PermissionError where somebody else could write to it: what is in it gets loaded.
    """
    named = os.environ.get("MXFFI_CACHE_DIR")
    if named:
        folder = os.path.abspath(os.path.expanduser(named))
    else:
        # The specification of the base directories has relative paths ignored.
        base = os.environ.get("XDG_CACHE_HOME", "")
        base = base if os.path.isabs(base) else os.path.join(os.path.expanduser("~"), ".cache")
        folder = os.path.join(base, "mxffi")
    _make_folder(folder)
    _check_private(folder)
    return folder


def _make_folder(folder: str) -> None:
    try:
        os.makedirs(folder, mode=0o700, exist_ok=True)
    except OSError as error:
        # The same class, made by the number.
        raise OSError(
            error.errno,
            f"the cache needs a folder that cannot be made ({error.strerror}); "
            "name another place in the variable MXFFI_CACHE_DIR",
            folder,
        ) from None


def _check_private(folder: str) -> None:
    status = os.stat(folder)
    if status.st_uid != os.geteuid():
        reason = f"it belongs to the user with number {status.st_uid}, not to you"
    elif status.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        reason = f"others may write to it (its mode is {stat.S_IMODE(status.st_mode):04o})"
    else:
        return
    raise PermissionError(
        f"the cache folder {folder} is not safe: {reason}; make it private (chmod 700) or name "
        "another in the variable MXFFI_CACHE_DIR"
    )


def key_of(parts: Iterable[object]) -> str:
    """A short hash of values, each by its representation."""
    return hashlib.sha256(repr(list(parts)).encode(errors="surrogatepass")).hexdigest()[:24]


def _stamp(path: str) -> list[int] | None:
    try:
        status = os.stat(path)
    except OSError:
        return None
    return [status.st_size, status.st_mtime_ns]


class Entry:
    """The place of one library in the cache."""

    def __init__(self, name: str, key: str) -> None:
        self.folder = os.path.join(cache_dir(), f"{name}-{key}")
        self._manifest = os.path.join(self.folder, _MANIFEST)

    def library(self) -> str | None:
        """The present library, unless something it was made of has changed."""
        try:
            with open(self._manifest, encoding="utf-8") as file:
                manifest: dict[str, Any] = json.load(file)
            inputs, library = manifest["inputs"], os.path.join(self.folder, manifest["library"])
        except (OSError, ValueError, KeyError):
            return None
        current = all(stamp and _stamp(path) == stamp for path, stamp in inputs.items())
        return library if current and os.path.exists(library) else None

    @contextmanager
    def locked(self) -> Iterator[bool]:
        """Keeps other threads and processes from compiling the same; whether it had to wait."""
        _make_folder(self.folder)
        with open(os.path.join(self.folder, "lock"), "w") as file:
            waited = False
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                waited = True
                fcntl.flock(file, fcntl.LOCK_EX)
            # Closing the file, also by the end of the process, releases the lock.
            yield waited

    def write(self, file_name: str, text: str) -> str:
        """A source file, put in its place at once. Returns its path."""
        path = os.path.join(self.folder, file_name)
        with open(path + ".part", "w", encoding="utf-8") as file:
            file.write(text)
        os.replace(path + ".part", path)
        return path

    def partial(self, file_name: str) -> str:
        """A path for a product that is not finished."""
        return os.path.join(self.folder, f"{file_name}.part")

    def publish(self, name: str, partial: str, inputs: Iterable[str], started: int) -> str:
        """Makes a finished product the present library, made of `inputs`. Returns its path.

        An input that has changed since `started`, in ns, may have been read before it did.
        """
        stamps = {path: _stamp(path) for path in inputs}
        stamps = {
            path: stamp if stamp is None or stamp[1] < started else None
            for path, stamp in stamps.items()
        }
        # Another name for each state of the inputs: a process may have the former one loaded.
        library = f"lib{name}-{key_of(sorted(stamps.items()))[:8]}.so"
        os.replace(partial, os.path.join(self.folder, library))
        self.write(_MANIFEST, json.dumps({"library": library, "inputs": stamps}))
        return os.path.join(self.folder, library)
