"""The graphs of a step of training whose plans stay within a limit of memory."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

from .. import numpy as np
from ..cache import bytes_of
from ..graph import Graph, GraphError, ValueSpec
from ..graph.passes import Pass
from ._plans import plan_of
from ._stops import remove_stops
from .gradient import LimitError, Training, training
from .passes import run
from .schedule import training_memory
from .tuning import Choices

T = TypeVar("T")
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
    given = arrays_of(forward.inputs)
    plan = plan_of(forward, Choices(), stores=stores or {}, any_layout=made.saved)
    first = plan.compiled(given)
    if first is None:
        return None
    names = {spec.name for spec in backward.inputs}
    layouts = {name: one for name, one in plan.output_layouts(given).items() if name in names}
    second = _backward(backward, layouts)
    return None if second is None else ((forward, first), (backward, second))


def _backward(graph: Graph, layouts: Mapping[str, Any]) -> Any | None:
    given = arrays_of(graph.inputs)
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


def arrays_of(
    inputs: Sequence[ValueSpec], of_floats: Callable[..., Any] = np.empty
) -> dict[str, Any]:
    """Arrays for inputs, by name: zeros, but for floats what `of_floats` makes; as np.empty makes
    them, they take no memory as long as nobody writes."""
    found = {}
    for spec in inputs:
        dtype = spec.dtype or "float32"
        make = of_floats if "float" in dtype else np.zeros
        found[spec.name] = make(_known(spec.shape), dtype=dtype)
    return found


def limited(graph: Graph, wrt: Sequence[str], passes: Sequence[Pass], limit: int) -> Training:
    """As `training`, with the plans of both passes within a limit, as `sol.memory` tells them.

    Raises as `within` does.
    """
    return within(
        functools.partial(training, graph, wrt),
        lambda made: _peak(made, passes),
        limit,
        "sol.optimize",
        graph.file or graph.name,
    )


def within(
    make: Callable[..., T],
    peak: Callable[[T], int],
    limit: int,
    function: str,
    name: str,
    first: int = 1,
) -> T:
    """What `make` makes for a step of training, with a `peak` within a limit.

    Graphs know nothing of the memory that plans add, so they are made for less, by the argument
    `memory_limit`, until plans fit: with `first` 0 at first for the most that they take, where
    those without a limit are others. MemoryError, with the least that was found, where none fits.
    """
    found = make()
    least = peak(found)
    if least <= limit:
        return found
    try:
        make(memory_limit=0)
    except LimitError as error:
        highest, lowest = error.most, error.least
    else:
        return found  # nothing at all
    # The same for any limit, so that the least that is told for one can be had.
    for part in range(first, _ATTEMPTS + 1):
        found = make(memory_limit=highest - (highest - lowest) * part // _ATTEMPTS)
        now = peak(found)
        if now <= limit:
            return found
        least = min(least, now)
    raise MemoryError(
        f"{function}: memory_limit: {limit:,} bytes are too few for a step of training of {name}:"
        f" {least:,} is the least that was found"
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
