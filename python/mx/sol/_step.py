"""A whole step of training as one graph: the loss, its gradients, and what an optimizer makes of
them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import onnx_ir as ir

from ..graph import Graph
from ..graph.lowering._program import _used_by as used_by
from .gradient import joint
from .operators import DOMAIN, VERSION


@dataclass(frozen=True)
class Update:
    """How an optimizer changes a parameter: a node (w, gradient, settings, state) -> (w, state)."""

    operator: str
    settings: str  # the name of an input, float64
    num_settings: int
    state: tuple[str, ...]  # names that inputs of the parameter's type will have
    attributes: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True)
class StepGraph:
    """A graph whose first output is the loss; behind it are gradients that no update has used.

    `stores` has the outputs that are written to inputs, as Plan takes them.
    """

    graph: Graph
    stores: dict[str, str]
    gradients: dict[str, str]  # by parameters, names of outputs
    updated: tuple[str, ...]  # the parameters that have an update, which have gradients


def step_graph(
    graph: Graph,
    wrt: Sequence[str],
    stores: Mapping[str, str],
    updates: Mapping[str, Update],
) -> StepGraph:
    """The graph of a step. `graph` gives a loss, a number, and then what `stores` writes."""
    made = joint(graph, wrt)
    inner = made.graph.model.graph
    inner.opset_imports.setdefault(DOMAIN, VERSION)
    for value in [value for value in inner.inputs if value.name in made.given]:
        _replace_by_one(inner, value)
    outputs = {value.name: value for value in inner.outputs}
    weights = {value.name: value for value in inner.inputs}
    written = dict(stores)
    settings: dict[str, ir.Value] = {}
    gradients: dict[str, str] = {}
    states: list[ir.Value] = []
    for name, gradient in made.grads.items():
        if name not in updates:
            gradients[name] = gradient
            continue
        update, weight, grad = updates[name], weights[name], outputs[gradient]
        inner.outputs.remove(grad)
        if update.settings not in settings:
            settings[update.settings] = _input(
                update.settings, ir.DataType.DOUBLE, [update.num_settings]
            )
        own = [_like(state, weight) for state in update.state]
        states += own
        node = ir.node(
            update.operator,
            [weight, grad, settings[update.settings], *own],
            dict(update.attributes),
            domain=DOMAIN,
            num_outputs=1 + max(len(own), 1),
            name=f"{name}.step",
        )
        _insert(inner, node, weight, grad)
        for value, to in zip(node.outputs, [weight, *own], strict=False):
            value.name, value.type, value.shape = f"{to.name}.new", to.type, to.shape
            inner.outputs.append(value)
            written[value.name] = to.name or ""
    inner.inputs.extend(states)
    inner.inputs.extend(settings.values())
    updated = tuple(name for name in made.grads if name in updates)
    return StepGraph(made.graph, written, gradients, updated)


def _replace_by_one(graph: ir.Graph, value: ir.Value) -> None:
    """The gradient of the loss itself."""
    assert value.dtype is not None
    one = ir.tensor(1.0, dtype=value.dtype, name=value.name)
    graph.inputs.remove(value)
    node = ir.node("Constant", [], {"value": one}, name=value.name)
    (made,) = node.outputs
    made.name, made.type, made.shape, made.const_value = value.name, value.type, value.shape, one
    ir.convenience.replace_all_uses_with(value, made)
    graph.insert_before(graph[0], node)


def _input(name: str, dtype: ir.DataType, shape: Sequence[int]) -> ir.Value:
    return ir.Value(name=name, type=ir.TensorType(dtype), shape=ir.Shape(shape))


def _like(name: str, value: ir.Value) -> ir.Value:
    return ir.Value(name=name, type=value.type, shape=value.shape)


def _insert(graph: ir.Graph, node: ir.Node, weight: ir.Value, grad: ir.Value) -> None:
    """Puts a node behind all that read the weight, where its new elements may be written to it."""
    made = grad.producer()
    assert made is not None
    last = made
    behind = False
    for one in graph:
        behind = behind or one is made
        if behind and weight in used_by(one):
            last = one
    graph.insert_after(last, node)
