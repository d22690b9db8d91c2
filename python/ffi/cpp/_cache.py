"""The folder of what has been compiled: private to the user, safe for many processes at once.

Each library has a folder named by its key, a hash of all that was asked for. `manifest.txt` in it
names the present library and the files that it was made of, with size and time. A library is
written beside the others and put in its place by a rename, then the manifest is; so a reader sees a
whole library or none, and needs no lock.
"""

from __future__ import annotations

import os
import stat

try:
    # What hashlib gives, whose import takes as long as all else where nothing is to be compiled.
    from _blake2 import blake2b
except ImportError:  # an interpreter that leaves all hashes to OpenSSL
    from hashlib import blake2b

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from io import TextIOWrapper

_MANIFEST = "manifest.txt"
# Stands for size and time of an input that may be another by now.
_CHANGED = (-1, -1)


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
    return blake2b(repr(list(parts)).encode(errors="surrogatepass"), digest_size=12).hexdigest()


def _stamp(path: str) -> tuple[int, int]:
    """Size and time of a file, which differ where it does."""
    try:
        status = os.stat(path)
    except OSError:
        return _CHANGED
    return status.st_size, status.st_mtime_ns


class _Lock:
    """Keeps other threads and processes out of a folder; `with` says whether it had to wait."""

    def __init__(self, folder: str) -> None:
        self._path = os.path.join(folder, "lock")
        self._file: TextIOWrapper | None = None

    def __enter__(self) -> bool:
        import fcntl

        self._file = open(self._path, "w")
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            fcntl.flock(self._file, fcntl.LOCK_EX)
            return True
        return False

    def __exit__(self, *error: object) -> None:
        # Closing the file, also by the end of the process, releases the lock.
        if self._file is not None:
            self._file.close()


class Entry:
    """The place of one library in the cache."""

    def __init__(self, name: str, key: str) -> None:
        self.folder = os.path.join(cache_dir(), f"{name}-{key}")
        self._manifest = os.path.join(self.folder, _MANIFEST)

    def library(self) -> str | None:
        """The present library, unless something it was made of has changed."""
        try:
            with open(self._manifest, encoding="utf-8", errors="surrogateescape") as file:
                name, *inputs = file.read().split("\n")
            for line in inputs:
                size, time, path = line.split(" ", 2)
                stamp = int(size), int(time)
                if stamp == _CHANGED or _stamp(path) != stamp:
                    return None
        except (OSError, ValueError):
            return None
        library = os.path.join(self.folder, name)
        return library if os.path.isfile(library) else None

    def locked(self) -> _Lock:
        """Keeps others from compiling the same."""
        _make_folder(self.folder)
        return _Lock(self.folder)

    def write(self, file_name: str, text: str, errors: str = "strict") -> str:
        """A text file, put in its place at once. Returns its path."""
        path = os.path.join(self.folder, file_name)
        with open(path + ".part", "w", encoding="utf-8", errors=errors) as file:
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
        stamps = {path: stamp if stamp[1] < started else _CHANGED for path, stamp in stamps.items()}
        # Another name for each state of the inputs: a process may have the former one loaded.
        library = f"lib{name}-{key_of(sorted(stamps.items()))[:8]}.so"
        os.replace(partial, os.path.join(self.folder, library))
        lines = [f"{size} {time} {path}" for path, (size, time) in stamps.items()]
        # The names of files may be any bytes.
        self.write(_MANIFEST, "\n".join([library, *lines]), "surrogateescape")
        return os.path.join(self.folder, library)
