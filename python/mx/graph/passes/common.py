"""Computes what several nodes compute once."""

from onnx_ir.passes.common import CommonSubexpressionEliminationPass

from ._pass import Pass, library_pass

COMMON = Pass(
    "common",
    "computes what several nodes compute once",
    library_pass(CommonSubexpressionEliminationPass()),
)
