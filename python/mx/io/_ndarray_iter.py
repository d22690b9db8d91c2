"""Batches of the rows of arrays."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy

from .. import numpy as np
from ._batch import DataBatch, DataDesc, DataIter

_LAST = ("pad", "discard", "roll_over")


class NDArrayIter(DataIter):
    """Gives the rows of arrays in batches, in order or shuffled.

    `data` and `label` are an array, a list of arrays, or arrays by name. `last_batch_handle` says
    what happens to rows that are no whole batch: "pad" fills it up with the first rows, "discard"
    leaves them out, "roll_over" keeps them for after `reset`.
    """

    def __init__(
        self,
        data: Any,
        label: Any = None,
        batch_size: int = 1,
        shuffle: bool = False,
        last_batch_handle: str = "pad",
        data_name: str = "data",
        label_name: str = "softmax_label",
    ) -> None:
        if last_batch_handle not in _LAST:
            raise ValueError(
                f"NDArrayIter: last_batch_handle: expected one of {', '.join(_LAST)}, got "
                f"{last_batch_handle!r}"
            )
        self._data = _named("data", data, data_name)
        self._label = _named("label", label, label_name)
        if not self._data:
            raise ValueError("NDArrayIter: data: expected at least one array")
        counts = {name: len(array) for name, array in (self._data | self._label).items()}
        if len(set(counts.values())) != 1:
            raise ValueError(f"NDArrayIter: arrays of different numbers of rows: {counts}")
        self.num_data = next(iter(counts.values()))
        if not 1 <= batch_size <= self.num_data:
            raise ValueError(
                f"NDArrayIter: batch_size: expected 1 to {self.num_data}, the number of rows, got "
                f"{batch_size}"
            )
        self.batch_size = batch_size
        self._handle = last_batch_handle
        self._shuffle = shuffle
        self._kept = numpy.empty(0, numpy.int64)
        self._at = 0
        self._begin()

    @property
    def provide_data(self) -> list[DataDesc]:
        """Names, shapes and types of the data of a batch."""
        return self._describe(self._data)

    @property
    def provide_label(self) -> list[DataDesc]:
        """The same of the labels."""
        return self._describe(self._label)

    def reset(self) -> None:
        """Begins anew, in a new order where it shuffles."""
        self._begin()

    def hard_reset(self) -> None:
        """Begins anew, without rows that were rolled over."""
        self._kept = numpy.empty(0, numpy.int64)
        self._begin()

    def next(self) -> DataBatch:
        """The next batch; StopIteration where there is none."""
        rows = self._order[self._at : self._at + self.batch_size]
        missing = self.batch_size - len(rows)
        if len(rows) == 0 or (missing and self._handle == "discard"):
            raise StopIteration
        if missing and self._handle == "roll_over":
            self._kept = rows
            self._at = len(self._order)
            raise StopIteration
        self._at += self.batch_size
        if missing:
            rows = numpy.concatenate([rows, self._order[:missing]])
        return DataBatch(
            [np.array(array[rows]) for array in self._data.values()],
            [np.array(array[rows]) for array in self._label.values()],
            pad=missing,
            index=rows,
            provide_data=self.provide_data,
            provide_label=self.provide_label,
        )

    def _begin(self) -> None:
        order = numpy.arange(self.num_data)
        if self._shuffle:
            numpy.random.shuffle(order)
        self._order = numpy.concatenate([self._kept, order])
        self._kept = numpy.empty(0, numpy.int64)
        self._at = 0

    def _describe(self, arrays: Mapping[str, Any]) -> list[DataDesc]:
        return [
            DataDesc(name, (self.batch_size, *array.shape[1:]), str(array.dtype))
            for name, array in arrays.items()
        ]


def _rows_of(array: Any) -> Any:
    """An array of NumPy; of float32 where it was one of float64, as models want it."""
    rows = numpy.asarray(array)
    is_wide = rows.dtype == numpy.float64 and not isinstance(array, np.ndarray)
    return rows.astype("float32") if is_wide else rows


def _named(argument: str, arrays: Any, default: str) -> dict[str, Any]:
    """Arrays of NumPy by name; one has the default name, several that with a number."""
    if arrays is None:
        return {}
    if isinstance(arrays, Mapping):
        named = dict(arrays)
    elif isinstance(arrays, (list, tuple)):
        several = len(arrays) > 1
        named = {f"_{i}_{default}" if several else default: a for i, a in enumerate(arrays)}
    else:
        named = {default: arrays}
    made = {name: _rows_of(array) for name, array in named.items()}
    for name, array in made.items():
        if array.ndim == 0:
            raise ValueError(f"NDArrayIter: {argument}: {name!r} has no rows")
    return made
