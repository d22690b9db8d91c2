"""Parameters, buffers and constants of torch as tensors of a graph."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx_ir as ir

from ._dtypes import type_of


def tensor_of(tensor: Any, name: str) -> ir.Tensor[np.ndarray[Any, Any]]:
    """A tensor of the graph, which shares its memory with torch's where that is on the CPU."""
    dtype = type_of(tensor.dtype)
    return ir.Tensor(_array_of(tensor.detach(), dtype), dtype=dtype, name=name)


def _array_of(tensor: Any, dtype: ir.DataType) -> np.ndarray[Any, Any]:
    import torch

    tensor = tensor.cpu().resolve_conj().resolve_neg()
    if tensor.layout != torch.strided:
        tensor = tensor.to_dense()
    # NumPy has no type for some: their bits go through integers of the same size.
    wanted = dtype.numpy()
    if wanted.kind in "biufc" and wanted.isbuiltin == 1:
        array: np.ndarray[Any, Any] = tensor.numpy()
        return array
    bits = {1: torch.uint8, 2: torch.uint16}[wanted.itemsize]
    viewed: np.ndarray[Any, Any] = tensor.view(bits).numpy().view(wanted)
    return viewed
