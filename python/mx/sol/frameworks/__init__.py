"""The frameworks that models come from and are executed in.

`frameworks` has them by name: those of this package and those that others add by an entry point in
the group `mx.sol.frameworks`, which names an instance of `Framework`. `GraphSource` is the source
of models that are graphs of named inputs.
"""

from .._registry import Registry, registry_of
from ._framework import Framework, Holder, Source
from ._graph_source import GraphSource

__all__ = [
    "Framework",
    "GraphSource",
    "Holder",
    "Source",
    "frameworks",
    "keeping_changes",
    "reader_of",
]

frameworks: Registry[Framework] = registry_of(
    "frameworks",
    {
        "torch": "mx.sol.frameworks.torch:FRAMEWORK",
        "tensorflow": "mx.sol.frameworks.tensorflow:FRAMEWORK",
        "keras": "mx.sol.frameworks.keras:FRAMEWORK",
        "jax": "mx.sol.frameworks.jax:FRAMEWORK",
        "onnx": "mx.sol.frameworks.onnx:FRAMEWORK",
        "mxnet": "mx.sol.frameworks.mxnet:FRAMEWORK",
        "numpy": "mx.sol.frameworks.numpy:FRAMEWORK",
    },
    Framework,
)


def reader_of(model: object, function: str = "optimize") -> Framework:
    """The framework that a model is of. TypeError, in the name of a function of `mx.sol`, where it
    is of none."""
    for one in frameworks:
        if one.reads(model):
            return one
    known = "; ".join(one.models for one in frameworks if one.models)
    raise TypeError(f"sol.{function}: model: expected {known}; got {type(model).__name__}")


def keeping_changes() -> list[str]:
    """The names of the frameworks whose models keep what calls change."""
    return [one.name for one in frameworks if one.executes_training()]
