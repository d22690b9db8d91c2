"""Where the random elements of optimized models come from."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass
class Seeding:
    """What `set_seed` was given last, and how often it was called."""

    seed: int | None = None
    count: int = 0


SEEDING = Seeding()


def set_seed(seed: int | None) -> None:
    """Has the random elements of optimized models, those of dropout, repeat from here on.

    They follow from the seed and the number of the call alone, on any machine. Without a seed, as
    at the start and after None, each call draws a seed of its own from the framework's generator,
    so that `torch.manual_seed` has them repeat, too.

    TypeError where it is no integer, ValueError where it is negative or beyond 63 bits.
    """
    if seed is not None:
        if not isinstance(seed, int) or isinstance(seed, bool):
            raise TypeError(
                f"sol.set_seed: seed: expected an integer or None, got {type(seed).__name__}"
            )
        if not 0 <= seed < 1 << 63:
            raise ValueError(f"sol.set_seed: seed: expected 0 to 2**63 - 1, got {seed}")
    SEEDING.seed = seed
    SEEDING.count += 1
