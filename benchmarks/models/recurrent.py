"""Models that go over a sequence step by step."""

from __future__ import annotations

from mx.graph import Graph

from ._builder import Builder


def lstm(width: float = 1.0, layers: int = 2, sequence: int = 64, seed: int = 0) -> Graph:
    """LSTM layers over sequences of 64 numbers a step, and a matrix for the last step."""
    hidden = max(1, round(256 * width))
    b = Builder("lstm", seed)
    x = b.op("Transpose", b.input("data", ("N", sequence, 64)), perm=[1, 0, 2])
    inside = 64
    for layer in range(layers):
        scale = hidden**-0.5
        w = b.random(f"lstm.weight_ih_l{layer}", (1, 4 * hidden, inside), scale)
        r = b.random(f"lstm.weight_hh_l{layer}", (1, 4 * hidden, hidden), scale)
        bias = b.random(f"lstm.bias_l{layer}", (1, 8 * hidden), 0.1)
        steps, last, _ = b.op("LSTM", x, w, r, bias, outputs=3, hidden_size=hidden)
        x = b.op("Squeeze", steps, b.ints(1))
        inside = hidden
    return b.finish(output=b.linear(b.op("Squeeze", last, b.ints(0)), "fc", hidden, 10))
