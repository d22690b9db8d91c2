"""What a run of a plan does before its steps, in Python: as mx._cython.latest says it."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import Any


class Attempt:
    """Calls a function of arrays until it is ended: from then on None comes of it.

    Of a call that raises one of `failures` comes what `instead` gives for the arrays and that.
    """

    def __init__(
        self,
        call: Callable[[Sequence[Any]], Sequence[Any] | None],
        instead: Callable[[Sequence[Any], Exception], Sequence[Any] | None],
        failures: tuple[type[Exception], ...],
    ) -> None:
        self._call: Callable[[Sequence[Any]], Sequence[Any] | None] | None = call
        self._instead, self._failures = instead, failures

    def __call__(self, arrays: Sequence[Any]) -> Sequence[Any] | None:
        call = self._call  # which another thread may end
        if call is None:
            return None
        try:
            return call(arrays)
        except self._failures as failure:
            return self._instead(arrays, failure)

    def end(self) -> None:
        """Has calls that begin from now on give None."""
        self._call = None


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
