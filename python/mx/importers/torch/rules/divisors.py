"""Common divisors and multiples, by Euclid's algorithm in a loop."""

from __future__ import annotations

import onnx_ir as ir

from .._builder import Builder, dtype_of
from .._promotion import promoted
from .._rule import rule

_BOOL = ir.DataType.BOOL


def _some(b: Builder, x: ir.Value) -> ir.Value:
    """Whether any element is not 0."""
    found = b.cast(b.Not(b.Equal(x, 0)), ir.DataType.INT64)
    return b.cast(b.ReduceMax(b.Concat(b.Reshape(found, [-1]), b.ints([0]), axis=0), keepdims=0),
                  _BOOL)  # fmt: skip


def _divisor(b: Builder, x: ir.Value, y: ir.Value) -> ir.Value:
    x, y = b.Abs(x), b.Abs(y)
    both = b.Shape(b.Add(x, y))
    x, y = b.Expand(x, both), b.Expand(y, both)
    graph, inner = b.body("body")
    for name, dtype, shape in (
        ("iteration", ir.DataType.INT64, ir.Shape([])),
        ("condition", _BOOL, ir.Shape([])),
        ("divided", dtype_of(x), None),
        ("divisor", dtype_of(x), None),
    ):
        made = b.names.new(f"{b.prefix}.{name}")
        graph.inputs.append(ir.Value(name=made, type=ir.TensorType(dtype), shape=shape))
    divided, divisor = graph.inputs[2:]
    done = inner.Equal(divisor, 0)
    rest = inner.Mod(divided, inner.Where(done, inner.constant(1, dtype_of(x)), divisor))
    results = [
        inner.Where(done, divided, divisor),
        inner.Where(done, divisor, rest),
    ]
    graph.outputs.extend([_some(inner, results[1]), *results])
    first = b.op("Loop", None, _some(b, y), x, y, body=graph, outputs=2, dtype=[dtype_of(x)] * 2)[0]
    return first


@rule("gcd")
def gcd(b: Builder, x: ir.Value, y: ir.Value) -> ir.Value:
    return _divisor(b, *promoted(b, x, y, dtype=b.out))


@rule("lcm")
def lcm(b: Builder, x: ir.Value, y: ir.Value) -> ir.Value:
    x, y = promoted(b, x, y, dtype=b.out)
    divisor = _divisor(b, x, y)
    return b.Abs(b.Mul(b.Div(x, b.Max(divisor, 1)), y))
