"""A whole step of training as one graph: the loss, its gradients, and what an optimizer makes of
them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import onnx_ir as ir

import ffi

from ..graph import Graph
from ..graph.lowering._node import used_by
from .gradient import joint, joint_within
from .operators import DOMAIN, VERSION

_thin_product = ffi.get_global_func("mx.graph.training.thin_product")

# Steps that take two matrices whose product is the gradient.
_OF_PRODUCT = {"SGDStep": "SGDProductStep"}


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
    # The nodes behind the loss, by name: whether each is of the "backward" pass or the "optimizer".
    parts: dict[str, str]


def step_graph(
    graph: Graph,
    wrt: Sequence[str],
    stores: Mapping[str, str],
    updates: Mapping[str, Update],
    memory_limit: int | None = None,
) -> StepGraph:
    """The graph of a step. `graph` gives a loss, a number, and then what `stores` writes.

    Without `memory_limit` nothing is computed again; with it as much as that asks for, in bytes of
    what nodes give, which say nothing of the memory that a plan adds. LimitError where that cannot
    be kept.
    """
    if memory_limit is None:
        made = joint(graph, wrt)
        behind = made.backward
    else:
        made = joint_within(graph, wrt, memory_limit, updates)
        behind = set(made.nodes) - made.forward
    parts = {node.name or "": "backward" for node in behind}
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
        factors = _few_terms(grad) if update.operator in _OF_PRODUCT else []
        node = ir.node(
            _OF_PRODUCT[update.operator] if factors else update.operator,
            [weight, *(factors or [grad]), settings[update.settings], *own],
            dict(update.attributes),
            domain=DOMAIN,
            num_outputs=1 + max(len(own), 1),
            name=f"{name}.step",
        )
        parts[f"{name}.step"] = "optimizer"
        _insert(inner, node, weight, grad)
        product = grad.producer()
        if factors and product is not None:
            inner.remove(product, safe=True)
        for value, to in zip(node.outputs, [weight, *own], strict=False):
            value.name, value.type, value.shape = f"{to.name}.new", to.type, to.shape
            inner.outputs.append(value)
            written[value.name] = to.name or ""
    inner.inputs.extend(states)
    inner.inputs.extend(settings.values())
    updated = tuple(name for name in made.grads if name in updates)
    return StepGraph(made.graph, written, gradients, updated, parts)


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


def _few_terms(gradient: ir.Value) -> list[ir.Value]:
    """Two matrices a and b, where the gradient is a^T b, of few terms, and nothing reads it: a step
    that computes it reads and writes less. None of them otherwise."""
    product = gradient.producer()
    if product is None or product.op_type != "Gemm" or product.domain or gradient.uses():
        return []
    options = {name: one.value for name, one in product.attributes.items()}
    flips = (options.get("transA", 0), options.get("transB", 0), options.get("alpha", 1.0))
    pair = [value for value in product.inputs if value is not None]
    extents = [extent for value in pair for extent in _extents(value)]
    if flips != (1, 0, 1.0) or gradient.dtype != ir.DataType.FLOAT or len(extents) != 4:
        return []
    terms, rows, _, columns = extents
    return pair if _thin_product(rows, columns, terms) else []


def _extents(value: ir.Value) -> list[int]:
    """The extents of a matrix, as far as they are known."""
    return [] if value.shape is None else [one for one in value.shape if isinstance(one, int)]


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
