"""What optimized functions are known by where JAX is not imported."""

from __future__ import annotations

from .._part import Part


class OptimizedMarker:
    """The base of optimized functions."""

    _sol: Part


class PartedMarker:
    """The base of functions of which plans execute parts."""

    def parts(self) -> list[tuple[str, Part]]:
        """What plans execute, by number."""
        raise NotImplementedError
