"""Attention: blocks of queries against blocks of keys, so that scores stay in the caches.

What the blocks of keys before have summed is made smaller where a block has a larger score.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from .....graph.lowering._value import Declined
from .._kernel import NAME, GenKernel, Spec, make_kernel, signature
from .._table import Known, emits
from .._target import Target
from ..nodes._copy import strides_of
from ._accumulate import Accumulation
from ._inputs import needed, nothing
from ._panels import Panels
from ._text import fill

# Queries that have a block of keys packed once for all of them, and keys of a block at most.
_QUERIES, _KEYS = 64, 128
_ATTRIBUTES = frozenset(("is_causal", "kv_num_heads", "q_num_heads", "scale"))

_BODY = """\
$functions
static void ${NAME}_weigh(float *s, int64_t own, $parameter, float *peak, float *total,
                          float *sums) {
  vf most = vf_set1(-INFINITY);
  int64_t j = 0;
  (void)mask;
  for (; j + VW <= own; j += VW) {
    vf x = vf_load(s + j) * $scale;
$vector    vf_store(s + j, x);
    most = vf_max(x, most);
  }
  for (; j < own; ++j) {
    float x = s[j] * $scale;
$single    s[j] = x;
  }
  for (; j < $keys; ++j) s[j] = -INFINITY;
  for (j = own / VW * VW; j < $keys; j += VW) most = vf_max(vf_load(s + j), most);
  const float before = *peak, here = vf_hmax(most), now = here > before ? here : before;
  const vf from = vf_set1(now == -INFINITY ? 0.0f : now);
  vf sum = {0};
  for (j = 0; j < $keys; j += VW) {
    const vf weight = vf_exp_below(vf_load(s + j) - from);
    vf_store(s + j, weight);
    sum += weight;
  }
  const float factor = now == before ? 1.0f : expf(before - now);
  *peak = now;
  *total = *total * factor + vf_hsum(sum);
  if (factor == 1.0f) return;
  for (j = 0; j < $columns; j += VW) vf_store(sums + j, vf_load(sums + j) * factor);
}

static void ${NAME}_pack(const float *k, const float *v, int64_t count, float *keys,
                         float *values) {
  for (int64_t p = 0; p < $key_panels; ++p) {
    const int64_t n = $key_start, width = $key_width;
    for (int64_t j = 0; j < width; ++j)
      for (int64_t d = 0; d < $size; ++d)
        keys[n * $size + d * width + j] = n + j < count ? k[(n + j) * $k_row + d] : 0.0f;
  }
  for (int64_t p = 0; p < $value_panels; ++p) {
    const int64_t n = $value_start, width = $value_width;
    const int64_t there = $value_size - n < width ? $value_size - n : width;
    for (int64_t i = 0; i < $keys; ++i) {
      float *const to = values + n * $keys + i * width;
      for (int64_t j = 0; j < width; ++j)
        to[j] = i < count && j < there ? v[i * $v_row + n + j] : 0.0f;
    }
  }
}

$signature {
  float *const keys = work, *const values = keys + $keys_size;
  float *const scores = values + $values_size, *const sums = scores + $scores_size;
  float *const peaks = sums + $sums_size, *const totals = peaks + $queries;
  for (int64_t tile = begin; tile < end; ++tile) {
    const int64_t b = tile / $parts / $heads, h = tile / $parts % $heads;
    const int64_t first = tile % $parts * $queries, g = h / $group;
    const int64_t rows = $all_queries - first < $queries ? $all_queries - first : $queries;
    const float *const q = (const float *)in[0] + b * $q_batch + h * $q_head + first * $q_row;
    const float *const k = (const float *)in[1] + b * $k_batch + g * $k_head;
    const float *const v = (const float *)in[2] + b * $v_batch + g * $v_head;
    float *const y = (float *)out[0] + b * $y_batch + h * $y_head + first * $y_row;
    memset(sums, 0, $sums_size * sizeof(float));
    for (int64_t r = 0; r < rows; ++r) peaks[r] = -INFINITY, totals[r] = 0.0f;
    for (int64_t from = 0; from < $until; from += $keys) {
      const int64_t count = $all_keys - from < $keys ? $all_keys - from : $keys;
      ${NAME}_pack(k + from * $k_row, v + from * $v_row, count, keys, values);
      memset(scores, 0, $scores_size * sizeof(float));
      ${NAME}_scores(q, rows, keys, scores);
      for (int64_t r = 0; r < rows; ++r) {
$own        ${NAME}_weigh(scores + r * $keys, own, $mask, peaks + r, totals + r,
                  sums + r * $columns);
      }
      ${NAME}_sums(scores, rows, values, sums);
    }
    for (int64_t r = 0; r < rows; ++r) {
      const float factor = totals[r] == 0.0f ? 0.0f : 1.0f / totals[r];
      for (int64_t j = 0; j < $value_size; ++j) y[r * $y_row + j] = sums[r * $columns + j] * factor;
    }
  }
}
"""
_OWN = {
    False: "        const int64_t own = count;\n",
    True: """\
        const int64_t seen = first + r + 1 - from;
        const int64_t own = seen < 0 ? 0 : seen < count ? seen : count;
