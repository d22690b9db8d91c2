"""What emitters read and give: specs of tensors, and kernels as C source."""

from __future__ import annotations

import functools
import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy

Array = numpy.ndarray[Any, Any]

# What stands for the name of the function in the text that a kernel is made of.
NAME = "@NAME@"

# Symbols have this in front of the name for people, and so many digits of a hash behind it.
_PREFIX = "mxk_"
_DIGITS = 16


@dataclass(frozen=True)
class Spec:
    """The shape and the element type of a tensor that lies row-major without gaps."""

    shape: tuple[int, ...]
    dtype: str

    @property
    def size(self) -> int:
        """How many elements it has."""
        count = 1
        for extent in self.shape:
            count *= extent
        return count

    @property
    def bytes(self) -> int:
        """The memory that its elements take."""
        return self.size * (2 if self.dtype == "bfloat16" else numpy.dtype(self.dtype).itemsize)


@dataclass(frozen=True, eq=False)
class GenKernel:
    """Generated C for one node or group of nodes, for fixed shapes.

    `source` is the function and what it alone needs; in front of it stands its `prelude`:
    void SYMBOL(const void *const *in, void *const *out, void *work, int64_t begin, int64_t end)
    """

    symbol: str  # made of the source, so that equal kernels are one
    source: str
    tiles: int  # begin to end lie within 0 to tiles; tiles write disjoint parts of outputs
    outputs: tuple[Spec, ...]
    workspace: int = 0  # bytes for each thread, aligned to 64
    packed: tuple[Array | Callable[[], Array], ...] = ()  # what `constants` is made of
    in_place: tuple[int, ...] = ()  # for each output, the input whose memory it may take; -1: none
    # How often all tiles are executed, those of the turn after read what these wrote: begin to end
    # lie within turn * tiles to (turn + 1) * tiles, or they are whole turns.
    turns: int = 1

    @property
    def name(self) -> str:
        """What its symbol begins with, for people."""
        return self.symbol[len(_PREFIX) : -1 - _DIGITS]

    @functools.cached_property
    def constants(self) -> tuple[Array, ...]:
        """Arrays behind the inputs in `in`. They are made when they are wanted, as of the kernels
        that are tried one is used."""
        return tuple(one if isinstance(one, numpy.ndarray) else one() for one in self.packed)

    def may_lie_in(self, output: int) -> int:
        """The input whose memory an output may take over; -1 for none."""
        return self.in_place[output] if self.in_place else -1


def make_kernel(
    name: str,
    text: str,
    tiles: int,
    outputs: Sequence[Spec],
    *,
    workspace: int = 0,
    constants: Sequence[Array | Callable[[], Array]] = (),
    in_place: Sequence[int] = (),
    turns: int = 1,
) -> GenKernel:
    """The kernel of a C text in which NAME stands for the symbol; also in names of its helpers.

    `name` is what the symbol begins with, for people: letters, digits and underscores. `constants`
    are arrays, or what makes them when they are wanted.
    """
    digest = hashlib.sha256(text.encode()).hexdigest()[:_DIGITS]
    symbol = f"{_PREFIX}{name}_{digest}"
    return GenKernel(
        symbol,
        text.replace(NAME, symbol),
        tiles,
        tuple(outputs),
        workspace,
        tuple(constants),
        tuple(in_place),
        turns,
    )


def signature(name: str = NAME) -> str:
    """The head of a kernel's function."""
    return (
        f"void {name}(const void *const *in, void *const *out, void *work, "
        "int64_t begin, int64_t end)"
    )
