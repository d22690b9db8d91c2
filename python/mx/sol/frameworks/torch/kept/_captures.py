"""Captures of modules: from the cache, or by torch.export and then kept."""

from __future__ import annotations

import hashlib
from time import perf_counter
from typing import Any

from .....cache import FileError
from .....cache._use import Cache, warn
from .. import _captured
from .._captured import Captured
from ._code import NotDescribedError
from ._environment import settings, versions
from ._graphs import NotKeptError, read, writer_of
from ._modules import ModuleDescription

_BROKEN = (FileError, KeyError, TypeError, ValueError, AttributeError)


def capture(module: Any, args: Any, kwargs: Any, name: str) -> tuple[Captured, str]:
    """The graph of a module for an example, and where it is from, as reports tell it.

    GraphError and NotImplementedError where the module cannot be captured.
    """
    cache = Cache.find()
    if cache is None:
        return _captured.capture(
            module, args, kwargs, name
        ), "captured, not kept: there is no cache"
    try:
        key = key_of(module, args, kwargs)
    except (NotDescribedError, RecursionError) as error:
        found = _captured.capture(module, args, kwargs, name)
        return found, f"captured, not kept: {error}"
    kept = _kept(cache, key, module)
    if kept is not None:
        return kept, "from the cache"
    with cache.locked(key):
        # Another process may have captured it while this one waited.
        kept = _kept(cache, key, module)
        if kept is not None:
            return kept, "from the cache"
        begin = perf_counter()
        found = _captured.capture(module, args, kwargs, name)
        seconds = perf_counter() - begin
        told = f"captured in {seconds:.1f} s"
        try:
            cache.write(key, writer_of(found, module, seconds))
        except NotKeptError as error:
            told += f", not kept: {error}"
    return found, told


def key_of(module: Any, args: Any, kwargs: Any) -> str:
    """The key of a capture. NotDescribedError where something cannot be described for certain."""
    description = ModuleDescription(module)
    description.add(versions(), settings())
    description.describe()
    description.example(args, kwargs)
    digest = description.digest()
    parts = repr(("mx.sol.torch 1", digest, description.contents()))
    return hashlib.sha256(parts.encode()).hexdigest()[:40]


def _kept(cache: Cache, key: str, module: Any) -> Captured | None:
    file = cache.open(key)
    if file is None:
        return None
    with file:
        try:
            return read(file, module)
        except _BROKEN as error:
            warn(f"{file.path} is not as it was written: {error}. The model is captured anew")
    cache.remove(key)
    return None
