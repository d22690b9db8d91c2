"""The seeds of calls that have random elements."""

from __future__ import annotations

import random
import threading
from collections.abc import Callable
from typing import Any

import numpy
from tensorflow.python.eager import context

from ..._seed import SEEDING


class _Drawing:
    """Draws seeds: by TensorFlow's seed, or from a generator of `sol.set_seed`'s."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._count = 0
        self._bits: Callable[[int], int] | None = None

    def __call__(self) -> Any:
        with self._lock:
            if self._count != SEEDING.count:
                seed, self._count = SEEDING.seed, SEEDING.count
                self._bits = None if seed is None else random.Random(seed).getrandbits
            bits = self._bits or _of_tensorflow
            return numpy.array([bits(63), bits(63)], "int64")


def _of_tensorflow(count: int) -> int:
    """A random number of bits, which follows from `tf.random.set_seed` where that was called."""
    if context.global_seed() is None:
        return random.SystemRandom().getrandbits(count)
    found = 0
    for _ in range(3):
        found = found << 31 | context.internal_operation_seed()
    return found & (1 << count) - 1


draw_seed = _Drawing()
