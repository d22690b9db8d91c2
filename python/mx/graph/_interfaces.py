"""The inputs and outputs of files that were read before, kept in the cache.

With them, and with a model of a device that is kept, a plan need not read the file's nodes.
"""

from __future__ import annotations

import onnx
import onnx_ir

import ffi

from ..cache._code import code_stamp
from ..cache._sha import sha256
from ..cache._use import Cache
from ._unread import Interface


def structure_of(digest: str) -> str:
    """A checksum of a file without its large weights, and of all that reads it."""
    versions = (ffi.__version__, onnx.__version__, onnx_ir.__version__)
    stamp = code_stamp("graph", "importers/onnx")
    return sha256(repr((digest, versions, stamp)).encode()).hexdigest()


def find(structure: str) -> Interface | None:
    """What is known of files of a structure; None where that is nothing."""
    cache = Cache.find() if Cache.has(_entry(structure)) else None
    file = None if cache is None else cache.open(_entry(structure))
    if file is None:
        return None
    with file:
        try:
            return Interface.read(file.about)
        except (KeyError, TypeError, ValueError):
            return None


def keep(cache: Cache, structure: str, interface: Interface, name: str) -> None:
    """Keeps it for the next process that reads such a file."""
    entry = _entry(structure)
    if Cache.has(entry):
        return
    about = {"graph": f"{name}: inputs and outputs", **interface.rows()}
    with cache.locked(entry):
        cache.write(entry, lambda writer: about)


def _entry(structure: str) -> str:
    return sha256(f"interface {structure}".encode()).hexdigest()[:40]
