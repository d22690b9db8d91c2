"""Whole steps of training in one plan."""

from __future__ import annotations

import contextlib
import copy
import io
import re
import runpy
import warnings
from pathlib import Path

import pytest
import torch
from torch import nn
from torch.nn import functional as F

from mx import sol
from mx.graph import GraphError

from .test_torch_curves import torch_step
from .test_torch_training import Net, same_state

pytestmark = pytest.mark.usefixtures("one_thread")


@pytest.fixture(autouse=True)
def no_warnings():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        yield


def data() -> tuple[torch.Tensor, torch.Tensor]:
    torch.manual_seed(0)
    return torch.randn(6, 1, 5, 6), torch.randint(3, (6,))


def linear() -> nn.Module:
    torch.manual_seed(1)
    return nn.Sequential(nn.Flatten(), nn.Linear(30, 3))


def same_optimizers(one, other) -> None:
    a, b = one.state_dict(), other.state_dict()
    assert a["state"].keys() == b["state"].keys()
    for number, state in b["state"].items():
        for name, value in state.items():
            found = a["state"][number][name]
            if value is not None:
                torch.testing.assert_close(found, value, atol=2e-6, rtol=1e-4)
    assert a["param_groups"] == b["param_groups"]


OPTIMIZERS = {
    "SGD": (torch.optim.SGD, {}),
    "momentum": (torch.optim.SGD, {"momentum": 0.9, "weight_decay": 0.01}),
    "nesterov": (torch.optim.SGD, {"momentum": 0.5, "nesterov": True, "maximize": True}),
    "Adam": (torch.optim.Adam, {"weight_decay": 0.1, "betas": (0.8, 0.99), "eps": 1e-6}),
    "dampening": (torch.optim.SGD, {"momentum": 0.9, "dampening": 0.3, "weight_decay": 0.1}),
    "dampening, maximize": (
        torch.optim.SGD,
        {"momentum": 0.5, "dampening": 0.9, "maximize": True, "foreach": True},
    ),
    "AdamW": (torch.optim.AdamW, {"maximize": True}),
    "AMSGrad": (torch.optim.Adam, {"amsgrad": True, "betas": (0.8, 0.9), "weight_decay": 0.1}),
    "AMSGrad, decoupled": (
        torch.optim.AdamW,
        {"amsgrad": True, "betas": (0.5, 0.7), "maximize": True, "fused": True},
    ),
    "RMSprop": (torch.optim.RMSprop, {}),
    "RMSprop, all": (
        torch.optim.RMSprop,
        {"momentum": 0.9, "centered": True, "weight_decay": 0.1, "alpha": 0.9, "eps": 1e-3},
    ),
    "RMSprop, momentum": (torch.optim.RMSprop, {"momentum": 0.9, "maximize": True}),
    "RMSprop, centered": (torch.optim.RMSprop, {"centered": True, "eps": 1e-3, "foreach": True}),
    "Adagrad": (torch.optim.Adagrad, {}),
    "Adagrad, all": (
        torch.optim.Adagrad,
        {"lr_decay": 0.1, "weight_decay": 0.1, "initial_accumulator_value": 0.5, "eps": 1e-6},
    ),
    "Adagrad, fused": (torch.optim.Adagrad, {"fused": True, "maximize": True}),
    "Adadelta": (torch.optim.Adadelta, {"rho": 0.8, "weight_decay": 0.1, "maximize": True}),
    "Adamax": (torch.optim.Adamax, {"weight_decay": 0.1, "betas": (0.8, 0.99)}),
    "NAdam": (torch.optim.NAdam, {"weight_decay": 0.1, "momentum_decay": 0.1}),
    "NAdam, decoupled": (
        torch.optim.NAdam,
        {"weight_decay": 0.1, "decoupled_weight_decay": True, "maximize": True},
    ),
    "RAdam": (torch.optim.RAdam, {"weight_decay": 0.1, "betas": (0.8, 0.99)}),
    "RAdam, decoupled": (
        torch.optim.RAdam,
        {"weight_decay": 0.1, "decoupled_weight_decay": True, "foreach": False},
    ),
}
TO_TORCH = {
    "ASGD": (torch.optim.ASGD, {}),
}


