"""A secret of the folder of the cache, with which what is kept there is hashed.

A hash with a secret key can be as fast as memory is read, and yet nobody can make a model that is
taken for another one.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import os
import secrets

import numpy

from . import _settings

_NAME = "secret"
_SIZE = 32
_WORDS = 130  # of the key that functions of C++ take


def secret() -> bytes:
    """32 bytes, for all processes the same that use the folder; where there is no folder that can
    be used, those of this process."""
    if not _settings.is_on():
        return _of_process()
    try:
        return _of_folder(_settings.usable_folder())
    except OSError:
        return _of_process()


@functools.cache
def _of_process() -> bytes:
    return secrets.token_bytes(_SIZE)


@functools.cache
def _of_folder(folder: str) -> bytes:
    path = os.path.join(folder, _NAME)
    found = _read(path)
    if found is not None:
        return found
    partial = f"{path}.{os.getpid()}.{secrets.token_hex(4)}"
    made = secrets.token_bytes(_SIZE)
    try:
        descriptor = os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "wb") as file:
            file.write(made)
        with contextlib.suppress(OSError):
            os.link(partial, path)  # unless another process was first
        found = _read(path)
        if found is None:  # that was cut off, or cannot have links
            os.replace(partial, path)
    finally:
        with contextlib.suppress(OSError):
            os.unlink(partial)
    return found or made


def _read(path: str) -> bytes | None:
    try:
        with open(path, "rb") as file:
            found = file.read(_SIZE + 1)
    except FileNotFoundError:
        return None
    return found if len(found) == _SIZE else None


def words_of(key: bytes) -> numpy.ndarray:
    """The numbers that the hash of arrays takes, of a secret of any length."""
    expanded = hashlib.shake_128(key).digest(8 * _WORDS)
    return numpy.frombuffer(expanded, "uint64")
