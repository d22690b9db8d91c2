"""Recurrent layers that were kept whole."""

from __future__ import annotations

from collections.abc import Sequence

import onnx_ir as ir

from ..._builder import dtype_of, rank_of, shape_of
from ..._layout import permuted
from .._call import Builder, Unsupported


def recurrence(b: Builder, kind: str, backward: bool, values: Sequence[ir.Value]) -> list[ir.Value]:
    """What a layer gives: its states over time, then the last one, and the last cell of an LSTM."""
    states = 2 if kind == "LSTM" else 1
    x, (kernel, recurrent, bias) = values[0], values[1 + states :]
    hidden = shape_of(recurrent)[0]
    if not isinstance(hidden, int):
        raise Unsupported("a number of units that is not known")
    # ONNX has the gates in the order i, o, f, c; Keras in the order i, f, c, o.
    order = [0, 3, 1, 2] if kind == "LSTM" else [0, 1, 2]

    def gates(weight: ir.Value) -> ir.Value:
        """A weight with its gates in ONNX's order along the last axis, and that as the first."""
        if order != sorted(order):
            parts = b.op(
                "Split",
                weight,
                axis=-1,
                num_outputs=len(order),
                outputs=len(order),
                dtype=[dtype_of(weight)] * len(order),
            )
            weight, shape = b.Concat(*(parts[i] for i in order), axis=-1), weight.shape
            weight.shape = shape
        return permuted(b, weight, [1, 0]) if rank_of(weight) == 2 else weight

    zeros = b.full([len(order) * hidden], 0, dtype_of(bias))
    if rank_of(bias) == 2:  # of the input, and of the state before the reset is applied
        both = b.Reshape(bias, [1, -1])
    else:
        both = b.Unsqueeze(b.Concat(gates(bias), zeros, axis=0), [0])
    y, h, *c = b.op(
        kind,
        permuted(b, x, [1, 0, 2]),
        b.Unsqueeze(gates(kernel), [0]),
        b.Unsqueeze(gates(recurrent), [0]),
        both,
        None,
        *(b.Unsqueeze(state, [0]) for state in values[1 : 1 + states]),
        hidden_size=hidden,
        direction="reverse" if backward else None,
        linear_before_reset=int(rank_of(bias) == 2) if kind == "GRU" else None,
        outputs=1 + states,
        dtype=[dtype_of(x)] * (1 + states),
    )
    batch, length = shape_of(x)[:2]
    sequence = b.Squeeze(y, [1])
    sequence.shape = ir.Shape([length, batch, hidden])
    if backward:  # in the order in which they are computed
        turned = b.Slice(sequence, [-1], [-(2**63) + 1], [0], [-1])
        turned.shape = sequence.shape
        sequence = turned
    return [permuted(b, sequence, [1, 0, 2]), *(b.Squeeze(one, [0]) for one in (h, *c))]
