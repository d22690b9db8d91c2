"""Attention, kept whole."""

from __future__ import annotations

import onnx_ir as ir

from .._builder import Builder, Number, Size, rank_of
from .._rule import Unsupported, rule


@rule("scaled_dot_product_attention")
def attention(
    b: Builder,
    query: ir.Value,
    key: ir.Value,
    value: ir.Value,
    attn_mask: ir.Value | None = None,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    *,
    scale: Number | None = None,
    enable_gqa: bool = False,
) -> ir.Value:
    if dropout_p:
        raise Unsupported("dropout while it trains")
    rank = rank_of(query)
    if any(rank_of(x) != rank for x in (key, value)):
        raise Unsupported("query, key and value with different numbers of axes")
    operands, mask = [query, key, value], attn_mask
    if rank > 4:
        operands = [_to_four(b, x) for x in operands]
        if mask is not None:
            mask = _mask_to_four(b, mask, b.sizes(query)[:-2])
    elif rank < 4:
        operands = [b.Unsqueeze(x, list(range(4 - rank))) for x in operands]
    result = b.Attention(
        *operands,
        mask,
        scale=None if scale is None else float(scale),
        is_causal=1 if is_causal else None,
    )
    if rank > 4:
        before: list[Size] = b.sizes(query)[:-2]
        return b.reshape(result, [*before, b.size(query, -2), b.size(value, -1)])
    return b.Squeeze(result, list(range(4 - rank))) if rank < 4 else result


def _to_four(b: Builder, x: ir.Value) -> ir.Value:
    """All axes before the last three as one."""
    sizes = b.sizes(x)
    return b.reshape(x, [b.product(sizes[:-3]), *sizes[-3:]])


def _mask_to_four(b: Builder, mask: ir.Value, before: list[Size]) -> ir.Value:
    if rank_of(mask) <= 2:
        return mask
    whole = b.expand(mask, [*before, *b.sizes(mask)[-2:]])
    return b.reshape(whole, [b.product(before[:-1]), before[-1], *b.sizes(mask)[-2:]])
