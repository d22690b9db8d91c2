"""`sol.tune`: which backend is best for each layer of an optimized model, measured."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ._config import config
from ._optimize import parts_of
from .tuning import Tuning


@dataclass(frozen=True)
class Tunings:
    """What tuning found out about the optimized parts of a model, by the names of those."""

    parts: dict[str, Tuning]

    def __str__(self) -> str:
        return "\n\n".join(f"[{name}] {tuning}" for name, tuning in self.parts.items())


def tune(
    model: Any, seconds: float | None = None, progress: bool | None = None, again: bool = False
) -> Tuning | Tunings:
    """Measures the backends for each layer of an optimized model, and has it use the best ones.

    Layers are timed on the shapes of the example, for about `seconds` in all, by default
    `sol.config["tuning_seconds"]`. `progress` says whether a bar is drawn on the standard error
    output, by default on terminals. Results are kept in the cache for the next start; with `again`
    they are measured again. What a model gives may differ in the last digits before and after.

    TypeError for what `optimize` has not returned, ValueError for no time, NotImplementedError for
    models on other devices than the CPU.
    """
    if seconds is not None and not isinstance(seconds, int | float):
        raise TypeError(f"sol.tune: seconds: expected a number, got {seconds!r}")
    if seconds is not None and not seconds > 0:
        raise ValueError(f"sol.tune: seconds: expected more than 0, got {seconds!r}")
    if not isinstance(again, bool):
        raise TypeError(f"sol.tune: again: expected True or False, got {again!r}")
    most = float(config["tuning_seconds"] if seconds is None else seconds)
    found = {}
    for name, part in parts_of(model, "tune"):
        part.refresh()  # for other threads, too, that run it meanwhile
        try:
            tuning = part.compiled.tune(most, progress, again)
        finally:
            part.forget()  # whatever it has ready is of the plan before
        if tuning is None:
            raise NotImplementedError("sol.tune: only layers on the CPU are measured")
        found[name] = tuning
    return found[""] if list(found) == [""] else Tunings(found)
