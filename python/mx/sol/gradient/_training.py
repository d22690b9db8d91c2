"""From one graph to two: forward, which saves what backward needs, and backward."""

from __future__ import annotations

from collections.abc import Container, Sequence
from dataclasses import dataclass

import onnx_ir as ir

from ...graph import Graph, GraphError
from ...graph import passes as graph_passes
from ...graph.passes.attention import recognize
from ...importers._builder import Names
from ..operators import DOMAIN, VERSION
from . import rules as _rules  # noqa: F401
from ._choice import choose
from ._differentiate import depending, differentiate, leading
from ._expand import expand
from ._joint import Joint
from ._memory import TrainingMemory, memory_of
from ._simplify import simplify
from ._writer import Writer, is_float

# Rules write operators as they are since this version.
_SINCE = 18
PREFIX = "grad."


@dataclass(frozen=True)
class Training:
    """The two graphs of a training step, and how they belong together.

    `forward` has the inputs of the graph that it was made of, its outputs, and behind these the
    values of `saved`. Inputs of `backward` are the gradients of outputs, called "grad." and the
    output's name, and by their own names what it reads of saved values, of inputs and of outputs of
    the forward graph: as many of each as it needs. `grads` has for a name of `wrt` that of the
    output of `backward` with its gradient; no name is there whose gradient is zero.
    """

    forward: Graph
    backward: Graph
    saved: tuple[str, ...]
    grads: dict[str, str]

    @property
    def memory(self) -> TrainingMemory:
        """What a step takes; GraphError where shapes are not known."""
        return memory_of(self.forward, self.backward)


def training(graph: Graph, wrt: Sequence[str], *, memory_limit: int | None = None) -> Training:
    """The forward and backward graphs of a graph, for gradients by some of its inputs.

    `wrt` has the names of these; weights that are trained are inputs, see `as_inputs`. Gradients
    are those of a number of which the outputs' gradients are given to the backward graph.

    What is cheap to compute again is not saved. With `memory_limit`, in bytes for all of a step
    (inputs, parameters, gradients and what lies between), more is computed again, the cheapest for
    its size first; shapes have to be known then.

    Raises GraphError, which names node and module, for what has no gradient, and where the limit
    cannot be kept; ValueError for a name in `wrt` that is no input of floating-point numbers.
    """
    if not isinstance(graph, Graph):
        raise TypeError(f"training: graph: expected a Graph, got {type(graph).__name__}")
    if isinstance(wrt, str) or not all(isinstance(name, str) for name in wrt):
        raise TypeError(f"training: wrt: expected names of inputs, got {wrt!r}")
    if memory_limit is not None and not isinstance(memory_limit, int):
        raise TypeError(f"training: memory_limit: expected a number of bytes, got {memory_limit!r}")
    found = joint(graph, wrt)
    saved = choose(found, memory_limit)
    return Training(*found.split(saved), found.grads)


def joint_within(
    graph: Graph, wrt: Sequence[str], memory_limit: int, used_up: Container[str]
) -> Joint:
    """One graph as of `joint` that computes again what `training` does under a limit, as far as
    that counts in one plan: gradients by the inputs `used_up` take no memory once they are read."""
    found = joint(graph, wrt)
    names = {grad for name, grad in found.grads.items() if name in used_up}
    return found.within(choose(found, memory_limit, names))


def joint(given: Graph, wrt: Sequence[str]) -> Joint:
    """One graph that gives the outputs and the gradients; see `training`."""
    if given.opset < _SINCE:
        raise GraphError(
            f"training: {given.file}: operators are of version {given.opset}, expected {_SINCE} "
            "or later"
        )
    graph = given.copy()
    for one in graph_passes.PASSES:
        one.run(graph.model)
    inside = graph.model.graph
    graph.model.opset_imports.setdefault(DOMAIN, VERSION)
    graph.infer()
    sources = _sources(graph, wrt)
    # The gradient of a mask has no kernel.
    recognize(graph.model, depending(list(inside), sources))
    names = names_of(graph)
    expand(graph, names, sources)
    # What bodies compute from constants becomes constant.
    graph_passes.run(graph, ["constants"])
    simplify(graph)
    nodes = list(inside)
    path = depending(nodes, sources) & leading(nodes, inside.outputs)
    grads: dict[ir.Value, ir.Value] = {}
    for output in dict.fromkeys(inside.outputs):
        if output in path and is_float(output):
            value = ir.Value(
                name=names.new(f"{PREFIX}{output.name}"), type=output.type, shape=output.shape
            )
            inside.inputs.append(value)
            grads[output] = value
    to = Writer(inside, names)
    found = differentiate(to, nodes, grads, sources)
    made: dict[str, str] = {}
    for source, grad in found.items():
        copy: ir.Value = to.Identity(grad)
        copy.name = names.new(f"{PREFIX}{source.name}")
        copy.type, copy.shape = source.type, source.shape
        inside.outputs.append(copy)
        made[source.name or ""] = copy.name
    tidy(graph)
    return Joint(graph, given.outputs, frozenset(v.name or "" for v in grads.values()), made)


def tidy(graph: Graph) -> None:
    """Runs the passes that suit both graphs, and finds shapes."""
    for one in graph_passes.PASSES:
        one.run(graph.model)
    graph.infer()


def _sources(graph: Graph, wrt: Sequence[str]) -> list[ir.Value]:
    inputs = {v.name or "": v for v in graph.model.graph.inputs if not v.is_initializer()}
    for name in wrt:
        if name not in inputs:
            raise ValueError(
                f"training: wrt: {name!r} is no input of {graph.file}: there are "
                + ", ".join(inputs)
            )
        if not is_float(inputs[name]):
            raise ValueError(f"training: wrt: {name!r} is no input of floating-point numbers")
    return [inputs[name] for name in dict.fromkeys(wrt)]


def names_of(graph: Graph) -> Names:
    """All names of a graph, in which each node has one of its own afterwards: `Joint.split` finds
    them by it, and models that are no files need not have any."""
    names, seen = Names(), set[str]()
    inside = graph.model.graph
    for value in (*inside.inputs, *inside.initializers.values()):
        names.new(value.name or "")
    for node in ir.traversal.RecursiveGraphIterator(inside):
        own = names.new(node.name or node.op_type)
        if not node.name or node.name in seen:
            node.name = own
        seen.add(node.name)
        for value in node.outputs:
            names.new(value.name or "")
        for attribute in node.attributes.values():
            if attribute.type == ir.AttributeType.GRAPH:
                for value in (
                    *attribute.as_graph().inputs,
                    *attribute.as_graph().initializers.values(),
                ):
                    names.new(value.name or "")
    return names
