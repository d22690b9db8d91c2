"""Gradients of graphs: a forward graph that saves what a backward graph needs.

`training(graph, wrt)` makes the two. Rules, one function an operator, are in `rules`.
"""

from ._coverage import coverage
from ._inputs import as_inputs
from ._memory import TrainingMemory, memory_of
from ._training import Training, joint, training

__all__ = ["Training", "TrainingMemory", "as_inputs", "coverage", "joint", "memory_of", "training"]
