"""The rules, a file a family: importing this package fills the tables of `_rules`."""

from . import (  # noqa: F401
    activations,
    attention,
    broadcasting,
    complete,
    control_flow,
    elementwise,
    indexing,
    loops,
    losses,
    movement,
    none,
    normalization,
    products,
    recurrence,
    reduction,
    sampling,
    sequences,
    signal,
    windows,
)
