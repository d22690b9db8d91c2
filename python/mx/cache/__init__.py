"""`mx.cache`: what was compiled and measured, kept on the disk for the next start.

Where an accelerator's library exports what it has compiled, plans and modules take that from here:
for the same graph, weights, options, library, driver and device. So does `mx.sol` with code that it
has generated and with results of tuning. MXNET_CACHE=0 switches it off.

MXNET_CACHE         0 keeps none, and uses none that are kept
MXNET_CACHE_DIR     the folder; by default mxffi/models in XDG_CACHE_HOME or in ~/.cache
MXNET_CACHE_LIMIT   how large it may become, such as 500MB; before what `limit` has set
MXNET_CACHE_TRUSTED 1 has the folder used although others may have written to it
"""

from __future__ import annotations

import os

from ._file import FileError
from ._settings import bytes_of, folder, text_of
from ._settings import limit as _limit
from ._settings import set_limit as _set_limit
from ._store import Entry, Store, ago
from ._use import CacheWarning

__all__ = [
    "CacheWarning",
    "Entries",
    "Entry",
    "FileError",
    "bytes_of",
    "check",
    "clear",
    "entries",
    "folder",
    "limit",
    "text_of",
]


class Entries(tuple[Entry, ...]):
    """Compiled models that are kept, the one that was used last first; prints as a table."""

    def __repr__(self) -> str:
        if not self:
            return f"{folder()} has no compiled models"
        rows: list[tuple[str, ...]]
        rows = [("key", "size", "used", "accelerator", "nodes", "compiled in", "graph")]
        rows += [_cells(entry) for entry in self]
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        return "\n".join("  ".join(map(str.ljust, row, widths)).rstrip() for row in rows)


def _cells(entry: Entry) -> tuple[str, ...]:
    first = (entry.key[:12], text_of(entry.size), ago(entry.used))
    if entry.problem:
        return *first, "damaged", "", "", ""
    about = entry.about
    seconds = about.get("seconds")
    took = f"{seconds:.3g} s" if isinstance(seconds, (int, float)) else ""
    named = (str(about.get(name, "")) for name in ("accelerator", "nodes"))
    return *first, *named, took, str(about.get("graph", ""))


def _store() -> Store | None:
    path = folder()
    return Store(path) if os.path.isdir(path) else None


def entries() -> Entries:
    """What is kept."""
    store = _store()
    return Entries(store.entries() if store else ())


def check() -> Entries:
    """Reads all that is kept and compares its checksums; removes what is damaged, and returns that.

    Raises OSError where the folder cannot be read, or a damaged file not be removed.
    """
    store = _store()
    if store is None:
        return Entries()
    found = []
    for entry in store.entries():
        problem = store.problem_of(entry.key)
        if problem:
            store.remove(entry.key)
            found.append(Entry(entry.key, entry.size, entry.used, entry.about, problem))
    return Entries(found)


def clear() -> int:
    """Removes all that is kept; how many compiled models that were. Raises OSError."""
    store = _store()
    return 0 if store is None else store.trim(-1)


def limit(size: int | None = None) -> int:
    """How many bytes may be kept; with a size, it is that from now on, for all processes that use
    the folder, and what is more goes, the longest unused first.

    MXNET_CACHE_LIMIT is used before it. Raises ValueError for a size below 0, OSError where the
    folder cannot be written to.
    """
    if size is not None:
        if isinstance(size, bool) or not isinstance(size, int) or size < 0:
            raise ValueError(f"limit: size: expected a number of bytes from 0 on, got {size!r}")
        _set_limit(size)
    most = _limit()
    store = _store()
    if size is not None and store is not None:
        store.trim(most)
    return most
