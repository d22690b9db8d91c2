"""The memory of a run, as the plan has laid it out."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy

from ...graph import Graph, ValueSpec


@dataclass(frozen=True)
class Memory:
    """Bytes that an optimized model takes for inference, by kind.

    Of parameters it is what the plan reads, without what the framework has of its own; of
    intermediates all of the plan's own memory, workspace of kernels included.
    """

    parameters: int
    inputs: int
    outputs: int
    intermediates: int

    @property
    def peak(self) -> int:
        """The most at one time: all of it, as a plan takes its memory at once."""
        return self.parameters + self.inputs + self.outputs + self.intermediates

    def __add__(self, other: Memory) -> Memory:
        return Memory(
            self.parameters + other.parameters,
            self.inputs + other.inputs,
            self.outputs + other.outputs,
            self.intermediates + other.intermediates,
        )

    def __str__(self) -> str:
        kinds = ("parameters", "inputs", "outputs", "intermediates")
        parts = ", ".join(f"{kind} {size_text(getattr(self, kind))}" for kind in kinds)
        return (
            "Estimated Peak Memory Consumption:\n"
            f"  Inference: ~{size_text(self.peak)} ({parts})\n"
            "  Training:  not known: training is not implemented yet"
        )


def memory_of(graph: Graph, arena_bytes: int) -> Memory:
    """The memory of a graph whose shapes are known; `arena_bytes` are those of its plan."""
    weights = graph.model.graph.initializers.values()
    held = [v.const_value.nbytes for v in weights if v.const_value is not None and v.uses()]
    return Memory(
        sum(held), sum(map(bytes_of, graph.inputs)), sum(map(bytes_of, graph.outputs)), arena_bytes
    )


def bytes_of(spec: ValueSpec) -> int:
    """The bytes of a value whose shape is known; 0 where it is not."""
    extents = [extent for extent in spec.shape or () if isinstance(extent, int)]
    if spec.dtype is None or spec.shape is None or len(extents) != len(spec.shape):
        return 0
    item = 2 if spec.dtype == "bfloat16" else numpy.dtype(spec.dtype).itemsize
    return math.prod(extents) * item


def size_text(size: float) -> str:
    """Bytes as people read them."""
    for unit in ("bytes", "KB", "MB"):
        if size < 1000:
            return f"{size:.0f} {unit}" if unit == "bytes" or size >= 10 else f"{size:.1f} {unit}"
        size /= 1000
    return f"{size:.2f} GB"
