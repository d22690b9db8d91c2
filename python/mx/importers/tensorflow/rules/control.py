"""Functions, branches and loops."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import onnx_ir as ir

from ..._builder import dtype_of
from .._call import Builder, Call, Unsupported, rule
from .._layers import BACKWARD, GRU, LSTM
from .._training_layers import BATCH_NORM, DROPOUT, SEED
from .lists import made
from .random import Seed, batch_norm, dropout
from .recurrent import recurrence

_BOOL = ir.DataType.BOOL


def _function(call: Call, attribute: str) -> Any:
    """The function that an attribute names."""
    name = call.op.get_attr(attribute).name
    return call.op.graph._get_function(name)


@rule("PartitionedCall", "StatefulPartitionedCall")
def function_call(b: Builder, call: Call) -> Sequence[Any]:
    assert b.inline is not None
    function = _function(call, "f")
    stands_for = function.cached_definition.attr["_implements"].s.decode()
    if stands_for.startswith((LSTM, GRU)):
        kind = "LSTM" if stands_for.startswith(LSTM) else "GRU"
        return recurrence(b, kind, stands_for.endswith(BACKWARD), call.inputs)
    kind, *settings = stands_for.split(" ")
    if kind == SEED:
        return [Seed()]
    if kind == DROPOUT:
        return dropout(b, settings, call[0])
    if kind == BATCH_NORM:
        return batch_norm(b, settings, call.inputs)
    return b.inline(function, call.inputs, b)


@rule("PyFunc", "PyFuncStateless", "EagerPyFunc")
def python_call(b: Builder, call: Call) -> ir.Value:
    raise Unsupported("a function of Python, as what sol.optimize returns is inside of others")


def _outputs(b: Builder, results: Sequence[Any]) -> list[ir.Value]:
    """Results as outputs of a body: each a node's of its own."""
    found: list[ir.Value] = []
    for value in results:
        if not isinstance(value, ir.Value):
            raise Unsupported("a branch that gives something else than arrays")
        node = value.producer()
        if node is None or node.graph is not b.graph or value in found:
            copy = b.Identity(value)
            copy.shape = value.shape
            value = copy
        found.append(value)
    return found


Branch = Callable[[Builder], Sequence[Any]]


def _either(
    b: Builder, condition: ir.Value, first: tuple[str, Branch], other: tuple[str, Branch]
) -> Sequence[Any]:
    """What one of two branches gives, each of which is named and written by a function."""
    graphs: list[ir.Graph] = []
    for name, write in (first, other):
        graph, inner = b.body(name)
        results = write(inner)
        if not results or any(one is None for one in results):
            return []  # what cannot be imported has been noted
        graph.outputs.extend(_outputs(inner, results))
        graphs.append(graph)
    return b.op(
        "If",
        condition,
        then_branch=graphs[0],
        else_branch=graphs[1],
        outputs=len(graphs[0].outputs),
        dtype=[dtype_of(value) for value in graphs[0].outputs],
    )


def _branch(b: Builder, function: Any, inputs: Sequence[Any]) -> Branch:
    inline = b.inline
    assert inline is not None
    return lambda inner: inline(function, inputs, inner)


@rule("If", "StatelessIf")
def branches(b: Builder, call: Call) -> Sequence[Any]:
    inputs = call.inputs[1:]
    return _either(
        b,
        b.cast(call[0], _BOOL),
        ("then", _branch(b, _function(call, "then_branch"), inputs)),
        ("else", _branch(b, _function(call, "else_branch"), inputs)),
    )


@rule("Case", "StatelessCase")
def case(b: Builder, call: Call) -> Sequence[Any]:
    """Branches by number; the last one is for all other numbers."""
    index = call[0]
    get = call.op.graph._get_function
    every = [_branch(b, get(one.name), call.inputs[1:]) for one in call.op.get_attr("branches")]

    def choose(inner: Builder, number: int) -> Sequence[Any]:
        if number == len(every) - 1:
            return every[number](inner)
        return _either(
            inner,
            inner.Equal(index, inner.constant(number, dtype_of(index))),
            (f"branch_{number}", every[number]),
            ("others", lambda further: choose(further, number + 1)),
        )

    return choose(b, 0)


@rule("While", "StatelessWhile")
def loop(b: Builder, call: Call) -> Sequence[ir.Value]:
    assert b.inline is not None
    condition, body = _function(call, "cond"), _function(call, "body")
    inputs = made(b, body, call.inputs)
    # Variables are the same in each turn, and so is what the body gives back as it was.
    given = body.graph.outputs
    fixed = {
        n
        for n, tensor in enumerate(body.graph.inputs)
        if not isinstance(inputs[n], ir.Value) or given[n] is tensor or _is_input(given[n], tensor)
    }
    carried = [n for n in range(len(inputs)) if n not in fixed]
    graph, inner = b.body("body")
    turn = _input(inner, "iteration", ir.DataType.INT64, [])
    goes_on = _input(inner, "condition", _BOOL, [])
    operands: list[Any] = list(inputs)
    for n in carried:
        value = inputs[n]
        operands[n] = _input(inner, f"carried_{n}", dtype_of(value), value.shape)
    graph.inputs.extend([turn, goes_on, *(operands[n] for n in carried)])
    after = list(operands)
    results = b.inline(body, operands, inner)
    for n in carried:
        if results[n] is None:
            return []
        after[n] = results[n]
    (more,) = b.inline(condition, after, inner)
    (first,) = b.inline(condition, inputs, b)
    if more is None or first is None:
        return []
    graph.outputs.extend(_outputs(inner, [more, *(after[n] for n in carried)]))
    outputs = b.op(
        "Loop",
        None,
        first,
        *(inputs[n] for n in carried),
        body=graph,
        outputs=len(carried),
        dtype=[dtype_of(inputs[n]) for n in carried],
    )
    whole: list[Any] = list(inputs)
    for n, output in zip(carried, outputs, strict=True):
        output.shape = inputs[n].shape
        whole[n] = output
    return whole


def _is_input(tensor: Any, wanted: Any) -> bool:
    """Whether a tensor is another one under a new name."""
    while tensor.op.type == "Identity":
        tensor = tensor.op.inputs[0]
    return tensor is wanted


def _input(b: Builder, name: str, dtype: ir.DataType, shape: Any) -> ir.Value:
    value = ir.Value(name=b.names.new(f"{b.prefix}.{name}"), type=ir.TensorType(dtype))
    value.shape = None if shape is None else ir.Shape(shape)
    return value
