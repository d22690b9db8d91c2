"""Random numbers, each of which follows from a seed and from its position."""

from __future__ import annotations

import math
from typing import Any

from .....graph.lowering._value import Declined
from .._algebra import literal
from .._kernel import NAME, GenKernel, Spec
from .._table import Known, emits
from .._target import Target
from .._types import type_of
from ._each import each
from ._movement import Inputs, first, ints

# Philox 4x32 with 10 rounds: the four words of a block, as the operators of mx.sol define them.
_WORDS = """\
static void {name}_words(uint64_t block, const int64_t *seed, uint32_t *w) {{
  const uint64_t key = (uint64_t)seed[0], upper = {upper};
  uint32_t low = (uint32_t)key, high = (uint32_t)(key >> 32);
  w[0] = (uint32_t)block, w[1] = (uint32_t)(block >> 32);
  w[2] = (uint32_t)upper, w[3] = (uint32_t)(upper >> 32);
  for (int round = 0; round < 10; ++round) {{
    const uint64_t a = (uint64_t)w[0] * 0xD2511F53u, b = (uint64_t)w[2] * 0xCD9E8D57u;
    w[0] = (uint32_t)(b >> 32) ^ w[1] ^ low, w[2] = (uint32_t)(a >> 32) ^ w[3] ^ high;
    w[1] = (uint32_t)b, w[3] = (uint32_t)a;
    low += 0x9E3779B9u, high += 0xBB67AE85u;
  }}
}}
"""


def _text(number: float) -> str:
    return literal(number, type_of("float32"))


def _drawn(name: str, inputs: Inputs, known: Known, lines: list[str]) -> GenKernel:
    """The kernel that writes what `lines` make of the words w of a block into z, four numbers."""
    seed, shape = first(inputs), ints({}, known, "shape", 1)
    if shape is None:
        raise Declined("a shape that is computed")
    if seed.dtype != "int64" or seed.size not in (1, 2):
        raise Declined(f"a seed of {seed.size} elements of {seed.dtype}")
    out = Spec(tuple(shape), "float32")
    count = math.prod(shape)
    upper = "(uint64_t)seed[1]" if seed.size == 2 else "0"
    lines = [
        "uint32_t w[4];",
        "float z[4];",
        f"{NAME}_words((uint64_t)block, (const int64_t *)in[0], w);",
        *lines,
        f"const int64_t left = {count} - 4 * block;",
        "float *y = (float *)out[0] + 4 * block;",
        "for (int64_t k = 0; k < 4 && k < left; ++k) y[k] = z[k];",
    ]
    words = _WORDS.format(name=NAME, upper=upper)
    # A block takes as long as some tens of elements elsewhere.
    return each(name, [out], -(-count // 4), lines, index="block", size=64, tables=[words])


@emits("RandomUniformTraining")
def _uniform(target: Target, inputs: Inputs, attributes: dict[str, Any], known: Known) -> GenKernel:
    low, high = attributes.get("low", 0.0), attributes.get("high", 1.0)
    number = f"{_text(low)} + (float)(w[k] >> 8) * 0x1p-24f * {_text(high - low)}"
    lines = [f"for (int k = 0; k < 4; ++k) z[k] = {number};"]
    return _drawn("random_uniform", inputs, known, lines)


@emits("RandomNormalTraining")
def _normal(target: Target, inputs: Inputs, attributes: dict[str, Any], known: Known) -> GenKernel:
    mean, scale = _text(attributes.get("mean", 0.0)), _text(attributes.get("scale", 1.0))
    lines = [
        "for (int k = 0; k < 4; k += 2) {",
        "  const float share = ((float)w[k] + 1.0f) * 0x1p-32f;",
        "  const float radius = sqrtf(-2.0f * logf(share));",
        f"  const float angle = (float)(w[k + 1] >> 8) * 0x1p-24f * {_text(2 * math.pi)};",
        f"  z[k] = {mean} + radius * cosf(angle) * {scale};",
        f"  z[k + 1] = {mean} + radius * sinf(angle) * {scale};",
        "}",
    ]
    return _drawn("random_normal", inputs, known, lines)
