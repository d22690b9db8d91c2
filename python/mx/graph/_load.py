"""Graphs from files."""

from __future__ import annotations

import os
from typing import BinaryIO

from ._graph import Graph


def load(
    source: str | os.PathLike[str] | bytes | BinaryIO,
    folder: str | os.PathLike[str] | None = None,
) -> Graph:
    """The graph of an ONNX model: the path of a file, its bytes, or a file open for reading bytes.

    Weights in other files are read when they are looked up; these lie in the folder of the file, or
    in `folder`. The model may be of any operator set: the graph's is OPSET, or that of the model,
    with a GraphWarning, where it cannot be converted. Functions of the model are written out, its
    shapes and dtypes inferred, all nodes named.

    Of a file of which an accelerator's model is kept the nodes and weights are read when they are
    needed, and that is a GraphError where the file was changed meanwhile.

    Raises GraphError, which names file and node, for what is no valid model, OSError where there is
    no file. A model can be anybody's: no file outside of the folder is read, and memory and time
    are bounded by the size of the file.
    """
    from ..importers.onnx import read

    return read(source, folder)
