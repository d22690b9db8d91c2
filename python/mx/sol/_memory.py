"""`sol.memory`: what a model takes before it runs, and `sol.largest_batch`: what fits a limit."""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable
from typing import Any

from ..graph import ValueSpec
from ._compiled import Compiled
from ._limited import bytes_of_limit, planned
from ._optimize import parts_of
from .schedule import Memory, bytes_of, memory_of, training_memory

# More nobody asks for, and shapes have to stay within 63 bits.
_MOST_BATCH = 1 << 24


def memory(model: Any, training: bool = False) -> Memory:
    """The memory that an optimized model takes, known before it runs for the first time.

    It is that for the shapes of the example: of inference, or of one step of training, forward and
    backward. `print(memory.table())` shows it over time, `memory.picture()` is an SVG of that.

    TypeError where `training` is no bool or `optimize` has not returned the model,
    NotImplementedError where elements of arrays decide about shapes, so that a model takes several
    plans, on other devices than the CPU, and for training of models that are no modules of torch.
    """
    parts = parts_of(model, "memory")
    if not isinstance(training, bool):
        raise TypeError(f"sol.memory: training: expected True or False, got {training!r}")
    if training:
        found = [_training_memory(part) for _, part in parts]
    else:
        found = [inference_memory(part.compiled) for _, part in parts]
    known = [one for one in found if one is not None]
    if len(known) < len(found):
        raise NotImplementedError(
            "sol.memory: not known for a model that takes several plans, or another device"
        )
    return functools.reduce(operator.add, known)


def inference_memory(compiled: Compiled) -> Memory | None:
    """That of a model for the shapes of its example; None where it is not known."""
    arrays = compiled.example_arrays()
    plan = compiled.compiled_plan(arrays)
    return None if plan is None else memory_of(compiled.sized(arrays)[2], plan)


def _training_memory(part: Any) -> Memory | None:
    plans = getattr(part, "training_plans", None)
    if plans is None:
        raise NotImplementedError("sol.memory: training: only of modules of torch")
    made, state = plans()
    if made.backward_graph is None:
        raise ValueError("sol.memory: training: no parameter of the model requires a gradient")
    if part.compiled.context.device_type != "cpu":
        return None
    passes = part.compiled.passes
    both = [planned(graph, passes) for graph in (made.forward_graph, made.backward_graph)]
    (forward, first), (backward, second) = both
    if first is None or second is None:
        return None
    return training_memory((forward, first), (backward, second), made.saved, state)


def largest_batch(model: Any, limit: int | str) -> int:
    """The largest batch with which inference of an optimized model takes no more than a limit.

    `limit` is in bytes, or a text such as "2GB". The batch is the first dimension of the first
    input, which must be one that may vary; the others are as in the example. It plans the model
    for a few lengths of it, and runs none. 0 where not even a batch of one fits.

    ValueError for a limit that is none, and for a model whose first dimension is fixed, with the
    reason; NotImplementedError as for `sol.memory`.
    """
    most = bytes_of_limit(limit, "sol.largest_batch: limit")
    models = [part.compiled.with_batch() for _, part in parts_of(model, "largest_batch")]
    if len(models) != 1:
        raise NotImplementedError("sol.largest_batch: of models that are optimized as one")
    (compiled,) = models

    @functools.cache
    def peak(batch: int) -> int:
        shapes = compiled.shapes_of_batch(batch)
        given = sum(
            bytes_of(ValueSpec(spec.name, spec.dtype, shape))
            for spec, shape in zip(compiled.inputs, shapes, strict=True)
        )
        if given > most:
            return given  # which nobody has to plan for
        found = compiled.planned(shapes)
        if found is None:
            raise NotImplementedError("sol.largest_batch: of a model that takes several plans")
        return memory_of(*found).peak

    return _largest(peak, most)


def _largest(peak: Callable[[int], int], most: int) -> int:
    """The largest number for which a function that grows stays within a limit; by the line
    through what is known, as it grows by nearly the same each time."""
    if peak(1) > most:
        return 0
    low, high = 1, _MOST_BATCH
    guess = 2
    while high - low > 1:
        guess = min(max(guess, low + 1), high - 1)
        size = peak(guess)
        low, high = (guess, high) if size <= most else (low, guess)
        slope = max((size - peak(1)) / (guess - 1), 1e-9)
        guess = int(1 + (most - peak(1)) / slope)
    return low
