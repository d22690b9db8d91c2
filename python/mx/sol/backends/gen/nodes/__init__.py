"""Operators that have a kernel each, in no group: what moves elements, pools and sorts."""

from . import (  # noqa: F401  their emitters
    _along,
    _convolutions,
    _gather,
    _masks,
    _matrices,
    _movement,
    _order,
    _pooling,
    _positions,
    _quantization,
    _random,
    _regions,
    _resize,
    _scatter,
    _unpool,
)
