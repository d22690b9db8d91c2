"""A batch, what it consists of, and what gives batches."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple


class DataDesc(NamedTuple):
    """Name, shape and element type of an input; equal to the pair of the first two, too."""

    name: str
    shape: tuple[int, ...]
    dtype: str = "float32"
    layout: str = "NCHW"

    def __eq__(self, other: object) -> bool:
        if isinstance(other, tuple) and len(other) == 2:
            return (self.name, self.shape) == (other[0], tuple(other[1]))
        return tuple.__eq__(self, other) if isinstance(other, tuple) else NotImplemented

    def __hash__(self) -> int:
        return hash((self.name, self.shape))


class DataBatch:
    """Arrays for one run of a module."""

    def __init__(
        self,
        data: Sequence[Any],
        label: Sequence[Any] | None = None,
        pad: int = 0,
        index: Any = None,
        provide_data: Sequence[DataDesc] | None = None,
        provide_label: Sequence[DataDesc] | None = None,
    ) -> None:
        """`pad` of the last rows only fill the batch up; `index` has the rows' numbers."""
        for name, arrays in (("data", data), ("label", label)):
            if arrays is not None and not isinstance(arrays, (list, tuple)):
                raise TypeError(
                    f"DataBatch: {name}: expected a list of arrays, got {type(arrays).__name__}"
                )
        self.data = list(data)
        self.label = None if label is None else list(label)
        self.pad = pad
        self.index = index
        self.provide_data = provide_data
        self.provide_label = provide_label

    def __repr__(self) -> str:
        shapes = [tuple(array.shape) for array in self.data]
        return f"<DataBatch: data {shapes}, pad {self.pad}>"


class DataIter:
    """What gives batches: subclasses have `next`, `reset`, `provide_data` and `provide_label`."""

    batch_size = 0

    @property
    def provide_data(self) -> list[DataDesc]:
        """Names, shapes and types of the data of a batch."""
        raise NotImplementedError

    @property
    def provide_label(self) -> list[DataDesc]:
        """The same of the labels."""
        return []

    def reset(self) -> None:
        """Begins anew."""

    def next(self) -> DataBatch:
        """The next batch; StopIteration where there is none."""
        raise NotImplementedError

    def __iter__(self) -> Iterator[DataBatch]:
        return self

    def __next__(self) -> DataBatch:
        return self.next()
