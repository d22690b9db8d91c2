"""Where models of a device come from: a file, the cache, or compiling."""

from __future__ import annotations

import contextlib
import functools
import json
import os
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from hashlib import sha256
from typing import Any

import ffi

from ...cache._file import PieceFile, PieceWriter
from ...cache._use import Cache, warn
from ...context import Context
from ._load import of_this_thread

_exports = ffi.get_global_func("mx.acc.models.exports")
_key = ffi.get_global_func("mx.acc.models.key")
_check = ffi.get_global_func("mx.acc.models.check")
_configured = ffi.get_global_func("mx.acc.models.configured")
_libraries = ffi.get_global_func("mx.acc.loaded")
_device_info = ffi.get_global_func("mx.acc.device_info")

# What a library, or MXNet on its behalf, may fail with.
FAILURES = (RuntimeError, ValueError, TypeError, IndexError, NotImplementedError, MemoryError)


@dataclass(frozen=True)
class Source:
    """A part of a graph that is to become a model."""

    graph: Any  # a mx.acc.ModelGraph
    digest: str  # of all that the model depends on but for the library and the device
    nodes: int
    name: str  # the graph's
    structure: str = ""  # the digest of all but the elements of weights; "" where it is not known
    hashes: tuple[str, ...] = ()  # of those, in the graph's order


@dataclass(frozen=True)
class Loaded:
    """A model, and where it came from."""

    model: Any  # a mx.acc.Model
    digest: str
    nodes: int
    origin: str  # "compiled", "cache", "file" or "updated"
    seconds: float
    structure: str = ""  # those of the source
    hashes: tuple[str, ...] = ()

    @classmethod
    def of(cls, source: Source, model: Any, origin: str, begin: float) -> Loaded:
        """A model of a source, the making of which has begun then."""
        seconds = time.perf_counter() - begin
        parts = source.digest, source.nodes, origin, seconds, source.structure, source.hashes
        return cls(model, *parts)

    def updated(self, source: Source, idle: Callable[[], None]) -> Loaded | None:
        """The model with the weights of another source; None where it has to be loaded again.
        `idle` is called before weights of the model change.

        Raises what the library fails with; the model cannot be used any more then.
        """
        if not self.structure or self.structure != source.structure:
            return None
        pairs = zip(self.hashes, source.hashes, strict=True)
        changed = [number for number, (old, new) in enumerate(pairs) if old != new]
        if not changed:
            return self
        if not self.model.updates or self.model.is_lost:
            return None
        begin = time.perf_counter()
        idle()
        self.model.update_weights(source.graph, changed)
        return Loaded.of(source, self.model, "updated", begin)


class Saved:
    """Compiled models in a file that `mx.model.save_compiled` has written."""

    def __init__(
        self,
        file: PieceFile,
        key: str,
        models: Mapping[str, Sequence[str]],
        answers: Mapping[str, Sequence[tuple[int, str]]],
        secret: bytes,
    ) -> None:
        self.file = file
        self.secret = secret  # with which weights were hashed
        self.key = key  # what the library's modelKey was
        self.models = models  # names of the pieces, by digests
        self.answers = answers  # group and reason of each node, by `specs_key` of the inputs


