"""Graphs on accelerators: as many nodes as their libraries execute, the others on the CPU."""

from ._explanation import Explanation, explain
from ._plan import PartitionedPlan

__all__ = ["Explanation", "PartitionedPlan", "explain"]
