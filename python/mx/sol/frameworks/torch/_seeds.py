"""The seeds of calls that have random elements."""

from __future__ import annotations

import threading
from typing import Any

import torch

from ..._seed import SEEDING


class _Drawing:
    """Draws seeds: from torch's generator, or from one of `sol.set_seed`'s seed."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._count = 0
        self._generator: Any = None

    def __call__(self) -> Any:
        if self._count != SEEDING.count:
            self._restart()
        # A tensor of its own for each call: the backward may read it long after.
        return torch.empty(2, dtype=torch.int64).random_(generator=self._generator)

    def _restart(self) -> None:
        with self._lock:
            seed, self._count = SEEDING.seed, SEEDING.count
            self._generator = None if seed is None else torch.Generator().manual_seed(seed)


draw_seed = _Drawing()
