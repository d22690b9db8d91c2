"""Plans kept whole for the next start of the same model, with the weights as they are packed.

To merge and pack weights, and to choose kernels for the layers, takes most of a second start. Where
the source knows a key of its graph and of all weights, the cache has under it what the plan of the
processor was made of: a plan made of that computes the same, and reads its weights from the file.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import ffi

from ..cache import FileError
from ..cache._code import code_stamp
from ..cache._file import PieceWriter
from ..cache._use import Cache, warn
from ..graph.lowering import recipes
from ..graph.passes import CPU_PASSES, Pass
from . import jits
from ._backends import backends
from ._config import config
from .tuning import Tuning
from .tuning._kept import environment

if TYPE_CHECKING:
    from ..graph.lowering.recipes import Recipe
    from .frameworks import Source

_has_mkl = ffi.get_global_func("mx.graph.has_mkl")

_KIND = "mx.sol.start 1"
# The part of the cache that one plan may take.
_MOST = 8
_OWN = __name__.split(".", 1)[0] + "."


@dataclass
class Start:
    """Where the plan of one model is kept. Errors of what is kept, too, have it made anew."""

    cache: Cache
    key: str
    source: Source
    source_key: str

    def read(self, seconds: float = 0.0) -> tuple[Any, Tuning | None] | None:
        """The compiled plan, and what was measured for it; None where there is none, or layers were
        left out of that which so many seconds might do for."""
        # Nothing is read, or said, where there is nothing.
        file = self.cache.open(self.key) if self.cache.has(self.key) else None
        if file is None:
            return None
        with file:
            try:
                about = file.about["start"]
                tuning = None if about["tuning"] is None else Tuning.from_json(about["tuning"])
                if tuning is None or tuning.is_enough(seconds):
                    return recipes.read(file, about["arrays"], is_mapped=True).plan(), tuning
            except (FileError, *recipes.FAILURES) as error:
                warn(f"a plan that was kept is made anew: {error}")
        self.forget()
        return None

    def forget(self) -> None:
        """Removes what is kept, if anything is."""
        if self.cache.has(self.key):
            self.cache.remove(self.key)

    @property
    def most_bytes(self) -> int:
        """Of the weights of a plan that is kept."""
        return self.cache.limit() // _MOST

    def write(self, recipe: Recipe, tuning: Tuning | None) -> None:
        """Keeps what a plan was made of, unless weights were written since it has the key."""
        if self.source.key() != self.source_key:
            return

        def write(writer: PieceWriter) -> dict[str, Any]:
            told = None if tuning is None else tuning.as_json()
            return {
                "accelerator": "plan",
                "graph": self.source.name,
                "start": {"arrays": recipes.write(writer, recipe), "tuning": told},
            }

        with self.cache.locked(self.key):
            if not self.cache.has(self.key):
                self.cache.write(self.key, write)


def start_of(source: Source, passes: Sequence[Pass], is_tuned: bool) -> Start | None:
    """Where the plan of a model is kept for its example; None where it is not, as it depends on
    what no key tells: code of others, or data that was seen while it was made."""
    cache = Cache.find() if _are_own(passes) else None
    key = None if cache is None else source.key()
    if cache is None or key is None:
        return None
    parts = (
        _KIND, key, environment(), code_stamp("graph", "sol"), [one.name for one in passes],
        is_tuned, config["keep_nan"], _compilers(), bool(_has_mkl()),
    )  # fmt: skip
    digest = hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:40]
    return Start(cache, digest, source, key)


def _compilers() -> list[str]:
    """The names of those that are there; none where it is to be told why when one is needed."""
    try:
        return [one.name for one in jits.found()]
    except ValueError:
        return []


def _are_own(passes: Sequence[Pass]) -> bool:
    """Whether passes and rules are those of this package, and follow from the graph alone."""
    if not all(any(one is own for own in CPU_PASSES) for one in passes):
        return False
    rules = [rule for one in backends for found in one.rules.values() for _, rule in found]
    kinds = [type(one) for one in backends]
    return all(one.__module__.startswith(_OWN) for one in (*rules, *kinds))
