"""Padding."""

from __future__ import annotations

from collections.abc import Sequence

import onnx_ir as ir

from .._builder import Builder, Number, Size, dtype_of, rank_of
from .._rule import rule

_LAST = 2**63 - 1
_MODES = {"constant": "constant", "reflect": "reflect", "replicate": "edge", "circular": "wrap"}


@rule("pad")
def pad(
    b: Builder,
    x: ir.Value,
    pad: Sequence[Size],
    mode: str = "constant",
    value: Number | None = None,
) -> ir.Value:
    """torch tells both ends of an axis after another, the last axis first."""
    count = len(pad) // 2
    if all(one == 0 for one in pad if isinstance(one, int)) and not any(
        isinstance(one, ir.Value) for one in pad
    ):
        return x
    starts, ends = (list(pad[side::2])[::-1] for side in (0, 1))
    rank = rank_of(x)
    # Few know what ONNX says of negative padding.
    for axis, (start, end) in enumerate(zip(starts, ends, strict=True), rank - count):
        first = -start if isinstance(start, int) and start < 0 else 0
        last = end if isinstance(end, int) and end < 0 else _LAST
        if first or last != _LAST:
            x = b.Slice(x, [first], [last], [axis])
    starts, ends = (
        [max(one, 0) if isinstance(one, int) else one for one in side] for side in (starts, ends)
    )
    if not any(one for one in starts + ends):
        return x
    axes = None if count == rank else b.ints(range(rank - count, rank))
    filling = None
    if mode == "constant" and value:
        filling = b.cast(value, dtype_of(x))
    return b.Pad(
        x,
        b.vector([*starts, *ends]),
        filling,
        axes,
        mode=None if mode == "constant" else _MODES[mode],
    )


@rule("constant_pad_nd")
def constant_pad(b: Builder, x: ir.Value, padding: Sequence[Size], value: Number = 0) -> ir.Value:
    return pad(b, x, padding, "constant", value)


@rule("reflection_pad1d", "reflection_pad2d", "reflection_pad3d")
def reflection_pad(b: Builder, x: ir.Value, padding: Sequence[Size]) -> ir.Value:
    return pad(b, x, padding, "reflect")


@rule("replication_pad1d", "replication_pad2d", "replication_pad3d")
def replication_pad(b: Builder, x: ir.Value, padding: Sequence[Size]) -> ir.Value:
    return pad(b, x, padding, "replicate")
