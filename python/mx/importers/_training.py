"""What only models in training have: random elements, statistics, and values without gradients.

ONNX has no operators for them, so they are nodes of the domain `mxffi.sol`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import onnx_ir as ir

if TYPE_CHECKING:
    from ._builder import Builder, Size

DOMAIN = "mxffi.sol"
# The input of a graph from which all its random elements follow.
SEED = "seed"
# What a node of ONNX says whose layer is the same in training (""), or what it cannot have then.
IN_TRAINING = "mx.in_training"


class Training:
    """What the builders of one graph share when it is imported for training."""

    def __init__(self, graph: ir.Graph) -> None:
        self._graph = graph
        self._count = 0
        self.seed: ir.Value | None = None
        graph.opset_imports[DOMAIN] = 1

    def stream(self, b: Builder) -> ir.Value:
        """The seed of one node: the graph's own, with the number of the node beside it."""
        if self.seed is None:
            self.seed = ir.Value(
                name=b.names.new(SEED), shape=ir.Shape([2]), type=ir.TensorType(ir.DataType.INT64)
            )
            self.seed.metadata_props["mx.role"] = SEED
            self._graph.inputs.append(self.seed)
        number, self._count = self._count, self._count + 1
        if number == 0:
            return self.seed
        # The graph's seed is two random numbers, so that the sums of all calls and nodes differ.
        offset = b.constant(np.array([0, number << 32]), ir.DataType.INT64)
        own = b.Add(self.seed, offset)
        own.shape = ir.Shape([2])
        return own

    def uniform(
        self, b: Builder, shape: Sequence[Size], low: float = 0.0, high: float = 1.0
    ) -> ir.Value:
        """Random numbers of float32 from `low` to below `high`."""
        return self._drawn(b, "RandomUniformTraining", shape, low=low, high=high)

    def normal(
        self, b: Builder, shape: Sequence[Size], mean: float = 0.0, scale: float = 1.0
    ) -> ir.Value:
        """Random numbers of float32, normally distributed."""
        return self._drawn(b, "RandomNormalTraining", shape, mean=mean, scale=scale)

    def _drawn(self, b: Builder, kind: str, shape: Sequence[Size], **settings: float) -> ir.Value:
        numbers: dict[str, Any] = {name: float(one) for name, one in settings.items()}
        inputs, dtype = (self.stream(b), b.vector(shape)), ir.DataType.FLOAT
        result = b.op(kind, *inputs, domain=DOMAIN, dtype=dtype, **numbers)[0]
        result.shape = ir.Shape([one if isinstance(one, int) else None for one in shape])
        return result
