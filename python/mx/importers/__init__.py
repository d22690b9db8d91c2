"""What makes graphs of the models of other packages, each in a module of its own.

Only these see another framework, and import it only when a model of it is given.
"""

from importlib import import_module
from types import ModuleType

__all__ = ["jax", "mxnet", "onnx", "tensorflow", "torch"]


def __getattr__(name: str) -> ModuleType:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return import_module(f"{__name__}.{name}")
