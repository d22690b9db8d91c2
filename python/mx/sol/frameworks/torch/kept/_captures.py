"""Captures of modules: from the cache, or by torch.export and then kept."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from time import perf_counter
from typing import Any, TypeVar

from .....cache import FileError
from .....cache._file import PieceFile, PieceWriter
from .....cache._use import Cache, warn
from .. import _captured, _training_graph
from .._captured import Captured
from .._libraries import give_back_code
from .._surroundings import plain
from .._training_graph import TrainingGraph
from ._code import NotDescribedError
from ._environment import settings, versions
from ._graphs import NotKeptError, read, writer_of
from ._modules import ModuleDescription
from ._training import read_training, writer_of_training

_BROKEN = (FileError, KeyError, TypeError, ValueError, AttributeError)
_Made = TypeVar("_Made")
_Writer = Callable[[PieceWriter], dict[str, Any]]


class Key:
    """The key of a capture, and of the elements that the tensors of the module had then."""

    def __init__(self, module: Any, args: Any, kwargs: Any, training: bool = False) -> None:
        """NotDescribedError where something cannot be described for certain."""
        self._description = description = ModuleDescription(module)
        description.add(versions(), settings())
        description.describe()
        description.example(args, kwargs)
        self._digest = description.digest()
        self._training = training
        self.text = self._now()

    @plain()
    def holds(self) -> bool:
        """Whether tensors have the same elements now."""
        return self._now() == self.text

    def _now(self) -> str:
        # A graph for training is used whatever its parameters and buffers become.
        contents = self._description.contents(of_state=not self._training)
        kind = "mx.sol.torch training 1" if self._training else "mx.sol.torch 1"
        return hashlib.sha256(repr((kind, self._digest, contents)).encode()).hexdigest()[:40]


def capture(module: Any, args: Any, kwargs: Any, name: str) -> tuple[Captured, str, Key | None]:
    """The graph of a module for an example, where it is from, as reports tell it, and its key with
    the weights that the module has; None where there is none.

    GraphError and NotImplementedError where the module cannot be captured.
    """
    return _from_cache(
        lambda: Key(module, args, kwargs),
        lambda: _giving_back(lambda: _captured.capture(module, args, kwargs, name)),
        lambda found, seconds: writer_of(found, module, seconds),
        lambda file: read(file, module),
    )


def capture_training(module: Any, args: Any, kwargs: Any) -> TrainingGraph:
    """The graph of a module as it is in training. GraphError where the graph cannot have it."""
    found, _, _ = _from_cache(
        lambda: Key(module, args, kwargs, training=True),
        lambda: _giving_back(lambda: _training_graph.training_graph(module, args, kwargs)),
        lambda found, seconds: writer_of_training(found, module, seconds),
        lambda file: read_training(file, module),
    )
    # For gradients that are planned now, and what they are computed in.
    give_back_code()
    return found


def _giving_back(make: Callable[[], _Made]) -> _Made:
    """What is made by torch.export, which imports much and runs code that nothing else runs."""
    give_back_code()
    made = make()
    give_back_code()
    return made


@plain()
def _from_cache(
    describe: Callable[[], Key],
    make: Callable[[], _Made],
    writer_of: Callable[[_Made, float], _Writer],
    read: Callable[[PieceFile], _Made],
) -> tuple[_Made, str, Key | None]:
    """What the cache has under a key; else what is made, which is then kept, if it can be."""
    cache = Cache.find()
    if cache is None:
        return make(), "captured, not kept: there is no cache", None
    try:
        described = describe()
    except (NotDescribedError, RecursionError) as error:
        return make(), f"captured, not kept: {error}", None
    key = described.text
    kept = _kept(cache, key, read)
    if kept is not None:
        return kept, "from the cache", described
    with cache.locked(key):
        # Another process may have captured it while this one waited.
        kept = _kept(cache, key, read)
        if kept is not None:
            return kept, "from the cache", described
        begin = perf_counter()
        found = make()
        seconds = perf_counter() - begin
        told = f"captured in {seconds:.1f} s"
        try:
            cache.write(key, writer_of(found, seconds))
        except NotKeptError as error:
            told += f", not kept: {error}"
    return found, told, described


def _kept(cache: Cache, key: str, read: Callable[[PieceFile], _Made]) -> _Made | None:
    file = cache.open(key)
    if file is None:
        return None
    with file:
        try:
            return read(file)
        except _BROKEN as error:
            warn(f"{file.path} is not as it was written: {error}. The model is captured anew")
    cache.remove(key)
    return None
