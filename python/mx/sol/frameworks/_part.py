"""What an optimized model has its plans in."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .._compiled import Compiled


class Part:
    """An optimized model, or one inside another, as reports and `sol.refresh` see it."""

    def __init__(self, compiled: Compiled) -> None:
        self.compiled = compiled

    def forget(self) -> None:
        """Has the next call ask for its plan, as there is another one; this one does each time."""

    def forget_training(self) -> None:
        """Has the next step of training have its plans made anew."""

    def refresh(self) -> None:
        """Has the weights read again at the next call."""
        self.compiled.refresh()
