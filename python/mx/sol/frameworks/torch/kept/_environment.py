"""What a capture depends on besides the module: versions, and settings of the process."""

from __future__ import annotations

import functools
import hashlib
import os
import sys
from pathlib import Path
from typing import Any

import numpy
import onnx
import onnx_ir
import torch
from torch.nn.modules import module as _of_all_modules
from torch.overrides import _get_current_function_mode_stack
from torch.utils._python_dispatch import _get_current_dispatch_mode_stack

from .....importers.torch import _rule
from ._code import NotDescribedError
from ._known import tensor_class

_ROOT = str(Path(__file__).parents[4])
# What makes graphs of modules.
_FOLDERS = ("importers", "importers/torch", "importers/torch/rules", "graph", "sol/operators",
            "sol/frameworks/torch", "sol/frameworks/torch/kept")  # fmt: skip
_OWN = __name__.split(".", 1)[0] + "."
# Kernels of operators for these do not change what a capture finds.
_HARMLESS = ("Meta", "MPS", "CUDA")
# What torch.func registers when it is used first.
_OF_TRANSFORMS = "/FuncTorchBatched"
_GLOBAL_HOOKS = (
    "_global_forward_hooks", "_global_forward_pre_hooks", "_global_backward_hooks",
    "_global_backward_pre_hooks", "_global_parameter_registration_hooks",
    "_global_module_registration_hooks", "_global_buffer_registration_hooks",
)  # fmt: skip


@functools.cache
def versions() -> tuple[Any, ...]:
    """Of Python, of the packages, and of this package's files."""
    return (
        sys.version, torch.__version__, str(torch.version.git_version), numpy.__version__,
        onnx.__version__, onnx_ir.__version__, _files(),
    )  # fmt: skip


def _files() -> str:
    """What tells one state of the source files that make graphs from another."""
    digest = hashlib.sha256()
    for folder in _FOLDERS:
        with os.scandir(os.path.join(_ROOT, folder)) as found:
            files = sorted((one.name, one) for one in found if one.name.endswith(".py"))
        for name, one in files:
            status = one.stat()
            digest.update(repr((name, status.st_size, status.st_mtime_ns)).encode())
    return digest.hexdigest()


def settings() -> tuple[Any, ...]:
    """Those of torch that a capture may depend on. NotDescribedError where somebody else takes part
    in all operators, or has changed what one does."""
    if _get_current_function_mode_stack() or _get_current_dispatch_mode_stack():
        raise NotDescribedError("a mode of torch is on that sees all operators")
    if any(getattr(_of_all_modules, name, None) for name in _GLOBAL_HOOKS):
        raise NotDescribedError("there are hooks of all modules")
    for function in _rule.all_functions():
        if not (function.__module__ or "").startswith(f"{_OWN}importers."):
            raise NotDescribedError("another package has rules for operators of torch")
    operators = [
        name
        for name in torch.library._impls
        if name.startswith("aten/") and not name.endswith(_OF_TRANSFORMS)
    ]
    if any(name.rpartition("/")[2] not in _HARMLESS for name in operators):
        raise NotDescribedError("an operator of torch was replaced")
    backends, cuda = torch.backends, torch.backends.cuda
    return (
        tensor_class(), len(operators), str(torch.get_default_dtype()),
        str(torch.get_default_device()), torch.is_inference_mode_enabled(),
        torch.is_autocast_enabled("cpu"), str(torch.get_autocast_dtype("cpu")),
        torch.are_deterministic_algorithms_enabled(), torch.get_float32_matmul_precision(),
        backends.mkldnn.enabled, backends.opt_einsum.enabled, cuda.flash_sdp_enabled(),
        cuda.mem_efficient_sdp_enabled(), cuda.math_sdp_enabled(), sys.flags.optimize,
    )  # fmt: skip
