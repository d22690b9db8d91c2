"""What an optimized module gives for a sample, compared with torch: values and gradients."""

from __future__ import annotations

import copy
from typing import Any

import torch
from torch import nn
from torch.utils import _pytree as pytree

from mx import sol
from mx.graph import GraphError

from .of_torch import Sample

REJECTIONS = (GraphError, NotImplementedError, TypeError, ValueError)


def outcome(sample: Sample, of_values: bool = True) -> tuple[str, str]:
    """`"right"`, `"rejected"`, `"wrong"` or, where torch cannot call it, `"none"`; and the words
    for it. Without `of_values` only data types and shapes are compared."""
    module, args, kwargs = sample.module, sample.args, sample.kwargs
    try:
        torch.manual_seed(0)
        wanted = pytree.tree_leaves(copy.deepcopy(module)(*args, **kwargs))
    except Exception as error:
        return "none", _words(error)
    try:
        fast = sol.optimize(copy.deepcopy(module), *args, kwargs=kwargs or None)
        torch.manual_seed(0)
        got = pytree.tree_leaves(fast(*args, **kwargs))
        different = _difference(got, wanted, of_values, 1e-4)
        if different or not of_values:
            return ("wrong", different) if different else ("right", "")
        try:
            expected = _gradients(module, sample)
        except RuntimeError:
            return "right", ""  # torch has none
        different = _difference(_gradients(fast, sample), expected, True, 1e-3)
        return ("wrong", f"gradients: {different}") if different else ("right", "")
    except REJECTIONS as error:
        return "rejected", _words(error)
    except Exception as error:
        return "wrong", f"{type(error).__name__}: {_words(error)}"


def _words(error: Exception) -> str:
    return " ".join(str(error).split())


def _difference(got: list[Any], wanted: list[Any], of_values: bool, tolerance: float) -> str:
    if len(got) != len(wanted):
        return f"{len(got)} results: expected {len(wanted)}"
    for one, other in zip(got, wanted, strict=True):
        if not isinstance(other, torch.Tensor):
            if one != other and of_values:
                return f"{one}: expected {other}"
            continue
        if not isinstance(one, torch.Tensor):
            return f"a {type(one).__name__}: expected a tensor"
        if one.dtype != other.dtype or one.shape != other.shape:
            given, expected = ((x.dtype, tuple(x.shape)) for x in (one, other))
            return f"{given}: expected {expected}"
        try:
            if of_values:
                torch.testing.assert_close(
                    one.detach(), other.detach(), rtol=tolerance, atol=tolerance / 10,
                    equal_nan=True,
                )  # fmt: skip
        except AssertionError as error:
            return _words(error)
    return ""


def _gradients(module: nn.Module, sample: Sample) -> list[torch.Tensor]:
    """Of a sum of all results with weights: of the arguments and the parameters, zeros where none
    is known."""
    args, kwargs = pytree.tree_map_only(
        torch.Tensor,
        lambda x: x.detach().clone().requires_grad_(x.is_floating_point()),
        (tuple(sample.args), sample.kwargs),
    )
    torch.manual_seed(0)
    results = pytree.tree_leaves(module(*args, **kwargs))
    asked = [one for one in pytree.tree_leaves((args, kwargs)) if isinstance(one, torch.Tensor)]
    asked += module.parameters()
    asked = [one for one in asked if one.requires_grad]
    sums = [
        (one * torch.linspace(0.5, 1, one.numel(), dtype=one.dtype).view(one.shape)).sum()
        for one in results
        if isinstance(one, torch.Tensor) and one.requires_grad
    ]
    if not sums or not asked:
        return [torch.zeros_like(one) for one in asked]
    found = torch.autograd.grad(sum(sums), asked, allow_unused=True)
    return [
        torch.zeros_like(one) if of is None else of for one, of in zip(asked, found, strict=True)
    ]
