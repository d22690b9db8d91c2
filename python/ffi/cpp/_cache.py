"""The folder of what has been compiled: private to the user, safe for many processes at once.

Each library has a folder named by its key, a hash of all that was asked for. `manifest.txt` in it
names the present library and the files that it was made of, with size and times. A library is
written beside the others and moved there by a rename, then the manifest is, each only when it
is on the disk; so a reader sees a whole library or none, also after a power failure, and needs no
lock.

MXFFI_CACHE_DIR      the folder
MXFFI_CACHE_TRUSTED  1 has it used although others may have written to it
"""

from __future__ import annotations

import os

from ..trust import distrust

try:
    # Not from hashlib, whose import takes as long as a whole call that finds its library.
    from _blake2 import blake2b
except ImportError:  # an interpreter built without hashes of its own
    from hashlib import blake2b

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from io import TextIOWrapper

_MANIFEST = "manifest.txt"
# Stamps of a file that may have changed while it was read, and of a missing one.
_CHANGED = (-1, -1, -1)
_ABSENT = (-2, -2, -2)


def cache_dir() -> str:
    """The folder of the cache, which is made where it is missing.

    MXFFI_CACHE_DIR names it; else it is mxffi in XDG_CACHE_HOME or in ~/.cache. Raises
    PermissionError where somebody else could write to it, or replace it: what is in
    it gets loaded.
    """
    named = os.environ.get("MXFFI_CACHE_DIR")
    if named:
        folder = os.path.abspath(os.path.expanduser(named))
    else:
        # The XDG specification says that relative paths are ignored.
        base = os.environ.get("XDG_CACHE_HOME", "")
        base = base if os.path.isabs(base) else os.path.join(os.path.expanduser("~"), ".cache")
        folder = os.path.join(base, "mxffi")
    _make_folder(folder)
    _check_trust(folder)
    return folder


def _make_folder(folder: str) -> None:
    try:
        os.makedirs(folder, mode=0o700, exist_ok=True)
    except OSError as error:
        # OSError of a number is the subclass for it, PermissionError for one.
        raise OSError(
            error.errno,
            f"the cache needs a folder that cannot be made ({error.strerror}); "
            "name another folder in the variable MXFFI_CACHE_DIR",
            folder,
        ) from None


def _check_trust(path: str) -> None:
    """Raises PermissionError where somebody else could have written what is to be loaded."""
    reason = distrust(path)
    if reason is not None and os.environ.get("MXFFI_CACHE_TRUSTED") != "1":
        raise PermissionError(
            f"the cache is not safe: {reason}, so that what is in it may be somebody else's code. "
            f"Remove {path} and make what is above it private, name another folder in the "
            "variable MXFFI_CACHE_DIR, or set MXFFI_CACHE_TRUSTED=1 if you trust it"
        )


def key_of(parts: Iterable[object]) -> str:
    """A short hash of values, each by its representation."""
    return blake2b(repr(list(parts)).encode(errors="surrogatepass"), digest_size=12).hexdigest()


def _stamp(path: str) -> tuple[int, int, int]:
    """Size and times of a file, of which one differs where another file has replaced it."""
    try:
        status = os.stat(path)
    except (FileNotFoundError, NotADirectoryError):
        return _ABSENT
    except OSError:
        return _CHANGED
    # A copy may keep the modification time of the original; its status time is its own.
    return status.st_size, status.st_mtime_ns, status.st_ctime_ns


def _sync(path: str) -> None:
    """Waits until a file, or what a folder lists, is on the disk."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


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
    """The folder of one library in the cache."""

    def __init__(self, name: str, key: str) -> None:
        self._key = f"{name}-{key}"
        self.folder = os.path.join(cache_dir(), self._key)
        self._manifest = os.path.join(self.folder, _MANIFEST)

    def library(self) -> str | None:
        """The present library, unless it or something it was made of has changed.

        Raises PermissionError where somebody else could have written it.
        """
        try:
            _check_trust(self._manifest)
            with open(self._manifest, encoding="utf-8", errors="surrogateescape") as file:
                key, name, *inputs = file.read().split("\n")
            # A manifest that names another key was copied here from another entry.
            if key != self._key:
                return None
            library = os.path.join(self.folder, name)
            _check_trust(library)
            for line in inputs:
                size, modified, changed, path = line.split(" ", 3)
                stamp = int(size), int(modified), int(changed)
                if stamp == _CHANGED or _stamp(path) != stamp:
                    return None
        except (FileNotFoundError, NotADirectoryError, ValueError):
            return None
        return library

    def locked(self) -> _Lock:
        """Keeps others from compiling the same."""
        _make_folder(self.folder)
        _check_trust(self.folder)
        return _Lock(self.folder)

    def write(self, file_name: str, text: str, errors: str = "strict") -> str:
        """A text file, written by a rename. Returns its path."""
        path = os.path.join(self.folder, file_name)
        with open(path + ".part", "w", encoding="utf-8", errors=errors) as file:
            file.write(text)
        _sync(path + ".part")
        os.replace(path + ".part", path)
        return path

    def partial(self, file_name: str) -> str:
        """A path for a product that is not finished."""
        return os.path.join(self.folder, f"{file_name}.part")

    def publish(self, name: str, partial: str, inputs: Iterable[str], started: int) -> str:
        """Makes a finished product the present library, made of `inputs`. Returns its path.

        An input that is not there stands for one that would be read if it were. One that has
        changed since `started`, in ns, may have been read before it did.
        """
        stamps = {path: _stamp(path) for path in inputs}
        stamps = {
            path: stamp if max(stamp[1:]) < started else _CHANGED for path, stamp in stamps.items()
        }
        # The name depends on the inputs: a process may have the library for the former ones loaded.
        file_name = f"lib{name}-{key_of(sorted(stamps.items()))[:8]}.so"
        library = os.path.join(self.folder, file_name)
        _sync(partial)
        os.replace(partial, library)
        stamps[library] = _stamp(library)
        lines = [" ".join(map(str, (*stamp, path))) for path, stamp in stamps.items()]
        # The names of files may be any bytes.
        self.write(_MANIFEST, "\n".join([self._key, file_name, *lines]), "surrogateescape")
        _sync(self.folder)
        return library
