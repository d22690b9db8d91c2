"""The graphs of a step of training whose plans stay within a limit of memory."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

from .. import numpy as np
from ..cache import bytes_of
from ..graph import Graph, GraphError, Plan
from ..graph.passes import Pass
from .gradient import LimitError, Training, training
from .passes import run
from .schedule import training_memory

# How many limits between the most and the least that graphs take are tried.
_ATTEMPTS = 6


def bytes_of_limit(limit: Any, argument: str) -> int:
    """The bytes of a limit, a number or a text such as "2GB". ValueError for what is none."""
    try:
        most = bytes_of(limit) if isinstance(limit, str) else limit
    except ValueError as error:
        raise ValueError(f"{argument}: {error}") from None
    if isinstance(most, bool) or not isinstance(most, int) or most < 0:
        raise ValueError(f"{argument}: expected bytes, or as '2GB', got {limit!r}")
    return most


def planned(graph: Graph, passes: Sequence[Pass]) -> tuple[Graph, Any | None]:
    """A graph of known shapes behind the passes, and its compiled plan for the CPU, which is not
    run; None where it takes several plans."""
    smaller = graph.copy()
    run(passes, smaller)
    smaller.infer()
    inputs = {
        spec.name: np.zeros(_known(spec.shape), dtype=spec.dtype or "float32")
        for spec in smaller.inputs
    }
    return smaller, Plan(smaller, optimize=False).compiled(inputs)


def limited(graph: Graph, wrt: Sequence[str], passes: Sequence[Pass], limit: int) -> Training:
    """As `training`, with the plans of both passes within a limit, as `sol.memory` tells them.

    Graphs know nothing of the memory that plans add, so they are made for less until plans fit.
    MemoryError, with the least that was found, where none fits; NotImplementedError where it is not
    known what plans take.
    """
    make: Callable[..., Training] = functools.partial(training, graph, wrt)
    found = make()
    least = _peak(found, passes)
    if least <= limit:
        return found
    try:
        make(memory_limit=0)
    except LimitError as error:
        highest, lowest = error.most, error.least
    else:
        return found  # nothing at all
    # The same for any limit, so that the least that is told for one can be had.
    for part in range(1, _ATTEMPTS + 1):
        found = make(memory_limit=highest - (highest - lowest) * part // _ATTEMPTS)
        peak = _peak(found, passes)
        if peak <= limit:
            return found
        least = min(least, peak)
    raise MemoryError(
        f"sol.optimize: memory_limit: {limit:,} bytes are too few for a step of training of"
        f" {graph.file or graph.name}: {least:,} is the least that was found"
    )


def _peak(made: Training, passes: Sequence[Pass]) -> int:
    (forward, first), (backward, second) = (
        planned(one, passes) for one in (made.forward, made.backward)
    )
    if first is None or second is None:
        raise NotImplementedError("sol.optimize: memory_limit: of a model that takes several plans")
    return training_memory((forward, first), (backward, second), made.saved, frozenset()).peak


def _known(shape: Any) -> tuple[int, ...]:
    if shape is None or not all(isinstance(extent, int) for extent in shape):
        raise GraphError("sol.memory: a graph of training has a shape that is not known")
    return tuple(shape)
