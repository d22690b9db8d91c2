"""Runs imported graphs and compares them with TensorFlow, imported here, once and quietly."""

from __future__ import annotations

import os
import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

import mx

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
# Their rounding would differ from run to run with what the processor is doing else.
os.environ.setdefault("TF_ENABLE_ONEDNN_OPTS", "0")
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "")
with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    tf = pytest.importorskip("tensorflow")
    keras = pytest.importorskip("keras")

_random = np.random.default_rng(3)


def floats(*shape: int) -> np.ndarray:
    """Numbers around 0."""
    return _random.standard_normal(shape).astype("float32")


def positive(*shape: int) -> np.ndarray:
    """Numbers from 0.1 to 0.9."""
    return (_random.random(shape) * 0.8 + 0.1).astype("float32")


def ints(*shape: int, low: int = -9, high: int = 9) -> np.ndarray:
    """Integers, none of them 0."""
    found = _random.integers(low, high, shape).astype("int32")
    return np.where(found == 0, 1, found).astype("int32")


def bools(*shape: int) -> np.ndarray:
    """Truth values."""
    return _random.random(shape) > 0.5


def compare(results: Sequence[Any], wanted: Any) -> None:
    """The same data types, shapes and, up to rounding, elements."""
    expected = [one.numpy() for one in tf.nest.flatten(wanted)]
    assert len(results) == len(expected)
    for got, one in zip(map(np.asarray, results), expected, strict=True):
        assert (got.dtype, got.shape) == (one.dtype, one.shape)
        np.testing.assert_allclose(got, one, rtol=2e-5, atol=2e-6)


def run(graph: mx.graph.Graph, inputs: Sequence[np.ndarray]) -> list[np.ndarray]:
    """What a graph gives."""
    return [one.asnumpy() for one in mx.graph.Plan(graph)(*map(mx.np.array, inputs))]


def check(model: Any, *inputs: np.ndarray, others: Sequence[Any] = (), **how: Any) -> Any:
    """Imports a model with one example and compares it for that and others; gives the graph."""
    graph = mx.importers.tensorflow.load(model, inputs, **how)
    for example in (inputs, *others):
        compare(run(graph, example), model(*map(tf.constant, example)))
    return graph
