"""`mx.mod`: a model with its parameters, bound to shapes and a context."""

from ._module import Module

__all__ = ["Module"]
