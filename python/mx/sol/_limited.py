"""The graphs of a step of training whose plans stay within a limit of memory."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from .. import numpy as np
from ..cache import bytes_of
from ..graph import Graph, GraphError
from ..graph.passes import Pass
from ._plans import plan_of
from ._stops import remove_stops
from .gradient import LimitError, Training, training
from .passes import run
from .schedule import training_memory
from .tuning import Choices

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


Planned = tuple[Graph, Any]


def planned(
    made: Training, passes: Sequence[Pass], stores: Mapping[str, str] | None = None
) -> tuple[Planned, Planned] | None:
    """The graphs of a step of training behind the passes, and their compiled plans for the CPU,
    which are not run; None where they take several plans.

    They are planned as for a step: what is saved has the layout that the forward pass gives it, and
    outputs that `stores` names are written to inputs.
    """
    forward, backward = _behind(made.forward, passes), _behind(made.backward, passes)
    given = arrays_for(forward)
    plan = plan_of(forward, Choices(), stores=stores or {}, any_layout=made.saved)
    first = plan.compiled(given)
    if first is None:
        return None
    names = {spec.name for spec in backward.inputs}
    layouts = {name: one for name, one in plan.output_layouts(given).items() if name in names}
    second = _backward(backward, layouts)
    return None if second is None else ((forward, first), (backward, second))


def _backward(graph: Graph, layouts: Mapping[str, Any]) -> Any | None:
    given = arrays_for(graph)
    if layouts:
        try:
            found = plan_of(graph, Choices(), layouts=layouts).compiled(given)
        except GraphError:
            found = None
        if found is not None:
            return found
    return plan_of(graph, Choices()).compiled(given)


def _behind(graph: Graph, passes: Sequence[Pass]) -> Graph:
    smaller = graph.copy()
    remove_stops(smaller)
    run(passes, smaller)
    smaller.infer()
    return smaller


def arrays_for(graph: Graph, of_floats: Callable[..., Any] = np.empty) -> dict[str, Any]:
    """Arrays for the inputs of a graph: zeros, but for floats what `of_floats` makes; as np.empty
    makes them, they take no memory as long as nobody writes."""
    found = {}
    for spec in graph.inputs:
        dtype = spec.dtype or "float32"
        make = of_floats if "float" in dtype else np.zeros
        found[spec.name] = make(_known(spec.shape), dtype=dtype)
    return found


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
    both = planned(made, passes)
    if both is None:
        raise NotImplementedError("sol.optimize: memory_limit: of a model that takes several plans")
    return training_memory(*both, made.saved, frozenset()).peak


def _known(shape: Any) -> tuple[int, ...]:
    if shape is None or not all(isinstance(extent, int) for extent in shape):
        raise GraphError("sol.memory: a graph of training has a shape that is not known")
    return tuple(shape)
