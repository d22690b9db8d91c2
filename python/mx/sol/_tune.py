"""`sol.tune`: which backend is best for each layer of an optimized model, measured."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ._config import config
from ._optimize import parts_of
from ._training_report import rehearsal
from .tuning import Tuner, Tuning


@dataclass(frozen=True)
class Tunings:
    """What tuning found out about the optimized parts of a model, by the names of those."""

    parts: dict[str, Tuning]

    def __str__(self) -> str:
        return "\n\n".join(f"[{name}] {tuning}" for name, tuning in self.parts.items())


def tune(
    model: Any,
    seconds: float | None = None,
    progress: bool | None = None,
    again: bool = False,
    training: bool = False,
) -> Tuning | Tunings:
    """Measures the backends for each layer of an optimized model, and has it use the best ones.

    Layers are timed on the shapes of the example, for about `seconds` in all, by default
    `sol.config["tuning_seconds"]`. `progress` says whether a bar is drawn on the standard error
    output, by default on terminals. Results are kept in the cache, so that it measures nothing at
    the next start; with `again` they are measured again. What a model gives may differ in the last
    digits before and after.

    With `training` those of a step of training are measured, by the names "forward" and "backward",
    each for half of the time; steps with other shapes stay untuned. A module that is in no mode of
    training is looked at as `.train()` has it. Nothing of the model is changed.

    TypeError for what `optimize` has not returned, ValueError for no time and where no parameter
    requires a gradient, NotImplementedError for models on other devices than the CPU, and for
    training of models that sol.memory knows none of.
    """
    if seconds is not None and not isinstance(seconds, int | float):
        raise TypeError(f"sol.tune: seconds: expected a number, got {seconds!r}")
    if seconds is not None and not seconds > 0:
        raise ValueError(f"sol.tune: seconds: expected more than 0, got {seconds!r}")
    for argument, value in (("again", again), ("training", training)):
        if not isinstance(value, bool):
            raise TypeError(f"sol.tune: {argument}: expected True or False, got {value!r}")
    most = float(config["tuning_seconds"] if seconds is None else seconds)
    found: dict[str, Tuning] = {}
    for name, part in parts_of(model, "tune"):
        if training:
            tunings = _tune_training(part, Tuner(most / 2, progress, again))
            found.update((f"{name}.{which}".lstrip("."), one) for which, one in tunings.items())
            continue
        part.refresh()  # for other threads, too, that run it meanwhile
        try:
            tuning = part.compiled.tune(most, progress, again)
        finally:
            part.forget()  # whatever it has ready is of the plan before
        if tuning is None:
            raise NotImplementedError("sol.tune: only layers on the CPU are measured")
        found[name] = tuning
    return found[""] if list(found) == [""] else Tunings(found)


def _tune_training(part: Any, tuner: Tuner) -> Mapping[str, Tuning]:
    """Has an optimized model, or a part of one, train by plans that this makes."""
    part.compiled.tune_training(tuner)
    part.forget_training()
    try:
        call = rehearsal(part, "tune")
    except BaseException:
        part.compiled.tune_training(None)
        raise
    call.backward(())
    tuner.measures = False  # of other shapes in the middle of training
    return call.plans.tunings
