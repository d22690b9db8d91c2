"""Gradients of whole models, as torch's benchmarks have them, in small sizes."""

from __future__ import annotations

import copy
from collections.abc import Callable

import pytest
import torch
from torch import nn

from benchmarks.models import modules
from mx import sol

pytestmark = pytest.mark.usefixtures("one_thread")


def image(*shape: int) -> tuple[torch.Tensor, ...]:
    return (torch.randn(shape),)


def words() -> tuple[torch.Tensor, ...]:
    ids = torch.randint(0, 30000, (2, 7))
    mask = torch.ones_like(ids)
    mask[1, 5:] = 0
    return ids, torch.zeros_like(ids), mask


def bottlenecks() -> nn.Module:
    return nn.Sequential(modules.Bottleneck(6, 4, 2), modules.Bottleneck(16, 4, 1))


def inverted() -> nn.Module:
    first, second = (modules.InvertedResidual(6, 6, stride, 3) for stride in (1, 2))
    return nn.Sequential(first, second, nn.Flatten(), nn.Dropout(0), nn.Linear(96, 3))


MODELS: dict[str, tuple[Callable[[], nn.Module], Callable[[], tuple[torch.Tensor, ...]]]] = {
    "lenet": (modules.lenet, lambda: image(2, 1, 28, 28)),
    "resnet": (bottlenecks, lambda: image(3, 6, 8, 8)),
    "mobilenet": (inverted, lambda: image(3, 6, 8, 8)),
    "bert": (lambda: modules.Bert(1, 8, 2), words),
    "lstm": (lambda: modules.Lstm(5), lambda: image(2, 4, 64)),
    "unet": (lambda: modules.UNet(4, 1), lambda: image(2, 3, 8, 8)),
}


@pytest.mark.parametrize("name", MODELS)
def test_gradients_are_those_of_torch(name: str) -> None:
    make, arguments = MODELS[name]
    torch.manual_seed(0)
    model, given = make(), arguments()
    others = copy.deepcopy(model), copy.deepcopy(model).double()
    exact = [x.double() if x.is_floating_point() else x for x in given]
    errors = []
    calls = ((sol.optimize(model, *given), given), (others[0], given), (others[1], exact))
    for one, args in calls:
        output = one(*args)
        (output * torch.linspace(-1, 1, output.numel()).reshape(output.shape)).sum().backward()
    for one in (model, others[0]):
        grads = [x.grad.double().flatten() for x in one.parameters()]
        wanted = torch.cat([x.grad.flatten() for x in others[1].parameters()])
        errors.append(float((torch.cat(grads) - wanted).norm() / wanted.norm()))
    assert errors[0] < 3 * errors[1] + 1e-6
