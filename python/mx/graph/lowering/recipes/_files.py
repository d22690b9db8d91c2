"""Recipes in files of the cache, whose arrays plans read where the file is mapped."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

import numpy

from .... import numpy as np
from ....context import cpu
from ..._shared import ALIGNMENT, shared_if_aligned
from ._recipe import Recipe

if TYPE_CHECKING:
    from ....cache._file import PieceFile, PieceWriter

_TEXT, _ARRAYS = "recipe", "arrays"


def write(writer: PieceWriter, recipe: Recipe) -> list[Any]:
    """Adds a recipe to a file; what `read` has to be told."""
    writer.add(_TEXT, recipe.text())
    rows = [[str(array.dtype), list(array.shape)] for array in recipe.arrays]
    writer.add_parts(_ARRAYS, _padded(recipe.arrays))
    return rows


def read(file: PieceFile, rows: Iterable[Any], is_mapped: bool = False) -> Recipe:
    """The recipe that a file has. Its arrays are copies, or where `is_mapped` says so what is
    mapped of the file, which is not written to then. ValueError, KeyError, TypeError where it makes
    no sense."""
    whole = file.mapped(_ARRAYS) if is_mapped else numpy.frombuffer(file.data(_ARRAYS), "uint8")
    arrays, offset = [], 0
    with cpu():
        for dtype, shape in rows:
            count = int(numpy.prod(shape, dtype="int64"))
            size = count * numpy.dtype(dtype).itemsize
            elements = whole[offset : offset + size].view(dtype).reshape(shape)
            arrays.append(shared_if_aligned(elements) if is_mapped else np.asarray(elements))
            offset += size + -size % ALIGNMENT
    return Recipe.of(file.data(_TEXT), arrays)


def _padded(arrays: Iterable[Any]) -> Iterator[bytes | memoryview]:
    """The elements of all arrays, one behind the other, and what is between them."""
    for array in arrays:
        elements: numpy.ndarray[Any, Any] = numpy.ascontiguousarray(numpy.asarray(array))
        yield elements.reshape(-1).view("uint8").data
        yield bytes(-elements.nbytes % ALIGNMENT)
