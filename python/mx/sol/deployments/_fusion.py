"""Several nodes as one kernel."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ..backends.gen import GenKernel
from ._program import Value


@dataclass
class Fused:
    """A kernel, the values that it reads, and how many nodes behind the first it computes."""

    kernel: GenKernel
    inputs: Sequence[Value | None]
    taken: int
