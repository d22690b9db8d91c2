"""Random numbers of deployed models, which follow from a seed that callers give.

A library has no state, so that what it draws in a call can come from nothing but an argument.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

import numpy
import onnx_ir as ir

from ...graph import Graph
from ...graph._spec import dims_of
from ...graph.passes._pass import is_onnx
from ...importers._training import Training
from ..gradient._expand import take_over
from ..gradient._rules import Call
from ..gradient._training import names_of
from ..gradient._writer import Writer

# Writes nodes for one that draws, of its seed and its shape.
Rule: TypeAlias = Callable[[Writer, Call, ir.Value, Sequence[int]], ir.Value | Sequence[ir.Value]]
RANDOM: dict[str, Rule] = {}
# The share of elements that dropout sets to 0 where it is not told.
_RATIO = 0.5


def seeded(graph: Graph) -> Graph:
    """A graph that draws nothing: where the one given does, with one more input behind the others,
    two integers, from which all its random numbers follow.

    Those of a node that has a seed of its own follow from that. Nodes inside of branches and loops,
    and those of whose shape or settings something is computed, stay as they are.
    """
    if all(_shape_of(node) is None for node in graph.model.graph):
        return graph
    made = graph.copy()
    inside, names = made.model.graph, names_of(made)
    seeds = Training(inside)
    for node in list(inside):
        shape = _shape_of(node)
        if shape is None:
            continue
        written = ir.Graph([], [], nodes=[])
        to = Writer(written, names, prefix=node.name or node.op_type)
        to.metadata = dict(node.metadata_props)
        own = node.attributes.get_float("seed", None)
        seed = seeds.stream(to) if own is None else _constant(to, own)
        call = Call(node, (None,) * len(node.outputs), ())
        found = RANDOM[node.op_type](to, call, seed, shape)
        for one in list(written):
            written.remove(one)
            inside.insert_before(node, one)
        take_over(inside, node, [found] if isinstance(found, ir.Value) else found)
    made.infer()
    return made


def _shape_of(node: ir.Node) -> list[int] | None:
    """The shape of what a node draws; None where it draws nothing, or something is computed that
    decides how many numbers or which."""
    if not is_onnx(node, *RANDOM) or node.outputs[0].dtype is None:
        return None
    value: ir.Value | None = node.outputs[0]
    if node.op_type == "Dropout":
        value = node.inputs[0] if _is_training(node) and _ratio(node) else None
    dims = None if value is None else dims_of(value.shape)
    if dims is None or not all(isinstance(one, int) for one in dims):
        return None
    return [int(str(one)) for one in dims]


def _constant(to: Writer, seed: float) -> ir.Value:
    """The seed of a node that has its own: the same numbers in each call."""
    bits = int(numpy.float32(seed).view("uint32"))
    return to.ints([bits, 0])


def _drawn(
    to: Writer, kind: str, seed: ir.Value, shape: Sequence[int], **settings: float
) -> ir.Value:
    """Numbers of float32."""
    (made,) = to.own(kind, seed, to.ints(shape), types=[ir.DataType.FLOAT], **settings)
    made.shape = ir.Shape(shape)
    return made


def _random(*names: str) -> Callable[[Rule], Rule]:
    def add(function: Rule) -> Rule:
        RANDOM.update(dict.fromkeys(names, function))
        return function

    return add


@_random("RandomUniform", "RandomUniformLike")
def _uniform(to: Writer, call: Call, seed: ir.Value, shape: Sequence[int]) -> ir.Value:
    low, high = call.number("low", 0.0), call.number("high", 1.0)
    return to.cast(
        _drawn(to, "RandomUniformTraining", seed, shape, low=low, high=high), _dtype(call.y)
    )


@_random("RandomNormal", "RandomNormalLike")
def _normal(to: Writer, call: Call, seed: ir.Value, shape: Sequence[int]) -> ir.Value:
    mean, scale = call.number("mean", 0.0), call.number("scale", 1.0)
    return to.cast(
        _drawn(to, "RandomNormalTraining", seed, shape, mean=mean, scale=scale), _dtype(call.y)
    )


@_random("Bernoulli")
def _bernoulli(to: Writer, call: Call, seed: ir.Value, shape: Sequence[int]) -> ir.Value:
    number = to.cast(_drawn(to, "RandomUniformTraining", seed, shape), _dtype(call.x))
    return to.cast(to.Less(number, call.x), _dtype(call.y))


@_random("Multinomial")
def _multinomial(to: Writer, call: Call, seed: ir.Value, shape: Sequence[int]) -> ir.Value:
    """The class that is largest with noise of Gumbel's distribution on its logarithm."""
    rows, classes = (int(str(one)) for one in call.dims(0))
    noise = _drawn(to, "RandomUniformTraining", seed, [rows, shape[1], classes])
    noise = to.Neg(to.Log(to.Neg(to.Log(noise))))
    chances = to.Unsqueeze(to.cast(call.x, ir.DataType.FLOAT), [1])
    return to.cast(to.ArgMax(to.Add(chances, noise), axis=2, keepdims=0), _dtype(call.y))


@_random("Dropout")
def _dropout(to: Writer, call: Call, seed: ir.Value, shape: Sequence[int]) -> Sequence[ir.Value]:
    ratio = _ratio(call.node) or 0.0
    mask = to.GreaterOrEqual(_drawn(to, "RandomUniformTraining", seed, shape), ratio)
    kept = to.Mul(call.x, 1 / (1 - ratio) if ratio < 1 else 0.0)
    return [to.where(mask, kept, 0.0), mask]


def _is_training(node: ir.Node) -> bool:
    given = node.inputs[2] if len(node.inputs) > 2 else None
    tensor = None if given is None else ir.convenience.get_const_tensor(given)
    return tensor is not None and bool(tensor.numpy().any())


def _ratio(node: ir.Node) -> float | None:
    """The share of elements that fall, of float32; None for one that is computed."""
    given = node.inputs[1] if len(node.inputs) > 1 else None
    if given is None:
        return _RATIO
    tensor = ir.convenience.get_const_tensor(given)
    return None if tensor is None else float(numpy.float32(tensor.numpy().reshape(-1)[0]))


def _dtype(value: ir.Value) -> ir.DataType:
    assert value.dtype is not None
    return value.dtype
