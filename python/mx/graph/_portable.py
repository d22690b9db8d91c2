"""What a run of a plan does before its steps, in Python: as mx._cython.latest says it."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import Any


class Latest:
    """What has executed the inputs that came last, which says itself whether it takes others.

    `names` are those of the inputs, and `array` and `other` the classes of arrays; those of `other`
    have to have one of `dtypes`.
    """

    def __init__(
        self, names: tuple[str, ...], array: type, other: type, dtypes: Collection[Any]
    ) -> None:
        self._names, self._array, self._other, self._dtypes = names, array, other, dtypes
        self.run: Callable[[Sequence[Any]], Sequence[Any] | None] | None = None

    def by_name(self, inputs: Any) -> list[Any] | None:
        """The outputs in a list, for inputs by name; None where they are not such as came last."""
        if type(inputs) is not dict or len(inputs) != len(self._names):
            return None
        return self.in_order(tuple([inputs.get(name) for name in self._names]))

    def in_order(self, arrays: tuple[Any, ...]) -> list[Any] | None:
        """The same for inputs in order."""
        run = self.run  # which another thread may change
        if run is None or len(arrays) != len(self._names):
            return None
        for one in arrays:
            kind = type(one)
            if kind is not self._array and (
                kind is not self._other or one.dtype not in self._dtypes
            ):
                return None
        outputs = run(arrays)
        return None if outputs is None else list(outputs)
