"""What an optimized model has its plans in."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .._compiled import Compiled
    from .._training import TrainingPlans

Shape = tuple[int, ...]

# Why the framework executes a part for a call.
OTHERS = "its arguments are not as for the example of the model"


class Part:
    """An optimized model, or one inside another, as reports and `sol.refresh` see it."""

    # Whether a step of training runs the plan of inference, too, before those of training.
    infers_in_training = False

    def __init__(self, compiled: Compiled) -> None:
        self.compiled = compiled

    def forget(self) -> None:
        """Has the next call ask for its plan, as there is another one; this one does each time."""

    def forget_training(self) -> None:
        """Has the next step of training have its plans made anew."""

    def refresh(self) -> None:
        """Has the weights read again at the next call."""
        self.compiled.refresh()

    def training_plans(
        self, compiled: Compiled | None = None, shapes: Sequence[Shape] | None = None
    ) -> tuple[TrainingPlans, frozenset[str]]:
        """The plans of a step of training, and the names of their inputs that are weights.

        It is with inputs of these `shapes`, by default those of the example, and of `compiled`, by
        default its model, or that with other dimensions that vary. NotImplementedError where it is
        not trained.
        """
        compiled = compiled or self.compiled
        if shapes is None:
            shapes = [tuple(one.shape) for one in compiled.example_arrays()]
        return self._training_plans(compiled, shapes)

    def _training_plans(
        self, compiled: Compiled, shapes: Sequence[Shape]
    ) -> tuple[TrainingPlans, frozenset[str]]:
        raise NotImplementedError(
            f"{compiled.source.name} comes back as a function of NumPy's arrays, which has no"
            " gradients: as framework='torch' or 'keras' it has"
        )
