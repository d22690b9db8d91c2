"""Layers of Keras that are kept whole while a model is traced: LSTM and GRU.

Keras asks its backend for them in one piece before it writes a loop over time. While a model is
traced for a graph, what it gets is a call of a function that says what it stands for; the rule of
such functions writes the operator of ONNX.
"""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable
from typing import Any

import tensorflow as tf

from ._patches import Patch, Patches

# What functions that stand for a layer say in the attribute `_implements`.
LSTM = "mxffi.lstm"
GRU = "mxffi.gru"
BACKWARD = ".backward"


def _patches() -> list[Patch]:
    keras = sys.modules.get("keras")
    backend = getattr(getattr(keras, "src", None), "backend", None)
    if backend is None or backend.backend() != "tensorflow":
        return []
    return [(backend, "lstm", lambda _: _lstm), (backend, "gru", lambda _: _gru)]


_whole = Patches(_patches)


def whole_layers() -> contextlib.AbstractContextManager[None]:
    """Has Keras write recurrent layers as calls of functions that stand for them."""
    return _whole.applied()


def _is(activation: Any, name: str) -> bool:
    return getattr(activation, "__name__", "") == name


def _lstm(
    inputs: Any,
    initial_h: Any,
    initial_c: Any,
    mask: Any,
    kernel: Any,
    recurrent_kernel: Any,
    bias: Any,
    activation: Any,
    recurrent_activation: Any,
    return_sequences: bool = False,
    go_backwards: bool = False,
    unroll: bool = False,
    time_major: bool = False,
) -> Any:
    _check(mask, bias, activation, recurrent_activation, time_major)

    def layer(x: Any, h: Any, c: Any, *weights: Any) -> Any:
        return _sequence(x, h), tf.identity(h), tf.identity(c)

    whole = _standing_for(layer, LSTM, go_backwards)
    y, h, c = whole(inputs, initial_h, initial_c, *map(_value, (kernel, recurrent_kernel, bias)))
    return h, y if return_sequences else tf.expand_dims(h, 1), [h, c]


def _gru(
    inputs: Any,
    initial_state: Any,
    mask: Any,
    kernel: Any,
    recurrent_kernel: Any,
    bias: Any,
    activation: Any,
    recurrent_activation: Any,
    return_sequences: bool = False,
    go_backwards: bool = False,
    unroll: bool = False,
    time_major: bool = False,
    reset_after: bool = True,
) -> Any:
    _check(mask, bias, activation, recurrent_activation, time_major)

    def layer(x: Any, h: Any, *weights: Any) -> Any:
        return _sequence(x, h), tf.identity(h)

    whole = _standing_for(layer, GRU, go_backwards)
    y, h = whole(inputs, initial_state, *map(_value, (kernel, recurrent_kernel, bias)))
    return h, y if return_sequences else tf.expand_dims(h, 1), [h]


def _check(mask: Any, bias: Any, activation: Any, gates: Any, time_major: bool) -> None:
    """NotImplementedError, upon which Keras writes a loop, for what ONNX's operators are not."""
    plain = _is(activation, "tanh") and _is(gates, "sigmoid")
    if mask is not None or bias is None or time_major or not plain:
        raise NotImplementedError


def _value(variable: Any) -> Any:
    return getattr(variable, "value", variable)


def _standing_for(layer: Callable[..., Any], kind: str, backward: bool) -> Any:
    name = kind + (BACKWARD if backward else "")
    return tf.function(layer, experimental_implements=name, autograph=False)


def _sequence(x: Any, h: Any) -> Any:
    """An array of the shape of the layer's states over time; it is never computed."""
    sizes = [tf.shape(x)[0], tf.shape(x)[1], tf.shape(h)[1]]
    y = tf.zeros(sizes, h.dtype)
    y.set_shape([x.shape[0], x.shape[1], h.shape[1]])
    return y
