"""Gradients of graphs: a forward graph that saves what a backward graph needs.

`training(graph, wrt)` makes the two. Rules, one function an operator, are in `rules`; those of
other packages are functions with the decorator `gradient`, which get a `Writer` and a `Call`.
"""

from ._choice import LimitError
from ._coverage import coverage
from ._inputs import as_inputs
from ._memory import TrainingMemory, memory_of
from ._rules import Call, Declined, gradient
from ._training import Training, joint, joint_within, training
from ._writer import Writer

__all__ = [
    "Call",
    "Declined",
    "LimitError",
    "Training",
    "TrainingMemory",
    "Writer",
    "as_inputs",
    "coverage",
    "gradient",
    "joint",
    "joint_within",
    "memory_of",
    "training",
]
