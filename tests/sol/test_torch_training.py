"""Optimized modules of torch in training mode."""

from __future__ import annotations

import copy
import warnings
from typing import ClassVar

import pytest
import torch
from torch import nn

from mx import sol
from mx.graph import GraphError

pytestmark = pytest.mark.usefixtures("one_thread")


class Net(nn.Module):
    """A convolution, a batch norm, dropout and a linear layer."""

    def __init__(self, p: float = 0.0) -> None:
        super().__init__()
        self.conv = nn.Conv2d(1, 4, 3, padding=1, bias=False)
        self.norm = nn.BatchNorm2d(4)
        self.drop = nn.Dropout(p)
        self.head = nn.Linear(4, 3)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.head(self.drop(torch.relu(self.norm(self.conv(x)))).mean((2, 3)))


def pair(model: nn.Module, *args: torch.Tensor, **options):
    """An optimized model, and a copy of the original that torch executes."""
    return sol.optimize(model, *args, **options), copy.deepcopy(model)


@pytest.fixture
def x() -> torch.Tensor:
    torch.manual_seed(0)
    return torch.randn(4, 1, 5, 6)


@pytest.fixture(autouse=True)
def no_warnings():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        yield


def same_state(one: nn.Module, other: nn.Module) -> None:
    for (name, a), b in zip(one.state_dict().items(), other.state_dict().values(), strict=True):
        torch.testing.assert_close(a, b, msg=lambda text, name=name: f"{name}: {text}")


@torch.no_grad()
def test_running_statistics(x) -> None:
    fast, model = pair(Net(), x)
    for part in ("", "", "norm", "", "all", ""):
        for one in (fast, model):
            one.train(part != "all")
            one.norm.train(part == "")
        torch.testing.assert_close(fast(x), model(x))
        same_state(fast, model)


class Noisy(nn.Module):
    """Dropout of all kinds."""

    def __init__(self) -> None:
        super().__init__()
        self.lstm = nn.LSTM(4, 4, num_layers=2, dropout=0.5)
        self.attention = nn.MultiheadAttention(4, 2, dropout=0.5)
        self.channels = nn.Dropout1d(0.5)

    def forward(self, x: torch.Tensor) -> list[torch.Tensor]:
        dropped = nn.functional.dropout(torch.ones_like(x), 0.25)
        attended = self.attention(x, x, x, need_weights=False)[0]
        return [dropped, self.lstm(x)[0], attended, self.channels(x), dropped + 0]


@torch.no_grad()
def test_dropout_follows_the_seed() -> None:
    x = torch.randn(40, 30, 4)
    fast = sol.optimize(Noisy(), x)

    def calls() -> list[torch.Tensor]:
        return [one for _ in range(2) for one in fast(x)]

    def seeded(how) -> list[torch.Tensor]:
        how(5)
        return calls()

    for how in (torch.manual_seed, sol.set_seed):
        first, again, other = seeded(how), seeded(how), calls()
        for a, b, c, d in zip(first[:5], again[:5], first[5:], other[:5], strict=True):
            assert torch.equal(a, b) and not torch.equal(a, c) and not torch.equal(a, d)
    sol.set_seed(None)
    dropped = first[0]
    assert torch.equal(dropped.unique(), torch.tensor([0, 4 / 3]))
    assert abs(float((dropped == 0).float().mean()) - 0.25) < 0.03
    by_channel = first[3] == 0
    assert torch.equal(by_channel.all(2), by_channel.any(2)) and by_channel.any()


@pytest.mark.parametrize(("low", "high"), [(1 / 8, 1 / 3), (0.5, 0.5)])
def test_random_slopes(low, high) -> None:
    """Of what is not above 0, drawn anew at each call; the gradient has the same."""
    x = torch.randn(60, 50, dtype=torch.float64, requires_grad=True)
    fast = sol.optimize(nn.RReLU(low, high), x)
    is_above, found = x > 0, []
    for seed in (3, 3, 4):
        torch.manual_seed(seed)
        y = fast(x)
        (slopes,) = torch.autograd.grad(y.sum(), x)
        torch.testing.assert_close(y, x * slopes)
        assert torch.equal(slopes[is_above], torch.ones(int(is_above.sum())).double())
        found.append(slopes[~is_above])
    first, again, other = found
    assert torch.equal(first, again) and torch.equal(first, other) == (low == high)
    # Uniformly distributed, but for the rounding of float32.
    assert low - 1e-7 < first.min() and first.max() < high + 1e-7
    assert abs(first.mean() - (low + high) / 2) < 0.1 * (high - low) + 1e-7
    assert abs(first.std() - (high - low) / 12**0.5) < 0.1 * (high - low) + 1e-7
    torch.testing.assert_close(fast.eval()(x), nn.functional.leaky_relu(x, (low + high) / 2))


@pytest.mark.parametrize("seed", [-1, 1 << 63, 1.5, True, "1"])
def test_wrong_seeds(seed) -> None:
    with pytest.raises((TypeError, ValueError), match=r"sol.set_seed: seed: expected"):
        sol.set_seed(seed)


class Rounded(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x.round()

    @staticmethod
    def backward(ctx, grad):
        return grad


class Straight(nn.Module):
    """Has a gradient that torch.export leaves out."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return Rounded.apply(x)


@torch.no_grad()
def test_gradients_that_are_defined_in_python(x) -> None:
    fast = sol.optimize(Straight(), x)
    with pytest.raises(GraphError, match=r"Rounded is a torch.autograd.Function.*test_torch_tra"):
        fast.train()(x)
    again = sol.optimize(Straight(), x, fallback=True).train()
    with pytest.warns(sol.SolWarning, match="Straight is executed by torch: .*Rounded"):
        assert torch.equal(again(x), x.round())


class Counted(nn.Module):
    """Counts its calls, those of torch.export among them."""

    calls: ClassVar[int] = 0

    def __init__(self) -> None:
        super().__init__()
        self.head = nn.Linear(3, 3)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        Counted.calls += 1
        return Rounded.apply(self.head(x))


def test_what_cannot_be_trained_is_tried_once_for_each_shape() -> None:
    fast = sol.optimize(Counted(), torch.randn(2, 3), vdims=[True], fallback=True)
    for number, rows in enumerate((2, 5, 2, 5)):
        for mode in (True, False):
            fast.train(mode)
            before = Counted.calls
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always", sol.SolWarning)
                fast(torch.randn(rows, 3)).sum().backward()
            # torch itself calls it once.
            assert (Counted.calls - before > 1) == (number < 2), (rows, mode)
            told = [one for one in caught if issubclass(one.category, sol.SolWarning)]
            assert len(told) == (number == 0 and mode)
    assert fast.head.weight.grad is not None
