"""The length of the batch, which is the first axis of inputs."""

from __future__ import annotations

from typing import Any, Protocol

from ._choice import VDims
from ._dimensions import Dimensions


class _WithDimensions(Protocol):
    name: str
    example: Any

    def dimensions(self) -> Dimensions: ...


def with_batch_size(model: _WithDimensions, vdims: VDims, size: int | None) -> VDims:
    """What `vdims` chooses, and this length for the first axis of the inputs.

    TypeError for what is no number, ValueError for one below 1, and where the axis has one length.
    """
    if size is None:
        return vdims
    if not isinstance(size, int) or isinstance(size, bool):
        raise TypeError(f"sol.optimize: batch_size: expected a number, got {size!r}")
    if size < 1:
        raise ValueError(f"sol.optimize: batch_size: expected 1 or more, got {size}")
    example = model.example
    if vdims in (None, False) and example and all(x.shape[:1] == (size,) for x in example):
        return vdims
    dimensions = model.dimensions()
    first = {str(shape[0]) for shape in dimensions.inputs.values() if shape}
    free = {int(one[1:]) for one in first if one[:1] == "#" and one[1:].isdigit()}
    if not free:
        name = next((name for name, shape in dimensions.inputs.items() if shape), "")
        why = dimensions.reason(name, 0) if name else "there is none"
        raise ValueError(
            f"sol.optimize: batch_size: the first axis of the inputs of {model.name} has one"
            f" length: {why}"
        )
    count = len(dimensions.lengths)
    chosen: list[bool | int]
    if vdims is None:
        chosen = [length is None for length in dimensions.lengths]
    elif isinstance(vdims, bool):
        chosen = [vdims] * count
    else:
        chosen = list(vdims)
    return [size if n in free else one for n, one in enumerate(chosen)]