@pytest.mark.parametrize("name", [*OPTIMIZERS, *TO_TORCH])
def test_optimizers(name: str) -> None:
    kind, options = (OPTIMIZERS | TO_TORCH)[name]
    x, y = data()
    model = linear()
    other = copy.deepcopy(model)
    groups = [
        [{"params": [m[1].weight]}, {"params": [m[1].bias], "lr": 0.1}] for m in (model, other)
    ]
    first, second = (kind(group, lr=0.02, **options) for group in groups)
    step, expected = (
        sol.training_step(model, F.cross_entropy, first),
        torch_step(other, F.cross_entropy, second),
    )
    rates = [torch.optim.lr_scheduler.StepLR(one, 3, 0.9) for one in (first, second)]
    for number in range(20):
        torch.testing.assert_close(step(x, y), expected(x, y), rtol=1e-5, atol=1e-5)
        for one in rates:
            one.step()
        if number == 9:  # settings, and what the optimizer keeps, may be others at any time
            for one in (first, second):
                one.param_groups[0]["lr"] *= 0.5
                one.load_state_dict(copy.deepcopy(one.state_dict()))
    same_state(model, other)
    same_optimizers(first, second)
    assert (
        step.fused == ("forward", "loss", "backward", "optimizer")[: 4 if name in OPTIMIZERS else 3]
    )


@pytest.mark.parametrize("batch", [1, 6])
def test_large_weights_and_small_batches(batch: int) -> None:
    torch.manual_seed(1)
    model = nn.Sequential(nn.Linear(30, 600), nn.Tanh(), nn.Linear(600, 30))
    other = copy.deepcopy(model)
    options = {"lr": 0.1, "momentum": 0.9, "weight_decay": 0.01}
    first, second = (torch.optim.SGD(m.parameters(), **options) for m in (model, other))
    step = sol.training_step(model, F.mse_loss, first)
    expected = torch_step(other, F.mse_loss, second)
    x, y = torch.randn(batch, 30), torch.randn(batch, 30)
    for _ in range(3):
        torch.testing.assert_close(step(x, y), expected(x, y))
    same_state(model, other)
    same_optimizers(first, second)


LOSSES = {
    "cross entropy": (nn.CrossEntropyLoss(label_smoothing=0.1), lambda y: y),
    "MSE": (F.mse_loss, lambda y: F.one_hot(y, 3).float()),
    "L1": (nn.L1Loss(reduction="sum"), lambda y: F.one_hot(y, 3).float()),
    "BCE": (nn.BCEWithLogitsLoss(pos_weight=torch.tensor(2.0)), lambda y: F.one_hot(y, 3).float()),
    "Huber": (nn.HuberLoss(), lambda y: F.one_hot(y, 3).float()),
    "a function": (lambda scores, y: scores.logsumexp(1).mean() - scores[:, 0].mean(), lambda y: y),
}


@pytest.mark.parametrize("name", LOSSES)
def test_losses(name: str) -> None:
    loss, target = LOSSES[name]
    x, y = data()
    model = linear()
    other = copy.deepcopy(model)
    steps = [
        make(one, loss, torch.optim.SGD(one.parameters(), 0.1))
        for make, one in ((sol.training_step, model), (torch_step, other))
    ]
    for _ in range(3):
        values = [step(x, target(y)) for step in steps]
        torch.testing.assert_close(*values)
    same_state(model, other)
    assert not values[0].requires_grad and steps[0].fused[-1] == "optimizer"


