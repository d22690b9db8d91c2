"""Graphs on accelerators: as many nodes as their libraries execute, the others on the CPU."""

from ._explanation import Explanation, explain
from ._plan import PartitionedPlan
from ._saved import accelerator_of, load, save

__all__ = ["Explanation", "PartitionedPlan", "accelerator_of", "explain", "load", "save"]
