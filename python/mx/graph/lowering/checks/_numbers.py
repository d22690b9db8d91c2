"""Scales, zero points, statistics and other numbers that belong to what they are of."""

from __future__ import annotations

import math

from ._checked import Checked, check, text


@check("QuantizeLinear", "DequantizeLinear")
def _quantization(node: Checked) -> None:
    x, scale = node.value(0), node.value(1)
    if x is None or scale is None:
        return
    size = node.get("block_size", 0)
    node.at_least(0, "attribute 'block_size'", size)
    zero = node.value(2)
    if zero is not None and (zero.size != 1 or scale.size != 1):
        node.shape(2, scale.shape, "that of the scales")
    if len(scale.shape) == 0 or (scale.size == 1 and not size):
        return
    axis = node.axis(node.get("axis", 1), len(x.shape))
    if not size:
        node.shape(1, [x.shape[axis]], f"a number for each element along axis {axis}")
        return
    expected = list(x.shape)
    expected[axis] = -(-x.shape[axis] // size)
    node.shape(1, expected, f"a number for each {size} elements along axis {axis}")


@check("BatchNormalization")
def _batch_norm(node: Checked) -> None:
    x = node.value(0)
    if x is None or node.since < 7:
        return
    channels = x.shape[1] if len(x.shape) > 1 else 1
    for index in range(1, 5):
        node.shape(index, [channels], "a number for each channel")


@check("InstanceNormalization")
def _instance_norm(node: Checked) -> None:
    x = node.value(0)
    if x is None:
        return
    if len(x.shape) < 3:
        node.fail(node.name(0), "3 axes or more", f"shape {text(x.shape)}")
    for index in (1, 2):
        node.shape(index, [x.shape[1]], "a number for each channel")


@check("GroupNormalization")
def _group_norm(node: Checked) -> None:
    x, groups = node.value(0), node.get("num_groups", 1)
    if x is None or len(x.shape) < 2:
        return
    node.at_least(1, "attribute 'num_groups'", groups)
    if x.shape[1] % groups:
        node.fail("attribute 'num_groups'", f"a divisor of {x.shape[1]}, the channels", groups)
    for index in (1, 2):
        each = x.shape[1] if node.since >= 21 else groups
        node.shape(index, [each], "a number for each channel" if each != groups else "of groups")


@check("LayerNormalization", "RMSNormalization", "GroupNormalization")
def _stash(node: Checked) -> None:
    kind = node.get("stash_type", 1)
    if kind not in (1, 10, 11, 16):
        node.fail("attribute 'stash_type'", "1, 10, 11 or 16, a type of floats", kind)


@check("LRN")
def _lrn(node: Checked) -> None:
    node.at_least(1, "attribute 'size'", node.get("size"))


@check("LpNormalization")
def _lp(node: Checked) -> None:
    if node.get("p", 2) not in (1, 2):
        node.fail("attribute 'p'", "1 or 2", node.get("p"))


@check("Dropout")
def _dropout(node: Checked) -> None:
    ratio = node.scalar(1) if node.since >= 12 else node.get("ratio")
    trains = bool(node.scalar(2)) if node.since >= 12 else False
    if ratio is not None and not (0 <= ratio < 1 or ratio == 1 and not trains):
        subject = node.name(1) if node.since >= 12 else "attribute 'ratio'"
        node.fail(subject, "0 or more and less than 1", ratio)


@check("RotaryEmbedding")
def _rotary(node: Checked) -> None:
    x, cosines = node.value(0), node.value(1)
    if x is None or cosines is None or len(x.shape) not in (3, 4):
        return
    heads = node.get("num_heads", 0)
    if len(x.shape) == 3 and (heads < 1 or x.shape[2] % heads):
        node.fail("attribute 'num_heads'", f"a divisor of {x.shape[2]}", heads)
    size = x.shape[2] // heads if len(x.shape) == 3 else x.shape[3]
    width = node.get("rotary_embedding_dim", 0) or size
    if not 0 < width <= size or width % 2:
        node.fail("attribute 'rotary_embedding_dim'", f"an even number of 2 to {size}", width)
    for index in (1, 2):
        value = node.value(index)
        if value is not None and value.shape[-1:] != (width // 2,):
            node.fail(node.name(index), f"{width // 2} on its last axis", text(value.shape))


@check("Attention")
def _attention(node: Checked) -> None:
    query = node.value(0)
    if query is not None:
        rank = len(query.shape)
        for index in range(3):
            value = node.value(index)
            if value is not None and (len(value.shape) != rank or rank not in (3, 4)):
                node.fail(node.name(index), "3 or 4 axes, as all have", text(value.shape))
    mode = node.get("qk_matmul_output_mode", 0)
    if mode not in (0, 1, 2, 3):
        node.fail("attribute 'qk_matmul_output_mode'", "0 to 3", mode)
    node.at_least(0, "attribute 'softcap'", node.get("softcap"))


@check("STFT")
def _stft(node: Checked) -> None:
    step, length = node.scalar(1), node.scalar(3)
    for index, given in ((1, step), (3, length)):
        node.at_least(1, node.name(index), given)


@check("DFT")
def _dft(node: Checked) -> None:
    node.at_least(1, node.name(1), node.scalar(1))


@check("HannWindow", "HammingWindow", "BlackmanWindow")
def _window(node: Checked) -> None:
    node.at_least(0, node.name(0), node.scalar(0))


@check("Multinomial")
def _samples(node: Checked) -> None:
    node.at_least(1, "attribute 'sample_size'", node.get("sample_size"))


@check("TfIdfVectorizer")
def _ngrams(node: Checked) -> None:
    pool = node.get("pool_int64s") or node.get("pool_strings") or []
    counts, indexes = node.get("ngram_counts", []), node.get("ngram_indexes", [])
    least, most = node.get("min_gram_length", 1), node.get("max_gram_length", 1)
    if not 1 <= least <= most:
        node.fail("attribute 'min_gram_length'", f"1 to {most}", least)
    if sorted(counts) != list(counts) or not all(0 <= one <= len(pool) for one in counts):
        node.fail("attribute 'ngram_counts'", f"ascending numbers of 0 to {len(pool)}", counts)
    node.at_least(0, "attribute 'ngram_indexes'", indexes)
    node.at_least(0, "attribute 'max_skip_count'", node.get("max_skip_count"))


@check("QLinearMatMul", "QLinearConv")
def _scaled(node: Checked) -> None:
    """Scale and zero point of each operand are of one shape."""
    for scale, zero in ((1, 2), (4, 5), (6, 7)):
        value = node.value(scale)
        if value is not None and math.prod(value.shape) != 1:
            node.shape(zero, value.shape, f"that of {node.name(scale)}")
