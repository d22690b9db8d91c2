"""Uses the library that `make` has built: `python use.py [FOLDER]`."""

import sys
from pathlib import Path

import numpy

import ffi

folder = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent
histogram = ffi.load_library(folder / "libhistogram.so")

values = numpy.random.default_rng(0).normal(size=10_000)
counts = numpy.from_dlpack(histogram.count(values, low=-3, high=3))
assert counts.tolist() == numpy.histogram(values, 10, (-3, 3))[0].tolist()
for index, count in enumerate(counts):
    print(f"{-3 + 0.6 * index:5.1f} {'#' * (count // 50)}")
