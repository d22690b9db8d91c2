"""Calls, branches and loops."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

import jax
import onnx_ir as ir

from ..._builder import dtype_of, shape_of
from ..._layout import elementwise
from .._call import Builder, Equation, Unsupported, rule

_BOOL = ir.DataType.BOOL
_INT64 = ir.DataType.INT64


@rule("jit", "pjit", "closed_call", "core_call", "remat", "remat2", "checkpoint", "custom_jvp_call",
      "custom_vjp_call", "custom_vjp_call_jaxpr", "custom_lin")  # fmt: skip
def call_function(b: Builder, call: Equation) -> Sequence[Any]:
    assert b.inline is not None
    name = call.eqn.primitive.name
    if b.stops and name.startswith("custom_vjp"):
        raise Unsupported("a function with a gradient of its own (jax.custom_vjp)")
    if name == "custom_jvp_call":
        function = _name_in_jax(call.param("call_jaxpr"))
        if b.stops and function is None:
            raise Unsupported("a function with a gradient of its own (jax.custom_jvp)")
        if function == "relu6":
            # Its gradient is that of Clip, 0 at both bounds, and not that of the body.
            return [elementwise(b, lambda x: b.Clip(x, 0, 6), call[0])]
    names = ("jaxpr", "call_jaxpr", "fun_jaxpr")
    inner = next(one for one in map(call.param, names) if one is not None)
    return b.inline(inner, call.inputs, b)


def _name_in_jax(closed: Any) -> str | None:
    """The name of a function that is one of JAX's own, as jax.nn.relu; the gradient of most is that
    of their body. None for others; one whose definition is not known is taken for another's.
    """
    info = getattr(closed.jaxpr, "debug_info", None)
    # "relu at /.../jax/_src/nn/functions.py:71"
    name, _, file = (getattr(info, "func_src_info", None) or "").partition(" at ")
    return name if file.startswith(os.path.join(os.path.dirname(jax.__file__), "")) else None


def _outputs(b: Builder, results: Sequence[ir.Value]) -> list[ir.Value]:
    """Results as outputs of a body: each a node's of its own."""
    found: list[ir.Value] = []
    for value in results:
        made = value.producer()
        if made is None or made.graph is not b.graph or value in found:
            copy = b.Identity(value)
            copy.shape = value.shape
            value = copy
        found.append(value)
    return found


def _input(b: Builder, name: str, dtype: ir.DataType, shape: Any) -> ir.Value:
    value = ir.Value(name=b.names.new(f"{b.prefix}.{name}"), type=ir.TensorType(dtype))
    value.shape = ir.Shape(shape)
    return value


@rule("cond")
def branches(b: Builder, call: Equation) -> Sequence[ir.Value]:
    which, operands = call[0], call.inputs[1:]
    return _choice(b, which, list(call.param("branches")), operands)


def _choice(
    b: Builder, which: ir.Value, jaxprs: Sequence[Any], operands: Sequence[ir.Value]
) -> Sequence[ir.Value]:
    """The results of the branch that a number chooses; one beyond the last is the last."""
    assert b.inline is not None
    if len(jaxprs) == 1:
        return b.inline(jaxprs[0], operands, b)
    graphs = []
    for name, chosen in (("then", jaxprs[:1]), ("else", jaxprs[1:])):
        graph, inner = b.body(name)
        results = _choice(inner, _less(inner, which), chosen, operands)
        if any(one is None for one in results):
            return []  # what cannot be imported has been noted
        graph.outputs.extend(_outputs(inner, results))
        graphs.append(graph)
    is_first = b.LessOrEqual(b.cast(which, _INT64), b.scalar(0))
    outputs = b.op(
        "If",
        is_first,
        then_branch=graphs[0],
        else_branch=graphs[1],
        outputs=len(graphs[0].outputs),
        dtype=[dtype_of(value) for value in graphs[0].outputs],
    )
    for output, inside in zip(outputs, graphs[0].outputs, strict=True):
        output.shape = inside.shape
    return outputs


def _less(b: Builder, which: ir.Value) -> ir.Value:
    result = b.Sub(b.cast(which, _INT64), b.scalar(1))
    result.shape = ir.Shape([])
    return result


@rule("while")
def loop(b: Builder, call: Equation) -> Sequence[ir.Value]:
    assert b.inline is not None
    of_condition, of_body = call.param("cond_nconsts"), call.param("body_nconsts")
    consts = call.inputs[:of_condition]
    others = call.inputs[of_condition : of_condition + of_body]
    carried = call.inputs[of_condition + of_body :]
    condition, body = call.param("cond_jaxpr"), call.param("body_jaxpr")
    graph, inner = b.body("body")
    own = [_input(inner, "carried", dtype_of(x), shape_of(x)) for x in carried]
    graph.inputs.extend(
        [_input(inner, "iteration", _INT64, []), _input(inner, "condition", _BOOL, []), *own]
    )
    after = b.inline(body, [*others, *own], inner)
    if any(one is None for one in after):
        return []
    (more,) = b.inline(condition, [*consts, *after], inner)
    (first,) = b.inline(condition, [*consts, *carried], b)
    if more is None or first is None:
        return []
    graph.outputs.extend(_outputs(inner, [more, *after]))
    return b.op(
        "Loop",
        None,
        first,
        *carried,
        body=graph,
        outputs=len(carried),
        dtype=[dtype_of(x) for x in carried],
    )


@rule("pure_callback", "io_callback")
def python_call(b: Builder, call: Equation) -> ir.Value:
    raise Unsupported("a function of Python, as what sol.optimize returns is inside of others")


@rule("scan")
def scan(b: Builder, call: Equation) -> Sequence[ir.Value]:
    """A loop with a known number of turns, over slices of arrays, that stacks results."""
    assert b.inline is not None
    consts_count, carry_count = call.param("num_consts"), call.param("num_carry")
    length, reverse = call.param("length"), call.param("reverse")
    consts = call.inputs[:consts_count]
    carried = call.inputs[consts_count : consts_count + carry_count]
    arrays = call.inputs[consts_count + carry_count :]
    graph, inner = b.body("body")
    turn = _input(inner, "iteration", _INT64, [])
    condition = _input(inner, "condition", _BOOL, [])
    own = [_input(inner, "carried", dtype_of(x), shape_of(x)) for x in carried]
    graph.inputs.extend([turn, condition, *own])
    position = inner.Sub(inner.scalar(length - 1), turn) if reverse else turn
    slices = []
    for x in arrays:
        part = inner.Gather(x, position, axis=0)
        part.shape = ir.Shape(list(shape_of(x))[1:])
        slices.append(part)
    results = b.inline(call.param("jaxpr"), [*consts, *own, *slices], inner)
    if any(one is None for one in results):
        return []
    goes_on = inner.Identity(condition)
    goes_on.shape = ir.Shape([])
    graph.outputs.extend([goes_on, *_outputs(inner, results)])
    outputs = list(
        b.op(
            "Loop",
            b.scalar(length),
            b.constant(True, _BOOL),
            *carried,
            body=graph,
            outputs=len(results),
            dtype=[dtype_of(x) for x in results],
        )
    )
    if reverse:
        for number in range(carry_count, len(outputs)):
            outputs[number] = b.Slice(outputs[number], [-1], [-(2**63) + 1], [0], [-1])
    return outputs
