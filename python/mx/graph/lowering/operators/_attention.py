"""Attention as one kernel, of float32."""

from __future__ import annotations

import math
from typing import Any

import ffi

from .... import numpy as np
from .._lowering import Lowering
from .._value import Declined, Value
from ._backend import rule

attention_kernel = ffi.get_global_func("mx.graph.attention")


@rule("Attention", since=23)
def _attention(
    to: Lowering,
    q: Value,
    k: Value,
    v: Value,
    mask: Value | None = None,
    *,
    is_causal: int = 0,
    kv_num_heads: int = 0,
    q_num_heads: int = 0,
    scale: float | None = None,
    softcap: float = 0.0,
    softmax_precision: int = 1,
) -> Value:
    if any(value.dtype != "float32" for value in (q, k, v)) or softmax_precision != 1:
        raise Declined("types other than float32")
    if mask is not None and mask.dtype not in ("bool", "float32"):
        raise Declined(f"a mask of {mask.dtype}")
    if softcap or to.num_outputs > 1:
        raise Declined("a bound of scores, or further outputs")
    if is_causal and to.keep_nan:
        raise Declined("keys behind a query are not all looked at, which may be NaN")
    has_joined_heads = len(q.shape) == 3
    if 0 in (*q.shape, *k.shape, *v.shape):
        return _of_nothing(to, q, k, v, q_num_heads if has_joined_heads else 0, kv_num_heads)
    if has_joined_heads:
        q, k, v = (
            with_heads(to, value, heads)
            for value, heads in ((q, q_num_heads), (k, kv_num_heads), (v, kv_num_heads))
        )
    if mask is not None and (not mask.shape or mask.shape[-1] != k.shape[2]):
        raise Declined("a mask of fewer keys")
    if scale is None:
        scale = 1 / math.sqrt(q.shape[3])
    if scale < 0:
        raise Declined("a negative scale")
    joins_heads = has_joined_heads or _are_heads_moved(to)
    extents = extents_of(q, k, v, mask)
    kernel = to.kernel(attention_kernel, *extents, scale, bool(is_causal), joins_heads, False)
    given = [to.plain(value) for value in (q, k, v, mask) if value is not None]
    (made,) = to.step(kernel, given)
    if has_joined_heads:
        return joined(to, made)
    if joins_heads:
        view: Value = to.call(np.transpose, made, (0, 2, 1, 3))
        return view
    return made


def _of_nothing(to: Lowering, q: Value, k: Value, v: Value, heads: int, kv_heads: int) -> Value:
    """What there is where a tensor has no elements: nothing, or without keys 0, as torch has it."""
    size = v.shape[-1] if not heads or not kv_heads else v.shape[-1] // kv_heads * heads
    shape = (*q.shape[:-1], size)
    if math.prod(shape) and k.shape[-2]:
        raise Declined("no elements")
    made: Value = to.call(np.full, shape, 0.0, dtype="float32")
    return made


def extents_of(q: Value, k: Value, v: Value, mask: Value | None) -> tuple[Any, ...]:
    """What kernels are told of their operands: shapes, and whether the mask has truth values."""
    shape = None if mask is None else mask.shape
    return q.shape, k.shape, v.shape, shape, mask is not None and mask.dtype == "bool"


def joined(to: Lowering, value: Value) -> Value:
    """The elements of all heads in a row, of a value that has the heads behind the positions."""
    batch, positions, heads, size = value.shape
    return to.reshape(value, (batch, positions, heads * size))


def with_heads(to: Lowering, value: Value, heads: int) -> Value:
    """Batch, heads, positions, elements: a view of what has the elements of all heads in a row."""
    batch, positions, size = value.shape
    if heads <= 0 or size % heads:
        raise Declined(f"{heads} heads of {size} elements")
    apart = to.reshape(value, (batch, positions, heads, size // heads))
    view: Value = to.call(np.transpose, apart, (0, 2, 1, 3))
    return view


def _are_heads_moved(to: Lowering) -> bool:
    """Whether the next node has the heads behind the positions, which are written so then."""
    follower = to.followers.get(0)
    if follower is None or follower.operator != "Transpose":
        return False
    return list(follower.attributes.get("perm", ())) == [0, 2, 1, 3]
