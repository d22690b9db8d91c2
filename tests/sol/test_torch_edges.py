"""Gradients of operators of torch where ONNX has others, and arguments of unusual kinds."""

from __future__ import annotations

import copy

import pytest
import torch
from torch import nn
from torch.nn import functional as F

from mx import sol
from mx.graph import GraphError

pytestmark = pytest.mark.usefixtures("one_thread")


class Applies(nn.Module):
    """A function, in training."""

    def __init__(self, function) -> None:
        super().__init__()
        self.function = function

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.function(x)


BOUNDED = {
    "clamp": lambda x: x.clamp(-1, 1),
    "clamp with one bound": lambda x: x.clamp(max=1) * x.clamp(min=-1),
    "crossed bounds": lambda x: x.clamp(1, 0),
    "clamp_min, clamp_max": lambda x: x.clamp_min(-1) + 2 * x.clamp_max(1),
    "hardtanh": F.hardtanh,
    "relu6": F.relu6,
}


@pytest.mark.parametrize("name", BOUNDED)
def test_gradients_at_bounds(name: str) -> None:
    x = torch.tensor([-2, -1, -0.5, 0, 0.5, 1, 3, 6, 7, torch.nan], requires_grad=True)
    other = x.detach().clone().requires_grad_()
    fast = sol.optimize(Applies(BOUNDED[name]), x.detach())
    results = fast(x), BOUNDED[name](other)
    torch.testing.assert_close(*results, equal_nan=True)
    for one in results:
        one.backward(torch.arange(1.0, 11))
    torch.testing.assert_close(x.grad[:-1], other.grad[:-1])


@pytest.mark.parametrize("padding", [1, -1])
def test_the_padding_of_embeddings_is_not_trained(padding: int) -> None:
    indices = torch.tensor([[0, 1, 3], [1, 1, 3]])
    model = nn.Embedding(4, 3, padding_idx=padding)
    other = copy.deepcopy(model)
    for one in (sol.optimize(model, indices).train(), other):
        (one(indices) * torch.arange(18.0).reshape(2, 3, 3)).sum().backward()
    torch.testing.assert_close(model.weight.grad, other.weight.grad)


def test_gradients_scaled_by_frequency_are_rejected() -> None:
    indices = torch.tensor([0, 0, 1])
    fast = sol.optimize(nn.Embedding(2, 3, scale_grad_by_freq=True), indices)
    with pytest.raises(GraphError, match="scale_grad_by_freq"):
        fast.train()(indices)


class Counts(nn.Module):
    """Changes a buffer in each call."""

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("sum", torch.zeros(3))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        self.sum.add_(x)
        return self.sum * 2


@torch.no_grad()
def test_negative_views_for_models_that_change_buffers() -> None:
    x = torch.tensor([1 + 2j, 3 - 1j, -2 + 0j])
    model = Counts().eval()
    fast = sol.optimize(model, x.imag.clone())
    assert x.conj().imag.is_neg()
    torch.testing.assert_close(fast(x.conj().imag), -2 * x.imag)


def test_tensors_with_gradients_that_are_no_parameters() -> None:
    scale = torch.ones(3, requires_grad=True)
    x = torch.ones(3, requires_grad=True)
    fast = sol.optimize(Applies(lambda x: x * scale), torch.ones(3))
    with pytest.raises(GraphError, match="a tensor that is no parameter needs a gradient"):
        fast(x)
