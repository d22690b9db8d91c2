"""Products of matrices."""

from __future__ import annotations

import onnx_ir as ir

from ..expansion import Expansion
from ..table import counted, optional, register, required

TRANSPOSED = (
    optional("transpose_a", "bool", False),
    optional("transpose_b", "bool", False),
)
FORWARD = (*TRANSPOSED, optional("forward_stype", "str"))


def _swap_last(x: Expansion, value: ir.Value) -> ir.Value:
    axes = list(range(x.rank(value)))
    axes[-2:] = axes[:-3:-1]
    return x.op("Transpose", value, perm=axes)


def _rotated(x: Expansion, value: ir.Value, by: int) -> ir.Value:
    axes = list(range(x.rank(value)))
    return x.op("Transpose", value, perm=axes[by:] + axes[:by])


@register(
    "dot",
    "The sum of products over the last axis of lhs and the first of rhs.",
    FORWARD,
    "lhs rhs",
)
def dot(x: Expansion) -> ir.Value:
    a, b = x.inputs
    if x.rank(a) == x.rank(b) == 1:
        return x.reshape(x.op("MatMul", a, b), [1])
    # Transposed, an array has its first axis last, or its last first.
    if x.p.transpose_a:
        a = _rotated(x, a, 1)
    if x.p.transpose_b:
        b = _rotated(x, b, -1)
    return _product(x, a, b)


def _product(x: Expansion, a: ir.Value, b: ir.Value) -> ir.Value:
    """MatMul, which takes the first axis of rhs for one of several matrices from rank 3 on."""
    if x.rank(b) <= 2:
        return x.op("MatMul", a, b)
    flat = x.op("MatMul", a, x.op("Flatten", b, axis=1))
    sizes = [x.op("Shape", a, start=0, end=-1), x.op("Shape", b, start=1)]
    return x.op("Reshape", flat, x.op("Concat", *sizes, axis=0))


@register("_np_dot", "NumPy's dot.", (), "a b", aliases="_npi_dot")
def dot_of_numpy(x: Expansion) -> ir.Value:
    a, b = x.inputs
    if x.rank(a) == 0 or x.rank(b) == 0:
        return x.op("Mul", a, b)
    if x.rank(b) > 2:
        axes = list(range(x.rank(b)))
        b = x.op("Transpose", b, perm=[axes[-2], *axes[:-2], axes[-1]])
    return _product(x, a, b)


@register("_npi_matmul", "NumPy's matmul.", (), "a b", aliases="_np_matmul")
def matmul(x: Expansion) -> ir.Value:
    return x.op("MatMul", *x.inputs)


@register(
    "batch_dot",
    "The products of the matrices in the last two axes.",
    FORWARD,
    "lhs rhs",
    aliases="_npx_batch_dot",
)
def batch_dot(x: Expansion) -> ir.Value:
    a, b = x.inputs
    if x.p.transpose_a:
        a = _swap_last(x, a)
    if x.p.transpose_b:
        b = _swap_last(x, b)
    return x.op("MatMul", a, b)


def _scaled(x: Expansion, value: ir.Value, factor: float) -> ir.Value:
    return value if factor == 1 else x.op("Mul", value, x.number(factor, value))


@register(
    "_linalg_gemm2",
    "The products of the matrices in the last two axes, times alpha.",
    [*TRANSPOSED, optional("alpha", "float", 1.0), optional("axis", "int", -2)],
    "A B",
    aliases="linalg_gemm2",
)
def gemm2(x: Expansion) -> ir.Value:
    if x.p.axis != -2:
        raise x.error(f"expected axis -2, but {x.p.axis} came")
    return _scaled(x, batch_dot(x), x.p.alpha)


@register(
    "_linalg_gemm",
    "The products of the matrices in the last two axes, times alpha, plus beta times C.",
    [
        *TRANSPOSED,
        optional("alpha", "float", 1.0),
        optional("beta", "float", 1.0),
        optional("axis", "int", -2),
    ],
    "A B C",
    aliases="linalg_gemm",
)
def gemm(x: Expansion) -> ir.Value:
    if x.p.axis != -2:
        raise x.error(f"expected axis -2, but {x.p.axis} came")
    third = x.inputs.pop()
    return x.op("Add", _scaled(x, batch_dot(x), x.p.alpha), _scaled(x, third, x.p.beta))


HEADS = (required("heads", "int"),)


