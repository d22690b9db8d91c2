"""`mx.nd`: arrays by MXNet's older names, over those of `mx.np`.

What differs from `mx.np`: what is no array of mx becomes float32, and there are files of arrays.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from os import PathLike, fspath
from typing import Any

import numpy

from .. import numpy as np
from .._acc.fallback import waitall
from ..context import Context

NDArray = np.ndarray

__all__ = [
    "NDArray",
    "arange",
    "array",
    "concat",
    "empty",
    "full",
    "load",
    "ones",
    "save",
    "stack",
    "waitall",
    "zeros",
]


def array(source_array: Any, ctx: Context | str | None = None, dtype: Any = None) -> np.ndarray:
    """A new array of these elements, of float32 unless dtype or an array of mx says otherwise."""
    if dtype is None:
        dtype = source_array.dtype if isinstance(source_array, np.ndarray) else "float32"
    return np.array(source_array, dtype=dtype, ctx=ctx)


def empty(shape: Any, ctx: Context | str | None = None, dtype: Any = "float32") -> np.ndarray:
    """A new array whose elements are not set."""
    return np.empty(shape, dtype=dtype, ctx=ctx)


def zeros(shape: Any, ctx: Context | str | None = None, dtype: Any = "float32") -> np.ndarray:
    """A new array of zeros."""
    return np.zeros(shape, dtype=dtype, ctx=ctx)


def ones(shape: Any, ctx: Context | str | None = None, dtype: Any = "float32") -> np.ndarray:
    """A new array of ones."""
    return np.ones(shape, dtype=dtype, ctx=ctx)


def full(
    shape: Any, val: Any, ctx: Context | str | None = None, dtype: Any = "float32"
) -> np.ndarray:
    """A new array whose elements are all `val`."""
    return np.full(shape, val, dtype=dtype, ctx=ctx)


def arange(
    start: Any,
    stop: Any = None,
    step: Any = 1.0,
    ctx: Context | str | None = None,
    dtype: Any = "float32",
) -> np.ndarray:
    """Numbers from start on, in steps, before stop; from 0 to start where stop is None."""
    first, last = (0, start) if stop is None else (start, stop)
    return np.arange(first, last, step, dtype=dtype, ctx=ctx)


def concat(*arrays: Any, dim: int = 1) -> np.ndarray:
    """The arrays one behind the other along the axis `dim`."""
    return np.concatenate(list(arrays), axis=dim)


def stack(*arrays: Any, axis: int = 0) -> np.ndarray:
    """The arrays side by side along a new axis."""
    return np.stack(list(arrays), axis=axis)


def load(fname: str | PathLike[str]) -> dict[str, np.ndarray] | list[np.ndarray]:
    """The arrays in a file, by name where they have names; files of all generations of MXNet.

    Raises OSError where the file cannot be read, GraphError where it is damaged.
    """
    from ..importers.mxnet.params import load_arrays

    arrays, names = load_arrays(fname)
    made = []
    for index, item in enumerate(arrays):
        if item is None:
            raise ValueError(f"load: {fspath(fname)}: array {index} has no elements")
        made.append(np.asarray(item if isinstance(item, numpy.ndarray) else item.to_dense()))
    return dict(zip(names, made, strict=True)) if names else made


def save(fname: str | PathLike[str], data: Any) -> None:
    """Writes an array, a sequence of arrays, or arrays by name to a file that MXNet can read."""
    from ..importers.mxnet.params import save_arrays

    if isinstance(data, Mapping):
        save_arrays(fname, {name: numpy.asarray(item.asnumpy()) for name, item in data.items()})
    else:
        arrays = list(data) if isinstance(data, Sequence) else [data]
        save_arrays(fname, [numpy.asarray(item.asnumpy()) for item in arrays])
