"""What planning makes: plans of a part of a graph, and where each node is executed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import onnx_ir

from .recipes import RecordingBuilder


@dataclass(frozen=True)
class Step:
    """Where one node of a graph is executed."""

    node: onnx_ir.Node
    # The name of a backend; "body" where they have what the operator is short for, "constant" where
    # its outputs are known beforehand, "reference" and "alone" where Python executes it.
    backend: str
    reasons: tuple[str, ...]  # why the backends before that one declined
    # Microseconds that backends expect the layer to take, where their order was decided by them.
    estimates: Mapping[str, float] = field(default_factory=dict)

    @property
    def estimate(self) -> float | None:
        """Microseconds that its backend expects the layer to take."""
        return self.estimates.get(self.backend)

    @property
    def why(self) -> str:
        """Why no other backend executes it, for people."""
        every = ", ".join(f"{name} {us:.3g} us" for name, us in self.estimates.items())
        return "; ".join([*([f"estimated: {every}"] if every else []), *self.reasons])


@dataclass
class Segment:
    """Nodes from one position on, for values of known shapes."""

    plan: Any  # None where nothing has to be computed
    given: list[onnx_ir.Value]
    computed: list[onnx_ir.Value]
    known: dict[onnx_ir.Value, Any]
    end: int  # the position of the first node that is not of it
    steps: list[Step]
    done: frozenset[onnx_ir.Node]  # behind it, which kernels of it or of earlier ones computed
    stores: bool = False  # whether the plan writes what the program stores to inputs
    # Of outputs that are no row-major arrays, as the program lets them be.
    layouts: Mapping[onnx_ir.Value, Any] = field(default_factory=dict)
    recording: RecordingBuilder | None = None  # of the plan, where its chooser wants one