class Compiler:
    """Makes models for one device."""

    def __init__(
        self, ctx: Context, options: Mapping[str, Any], use_cache: bool, saved: Saved | None
    ) -> None:
        self._ctx = ctx
        self._options = dict(options)
        self._use_cache = use_cache
        self._saved = saved
        self._whole: set[str] = set()  # digests of models that the cache has with their weights
        self._known: dict[str, Loaded] = {}  # models that are loaded before it is known of what

    def load(self, source: Source) -> Loaded:
        """A model: from the file or the cache where it fits, else compiled, and kept."""
        known = self._known.pop(source.digest, None)
        if known is not None:
            return replace(known, structure=source.structure, hashes=source.hashes)
        begin = time.perf_counter()
        model, origin = self._from_file(source), "file"
        if model is None:
            model, origin = self._cached(source)
        return Loaded.of(source, model, origin, begin)

    def load_kept(self, graph: Any, digest: str, nodes: int) -> Loaded | None:
        """The model of a digest where the cache has it whole, for a graph of which only inputs and
        outputs are known. `load` of that digest gives the same."""
        begin = time.perf_counter()
        cache, identity = self.cache()
        source = Source(graph, digest, nodes, "")
        model = None
        if cache is not None and identity is not None:
            model = self._from_cache(cache, _entry_of(digest, identity), source, whole=True)
        if model is None:
            return None
        loaded = Loaded(model, digest, nodes, "cache", time.perf_counter() - begin)
        self._known[digest] = loaded
        return loaded

    def forget_kept(self) -> None:
        """Drops models that `load_kept` gave, of which no graph is known yet."""
        self._known.clear()

    def has_whole(self, digest: str) -> bool:
        """Whether the cache has the model of a digest with its weights, as far as was seen."""
        return digest in self._whole

    def cache(self) -> tuple[Cache | None, dict[str, Any] | None]:
        """The cache, and what models there depend on besides their graphs; None where it cannot be
        used."""
        cache = Cache.find() if self._use_cache and _exports(self._ctx) else None
        identity = self._identity() if cache is not None else None
        return (None, None) if identity is None else (cache, identity)

    def compile(self, source: Source) -> Any:
        """A model that is compiled now and not kept. Raises GivenUp where a load was given up."""
        load = of_this_thread()
        with contextlib.nullcontext() if load is None else load.compiling(source.graph):
            return source.graph.load(self._ctx, list(self._options), list(self._options.values()))

    @cached_property
    def verdict(self) -> str:
        """What the library says of the models of the file."""
        if self._saved is None or not _exports(self._ctx):
            return "does not fit"
        try:
            return str(_check(self._ctx, self._saved.key))
        except FAILURES as error:
            return f"does not fit: {error}"

    def saved_answers(self, specs: Sequence[Any]) -> Sequence[tuple[int, str]] | None:
        """What the library said of the nodes for these inputs, where the file's models fit."""
        if self._saved is None or self.verdict != "fits":
            return None
        return self._saved.answers.get(specs_key(specs))

    def _from_file(self, source: Source) -> Any:
        saved = self._saved
        if saved is None:
            return None
        names = saved.models.get(source.digest)
        problem = "the file has no such model"
        if names and self.verdict != "fits":
            problem = f"the library says of the file's: {self.verdict}"
        elif names:
            try:
                return self._import(source, saved.file, saved.key, names)
            except FAILURES as error:
                problem = str(error)
        what = f"a model of {source.nodes} nodes for {self._ctx.device_type}"
        warn(f"{saved.file.path}: {what} is compiled anew: {problem}")
        return None

    def _cached(self, source: Source) -> tuple[Any, str]:
        cache, identity = self.cache()
        if cache is None or identity is None:
            return self.compile(source), "compiled"
        entry = _entry_of(source.digest, identity)
        model = self._from_cache(cache, entry, source)
        if model is not None:
            return model, "cache"
        with cache.locked(entry):
            # Another process may have compiled it meanwhile.
            model = self._from_cache(cache, entry, source)
            if model is not None:
                return model, "cache"
            begin = time.perf_counter()
            model = self.compile(source)
            about = {
                "accelerator": self._ctx.device_type,
                "graph": source.name,
                "key": identity["key"],
                "nodes": source.nodes,
                "seconds": time.perf_counter() - begin,
            }
            self._keep(cache, entry, model, source.digest, about)
        return model, "compiled"

    def _from_cache(self, cache: Cache, entry: str, source: Source, whole: bool = False) -> Any:
        """With `whole` only a model whose weights are in the cache, too."""
        file = cache.open(entry)
        if file is None:
            return None
        with file:
            key = str(file.about.get("key"))
            try:
                # The key is part of the entry's, but the library has the last word.
                is_whole = file.about.get("weights") is True
                if whole > is_whole or _check(self._ctx, key) != "fits":
                    return None
                model = self._import(source, file, key, list(file.rows), not is_whole)
            except FAILURES as error:
                cache.remove(entry)
                warn(f"a compiled model that was kept is compiled anew: {error}")
                return None
            if is_whole:
                self._whole.add(source.digest)
            return model

    def _import(
        self, source: Source, file: PieceFile, key: str, names: Sequence[str], weights: bool = True
    ) -> Any:
        """Makes the model of pieces whose names in the file are `NUMBER/NAME`, and of the graph's
        weights where those are to be given."""
        rows = [file.rows[name] for name in names]
        pieces = [(row.name.partition("/")[2], row.offset, row.size) for row in rows]
        return source.graph.import_model(self._ctx, key, file.fileno(), pieces, weights)

    def _keep(
        self, cache: Cache, entry: str, model: Any, digest: str, about: dict[str, Any]
    ) -> None:
        def write(writer: PieceWriter) -> dict[str, Any]:
            try:
                writer.add_all("0/", functools.partial(model.export, weights=True))
                self._whole.add(digest)
                return {**about, "weights": True}
            except NotImplementedError:  # not with its weights
                writer.add_all("0/", model.export)
                return {**about, "weights": False}

        try:
            cache.write(entry, write)
        except NotImplementedError:
            pass  # not this model
        except FAILURES as error:
            warn(f"a compiled model is not kept: {error}", once=f"{self._ctx.device_type} export")

    def _identity(self) -> dict[str, Any] | None:
        """What a compiled model depends on besides its graph; None where that cannot be told."""
        try:
            row = next(row for row in _libraries() if row[0] == self._ctx.device_type)
            return {
                "library": _checksum(row[1]),
                "abi": row[2],
                "release": row[5],
                "device": list(_device_info(self._ctx))[:3],
                "key": _key(self._ctx),
                "configured": [list(each) for each in _configured(self._ctx)],
            }
        except (*FAILURES, OSError, StopIteration) as error:
            warn(f"compiled models are not kept: {error}", once=f"{self._ctx.device_type} identity")
            return None


def _entry_of(digest: str, identity: Mapping[str, Any]) -> str:
    """The key of a model in the cache."""
    text = json.dumps([digest, identity], sort_keys=True)
    return sha256(text.encode()).hexdigest()[:40]


def digest_of(
    json_text: str, onnx: bytes, weights: Sequence[tuple[str, str]], options: Mapping[str, Any]
) -> str:
    """Of a graph, the names and hashes of its weights, and the options it is compiled with."""
    parts = [json_text, sha256(onnx).hexdigest(), list(weights), sorted(options.items())]
    return sha256(json.dumps(parts, default=repr).encode()).hexdigest()


def specs_key(specs: Sequence[Any]) -> str:
    """Shapes and types of inputs as a text."""
    return json.dumps([[shape, None if dtype is None else str(dtype)] for shape, dtype in specs])


def model_key(ctx: Context) -> str:
    """What decides whether compiled models fit a device; "" where its library exports none."""
    return str(_key(ctx)) if _exports(ctx) else ""


_checksums: dict[tuple[str, int, int, int], str] = {}


def _checksum(path: str) -> str:
    """Of a library's file, which is read again only when it has changed."""
    status = os.stat(path)
    stamp = (path, status.st_size, status.st_mtime_ns, status.st_ino)
    if stamp not in _checksums:
        with open(path, "rb") as file:
            _checksums[stamp] = sha256(file.read()).hexdigest()
    return _checksums[stamp]
