"""Steps of training of which torch does a part, or the whole."""

from __future__ import annotations

import copy
import warnings
from types import SimpleNamespace

import pytest
import torch
from torch import nn
from torch.nn import functional as F
from torch.optim import optimizer as optimizers

from mx import sol

from .test_torch_curves import torch_step
from .test_torch_training import same_state

pytestmark = pytest.mark.usefixtures("one_thread")
IN_PLAN = ("forward", "loss", "backward", "optimizer")


@pytest.fixture(autouse=True)
def no_warnings():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        yield


def layers() -> nn.Module:
    torch.manual_seed(1)
    return nn.Sequential(nn.Linear(4, 3), nn.Tanh(), nn.Linear(3, 2))


def data() -> tuple[torch.Tensor, torch.Tensor]:
    torch.manual_seed(0)
    return torch.randn(5, 4), torch.randn(5, 2)


def of_arguments(model: nn.Module, make):
    """What computes the argument is trained, too."""
    encoder = nn.Linear(4, 4)
    encoder.load_state_dict({"weight": torch.eye(4), "bias": torch.ones(4)})
    both = nn.ModuleList([encoder, model])
    step = make(model, F.mse_loss, torch.optim.SGD(both.parameters(), 0.1))
    return both, lambda x, y: step(encoder(x), y), step


def of_parameters_of_the_loss(model: nn.Module, make):
    """The loss reads a parameter that no module has."""
    scale = nn.Parameter(torch.ones(2))
    both = nn.ParameterList([scale, *model.parameters()])
    step = make(
        model, lambda out, y: F.mse_loss(out * scale, y), torch.optim.SGD(both.parameters(), 0.1)
    )
    return both, step, step


def of_what_the_loss_reads(model: nn.Module, make):
    """The loss reads what has been computed of a parameter."""
    scale = nn.Parameter(torch.ones(2))
    both = nn.ParameterList([scale, *model.parameters()])
    now = SimpleNamespace()
    step = make(
        model, lambda out, y: F.mse_loss(out * now.scale, y), torch.optim.SGD(both.parameters())
    )

    def call(x, y):
        now.scale = scale * 2
        return step(x, y)

    return both, call, step


@pytest.mark.parametrize("case", [of_arguments, of_parameters_of_the_loss, of_what_the_loss_reads])
def test_gradients_that_leave_the_model(case) -> None:
    x, y = data()
    model = layers()
    first, call, step = case(model, sol.training_step)
    second, expected, _ = case(copy.deepcopy(layers()), torch_step)
    for _ in range(3):
        torch.testing.assert_close(call(x, y), expected(x, y))
    same_state(first, second)
    assert step.fused == ()


@pytest.mark.parametrize(
    ("kind", "options"),
    [
        (torch.optim.Adam, {}),
        (torch.optim.RMSprop, {}),
        (torch.optim.SGD, {"momentum": 0.9, "dampening": 0.6}),
    ],
)
def test_layers_that_are_trained_later(kind, options) -> None:
    """Adam counts the steps of each parameter, RMSprop's step is the same at any of them, and a
    velocity that is dampened begins with a whole gradient, which one step is left to torch for."""
    x, y = data()
    model, other = layers(), layers()
    used = [kind(list(one[2].parameters()), lr=0.05, **options) for one in (model, other)]
    steps = [
        sol.training_step(model, F.mse_loss, used[0]),
        torch_step(other, F.mse_loss, used[1]),
    ]
    for number in range(5):
        if number == 2:
            for one, its in zip((model, other), used, strict=True):
                its.param_groups[0]["params"] += list(one[0].parameters())
        torch.testing.assert_close(*[step(x, y) for step in steps])
    same_state(model, other)
    assert steps[0].fused == (IN_PLAN[:3] if kind is torch.optim.Adam else IN_PLAN)


class WritesArgument(nn.Module):
    """Changes its argument in a call."""

    def __init__(self) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(4))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x.add_(1)
        return (x * self.weight)[:, :2]


def test_what_is_not_implemented_is_left_to_torch() -> None:
    x, y = data()
    model, other = WritesArgument(), WritesArgument()
    steps = [
        make(one, F.mse_loss, torch.optim.SGD(one.parameters(), 0.1))
        for make, one in ((sol.training_step, model), (torch_step, other))
    ]
    for _ in range(2):
        torch.testing.assert_close(*[step(x.clone(), y) for step in steps])
    same_state(model, other)
    assert steps[0].fused == ()


def test_optimizers_that_call_a_closure() -> None:
    model = layers()
    with pytest.raises(TypeError, match="LBFGS: expected one whose step needs no closure"):
        sol.training_step(model, F.mse_loss, torch.optim.LBFGS(model.parameters()))


def test_hooks_of_all_optimizers() -> None:
    x, y = data()
    model = layers()
    step = sol.training_step(model, F.mse_loss, torch.optim.SGD(model.parameters(), 0.1))
    step(x, y)
    assert step.fused == IN_PLAN
    for register in (
        optimizers.register_optimizer_step_pre_hook,
        optimizers.register_optimizer_step_post_hook,
    ):
        calls: list[object] = []
        hook = register(lambda one, args, kwargs, calls=calls: calls.append(one))
        try:
            step(x, y)
        finally:
            hook.remove()
        assert calls == [step._optimizer] and step.fused == IN_PLAN[:3]
    step(x, y)
    assert step.fused == IN_PLAN


class Scaled(nn.Module):
    """Has a tensor that is no parameter and no buffer."""

    def __init__(self) -> None:
        super().__init__()
        self.linear, self.scale = nn.Linear(4, 2), torch.ones(2)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.linear(x) * self.scale


def write(model: Scaled) -> None:
    model.scale.fill_(7)


def replace(model: Scaled) -> None:
    model.scale = torch.tensor([2.0, 3.0])


@pytest.mark.parametrize("mode", ["train", "eval", "step"])
@pytest.mark.parametrize("change", [write, replace])
def test_tensors_that_are_attributes(change, mode: str) -> None:
    x, y = data()
    torch.manual_seed(0)
    model = Scaled()
    other = copy.deepcopy(model)
    if mode == "step":
        calls = [
            make(one, F.mse_loss, torch.optim.SGD(one.parameters(), 0.1))
            for make, one in ((sol.training_step, model), (torch_step, other))
        ]
        assert calls[0](x, y) == pytest.approx(float(calls[1](x, y)))
        for one in (model, other):
            change(one)
        for _ in range(2):
            torch.testing.assert_close(*[call(x, y) for call in calls])
        assert calls[0].fused == IN_PLAN
    else:
        fast = sol.optimize(model, x)
        for one in (fast, other):
            one.train(mode == "train")
        for _ in range(3):
            torch.testing.assert_close(fast(x), other(x))
        for one in (model, other):
            change(one)
        for _ in range(2):
            for one in (fast, other):
                one.zero_grad()
                one(x).sum().backward()
            torch.testing.assert_close(fast(x), other(x))
            torch.testing.assert_close(model.linear.weight.grad, other.linear.weight.grad)
    same_state(model, other)
