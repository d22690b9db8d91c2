"""Attention, kept whole."""

from __future__ import annotations

import onnx_ir as ir

from .._builder import Builder, Number, Size, dtype_of, rank_of, shape_of
from .._rule import Unsupported, rule
from .activation import safe_softmax
from .random import dropped


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
    rank = rank_of(query)
    if any(rank_of(x) != rank for x in (key, value)):
        raise Unsupported("query, key and value with different numbers of axes")
    if dropout_p:
        if enable_gqa:
            raise Unsupported("dropout with enable_gqa")
        return _with_dropout(b, query, key, value, attn_mask, dropout_p, is_causal, scale)
    if dtype_of(query) == ir.DataType.DOUBLE:
        query, scale = _scaled(b, query, scale), 1.0  # the operator's own is a float32
    operands, mask = [query, key, value], _of_all_keys(b, attn_mask, key)
    if rank > 4:
        operands = [_to_four(b, x) for x in operands]
        if mask is not None:
            mask = _mask_to_four(b, mask, b.sizes(query)[:-2])
    elif rank < 4:
        operands = [b.Unsqueeze(x, list(range(4 - rank))) for x in operands]
    if scale is not None and float(scale) < 0:
        # The operator multiplies both sides by the root of the scale.
        operands[0], scale = b.Neg(operands[0]), -float(scale)
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


def _scaled(b: Builder, query: ir.Value, scale: Number | None) -> ir.Value:
    """The query times what scores are multiplied by."""
    if scale is None:
        features = b.cast(b.scalar(b.size(query, -1)), dtype_of(query))
        made = b.Div(query, b.Sqrt(features))
    else:
        made = b.Mul(query, float(scale))
    made.shape, made.dtype = query.shape, dtype_of(query)
    return made


def _with_dropout(
    b: Builder,
    query: ir.Value,
    key: ir.Value,
    value: ir.Value,
    mask: ir.Value | None,
    dropout_p: float,
    is_causal: bool,
    scale: Number | None,
) -> ir.Value:
    """Attention of which some weights are zero: no operator of ONNX."""
    rank, dtype = rank_of(query), dtype_of(query)
    keys = b.transpose(key, [*range(rank - 2), rank - 1, rank - 2])
    scores = b.MatMul(_scaled(b, query, scale), keys)
    if is_causal:
        sizes = [b.size(query, -2), b.size(key, -2)]
        mask = b.Trilu(b.full(sizes, True, ir.DataType.BOOL), upper=0)
    if mask is not None and mask.dtype == ir.DataType.BOOL:
        scores = b.Where(mask, scores, b.constant(float("-inf"), dtype))
    elif mask is not None:
        scores = b.Add(scores, mask)
    scores.shape = ir.Shape([*shape_of(query)[:-1], shape_of(key)[-2]])
    leaves_keys = mask is None or is_causal
    weights = b.Softmax(scores, axis=-1) if leaves_keys else safe_softmax(b, scores, -1)
    weights.shape = scores.shape
    return b.MatMul(dropped(b, weights, dropout_p), value)


def _of_all_keys(b: Builder, mask: ir.Value | None, key: ir.Value) -> ir.Value | None:
    """A mask with an item for each key, and two axes at least.

    torch repeats a mask of one key for all, and the operator takes it for one without the others.
    """
    if mask is None:
        return None
    keys = b.size(key, -2)
    sizes = [1] * (2 - rank_of(mask)) + b.sizes(mask)
    shape = [1] * (2 - rank_of(mask)) + list(shape_of(mask))
    if sizes[-1] == 1 and keys != 1:
        made = b.expand(mask, [*sizes[:-1], keys])
        shape[-1] = shape_of(key)[-2]
    elif rank_of(mask) < 2:
        made = b.reshape(mask, sizes)
    else:
        return mask
    made.shape = ir.Shape(shape)
    return made


def _to_four(b: Builder, x: ir.Value) -> ir.Value:
    """All axes before the last three as one."""
    sizes = b.sizes(x)
    return b.reshape(x, [b.product(sizes[:-3]), *sizes[-3:]])


def _mask_to_four(b: Builder, mask: ir.Value, before: list[Size]) -> ir.Value:
    if rank_of(mask) <= 2:
        return mask
    whole = b.expand(mask, [*before, *b.sizes(mask)[-2:]])
    return b.reshape(whole, [b.product(before[:-1]), before[-1], *b.sizes(mask)[-2:]])
