"""The encoder of BERT."""

from __future__ import annotations

import numpy

from mx.graph import Graph

from ._builder import Builder


def bert(width: float = 1.0, layers: int = 12, sequence: int = 128, seed: int = 0) -> Graph:
    """BERT-base without its pooler: token numbers, types and a mask to the last hidden states.

    Heads have 64 numbers each, so `width` changes their number.
    """
    heads = max(1, round(12 * width))
    hidden = 64 * heads
    b = Builder("bert", seed)
    tokens = b.input("input_ids", ("N", sequence), "INT64")
    types = b.input("token_type_ids", ("N", sequence), "INT64")
    mask = b.input("attention_mask", ("N", sequence), "INT64")

    def norm(x, name: str):
        scale = b.constant(f"{name}.weight", numpy.ones(hidden, "float32"))
        bias = b.random(f"{name}.bias", (hidden,), 0.02)
        return b.op("LayerNormalization", x, scale, bias, axis=-1, epsilon=1e-12)

    prefix = "embeddings"
    words = b.random(f"{prefix}.word_embeddings.weight", (round(30522 * width), hidden), 0.02)
    kinds = b.random(f"{prefix}.token_type_embeddings.weight", (2, hidden), 0.02)
    positions = b.random(f"{prefix}.position_embeddings.weight", (512, hidden), 0.02)
    order = b.constant(f"{prefix}.position_ids", numpy.arange(sequence, dtype="int64")[None])
    x = b.op("Add", b.op("Gather", words, tokens), b.op("Gather", kinds, types))
    x = norm(b.op("Add", x, b.op("Gather", positions, order)), f"{prefix}.LayerNorm")
    seen = b.op("Cast", b.op("Unsqueeze", mask, b.ints(1, 2)), to=1)
    hide = b.op("Mul", b.op("Sub", b.number(1.0), seen), b.number(-10000.0))

    for index in range(layers):
        x = _layer(b, x, hide, f"encoder.layer.{index}", heads, sequence, norm)
    return b.finish(last_hidden_state=x)


def _layer(b: Builder, x, hide, name: str, heads: int, sequence: int, norm):
    """Attention and two matrices, each with what it gets added to what it gives."""
    hidden = 64 * heads
    parts = {}
    for part, order in (("query", [0, 2, 1, 3]), ("key", [0, 2, 3, 1]), ("value", [0, 2, 1, 3])):
        y = b.project(x, f"{name}.attention.self.{part}", hidden, hidden)
        y = b.op("Reshape", y, b.ints(-1, sequence, heads, 64))
        parts[part] = b.op("Transpose", y, perm=order)
    scores = b.op("Div", b.op("MatMul", parts["query"], parts["key"]), b.number(8.0))
    shares = b.op("Softmax", b.op("Add", scores, hide), axis=-1)
    y = b.op("Transpose", b.op("MatMul", shares, parts["value"]), perm=[0, 2, 1, 3])
    y = b.op("Reshape", y, b.ints(-1, sequence, hidden))
    y = b.project(y, f"{name}.attention.output.dense", hidden, hidden)
    x = norm(b.op("Add", y, x), f"{name}.attention.output.LayerNorm")
    y = b.project(x, f"{name}.intermediate.dense", hidden, 4 * hidden)
    # gelu as torch writes it for operator sets that have none.
    half = b.op("Mul", y, b.op("Add", b.op("Erf", b.op("Div", y, b.number(2**0.5))), b.number(1.0)))
    y = b.op("Mul", half, b.number(0.5))
    y = b.project(y, f"{name}.output.dense", 4 * hidden, hidden)
    return norm(b.op("Add", y, x), f"{name}.output.LayerNorm")
