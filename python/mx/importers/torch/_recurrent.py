"""Recurrent networks as one operator while torch exports.

torch's own operators are exported with a fixed number of steps: their shapes are computed by going
through them. Those here are of the same arguments and compute shapes alone.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator, Sequence
from functools import cache
from typing import Any

_SETTINGS = (
    "Tensor[] params, bool has_biases, int num_layers, float dropout, bool train,"
    " bool bidirectional, bool batch_first"
)
_NETWORKS = {
    "lstm": f"(Tensor input, Tensor[] hx, {_SETTINGS}) -> (Tensor, Tensor, Tensor)",
    "gru": f"(Tensor input, Tensor hx, {_SETTINGS}) -> (Tensor, Tensor)",
    "rnn_tanh": f"(Tensor input, Tensor hx, {_SETTINGS}) -> (Tensor, Tensor)",
    "rnn_relu": f"(Tensor input, Tensor hx, {_SETTINGS}) -> (Tensor, Tensor)",
}


def _shapes(
    input: Any,
    hx: Any,
    params: Sequence[Any],
    has_biases: bool,
    num_layers: int,
    dropout: float,
    train: bool,
    bidirectional: bool,
    batch_first: bool,
) -> tuple[Any, ...]:
    states = hx if isinstance(hx, (list, tuple)) else [hx]
    # An LSTM with projections gives what is as long as its first state.
    features = states[0].shape[-1] * (2 if bidirectional else 1)
    first = input.new_empty([*input.shape[:-1], features])
    return (first, *(state.new_empty(state.shape) for state in states))


@cache
def _operators() -> Any:
    """The library of operators; it lives as long as the process."""
    import torch

    library = torch.library.Library("mxffi", "DEF")
    for name, schema in _NETWORKS.items():
        library.define(name + schema)
        torch.library.register_fake(f"mxffi::{name}", _shapes, lib=library)
    return library


@contextlib.contextmanager
def kept_whole() -> Iterator[None]:
    """Lets torch's modules call the operators here, in this thread."""
    import torch

    _operators()
    functions = torch._VF
    exporting = threading.get_ident()

    def of_sequences(name: str, original: Any) -> Any:
        operator = getattr(torch.ops.mxffi, name)

        def call(*args: Any) -> Any:
            # Packed sequences have their lengths second, and one argument less.
            whole = len(args) == 9 and len(args[2])
            return (operator if whole and threading.get_ident() == exporting else original)(*args)

        return call

    originals = {name: getattr(functions, name) for name in _NETWORKS}
    for name, original in originals.items():
        setattr(functions, name, of_sequences(name, original))
    try:
        yield
    finally:
        for name, original in originals.items():
            setattr(functions, name, original)
