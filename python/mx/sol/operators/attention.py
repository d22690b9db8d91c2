"""Attention in training, and its gradients."""

from __future__ import annotations

from collections.abc import Sequence

import numpy

from ._describe import Array, operator
from ._inference import Call, Shape, Spec


def _training(call: Call) -> Sequence[Spec]:
    dtype, q, v = call.spec(0).dtype, call.shape(0), call.shape(2)
    if q is None or v is None:
        return [Spec(dtype, None)] * 2
    heads, kv_heads = (int(call.attributes[f"{name}_num_heads"]) for name in ("q", "kv"))
    if len(q) == 4:
        return [Spec(dtype, (*q[:3], v[3])), Spec(dtype, q[:3])]
    size = v[2]
    wide = heads * (size // max(kv_heads, 1)) if isinstance(size, int) else None
    sums: Shape = (q[0], heads, q[1])
    return [Spec(dtype, (*q[:2], wide)), Spec(dtype, sums)]


def _apart(x: Array, heads: int) -> Array:
    """(batch, heads, positions, size) of an array that has the heads joined, or of itself."""
    if x.ndim == 4:
        return x
    return x.reshape(*x.shape[:2], heads, x.shape[2] // heads).transpose(0, 2, 1, 3)


def _joined(x: Array, like: Array) -> Array:
    """The same elements with the axes of the array that they are for."""
    if like.ndim == 4:
        return x
    return x.transpose(0, 2, 1, 3).reshape(x.shape[0], x.shape[2], x.shape[1] * x.shape[3])


def _wide(x: Array) -> Array:
    return x.astype(numpy.result_type(x.dtype, "float32"))


def _scores(q: Array, k: Array, mask: Array | None, scale: float, is_causal: int) -> Array:
    made = q @ k.swapaxes(2, 3) * q.dtype.type(scale)
    if mask is not None and mask.dtype == bool:
        made = numpy.where(mask, made, -numpy.inf)
    elif mask is not None:
        made = made + mask.astype(made.dtype)
    if is_causal:
        made = numpy.where(numpy.tri(*made.shape[2:]) > 0, made, -numpy.inf)
    return made


@operator("AttentionTraining", "Y log_sums", _training)
def attention_training(
    Q: Array,
    K: Array,
    V: Array,
    mask: Array | None = None,
    *,
    q_num_heads: int = 0,
    kv_num_heads: int = 0,
    scale: float = 1.0,
    is_causal: int = 0,
) -> tuple[Array, ...]:
    """softmax(Q K^T * scale + mask) V, and what its gradient needs.

    Q, K and V are of shape (batch, heads, positions, size), or of (batch, positions, heads * size)
    with numbers of heads given; K and V may have a divisor of the heads of Q. mask has numbers that
    are added, or truth values, False for what is left out, and broadcasts to (batch, heads,
    positions of Q, positions of K). With is_causal=1 a query has keys up to its own position only.
    log_sums, of shape (batch, heads, positions of Q), are the logarithms of the sums of
    exponentials; infinity where a query is left no key, whose result is 0.
    """
    q, k, v = (
        _wide(_apart(x, heads))
        for x, heads in ((Q, q_num_heads), (K, kv_num_heads), (V, kv_num_heads))
    )
    repeats = q.shape[1] // k.shape[1]
    k, v = numpy.repeat(k, repeats, 1), numpy.repeat(v, repeats, 1)
    scores = _scores(q, k, mask, scale, is_causal)
    peaks = scores.max(-1, keepdims=True, initial=-numpy.inf)
    is_alone = peaks == -numpy.inf
    powers = numpy.exp(scores - numpy.where(is_alone, 0, peaks))
    totals = powers.sum(-1, keepdims=True) + is_alone
    log_sums = numpy.where(is_alone, numpy.inf, peaks + numpy.log(totals))[..., 0]
    made = _joined(powers / totals @ v, Q)
    return made.astype(Q.dtype), log_sums.astype(Q.dtype)


def _grad(call: Call) -> Sequence[Spec]:
    return [call.spec(1), call.spec(2), call.spec(3)]


@operator("AttentionGrad", "dQ dK dV", _grad)
def attention_grad(
    dY: Array,
    Q: Array,
    K: Array,
    V: Array,
    Y: Array,
    log_sums: Array,
    mask: Array | None = None,
    *,
    q_num_heads: int = 0,
    kv_num_heads: int = 0,
    scale: float = 1.0,
    is_causal: int = 0,
) -> tuple[Array, ...]:
    """The gradients of AttentionTraining's Y for Q, K and V, whose weights are computed again."""
    d_y, q, k, v, y = (
        _wide(_apart(x, heads))
        for x, heads in (
            (dY, q_num_heads),
            (Q, q_num_heads),
            (K, kv_num_heads),
            (V, kv_num_heads),
            (Y, q_num_heads),
        )
    )
    batch, kv_heads = k.shape[:2]
    repeats = q.shape[1] // kv_heads
    k, v = numpy.repeat(k, repeats, 1), numpy.repeat(v, repeats, 1)
    sums = _wide(log_sums)[..., None]
    scores = _scores(q, k, mask, scale, is_causal)
    weights = numpy.where(sums == numpy.inf, 0, numpy.exp(scores - sums))
    changes = d_y @ v.swapaxes(2, 3) - (d_y * y).sum(-1, keepdims=True)
    d_scores = weights * changes * q.dtype.type(scale)

    def by_key(x: Array) -> Array:
        return x.reshape(batch, kv_heads, repeats, *x.shape[2:]).sum(2)

    found = (
        (d_scores @ k, Q),
        (by_key(d_scores.swapaxes(2, 3) @ q), K),
        (by_key(weights.swapaxes(2, 3) @ d_y), V),
    )
    return tuple(_joined(x, like).astype(like.dtype) for x, like in found)
