"""The table's entries: importing this package fills it."""

from . import (
    activation,
    convolution,
    creation,
    elementwise,
    images,
    indexing,
    linear,
    norms,
    reductions,
    sequences,
    shapes,
)

__all__ = [
    "activation",
    "convolution",
    "creation",
    "elementwise",
    "images",
    "indexing",
    "linear",
    "norms",
    "reductions",
    "sequences",
    "shapes",
]
