"""Products of matrices."""

from __future__ import annotations

import onnx_ir as ir

from ..._builder import dtype_of, rank_of
from ..._layout import permuted
from .._call import Builder, Call, Unsupported, rule


@rule("MatMul")
def product(b: Builder, call: Call) -> ir.Value:
    # Gemm has an input for what is added.
    return b.Gemm(
        call[0],
        call[1],
        transA=int(call.attr("transpose_a")) or None,
        transB=int(call.attr("transpose_b")) or None,
    )


@rule("BatchMatMul", "BatchMatMulV2", "BatchMatMulV3")
def batch_product(b: Builder, call: Call) -> ir.Value:
    operands = []
    for i, name in enumerate(("adj_x", "adj_y")):
        x = call[i]
        if call.attr(name):
            if dtype_of(x) in (ir.DataType.COMPLEX64, ir.DataType.COMPLEX128):
                raise Unsupported("complex matrices that are conjugated")
            rank = rank_of(x)
            x = permuted(b, x, [*range(rank - 2), rank - 1, rank - 2])
        operands.append(b.cast(x, call.out()))
    return b.MatMul(*operands)


@rule("Einsum")
def einsum(b: Builder, call: Call) -> ir.Value:
    return b.Einsum(*call.inputs, equation=call.attr("equation"))
