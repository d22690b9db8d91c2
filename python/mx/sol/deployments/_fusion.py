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
from ..backends.gen._operators import OPERATORS
from ..backends.gen.products import Extra, Step
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
            for _ in steps.pop().extras:
                operands.pop()
    return Fused(kernel, [*inputs, *operands], len(steps))


def _step_of(follower: Follower, operands: list[Value]) -> Step | None:
    """A node as a step; what it reads besides is added to `operands`. None for what is no step."""
    if follower.operator not in OPERATORS or follower.version < OPERATORS[follower.operator].since:
        return None
    args: list[Extra | str | None] = []
    for index, value in enumerate(follower.inputs):
        if index == follower.position:
            args.append("result")
            continue
        if value is None:
            args.append(None)
            continue
        assert isinstance(value, Value)
        one = value.constant
        number = None
        if one is not None and one.size == 1 and value.spec.dtype == "float32":
            number = float(one.reshape(()))
        else:
            operands.append(value)
        args.append(Extra(value.spec, number=number))
    return Step(follower.operator, tuple(args), follower.attributes)
