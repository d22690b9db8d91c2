"""Graphs on accelerators: as many nodes as their libraries execute, the others on the CPU."""

from .._explanation import Explanation
from ._explanation import explain
from ._plan import PartitionedPlan, check_options
from ._saved import accelerator_of, load, save

__all__ = [
    "Explanation",
    "PartitionedPlan",
    "accelerator_of",
    "check_options",
    "explain",
    "load",
    "save",
]
