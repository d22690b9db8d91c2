"""Kernels as generated C: for one node, or a group of nodes, for the shapes that they have."""

from ....graph.lowering._value import Declined
from . import _gather, _movement, _pooling, _positions, products  # noqa: F401
from ._kernel import NAME, GenKernel, Spec, make_kernel, signature
from ._source import FLAGS, library_source, prelude
from ._table import EMITTERS, Emitter, Known, emit, emits
from ._target import TARGETS, Target

__all__ = [
    "EMITTERS",
    "FLAGS",
    "NAME",
    "TARGETS",
    "Declined",
    "Emitter",
    "GenKernel",
    "Known",
    "Spec",
    "Target",
    "emit",
    "emits",
    "library_source",
    "make_kernel",
    "prelude",
    "signature",
]
