"""Compiles smoothing.cc, where it has changed since the last time, and uses it."""

from pathlib import Path

import ffi

smoothing = ffi.cpp.load_inline("smoothing", Path(__file__).parent / "smoothing.cc", verbose=True)

smooth, other = smoothing.exponential(), smoothing.exponential(weight=1)
print([smooth(value) for value in (0.0, 4.0, 4.0)])
print([other(value) for value in (0.0, 4.0, 4.0)])
assert smooth(3.0) == 3.0

try:
    smoothing.exponential(weight=2)
except ValueError as error:
    print(error)
