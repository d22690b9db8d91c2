"""The precisions in which models compute: theirs, unless somebody asks for another one."""

from __future__ import annotations

from ..graph.passes import Pass
from ._config import PRECISIONS, config
from .passes import PASSES

# The passes that a precision has besides those that are on.
_PASSES = {"float32": (), "int8": ("int8",)}


def passes_of(precision: str | None) -> tuple[Pass, ...]:
    """The passes that are on and those of a precision, by default the one that is set.

    ValueError for none, NotImplementedError for one that is not implemented yet.
    """
    chosen = config["precision"] if precision is None else precision
    if chosen not in PRECISIONS:
        raise ValueError(
            f"sol.optimize: precision: expected one of {', '.join(PRECISIONS)}, got {precision!r}"
        )
    if chosen not in _PASSES:
        raise NotImplementedError(f"sol.optimize: precision={chosen!r}: not implemented yet")
    wanted = {one.name for one in PASSES.enabled} | set(_PASSES[chosen])
    return tuple(one for one in PASSES if one.name in wanted)