def by_python(scores: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    return F.cross_entropy(scores, y) if y.sum() >= 0 else scores.sum()


@pytest.mark.parametrize(
    "how",
    ["frozen", "eval", "shapes", "scheduler", "optimized", "loss", "hooks", "written", "replaced"],
)
def test_ways_of_training(how: str) -> None:
    x, y = data()
    model = Net()
    other = copy.deepcopy(model)
    loss = by_python if how == "loss" else F.cross_entropy
    losses, optimizers = [], []
    for one, make in ((model, sol.training_step), (other, torch_step)):
        optimizer = torch.optim.SGD(one.parameters(), 0.1, momentum=0.9)
        optimizers.append(optimizer)
        given = sol.optimize(one, x) if how == "optimized" and one is model else one
        step = make(given, loss, optimizer)
        if how == "scheduler":
            scheduler = torch.optim.lr_scheduler.ExponentialLR(optimizer, 0.5)
        for number in range(4):
            if number == 2:
                if how == "frozen":
                    one.conv.requires_grad_(False)
                elif how == "eval":
                    one.norm.eval()
                elif how == "hooks":
                    one.head.register_forward_hook(lambda module, args, output: output * 2)
                elif how == "replaced":
                    one.head = copy.deepcopy(one.head)
                    optimizer.add_param_group({"params": list(one.head.parameters())})
                elif how == "written":
                    one.load_state_dict({k: v * 2 for k, v in one.state_dict().items()})
                    one.head.weight = nn.Parameter(one.head.weight.detach() + 1)
                    optimizer.add_param_group({"params": [one.head.weight]})
            size = 3 if how == "shapes" and number % 2 else 6
            losses.append(float(step(x[:size], y[:size])))
            if how == "scheduler":
                scheduler.step()
        if one is model:
            fused = step.fused
    assert losses[:4] == pytest.approx(losses[4:], rel=1e-4)
    same_state(model, other)
    same_optimizers(*optimizers)
    assert fused == (
        () if how in ("loss", "hooks") else ("forward", "loss", "backward", "optimizer")
    )
    if how not in ("loss", "hooks"):
        fast = sol.optimize(model.eval(), x)
        with torch.no_grad():
            before = fast(x)
            model.train()
            sol.training_step(model, loss, optimizers[0])(x, y)
            model.eval()
            torch.testing.assert_close(fast(x), model(x))
            assert not torch.equal(fast(x), before)


@pytest.mark.parametrize(
    ("make", "kind", "text"),
    [
        (lambda m, o: sol.training_step(3, F.mse_loss, o), TypeError, "model: expected"),
        (lambda m, o: sol.training_step(m, 3, o), TypeError, "loss: expected a function"),
        (lambda m, o: sol.training_step(m, F.mse_loss, m), TypeError, "optimizer: expected a"),
        (
            lambda m, o: sol.training_step(m, lambda a, b: a - b[:, None], o)(*data()),
            TypeError,
            r"loss: expected a number, got float32 \(6, 3\)",
        ),
        (lambda m, o: sol.training_step(m, F.mse_loss, o)(), TypeError, "arguments of the model"),
    ],
)
def test_what_is_rejected(make, kind, text) -> None:
    model = linear()
    with pytest.raises(kind, match=text):
        make(model, torch.optim.SGD(model.parameters(), 0.1))


def test_a_model_that_cannot_be_exported_is_trained_by_torch() -> None:
    class Chooses(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.weight = nn.Parameter(torch.ones(3))

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return x * self.weight if x.sum() > 0 else x + self.weight

    model, x = Chooses(), torch.ones(3)
    step = sol.training_step(model, F.mse_loss, torch.optim.SGD(model.parameters(), 0.1))
    assert float(step(x, torch.zeros(3))) == 1 and float(step(x, torch.zeros(3))) < 1
    assert step.fused == ()
    with pytest.raises(GraphError):
        sol.optimize(model, x)


def test_the_example() -> None:
    path = Path(__file__).resolve().parents[2] / "examples" / "train.py"
    example = runpy.run_path(str(path))
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        example["main"](1)
    found = re.findall(r"^(\S+) +loss ([0-9.]+)", printed.getvalue(), re.MULTILINE)
    losses = {way: float(loss) for way, loss in found}
    assert list(losses) == ["torch", "sol.optimize", "sol.training_step"]
    assert max(losses.values()) - min(losses.values()) < 0.3
