"""Kernels as generated C: for one node, or a group of nodes, for the shapes that they have."""

from ....graph.lowering._value import Declined
from . import _arguments, nodes, products  # noqa: F401  their emitters
from ._backend import GEN, GenBackend
from ._elementwise import emit_elementwise
from ._emit_group import emit_group
from ._group import GroupNode
from ._kernel import NAME, GenKernel, Spec, make_kernel, signature
from ._source import FLAGS, library_source, prelude
from ._table import EMITTERS, Emitter, Known, emit, emits
from ._target import TARGETS, Target
from .nodes._convolutions import PLAIN_CONVOLUTION, PLAIN_TRANSPOSED
from .nodes._matrices import PLAIN_PRODUCT
from .nodes._unpool import POOL_WITH_POSITIONS

__all__ = [
    "EMITTERS",
    "FLAGS",
    "GEN",
    "NAME",
    "PLAIN_CONVOLUTION",
    "PLAIN_PRODUCT",
    "PLAIN_TRANSPOSED",
    "POOL_WITH_POSITIONS",
    "TARGETS",
    "Declined",
    "Emitter",
    "GenBackend",
    "GenKernel",
    "GroupNode",
    "Known",
    "Spec",
    "Target",
    "emit",
    "emit_elementwise",
    "emit_group",
    "emits",
    "library_source",
    "make_kernel",
    "prelude",
    "signature",
]
