"""Random nodes of ONNX's operators, and what executes them: plans and optimized models."""

from . import elementwise, layers, movement, windows  # noqa: F401  which fill the table
from .judge import EXECUTORS, judged
from .table import MAKERS, case_of

__all__ = ["EXECUTORS", "MAKERS", "case_of", "judged"]
