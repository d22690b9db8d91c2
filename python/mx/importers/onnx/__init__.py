"""ONNX files as graphs: of any age, with weights in other files, from people nobody knows."""

from ._reading import read

__all__ = ["read"]
