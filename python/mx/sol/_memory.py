"""`sol.memory`: what a model takes before it runs, and `sol.largest_batch`: what fits a limit."""

from __future__ import annotations

import functools
import math
import operator
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from ..graph import ValueSpec
from ._compiled import Compiled
from ._limited import bytes_of_limit, planned
from ._optimize import parts_of
from ._training import TrainingPlans
from .schedule import Memory, bytes_of, training_memory

# More nobody asks for, and shapes have to stay within 63 bits.
_MOST_BATCH = 1 << 24


def memory(model: Any, training: bool = False) -> Memory:
    """The memory that an optimized model takes, known before it runs for the first time.

    It is that for the shapes of the example: of inference, or of one step of training, forward and
    backward. `print(memory)` tells both, `print(memory.table())` shows it over time, and
    `memory.picture()` is an SVG of that. A module that is in no mode of training is looked at as
    `.train()` has it.

    TypeError where `training` is no bool or `optimize` has not returned the model,
    NotImplementedError where elements of arrays decide about shapes, so that a model takes several
    plans, on other devices than the CPU, and for training of models that come back as functions of
    NumPy's arrays.
    """
    parts = parts_of(model, "memory")
    if not isinstance(training, bool):
        raise TypeError(f"sol.memory: training: expected True or False, got {training!r}")
    every = [part for _, part in parts]
    other = functools.partial(_memory, every, not training)
    return replace(_memory(every, training), other=other)


def _memory(parts: Sequence[Any], training: bool) -> Memory:
    """The memory of a model of these parts."""
    if training:
        found = [_training_memory(part, "memory") for part in parts]
    else:
        found = [inference_memory(part.compiled) for part in parts]
    known = [one for one in found if one is not None]
    if len(known) < len(found):
        raise NotImplementedError(
            "sol.memory: not known for a model that takes several plans, or another device"
        )
    return functools.reduce(operator.add, known)


def memory_of_part(part: Any, training: bool = False) -> Memory | None:
    """That of inference or of training of one part, which tells the other one, too, when it is
    printed; None where it is not known."""
    found = _training_memory(part, "memory") if training else inference_memory(part.compiled)
    other = functools.partial(_memory, [part], not training)
    return None if found is None else replace(found, other=other)


def inference_memory(compiled: Compiled) -> Memory | None:
    """That of a model for the shapes of its example; None where it is not known."""
    return compiled.memory(compiled.example_arrays())


def plans_of_training(
    part: Any, function: str, *other: Any
) -> tuple[TrainingPlans, frozenset[str]]:
    """See Part.training_plans, for a function of mx.sol, which its errors name. ValueError where no
    parameter requires a gradient."""
    try:
        plans, state = part.training_plans(*other)
    except NotImplementedError as error:
        raise NotImplementedError(f"sol.{function}: training: {error}") from None
    if plans.backward_graph is None:
        raise ValueError(f"sol.{function}: training: no parameter of the model requires a gradient")
    return plans, state


def _training_memory(part: Any, function: str, *other: Any) -> Memory | None:
    """That of a step of training; `other` are a model for other shapes, and these."""
    made, state = plans_of_training(part, function, *other)
    if part.compiled.context.device_type != "cpu":
        return None
    assert made.graphs is not None
    both = planned(made.graphs, part.compiled.passes, made.stores)
    if both is None:
        return None
    found = training_memory(*both, made.saved, state, made.stores)
    if not part.infers_in_training:
        return found
    compiled, shapes = other or (part.compiled, None)
    first = inference_memory(compiled) if shapes is None else compiled.memory_of_shapes(shapes)
    if first is None:
        return None
    return replace(
        found,
        parameters=found.parameters + first.parameters,
        intermediates=found.intermediates + first.intermediates,
    )


def largest_batch(model: Any, limit: int | str, training: bool = False) -> int:
    """The largest batch with which an optimized model takes no more than a limit: in inference, or
    in a step of training.

    `limit` is in bytes, or a text such as "2GB". The batch is the first dimension of the first
    input, which must be one that may vary; the others are as in the example. It plans the model
    for a few lengths of it, and runs none. 0 where not even a batch of one fits.

    TypeError where `training` is no bool, ValueError for a limit that is none, and for a model
    whose first dimension is fixed, with the reason; NotImplementedError as for `sol.memory`. A step
    of training has to stay within the `memory_limit` that the model was optimized with, too.
    """
    most = bytes_of_limit(limit, "sol.largest_batch: limit")
    if not isinstance(training, bool):
        raise TypeError(f"sol.largest_batch: training: expected True or False, got {training!r}")
    parts = [part for _, part in parts_of(model, "largest_batch")]
    models = [part.compiled.with_batch() for part in parts]
    if len(models) != 1:
        raise NotImplementedError("sol.largest_batch: of models that are optimized as one")
    (compiled,), (part,) = models, parts

    @functools.cache
    def peak(batch: int) -> int | None:
        """The bytes that a batch takes; None where a limit of the model's own rules it out."""
        shapes = compiled.shapes_of_batch(batch)
        given = sum(
            bytes_of(ValueSpec(spec.name, spec.dtype, shape))
            for spec, shape in zip(compiled.inputs, shapes, strict=True)
        )
        if given > most:
            return given  # which nobody has to plan for
        found: Memory | None
        if training:
            try:
                found = _training_memory(part, "largest_batch", compiled, shapes)
            except MemoryError:
                return None
        else:
            found = compiled.memory_of_shapes(shapes)
        if found is None:
            raise NotImplementedError("sol.largest_batch: of a model that takes several plans")
        return found.peak

    return _largest(peak, most)


def _largest(peak: Callable[[int], int | None], most: int) -> int:
    """The largest number for which a function that grows stays within a limit; by the line
    through what is known, as it grows by nearly the same each time.

    Under a limit of the model's own it grows ever less, up to None: there is no line then.
    """
    first = peak(1)
    if first is None or first > most:
        return 0
    low, high = 1, _MOST_BATCH
    guess, attempt = 2, 0
    has_line = True
    while high - low > 1:
        guess, attempt = min(max(guess, low + 1), high - 1), attempt + 1
        size = peak(guess)
        low, high = (guess, high) if size is not None and size <= most else (low, guess)
        has_line = has_line and size is not None
        if not has_line or size is None or attempt % 4 == 0:
            guess = math.isqrt(low * high)
        else:
            guess = int(1 + (most - first) / max((size - first) / (guess - 1), 1e-9))
    return low