""",
}
# What the mask does to a vector of scores x, and to one of them; minus infinity counts alone.
_MASKS = {
    "": ("", ""),
    "float32": (
        "    const vf m = vf_load(mask + j);\n"
        "    x = vf_select(m == -INFINITY, vf_set1(-INFINITY), x + m);\n",
        "    x = mask[j] == -INFINITY ? -INFINITY : x + mask[j];\n",
    ),
    "bool": (
        "    x = vf_select(vb_load(mask + j), x, vf_set1(-INFINITY));\n",
        "    x = mask[j] ? x : -INFINITY;\n",
    ),
}


@dataclass(frozen=True)
class _Heads:
    """A tensor of heads: the extents, and how far they lie from each other, in elements."""

    shape: tuple[int, int, int, int]  # batch, heads, positions, elements
    batch: int
    head: int
    row: int

    @staticmethod
    def of(shape: Sequence[int], heads: int) -> _Heads:
        """Of four axes, or of three with the heads behind each other in the last one."""
        if len(shape) == 4:
            batch, head, row, _ = strides_of(shape)
            return _Heads(tuple(shape), batch, head, row)  # type: ignore[arg-type]
        if len(shape) != 3 or heads <= 0 or shape[2] % heads:
            raise Declined(f"{heads} heads of the shape {list(shape)}")
        batch, positions, size = shape[0], shape[1], shape[2] // heads
        return _Heads((batch, heads, positions, size), positions * shape[2], size, shape[2])


@emits("Attention", since=23)
def attention(
    target: Target, inputs: Sequence[Spec | None], attributes: dict[str, Any], known: Known
) -> GenKernel:
    """Attention of float32. A query to which the mask leaves no key gets zeros."""
    specs = needed(inputs, 3)
    if any(one is not None for one in inputs[4:]):
        raise Declined("keys and values of before, or lengths")
    _check(attributes)
    counts = [attributes.get(name, 0) for name in ("q_num_heads", "kv_num_heads", "kv_num_heads")]
    q, k, v = (_Heads.of(one.shape, n) for one, n in zip(specs, counts, strict=True))
    batch, heads, queries, size = q.shape
    if k.shape[:3] != v.shape[:3] or (batch, size) != (k.shape[0], k.shape[3]):
        raise Declined(f"shapes {[list(one.shape) for one in specs]}")
    if not k.shape[1] or heads % k.shape[1]:
        raise Declined(f"{heads} heads for {k.shape[1]} of keys")
    y = [batch, heads, queries, v.shape[3]]
    is_joined = len(specs[0].shape) == 3
    output = Spec((batch, queries, heads * y[3]) if is_joined else tuple(y), "float32")
    if 0 in (*q.shape, *k.shape, *v.shape):
        if output.size:
            raise Declined("no keys, or no elements")
        return nothing("attention", [output])
    mask = inputs[3] if len(inputs) > 3 else None
    return _kernel(target, (q, k, v, _Heads.of(output.shape, heads)), mask, attributes, output)


def _check(attributes: dict[str, Any]) -> None:
    """Declined for what the kernel does not do."""
    for name, value in attributes.items():
        is_default = not value or (name == "softmax_precision" and value == 1)
        if name not in _ATTRIBUTES and not is_default:
            raise Declined(f"{name}={value}")
    scale = attributes.get("scale")
    if scale is not None and not (scale > 0 and math.isfinite(scale)):
        raise Declined(f"scale={scale}")


def _mask_of(mask: Spec | None, scores: Sequence[int]) -> tuple[str, str, str]:
    """The type of a mask, its parameter, and where it begins for a query and a key."""
    if mask is None:
        return "", "const void *mask", "NULL"
    shape = [1] * (4 - len(mask.shape)) + list(mask.shape)
    fits = len(shape) == 4 and all(n in (1, m) for n, m in zip(shape, scores, strict=True))
    if mask.dtype not in ("bool", "float32") or not fits or shape[3] != scores[3]:
        raise Declined(f"a mask of {mask.dtype} {list(mask.shape)} for {list(scores)}")
    kind = "float" if mask.dtype == "float32" else "uint8_t"
    terms = [
        f"{at} * {step}"
        for at, step, extent in zip(
            ("b", "h", "(first + r)"), strides_of(shape), shape, strict=False
        )
        if extent != 1
    ]
    return mask.dtype, f"const {kind} *mask", " + ".join([f"(const {kind} *)in[3]", *terms, "from"])


def _panels(name: str, panels: Panels) -> dict[str, object]:
    return {
        f"{name}_panels": panels.count,
        f"{name}_start": panels.start_text(),
        f"{name}_width": panels.width_text(),
    }


def _kernel(
    target: Target,
    tensors: tuple[_Heads, _Heads, _Heads, _Heads],
    mask: Spec | None,
    attributes: dict[str, Any],
    output: Spec,
) -> GenKernel:
    q, k, v, y = tensors
    (batch, heads, queries, size), keys, value_size = q.shape, k.shape[2], v.shape[3]
    lanes = target.lanes
    parts = -(-queries // _QUERIES)
    rows = -(-queries // parts)
    parts = -(-queries // rows)
    blocks = -(-keys // _KEYS)
    of_block = -(-keys // (blocks * lanes)) * lanes
    columns = -(-value_size // lanes) * lanes
    counts = [rows] + ([queries % rows] if queries % rows else [])
    scores = Accumulation(target, f"{NAME}_scores", counts, size, of_block)
    sums = Accumulation(target, f"{NAME}_sums", counts, of_block, columns)
    kind, parameter, begin = _mask_of(mask, (batch, heads, queries, keys))
    is_causal = bool(attributes.get("is_causal", 0))
    until = f"(first + rows < {keys} ? first + rows : {keys})" if is_causal else str(keys)
    scale = attributes.get("scale") or 1 / math.sqrt(size)
    vector, single = _MASKS[kind]
    sizes = {
        "keys_size": size * of_block,
        "values_size": of_block * columns,
        "scores_size": rows * of_block,
        "sums_size": rows * columns,
    }
    text = fill(
        _BODY,
        NAME=NAME,
        signature=signature(),
        functions=scores.source(q.row, of_block) + sums.source(of_block, columns),
        parameter=parameter,
        mask=begin,
        vector=vector,
        single=single,
        own=_OWN[is_causal],
        until=until,
        scale=f"{float(scale)!r}f",
        keys=of_block,
        columns=columns,
        size=size,
        value_size=value_size,
        parts=parts,
        heads=heads,
        group=heads // k.shape[1],
        queries=rows,
        all_queries=queries,
        all_keys=keys,
        **{f"{name}_row": one.row for name, one in zip("qkvy", tensors, strict=True)},
        **{f"{name}_batch": one.batch for name, one in zip("qkvy", tensors, strict=True)},
        **{f"{name}_head": one.head for name, one in zip("qkvy", tensors, strict=True)},
        **_panels("key", scores.panels),
        **_panels("value", sums.panels),
        **sizes,
    )
    return make_kernel(
        "attention",
        text,
        batch * heads * parts,
        [output],
        workspace=-(-4 * (sum(sizes.values()) + 2 * rows) // 64) * 64,
    )
