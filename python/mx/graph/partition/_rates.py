"""How fast the CPU is, roughly, as measured in this process."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from time import perf_counter_ns, sleep

from ... import numpy as np
from ...context import cpu

_ROWS = 192
_ELEMENTS = 1 << 18
# The fastest of so many times counts, as the others were held up. There is a pause before each, so
# that what holds up one does not hold up all.
_TIMES = 7
_PAUSE_SECONDS = 0.001


@dataclass(frozen=True)
class Rates:
    """What the CPU does in a microsecond."""

    flops: float  # of a product of matrices of float32
    bytes: float  # read and written by an elementwise operator


# No processor is slower. Less is measured where others take all of it.
_LEAST = Rates(flops=2e3, bytes=5e2)


@cache
def cpu_rates() -> Rates:
    """Measures them, which takes some milliseconds, when they are first asked for."""
    with cpu():
        matrix, out = np.ones((_ROWS, _ROWS)), np.empty((_ROWS, _ROWS))
        elements, sums = np.ones(_ELEMENTS), np.empty(_ELEMENTS)
    product = _microseconds(lambda: np.matmul(matrix, matrix, out=out))
    addition = _microseconds(lambda: np.add(elements, elements, out=sums))
    return Rates(
        max(2.0 * _ROWS**3 / product, _LEAST.flops),
        max(3.0 * elements.nbytes / addition, _LEAST.bytes),
    )


def _microseconds(act: Callable[[], object]) -> float:
    times = []
    for _ in range(_TIMES):
        sleep(_PAUSE_SECONDS)
        begin = perf_counter_ns()
        act()
        times.append(perf_counter_ns() - begin)
    return max(min(times), 1) / 1e3
