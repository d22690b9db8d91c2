"""Libraries of generated code: compiled once, kept in the folder of mx.cache, loaded."""

from __future__ import annotations

import contextlib
import ctypes
import hashlib
import json
import os
import tempfile
import threading
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from ...cache._file import PieceWriter
from ...cache._use import Cache
from ...threads import get_num_threads
from ._jit import Jit, JitError, Processor
from ._list import chosen

_PIECE = "library"


class Library:
    """Machine code that this process has loaded, for as long as it lives."""

    def __init__(self, content: bytes, jit: str, source: str, seconds: float = 0.0) -> None:
        """JitError where it does not load."""
        self.jit = jit  # by which it was compiled
        self.size = len(content)  # in bytes
        self.source = source  # in C
        self.seconds = seconds  # that this process has compiled it
        # A name of its own: the loader takes a name that it has seen for the library of then.
        try:
            descriptor, path = tempfile.mkstemp(prefix="mx-sol-", suffix=".so")
            try:
                with os.fdopen(descriptor, "wb") as file:
                    file.write(content)
                self._library = ctypes.CDLL(path)
            finally:
                os.unlink(path)
        except OSError as error:
            raise JitError(f"what {jit} compiled does not load: {error}") from error

    def address(self, symbol: str) -> int:
        """Where a function is. JitError where it has none of that name."""
        try:
            function = getattr(self._library, symbol)
        except AttributeError:
            raise JitError(f"what {self.jit} compiled has no {symbol}") from None
        return ctypes.cast(function, ctypes.c_void_p).value or 0


_loaded: dict[str, Library] = {}
_lock = threading.Lock()


class _Objects:
    """Object files of this process, the last ones that were wanted."""

    _MOST = 512

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._kept: dict[Any, bytes] = {}

    def of(
        self, jit: Jit, sources: Sequence[str], target: Processor, flags: tuple[str, ...]
    ) -> list[bytes]:
        """Object files of sources; what is missing is compiled, several at once."""
        fingerprint = jit.fingerprint()
        keys = [(fingerprint, source, target.name, target.flags, flags) for source in sources]
        with self._lock:
            found = {key: self._kept[key] for key in keys if key in self._kept}
        missing = [key for key in dict.fromkeys(keys) if key not in found]

        def compiled(key: Any) -> bytes:
            with tempfile.TemporaryDirectory(prefix="mx-sol-") as folder:
                path = os.path.join(folder, "part.o")
                jit.build(key[1], path, target, flags, shared=False)
                with open(path, "rb") as file:
                    return file.read()

        with ThreadPoolExecutor(max(1, min(len(missing), get_num_threads()))) as threads:
            # The longest ones first, so that none is begun when others are done.
            order = sorted(missing, key=lambda key: -len(key[1]))
            found.update(zip(order, threads.map(compiled, order), strict=True))
        with self._lock:
            for key in keys:
                self._kept.pop(key, None)
                self._kept[key] = found[key]
            while len(self._kept) > self._MOST:
                del self._kept[next(iter(self._kept))]
        return [found[key] for key in keys]


_objects = _Objects()


def loaded() -> tuple[Library, ...]:
    """The libraries of generated code that this process has, in the order in which they came."""
    with _lock:
        return tuple(_loaded.values())


def seconds_compiling() -> float:
    """How long this process has compiled generated code."""
    return sum(library.seconds for library in loaded())


def compiled(
    source: str,
    target: Processor,
    flags: Sequence[str],
    *,
    jits: Sequence[Jit] | None = None,
    about: str = "",
    parts: Sequence[str] = (),
) -> Library:
    """The library of a C source: loaded already, kept by mx.cache, or compiled now.

    `parts` are sources that have together what the source has, and may have more: they are compiled
    at once, on as many threads as operators have, and those that this process has compiled for
    another library are not compiled again.

    The compilers of `jits`, by default those of MXNET_SOL_JIT or all, are tried in order. What was
    compiled by a compiler that is gone since is used, of one that has changed it is compiled anew.
    JitError where none compiles it, with what each of them said.
    """
    order = chosen() if jits is None else list(jits)
    names = ",".join(jit.name for jit in order)
    named = [source, target.name, *target.flags, "\0", *flags, "\0", names]
    key = hashlib.sha1("\0".join(named).encode(), usedforsecurity=False).hexdigest()
    with _lock:  # of what is loaded; whoever compiles the same waits
        if key not in _loaded:
            _loaded[key] = _find_or_compile(
                key, source, list(parts), target, tuple(flags), order, about
            )
        return _loaded[key]


def _find_or_compile(
    key: str,
    source: str,
    parts: Sequence[str],
    target: Processor,
    flags: tuple[str, ...],
    order: Sequence[Jit],
    about: str,
) -> Library:
    cache = Cache.find()
    with contextlib.nullcontext() if cache is None else cache.locked(key):
        kept = None if cache is None else _kept(cache, key, order, source)
        if kept is not None:
            return kept
        begin = time.monotonic()
        content, jit = _compile(source, parts, target, flags, order)
        seconds = time.monotonic() - begin
        library = Library(content, jit.name, source, seconds)
        if cache is not None:

            def write(writer: PieceWriter) -> dict[str, object]:
                writer.add(_PIECE, content)
                return {
                    "accelerator": f"sol {jit.name} {target.name}",
                    "jit": jit.name,
                    "fingerprint": jit.fingerprint(),
                    "seconds": seconds,
                    "graph": about,
                }

            cache.write(key, write)
        return library


def _kept(cache: Cache, key: str, order: Sequence[Jit], source: str) -> Library | None:
    """What is kept, unless its compiler is another one now, or it does not load."""
    file = cache.open(key)
    if file is None:
        return None
    with file:
        content = file.data(_PIECE)
        about = json.loads(json.dumps(file.about))
    by = next((jit for jit in order if jit.name == about.get("jit")), None)
    now = None if by is None else by.fingerprint()
    if now is not None and now != about.get("fingerprint"):
        cache.remove(key)
        return None
    try:
        return Library(content, str(about.get("jit")), source)
    except JitError:
        cache.remove(key)
        return None


def _compile(
    source: str,
    parts: Sequence[str],
    target: Processor,
    flags: tuple[str, ...],
    order: Sequence[Jit],
) -> tuple[bytes, Jit]:
    reasons = []
    for jit in order:
        try:
            with tempfile.TemporaryDirectory(prefix="mx-sol-") as folder:
                path = os.path.join(folder, "library.so")
                if not parts:
                    jit.build(source, path, target, flags)
                else:
                    jit.link(_objects.of(jit, parts, target, flags), path, target)
                with open(path, "rb") as file:
                    return file.read(), jit
        except (JitError, OSError) as error:
            reasons.append(str(error))
    raise JitError("no compiler has compiled generated code: " + "; ".join(reasons or ["none"]))
