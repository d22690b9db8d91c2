"""SHA-256 of short texts without OpenSSL, which takes 4 MB and as long to load as many a model."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from hashlib import _Hash

# Of so many bytes it is worth while, as it takes a sixth of the time.
_MANY = 1 << 20

_of_few: Callable[[bytes], _Hash]
try:  # as Python's own `random` does
    from _sha2 import sha256 as _of_few  # type: ignore[import-not-found,no-redef]
except ImportError:
    try:
        from _sha256 import sha256 as _of_few  # type: ignore[import-not-found,no-redef]
    except ImportError:
        from hashlib import sha256 as _of_few


def sha256(data: bytes, size: int = 0) -> _Hash:
    """What `hashlib.sha256` gives; `size` is how many bytes will come, if they are more."""
    if max(len(data), size) < _MANY:
        return _of_few(data)
    import hashlib

    return hashlib.sha256(data)
