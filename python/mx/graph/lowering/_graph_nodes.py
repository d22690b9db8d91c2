"""The nodes of a graph or a subgraph with what planning reads of them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import onnx_ir

from .._errors import GraphError
from ._choice import Chooser
from ._constant import Constant
from ._node import is_constant, used_by


class GraphNodes:
    """The nodes of a graph in order, its weights, and how it is to be lowered."""

    def __init__(
        self,
        graph: onnx_ir.Graph,
        opset: Mapping[str, int],
        chooser: Chooser,
        outer: GraphNodes | None = None,
        keep_nan: bool = False,
        stores: Mapping[onnx_ir.Value, onnx_ir.Value] | None = None,
        any_layout: frozenset[onnx_ir.Value] = frozenset(),
        layouts: Mapping[onnx_ir.Value, Any] | None = None,
    ) -> None:
        """`keep_nan` says whether kernels that would make numbers of NaN are left out. `chooser` is
        asked for backends of this graph's nodes; nodes of subgraphs get them in its order. Outputs
        `any_layout` and inputs that have `layouts` are as Plan says."""
        self.graph = graph
        # Outputs that are written to the memory of inputs, and those that a run gives.
        self.stores = dict(stores or {})
        self.results = [value for value in graph.outputs if value not in self.stores]
        self.any_layout = any_layout
        self.layouts = dict(layouts or {})
        self.keep_nan = keep_nan
        self.nodes = [node for node in graph if not is_constant(node)]
        # Weights of old models are inputs, too.
        weights = set(graph.initializers.values())
        self.inputs = [value for value in graph.inputs if value not in weights]
        # Whether all inputs have the shapes that the graph says.
        self.has_one_shape = all(
            value.shape is not None and value.shape.is_static() for value in self.inputs
        )
        self.opset = opset
        self.chooser = chooser
        self.failed: set[str] = set()  # backends that plans do without
        # All plans share them.
        self.weights: dict[onnx_ir.Value, Constant] = dict(outer.weights) if outer else {}
        for node in filter(is_constant, graph):
            self.weights[node.outputs[0]] = Constant(node.attributes["value"].as_tensor())
        for value in graph.initializers.values():
            if value.const_value is None:
                raise GraphError(f"the weight {value.name!r} has no elements")
            self.weights[value] = Constant(value.const_value)
        self.own = set(self.nodes)
        self._last_use = self._find_last_uses()

    def version_of(self, node: onnx_ir.Node) -> int:
        """The version of the operator set that a node is of."""
        return self.opset.get(node.domain, 1)

    def _find_last_uses(self) -> dict[onnx_ir.Value, int]:
        """The position of the last node that uses a value, in a subgraph of its, too."""
        last: dict[onnx_ir.Value, int] = {}
        for position, node in enumerate(self.nodes):
            for value in used_by(node):
                last[value] = position
        for value in (*self.graph.outputs, *self.stores.values()):
            last[value] = len(self.nodes)
        return last

    def last_use(self, value: onnx_ir.Value) -> int:
        """The position of the last node that uses a value; -1 where none does."""
        return self._last_use.get(value, -1)
