"""The precisions in which models compute: theirs, unless somebody asks for another one."""

from __future__ import annotations

import warnings

from .. import _onednn
from ..graph.passes import Pass
from ._config import PRECISIONS, config
from ._errors import SolWarning
from .passes import PASSES

# Precisions that are passes of that name, besides those that are on.
LESS_EXACT = frozenset({"int8", "bf16"})


def passes_of(precision: str | None) -> tuple[Pass, ...]:
    """The passes that are on and those of a precision, by default the one that is set.

    ValueError for none. A SolWarning for bf16 where the processor computes in float32.
    """
    chosen = config["precision"] if precision is None else precision
    if chosen not in PRECISIONS:
        raise ValueError(
            f"sol.optimize: precision: expected one of {', '.join(PRECISIONS)}, got {precision!r}"
        )
    if chosen == "bf16" and (reason := _without_bfloat16()):
        warnings.warn(
            f"sol.optimize: precision='bf16': {reason}: the model computes in float32",
            SolWarning,
            stacklevel=3,
        )
    wanted = {one.name for one in PASSES.enabled} | ({chosen} & LESS_EXACT)
    return tuple(one for one in PASSES if one.name in wanted)


def _without_bfloat16() -> str:
    """Why there are no products of bfloat16 here; "" where there are."""
    try:
        onednn = _onednn.load()
    except ImportError as error:
        return str(error)
    return "" if onednn.has_bfloat16() else "the processor has no AVX512_BF16"
