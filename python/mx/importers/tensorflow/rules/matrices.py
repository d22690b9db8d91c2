"""Diagonals of matrices, and products of vectors."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx_ir as ir

from ..._builder import dtype_of, rank_of, static
from .._call import Builder, Call, Unsupported, rule


@rule("Cross")
def cross(b: Builder, call: Call) -> ir.Value:
    def turned(x: ir.Value, by: int) -> ir.Value:
        return b.Gather(x, b.ints((np.arange(3) + by) % 3), axis=-1)

    one, two = call[0], call[1]
    return b.Sub(
        b.Mul(turned(one, 1), turned(two, 2)),
        b.Mul(turned(one, 2), turned(two, 1)),
    )


# Of these all axes are one matrix.
_WHOLE = ("Diag", "DiagPart")


@rule("MatrixDiag", "MatrixDiagV2", "MatrixDiagV3", "MatrixDiagPart", "MatrixDiagPartV2",
      "MatrixDiagPartV3", "MatrixSetDiag", "MatrixSetDiagV2", "MatrixSetDiagV3",
      *_WHOLE)  # fmt: skip
def diagonals(b: Builder, call: Call) -> ir.Value:
    """Elements where the operator itself puts their positions."""
    import tensorflow as tf

    names = [one.name for one in call.op.op_def.input_arg]
    result = len(call.shape())
    counts = {
        name: rank_of(call[n]) if call.op.type in _WHOLE else _inner(call, name, n, result)
        for n, name in enumerate(names)
        if name in ("input", "diagonal")
    }
    given, start = dict[str, Any](), 0
    flat: list[ir.Value] = []
    outer: list[int | ir.Value] = []
    for n, name in enumerate(names):
        if name not in counts:
            known = call.known(n)
            if known is None:
                raise Unsupported(f"{name}, which is not known before the model runs")
            given[name] = -1 if name == "padding_value" else known
            continue
        sizes = b.sizes(call[n])
        split = len(sizes) - counts[name]
        shape = static(sizes[split:], "the shape of the matrices")
        size = int(np.prod(shape))
        given[name] = np.arange(start, start + size, dtype=np.int32).reshape(shape)
        start, outer = start + size, sizes[:split]
        flat.append(b.reshape(call[n], [*outer, size]))
    if call.op.type.endswith("V3"):
        given["align"] = call.attr("align")
    found = getattr(tf.raw_ops, call.op.type)(**given).numpy()
    if call.op.type in ("MatrixDiag", "Diag"):  # which have 0 elsewhere, as position 0 is
        found = np.where(
            getattr(tf.raw_ops, call.op.type)(diagonal=given["diagonal"] + 1), found, -1
        )
    elements = flat[0] if len(flat) == 1 else b.Concat(*flat, axis=-1)
    taken = b.Gather(elements, b.ints(found.clip(0).reshape(-1)), axis=-1)
    if (found < 0).any():
        padding = b.constant(0, dtype_of(elements))
        if "padding_value" in names:
            padding = call[names.index("padding_value")]
        taken = b.Where(b.constant(found.reshape(-1) >= 0, ir.DataType.BOOL), taken, padding)
    return b.reshape(taken, [*outer, *found.shape])


def _inner(call: Call, name: str, number: int, result: int) -> int:
    """How many axes of an input are not those of the batch."""
    rank = rank_of(call[number])
    if name == "input":
        return 2
    return rank - (result - 2)
