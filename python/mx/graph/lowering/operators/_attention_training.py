"""Attention of `mx.sol` in training, and its gradients, as one kernel each, of float32."""

from __future__ import annotations

from typing import Any

from .._lowering import Lowering
from .._value import Declined, Value
from ._attention import attention_kernel, extents_of, joined, with_heads
from ._backend import rule
from ._training import DOMAIN, check_float, maker


def _operands(
    to: Lowering, q: Value, k: Value, v: Value, mask: Value | None, heads: int, kv_heads: int
) -> tuple[list[Value], tuple[Any, ...]]:
    """Queries, keys and values of four axes, and the mask if there is one; and what makers of
    kernels are told of them. Declined for those that no kernel takes."""
    check_float(q, k, v)
    if mask is not None and (mask.dtype not in ("bool", "float32") or not mask.shape):
        raise Declined(f"a mask of {mask.dtype}, of the shape {mask.shape}")
    if 0 in (*q.shape, *k.shape, *v.shape):
        raise Declined("no elements")
    found = _apart(to, q, heads), _apart(to, k, kv_heads), _apart(to, v, kv_heads)
    if mask is not None and mask.shape[-1] != found[1].shape[2]:
        raise Declined("a mask of fewer keys")
    masks = [] if mask is None else [to.plain(mask)]
    return [*found, *masks], extents_of(*found, mask)


def _apart(to: Lowering, value: Value, heads: int) -> Value:
    return with_heads(to, value, heads) if len(value.shape) == 3 else to.plain(value)


@rule(f"{DOMAIN}::AttentionTraining")
def _attention(
    to: Lowering,
    q: Value,
    k: Value,
    v: Value,
    mask: Value | None = None,
    *,
    q_num_heads: int = 0,
    kv_num_heads: int = 0,
    scale: float = 1.0,
    is_causal: int = 0,
) -> list[Value]:
    joins_heads = len(q.shape) == 3
    given, extents = _operands(to, q, k, v, mask, q_num_heads, kv_num_heads)
    kernel = attention_kernel(*extents, scale, bool(is_causal), joins_heads, True)
    made, sums = to.step(kernel, given)
    return [joined(to, made) if joins_heads else made, sums]


@rule(f"{DOMAIN}::AttentionGrad")
def _attention_grad(
    to: Lowering,
    dy: Value,
    q: Value,
    k: Value,
    v: Value,
    y: Value,
    sums: Value,
    mask: Value | None = None,
    *,
    q_num_heads: int = 0,
    kv_num_heads: int = 0,
    scale: float = 1.0,
    is_causal: int = 0,
) -> list[Value]:
    joins_heads = len(q.shape) == 3
    check_float(dy, y, sums)
    given, extents = _operands(to, q, k, v, mask, q_num_heads, kv_num_heads)
    kernel = maker("attention_grad")(*extents, scale, bool(is_causal), joins_heads)
    grad, result = (_apart(to, value, q_num_heads) for value in (dy, y))
    inputs = [grad, *given[:3], result, to.row_major(sums), *given[3:]]
    made = to.step(kernel, inputs)
    return [joined(to, one) for one in made] if joins_heads else made
