"""Models as graphs of ONNX's operators, held in onnx-ir.

It needs the packages onnx and onnx-ir: `pip install mxffi[graph]`.
"""

from ._without_sympy import import_onnx_ir as _import_onnx_ir

try:
    import onnx as _onnx  # noqa: F401

    _import_onnx_ir()
except ModuleNotFoundError as error:
    raise ImportError(
        f"mx.graph needs the package {error.name}: pip install mxffi[graph]", name=error.name
    ) from error

from . import passes
from ._errors import GraphError, GraphWarning, MismatchError
from ._graph import Graph
from ._inference import Inference
from ._load import load
from ._opset import OPSET
from ._spec import ValueSpec
from ._weights import Weights
from .partition import Explanation, PartitionedPlan, explain
from .plan import Plan
from .profile import Profile

__all__ = [
    "OPSET",
    "Explanation",
    "Graph",
    "GraphError",
    "GraphWarning",
    "Inference",
    "MismatchError",
    "PartitionedPlan",
    "Plan",
    "Profile",
    "ValueSpec",
    "Weights",
    "explain",
    "load",
    "passes",
]
