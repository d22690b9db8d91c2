"""1 - erf(x) without loss of digits where erf(x) is near 1; graphs have no operator for it."""

from __future__ import annotations

import onnx_ir as ir

from ._builder import Builder, dtype_of

# What it is called in the metadata of its last node, for passes that look for it.
MARK = {"mx.function": "erfc"}
# Where it begins to be exp(-x * x) times a fraction, and where it is 0.
_FROM, _TO = 0.5, 28.0
# Powers of s = (x - 4) / (x + 4) in erfc(x) * exp(x * x) * (1 + x), least squares at the nodes of
# Chebyshev on the interval: errors of 2e-15 with all of them, of 4e-9 with those of float32.
_DOUBLE = (
    *(0.6849972881253062, -0.19934458280037942, 0.11704966551047506, -0.048080381220540216),
    *(0.003962055680527031, 0.015312509659633995, -0.01751565463642438, 0.012161784996497305),
    *(-0.006068735276313214, 0.0021164199200773247, -0.0003897675108220822),
    *(-6.0130071090114625e-05, 6.403446792902602e-05, -1.3167170650408346e-05),
    *(-4.146830095151613e-06, 2.671576300420027e-06, 2.2982821427857707e-08),
    *(-3.756833241912308e-07, 2.9529712672496132e-08, 4.295531915324194e-08),
)
_SINGLE = (
    *(0.6849972888768501, -0.19934454805783805, 0.11704956601169035, -0.048082164540285535),
    *(0.003963341576023117, 0.015338363584215139, -0.01750849772190035, 0.012019119293108376),
    *(-0.006201197982143904, 0.002371791693614871),
)


def erfc(b: Builder, x: ir.Value) -> ir.Value:
    """Nodes for it; half precision is computed in float32."""
    dtype = dtype_of(x)
    if dtype not in (ir.DataType.FLOAT, ir.DataType.DOUBLE):
        return b.cast(erfc(b, b.cast(x, ir.DataType.FLOAT)), dtype)
    near = b.Sub(b.constant(1, dtype), b.Erf(x))
    # NaN takes this way: it is not greater than anything.
    made = b.Where(b.Greater(x, _FROM), _tail(b, b.Clip(x, _FROM, _TO), dtype), near)
    node = made.producer()
    assert node is not None
    node.metadata_props.update(MARK)
    return made


def _tail(b: Builder, x: ir.Value, dtype: ir.DataType) -> ir.Value:
    """For numbers between the bounds."""
    coefficients = _SINGLE if dtype == ir.DataType.FLOAT else _DOUBLE
    s = b.Div(b.Sub(x, 4.0), b.Add(x, 4.0))
    polynomial = b.constant(coefficients[-1], dtype)
    for one in coefficients[-2::-1]:
        polynomial = b.Add(b.Mul(polynomial, s), one)
    # Of x * x the exponential would have the rounding error, some 100 times as large for large x:
    # the square of few bits is exact, and what it lacks is small.
    few = b.Div(b.Floor(b.Mul(x, 16.0)), 16.0)
    rest = b.Mul(b.Sub(x, few), b.Add(x, few))
    exponential = b.Mul(b.Exp(b.Neg(b.Mul(few, few))), b.Exp(b.Neg(rest)))
    return b.Div(b.Mul(exponential, polynomial), b.Add(x, 1.0))
