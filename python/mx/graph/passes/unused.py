"""Removes nodes and weights that no output needs."""

from onnx_ir.passes.common import RemoveUnusedNodesPass

from ._pass import Pass, library_pass

UNUSED = Pass(
    "unused",
    "removes nodes and weights that no output needs",
    library_pass(RemoveUnusedNodesPass()),
)
