"""Models to measure and to test with: graphs with random weights, as torch would export them.

Each function takes `width`, by which numbers of channels are multiplied, so that tests can have
small ones. The extent of the batch is called N. `MODELS` has them by name, and `example` makes
what a model is called with.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy

from mx.graph import Graph

from .bert import bert
from .convolutional import lenet, mobilenet_v2, resnet50, unet
from .recurrent import lstm

__all__ = ["MODELS", "bert", "example", "lenet", "lstm", "mobilenet_v2", "resnet50", "unet"]

MODELS: dict[str, Callable[..., Graph]] = {
    "resnet50": resnet50,
    "mobilenet_v2": mobilenet_v2,
    "bert": bert,
    "lenet": lenet,
    "lstm": lstm,
    "unet": unet,
}


def example(graph: Graph, batch: int = 1, seed: int = 0) -> dict[str, numpy.ndarray]:
    """Arrays for the inputs of a model of this folder: numbers around zero, tokens, types, masks.

    All extents that vary are `batch`.
    """
    random = numpy.random.default_rng(seed)
    arrays = {}
    for name, dtype, shape in graph.inputs:
        extents = [dim if isinstance(dim, int) else batch for dim in shape or ()]
        if dtype == "float32":
            arrays[name] = random.standard_normal(extents, "float32")
        elif "mask" in name:
            arrays[name] = numpy.ones(extents, dtype)
        else:
            most = 2 if "type" in name else 100
            arrays[name] = random.integers(0, most, extents).astype(dtype)
    return arrays
