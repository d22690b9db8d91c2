"""What all kinds of generated convolutions are made of."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence

import numpy

from .._kernel import GenKernel, Spec
from .._target import Target
from ._epilogue import Operand, Step
from ._inputs import Positions
from ._window import Window


class ConvolutionKernel(ABC):
    """What the parts of a kernel's text share."""

    def __init__(
        self,
        target: Target,
        window: Window,
        weights: numpy.ndarray,
        output: Spec,
        steps: Sequence[Step],
        operands: Sequence[Operand],
        positions: Positions,
    ) -> None:
        self.target, self.window, self.weights, self.output = target, window, weights, output
        self.steps, self.operands, self.positions = steps, operands, positions
        self.depth = window.channels * window.taps
        self._prepare()

    @abstractmethod
    def _prepare(self) -> None:
        """Decides how the kernel goes about it."""

    @abstractmethod
    def kernel(self) -> GenKernel:
        """The kernel."""
