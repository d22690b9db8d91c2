"""What only models in training have: random elements, statistics, and values without gradients.

ONNX has no operators for them, so they are nodes of the domain `mxffi.sol`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
import onnx_ir as ir

if TYPE_CHECKING:
    from ._builder import Builder

DOMAIN = "mxffi.sol"
# The input of a graph from which all its random elements follow.
SEED = "seed"


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


def detach_without_gradients(program: Any) -> None:
    """Has what a program computes in `torch.no_grad` go through `detach`, in place.

    torch has such parts as modules of their own, and inlines them when it decomposes the program.
    """
    import torch

    for node, inner in _switches(program.graph_module):
        if node.args[0]:
            continue
        (output,) = inner.graph.find_nodes(op="output")
        with inner.graph.inserting_before(output):
            results = [_detached(inner.graph, one) for one in _listed(output.args[0])]
        output.args = (tuple(results) if isinstance(output.args[0], (list, tuple)) else results[0],)
        inner.recompile()
    assert isinstance(program.graph_module, torch.fx.GraphModule)


def _switches(module: Any) -> Iterator[tuple[Any, Any]]:
    """The nodes that switch gradients on or off, with the module of what is inside."""
    import torch

    for one in list(module.modules()):
        if not isinstance(one, torch.fx.GraphModule):
            continue
        for node in one.graph.nodes:
            if getattr(node.target, "__name__", "") == "wrap_with_set_grad_enabled":
                yield node, getattr(one, node.args[1].target)


def _listed(results: Any) -> list[Any]:
    return list(results) if isinstance(results, (list, tuple)) else [results]


def _detached(graph: Any, result: Any) -> Any:
    import torch

    fake = getattr(result, "meta", {}).get("val")
    if not isinstance(fake, torch.Tensor) or not fake.is_floating_point():
        return result
    made = graph.call_function(torch.ops.aten.detach.default, (result,))
    made.meta = dict(result.meta)
    return made
