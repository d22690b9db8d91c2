"""What programs of torch do without gradients, which models in training have to know."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any


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
