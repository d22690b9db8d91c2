"""Modules that torch.export has no clear words for: what is wrong with them."""

from __future__ import annotations

from typing import Any

import torch

_QUANTIZED = ("torch.ao.nn.quantized", "torch.ao.nn.intrinsic.quantized")


def check_module(module: Any) -> None:
    """Raises TypeError for modules of kinds that have no program of Python, NotImplementedError for
    those that have one inside, ValueError for those whose parameters are not there."""
    what = f"sol.optimize: {type(module).__name__}"
    for path, one in module.named_modules():
        where = f"the module {path!r} is" if path else "it is"
        error = NotImplementedError if path else TypeError
        if isinstance(one, torch.jit.ScriptModule):
            raise error(
                f"{what}: {where} a torch.jit.ScriptModule, which has no Python code to follow:"
                " expected the module that it was made of"
            )
        if type(one).__module__.startswith(_QUANTIZED):
            raise error(
                f"{what}: {where} a {type(one).__name__} with weights that torch.ao has quantized:"
                " expected modules of floating point; what is quantized can come as an ONNX file"
            )
    for kind, tensors in (
        ("parameter", module.named_parameters()),
        ("buffer", module.named_buffers()),
    ):
        for path, tensor in tensors:
            if torch.nn.parameter.is_lazy(tensor):
                raise ValueError(
                    f"{what}: the {kind} {path!r} has no shape yet: call the module once"
                )
            if tensor.device.type != "cpu":
                raise ValueError(
                    f"{what}: the {kind} {path!r} is on {tensor.device}: expected all on the CPU;"
                    " sol.device says what executes the model"
                )


def check_argument(name: str, tensor: torch.Tensor) -> None:
    """Raises ValueError for a tensor that is none of the CPU, or not dense."""
    if tensor.device.type != "cpu":
        raise ValueError(
            f"input {name!r}: expected a tensor on the CPU, got one on {tensor.device}"
        )
    if tensor.is_nested:
        raise ValueError(f"input {name!r}: expected a dense tensor, got a nested one")
    if tensor.layout != torch.strided:
        raise ValueError(f"input {name!r}: expected a dense tensor, got {tensor.layout}")
