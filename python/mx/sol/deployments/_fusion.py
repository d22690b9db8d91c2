"""Several nodes as one kernel: what follows a node, as long as nothing else reads it."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import onnx_ir

from ...graph.lowering._node import attributes_of, since_version
from ...graph.lowering._value import Declined, Follower, Followers
from ..backends.gen import EMITTERS, GenKernel, Target
from ..backends.gen.products import Step
from ._program import Value

# Nodes behind a product that one kernel may compute with it.
_MOST_STEPS = 6


@dataclass
class Fused:
    """A kernel, the values that it reads, and how many nodes behind the first it computes."""

    kernel: GenKernel
    inputs: Sequence[Value | None]
    taken: int


def followers(
    node: onnx_ir.Node, values: Mapping[onnx_ir.Value, Value], opset: Mapping[str, int]
) -> Iterator[tuple[onnx_ir.Node, Follower]]:
    """The chain of nodes behind one, each of which alone reads what the one before gives."""
    while True:
        value, *others = node.outputs
        uses = tuple(value.uses())
        if len(uses) != 1 or value.is_graph_output() or any(one.uses() for one in others):
            return
        node, position = uses[0].node, uses[0].idx
        given = [one for index, one in enumerate(node.inputs) if index != position]
        if node.domain or any(one is not None and one not in values for one in given):
            return
        inputs = tuple(
            None if one is None or index == position else values[one]
            for index, one in enumerate(node.inputs)
        )
        version = since_version(node, opset.get("", 1))
        yield node, Follower(node.op_type, version, inputs, position, attributes_of(node))


def takes_steps(operator: str) -> bool:
    """Whether the emitter of an operator applies others to what it computes."""
    emitter = EMITTERS.get(operator)
    return emitter is not None and "epilogue" in inspect.signature(emitter).parameters


def with_steps(
    target: Target,
    operator: str,
    inputs: Sequence[Value | None],
    attributes: dict[str, Any],
    behind: Followers,
) -> Fused:
    """The kernel of a product with as many nodes behind it as it can apply.

    Declined where it has none for the product alone.
    """
    steps: list[Step] = []
    operands: list[Value] = []
    while len(steps) < _MOST_STEPS:
        follower = behind.get(len(steps))
        step = None if follower is None else _step_of(follower, operands)
        if step is None:
            break
        steps.append(step)
    emitter: Callable[..., GenKernel] = EMITTERS[operator]
    specs = [None if value is None else value.spec for value in inputs]
    known = {
        index: value.constant
        for index, value in enumerate(inputs)
        if value is not None and value.constant is not None
    }
    while True:
        try:
            kernel = emitter(target, specs, dict(attributes), known, epilogue=steps)
            break
        except Declined:
            if not steps:
                raise
            if steps.pop().operand is not None:
                operands.pop()
    return Fused(kernel, [*inputs, *operands], len(steps))


def _step_of(follower: Follower, operands: list[Value]) -> Step | None:
    """A node as a step; what it reads besides is added to `operands`. None for what is no step."""
    others = [value for value in follower.inputs if value is not None]
    if follower.operator == "Clip" and follower.version >= 11 and follower.position == 0:
        bounds = [value.constant for value in others]
        if len(follower.inputs) != 1 + len(bounds) or any(one is None for one in bounds):
            return None
        names = ("min", "max")[: len(bounds)]
        numbers = [float(one.reshape(())) for one in bounds if one is not None and one.size == 1]
        return Step("Clip", None, dict(zip(names, numbers, strict=True)))
    if not others:
        return Step(follower.operator, None, follower.attributes)
    if len(others) != 1 or len(follower.inputs) != 2 or follower.version < 7:
        return None
    (other,) = others
    assert isinstance(other, Value)
    operands.append(other)
    return Step(follower.operator, other.spec, {}, follower.position == 1)
