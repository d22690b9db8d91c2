"""Models as graphs of ONNX's operators, held in onnx-ir.

It needs the packages onnx and onnx-ir: `pip install mxffi[graph]`.
"""

from typing import TYPE_CHECKING, Any

from .. import _library
from .._deferred import try_without as _try_without
from .._installed import version_of as _version_of
from .._mapped import give_back_what_is_done as _give_back_what_is_done
from ._without_sympy import import_onnx_ir as _import_onnx_ir

try:
    # It asks for its own version, and reads archives of tests.
    _try_without(
        "onnx",
        "importlib.metadata",
        "tarfile",
        instead={"importlib.metadata": {"version": _version_of}},
    )
    import onnx as _onnx  # noqa: F401

    _import_onnx_ir()
    # One of its passes compares checksums, which no pass here does: OpenSSL takes 4 MB.
    _try_without("onnx_ir.passes.common", "hashlib")
except ModuleNotFoundError as error:
    raise ImportError(
        f"mx.graph needs the package {error.name}: pip install mxffi[graph]", name=error.name
    ) from error

from . import passes
from ._errors import GraphError, GraphWarning, MismatchError
from ._explanation import Explanation
from ._graph import Graph
from ._inference import Inference
from ._load import load
from ._opset import OPSET
from ._spec import ValueSpec
from ._weights import Weights
from .plan import Plan
from .profile import Profile

if TYPE_CHECKING:
    from .partition import PartitionedPlan, explain

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

# What is for accelerators alone, and takes 5 MB with what it imports.
_OF_PARTITION = ("PartitionedPlan", "explain")

# Loading the operators has read all that registers them, 4 MB.
_give_back_what_is_done(_library.PATH)


def __getattr__(name: str) -> Any:
    if name not in _OF_PARTITION:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from . import partition

    found = globals()[name] = getattr(partition, name)
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
