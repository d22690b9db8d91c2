"""Gradients in the memory of saved values: nobody sees it but the meter."""

from __future__ import annotations

import copy
from concurrent.futures import ThreadPoolExecutor

import pytest
import torch
from torch import nn

from mx import sol

pytestmark = pytest.mark.usefixtures("one_thread")

WIDTH = 256


def deep() -> nn.Module:
    """Layers whose weights have as many elements as what is saved of each."""
    layers = [one for _ in range(4) for one in (nn.Linear(WIDTH, WIDTH), nn.Sigmoid())]
    return nn.Sequential(*layers)


def span(model: nn.Module) -> set[int]:
    """The addresses of gradients, in units of the bytes of one."""
    return {one.grad.data_ptr() for one in model.parameters() if one.grad is not None}


def plain(model, x) -> None:
    for _ in range(3):
        model.zero_grad()
        model(x).square().sum().backward()


def accumulated(model, x) -> None:
    for factor in (1.0, 2.0, 3.0):
        model(x * factor).square().sum().backward()


def zeros_kept(model, x) -> None:
    for factor in (1.0, 2.0, 3.0):
        model.zero_grad(set_to_none=False)
        model(x * factor).square().sum().backward()


def several_forwards(model, x) -> None:
    plain(model, x)
    model.zero_grad()
    first, second, third = (model(x * factor) for factor in (1.0, 2.0, 3.0))
    second.square().sum().backward()
    first.square().sum().backward()
    model(x).sum().backward()
    third.square().sum().backward()


def retained(model, x) -> None:
    plain(model, x)
    model.zero_grad()
    loss = model(x).square().sum()
    loss.backward(retain_graph=True)
    kept = model[0].weight.grad
    loss.backward(retain_graph=True)
    model.zero_grad()
    loss.backward()
    model[2].weight.grad += kept


def one_gradient_is_held(model, x) -> None:
    plain(model, x)
    held = model[4].weight.grad
    model.zero_grad()
    for factor in (1.0, 2.0):
        model(x * factor).square().sum().backward()
    model[2].weight.grad += held


def gradients_as_inputs(model, x) -> None:
    plain(model, x)
    given = model[0].weight.grad
    for _ in range(2):
        model.zero_grad()
        model(given).square().sum().backward()
        model(given * 2).square().sum().backward()


def by_the_input(model, x) -> None:
    plain(model, x)
    x = x.clone().requires_grad_()
    for _ in range(2):
        (grad,) = torch.autograd.grad(model(x).square().sum(), x, retain_graph=True)
        model(x).sum().backward()
        model[0].weight.grad += grad


def in_a_checkpoint(model, x) -> None:
    for _ in range(3):
        model.zero_grad()
        torch.utils.checkpoint.checkpoint(model, x, use_reentrant=False).square().sum().backward()


def in_threads(model, x) -> None:
    plain(model, x)
    parameters = list(model.parameters())

    def gradients(factor):
        for _ in range(5):
            found = torch.autograd.grad(model(x * factor).square().sum(), parameters)
        return found

    with ThreadPoolExecutor(3) as pool:
        for found in pool.map(gradients, (1.0, 2.0, 3.0)):
            for one, more in zip(parameters, found, strict=True):
                one.grad += more


WAYS = [
    plain, accumulated, zeros_kept, several_forwards, retained, one_gradient_is_held,
    gradients_as_inputs, by_the_input, in_a_checkpoint, in_threads,
]  # fmt: skip


@pytest.fixture(scope="module")
def shared():
    torch.manual_seed(0)
    model, x = deep(), torch.randn(WIDTH, WIDTH)
    fast, other = sol.optimize(model, x), copy.deepcopy(model)
    plain(fast, x)  # so that all later ones share memory
    return fast, other, x


@pytest.mark.parametrize("way", WAYS, ids=lambda way: way.__name__)
def test_gradients_are_those_of_torch(way, shared) -> None:
    fast, other, x = shared
    for model in (fast, other):
        model.zero_grad()
        way(model, x)
    for one, wanted in zip(fast.parameters(), other.parameters(), strict=True):
        scale = float(wanted.grad.abs().max())
        torch.testing.assert_close(one.grad, wanted.grad, rtol=1e-3, atol=1e-5 * scale)


def test_gradients_lie_where_saved_values_were(shared) -> None:
    fast, _, x = shared
    plain(fast, x)
    addresses = span(fast)
    fast.zero_grad()
    output = fast(x)
    (node,) = [output.grad_fn]
    plans = node.version.plans
    assert plans.last_backward is not None and plans.saved
    output.sum().backward()
    assert span(fast) == addresses
    # The other way round: a forward pass of now saves where gradients were.
    fast.zero_grad()
    saved = plans.forward([x, *fast.parameters()])[1:]
    end = max(addresses) + 4 * WIDTH * WIDTH
    assert any(min(addresses) <= torch.from_dlpack(one).data_ptr() < end for one in saved)


def test_what_was_given_up_is_not_read_again(shared) -> None:
    fast, _, x = shared
    plain(fast, x)
    loss = fast(x).sum()
    loss.backward()
    with pytest.raises(RuntimeError, match="backward through the graph a second time"):
        loss.backward()