def _interleaved(x: Expansion, data: ir.Value, parts: int, scale: bool) -> list[ir.Value]:
    """The parts of (length, batch, heads * parts * n), each as (batch * heads, length, n)."""
    heads = x.p.heads
    n = x.dimension(data, 2) // heads // parts
    split = x.reshape(data, [0, 0, heads, parts, n])
    made = []
    for part in range(parts):
        one = x.op("Gather", split, x.constant(part, ir.DataType.INT64), axis=3)
        moved = x.transpose(one, [1, 2, 0, 3])
        made.append(_joined_batch(x, moved, data, n))
    if scale:
        made[0] = x.op("Mul", made[0], x.number(n**-0.5, data))
    return made


def _joined_batch(x: Expansion, moved: ir.Value, data: ir.Value, n: int) -> ir.Value:
    batch = x.shape(data)[1]
    if isinstance(batch, int):
        return x.reshape(moved, [batch * x.p.heads, -1, n])
    length = x.shape(data)[0]
    if isinstance(length, int):
        return x.reshape(moved, [-1, length, n])
    sizes = [x.ints(-1), x.size_along(data, 0), x.ints(n)]
    return x.op("Reshape", moved, x.op("Concat", *sizes, axis=0))


def _whole_heads(x: Expansion, out: ir.Value) -> ir.Value:
    """(batch * heads, length, n) as (length, batch, heads * n)."""
    n = x.dimension(out, 2)
    length = x.shape(out)[1]
    if isinstance(length, int):
        apart = x.reshape(out, [-1, x.p.heads, length, n])
    else:
        sizes = [x.ints(-1), x.ints(x.p.heads), x.size_along(out, 1), x.ints(n)]
        apart = x.op("Reshape", out, x.op("Concat", *sizes, axis=0))
    return x.reshape(x.transpose(apart, [2, 0, 1, 3]), [0, 0, x.p.heads * n])


@register(
    "_contrib_interleaved_matmul_selfatt_qk",
    "The products of queries and keys of self-attention, from interleaved projections.",
    HEADS,
    "queries_keys_values",
    aliases="_npx_interleaved_matmul_selfatt_qk",
)
def self_attention_products(x: Expansion) -> ir.Value:
    query, key, _ = _interleaved(x, x.inputs[0], 3, True)
    return x.op("MatMul", query, _swap_last(x, key))


@register(
    "_contrib_interleaved_matmul_selfatt_valatt",
    "The values of self-attention weighted, from interleaved projections.",
    HEADS,
    "queries_keys_values attention",
    aliases="_npx_interleaved_matmul_selfatt_valatt",
)
def self_attention_values(x: Expansion) -> ir.Value:
    value = _interleaved(x, x.inputs[0], 3, False)[2]
    return _whole_heads(x, x.op("MatMul", x.inputs[1], value))


@register(
    "_contrib_interleaved_matmul_encdec_qk",
    "The products of queries and keys of attention between two sequences.",
    HEADS,
    "queries keys_values",
    aliases="_npx_interleaved_matmul_encdec_qk",
)
def attention_products(x: Expansion) -> ir.Value:
    (query,) = _interleaved(x, x.inputs[0], 1, True)
    key = _interleaved(x, x.inputs[1], 2, False)[0]
    return x.op("MatMul", query, _swap_last(x, key))


@register(
    "_contrib_interleaved_matmul_encdec_valatt",
    "The values of attention between two sequences weighted.",
    HEADS,
    "keys_values attention",
    aliases="_npx_interleaved_matmul_encdec_valatt",
)
def attention_values(x: Expansion) -> ir.Value:
    value = _interleaved(x, x.inputs[0], 2, False)[1]
    return _whole_heads(x, x.op("MatMul", x.inputs[1], value))


@register(
    "_npi_einsum",
    "NumPy's einsum.",
    [required("num_args", "int"), required("subscripts", "str"), optional("optimize", "int", 0)],
    counted(prefix="operands"),
    aliases="_np_einsum",
    variadic=True,
)
def einsum(x: Expansion) -> ir.Value:
    return x.op("Einsum", *x.inputs, equation=x.p.subscripts)


@register(
    "_npi_tensordot_int_axes",
    "The sum of products over the last axes of one and the first of the other.",
    [required("axes", "int")],
    "a b",
)
def tensordot(x: Expansion) -> ir.Value:
    a, b = x.inputs
    n = x.p.axes
    if not 0 <= n <= min(x.rank(a), x.rank(b)):
        raise x.error(f"expected at most as many axes as the arrays have, but {n} came")
    flat = x.op("MatMul", x.op("Flatten", a, axis=x.rank(a) - n), x.op("Flatten", b, axis=n))
    sizes = [x.op("Shape", a, start=0, end=x.rank(a) - n), x.op("Shape", b, start=n)]
    return x.op("Reshape", flat, x.op("Concat", *sizes, axis=0))
