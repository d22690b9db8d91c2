"""Which of the dimensions that may vary do, as `vdims` says."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ._dimensions import Dimensions

# For each dimension True (it varies), False (it is as in the example) or its length.
VDims = bool | Sequence[bool | int] | None


@dataclass(frozen=True)
class Choice:
    """For each dimension its length, None where it varies."""

    lengths: tuple[int | None, ...]

    @property
    def varying(self) -> tuple[int, ...]:
        """The numbers of the dimensions that vary."""
        return tuple(n for n, length in enumerate(self.lengths) if length is None)


def choose(dimensions: Dimensions, vdims: VDims) -> Choice:
    """What `vdims` chooses: a list of one item for each dimension, or one item for all.

    Without it dimensions are as in the example; those for which there is none vary.
    TypeError for items that are none of True, False and numbers; ValueError for a list of another
    length, a number below 1, and False where no example has told the length.
    """
    count = len(dimensions.lengths)
    given: list[bool | int]
    if vdims is None:
        given = [length is None for length in dimensions.lengths]
    elif isinstance(vdims, bool):
        given = [vdims] * count
    elif isinstance(vdims, Sequence) and not isinstance(vdims, (str, bytes)):
        given = list(vdims)
    else:
        raise TypeError(f"sol.optimize: vdims: expected a list, True or False, got {vdims!r}")
    if len(given) != count:
        raise ValueError(
            f"sol.optimize: vdims: expected {count} items, one for each dimension that may vary,"
            f" got {len(given)}\n{dimensions}"
        )
    lengths = zip(given, dimensions.lengths, strict=True)
    return Choice(tuple(_length(n, item, told) for n, (item, told) in enumerate(lengths)))


def _length(number: int, item: bool | int, told: int | None) -> int | None:
    if item is True:
        return None
    if item is False:
        if told is None:
            raise ValueError(
                f"sol.optimize: vdims[{number}]: False, and there is no example that has a length"
                f" for #{number}: give an example, or a number"
            )
        return told
    if not isinstance(item, int):
        raise TypeError(
            f"sol.optimize: vdims[{number}]: expected True, False or a number, got {item!r}"
        )
    if item < 1:
        raise ValueError(f"sol.optimize: vdims[{number}]: expected 1 or more, got {item}")
    return item
