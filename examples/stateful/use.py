"""Compiles smoothing.cc, where it has changed since the last time, and uses it."""

import copy
from pathlib import Path

import ffi

smoothing = ffi.cpp.load_inline("smoothing", Path(__file__).parent / "smoothing.cc", verbose=True)

state = smoothing.Exponential(weight=0.5)
print([state.next(value) for value in (0.0, 4.0, 4.0)], state)
assert state.mean == 3.0

branch = copy.copy(state)
print(list(smoothing.smooth([7.0, 1.0], branch)))
assert (branch.mean, state.mean) == (3.0, 3.0)
assert list(smoothing.smooth([5.0], state)) == [4.0] and state.mean == 4.0


class Named(smoothing.Exponential):
    """A class of Python, derived from the one of C++."""

    def __init__(self, name: str, weight: float = 0.5) -> None:
        super().__init__(weight)
        self.name = name


named = Named("temperature")
named.next(20.0)
print(named.name, named.mean)

try:
    smoothing.Exponential(weight=2)
except ValueError as error:
    print(error)
