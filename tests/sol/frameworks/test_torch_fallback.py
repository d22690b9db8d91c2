"""Modules of torch of which plans execute parts, and torch what cannot be exported."""

from __future__ import annotations

import copy
import pickle

import pytest
import torch
from torch import nn

from mx import sol


class Choosing(nn.Module):
    """Cannot be exported."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x if x.max() > 0 else -x


class Mixed(nn.Module):
    """Layers of its own around a sequence and Python code."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.body = body()
        self.head, self.small = nn.Linear(8, width), nn.Linear(8, 3)
        self.steps = nn.ModuleList([nn.Sequential(nn.Linear(8, 8), nn.Tanh())])

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = self.steps[0](self.body(x))
        if x.max() > 9:
            x = x / 2
        return torch.cat([self.head(x), self.small(x)], 1)


def body() -> nn.Sequential:
    inner = nn.Sequential(nn.Linear(8, 8), nn.ReLU(), Choosing())
    before = nn.Linear(8, 8), nn.BatchNorm1d(8), nn.Dropout(0.0)
    return nn.Sequential(*before, Choosing(), nn.Linear(8, 8), nn.Tanh(), inner, nn.Flatten())


class Twice(nn.Module):
    """Calls a module with two shapes."""

    def __init__(self) -> None:
        super().__init__()
        self.inner = nn.Sequential(nn.Linear(8, 8), nn.ReLU())
        self.choosing = Choosing()

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.choosing(torch.cat([self.inner(x), self.inner(x[:1])]))


BODY = ["0-2", "4-5", "6.0-1"]
CASES = {
    "layers": (
        lambda: Mixed(4096),
        [*(f"body.{one}" for one in BODY), "head", "steps.0"],
        ["'body.3'", "'body.6.2'"],
    ),
    "one big layer in a sequence": (
        lambda: nn.Sequential(Choosing(), nn.Linear(8, 4096), Choosing(), nn.ReLU(), Choosing()),
        ["1"],
        ["'0'", "'2'", "'4'"],
    ),
}


def made(make) -> nn.Module:
    torch.manual_seed(1)
    return make()


@pytest.mark.parametrize("case", CASES)
def test_parts(case) -> None:
    make, parts, rest = CASES[case]
    model, other, x = made(make), made(make), torch.randn(4, 8)
    with pytest.warns(sol.SolWarning) as told:
        fast = sol.optimize(model, x, fallback=True)
    (text,) = [str(one.message) for one in told]
    for name in rest:
        assert f"module {name}: Choosing cannot be exported by torch: its Python code" in text
    assert "test_torch_fallback.py:" in text
    assert sorted(sol.report(fast).parts) == sorted(parts)
    assert list(fast.state_dict()) == list(model.state_dict())
    for is_training in (False, True, False):
        for one in (fast, other):
            one.train(is_training)
            one.zero_grad()
        result, expected = fast(x), other(x)
        torch.testing.assert_close(result, expected, rtol=1e-4, atol=1e-5)
        result.square().mean().backward()
        expected.square().mean().backward()
        for own, right in zip(model.parameters(), other.parameters(), strict=True):
            torch.testing.assert_close(own.grad, right.grad, rtol=1e-3, atol=1e-4)
        with torch.no_grad():
            for one in (*model.parameters(), *other.parameters()):
                one.mul_(1.1)
    for own, right in zip(model.buffers(), other.buffers(), strict=True):
        torch.testing.assert_close(own, right)


def short() -> nn.Sequential:
    """Two runs, of which torch executes what is between them."""
    made = nn.Linear(8, 8), nn.Dropout(), Choosing(), nn.Linear(8, 8), nn.Tanh()
    return nn.Sequential(*made).eval()


def optimized() -> nn.Sequential:
    with pytest.warns(sol.SolWarning):
        return sol.optimize(short(), torch.randn(4, 8), fallback=True).eval()


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda one: pickle.loads(pickle.dumps(one))])
def test_copies_have_weights_of_their_own(copied) -> None:
    fast, x = optimized(), torch.randn(4, 8)
    other = copied(fast)
    assert list(sol.report(other).parts) == ["0-1", "3-4"]
    with torch.no_grad():
        before = fast(x)
        torch.testing.assert_close(other(x), before)
        other[0].weight.mul_(2)
        torch.testing.assert_close(fast(x), before)
        assert not torch.allclose(other(x), before)


def test_sequences_that_are_changed() -> None:
    """A module that was replaced is executed, with a hook torch calls it."""
    fast, x, calls = optimized(), torch.randn(4, 8), []
    with torch.no_grad():
        hook = fast[1].register_forward_hook(lambda *given: calls.append(given))
        with pytest.warns(sol.SolWarning, match="have hooks"):
            expected = fast(x)
        assert len(calls) == 1
        hook.remove()
        torch.testing.assert_close(fast(x), expected)
        assert isinstance(fast[:2], nn.Sequential) and len(fast[:2]) == 2
        fast[4] = nn.ReLU()
        assert not torch.allclose(fast(x), expected)


def test_what_is_called_with_several_shapes() -> None:
    with pytest.warns(sol.SolWarning, match="module 'inner': it is called with several shapes"):
        fast = sol.optimize(Twice().eval(), torch.randn(4, 8), fallback=True)
    assert fast(torch.randn(4, 8)).shape == (5, 8)


@pytest.mark.parametrize(("options", "x"), [({"vdims": [True]}, 6), ({"batch_size": 6}, 6)])
def test_batches_of_other_lengths(options, x) -> None:
    model = short()
    with pytest.warns(sol.SolWarning, match="torch executes all except"):
        fast = sol.optimize(model, torch.randn(4, 8), fallback=True, **options)
    given = torch.randn(x, 8)
    with torch.no_grad():
        torch.testing.assert_close(fast(given), model(given), rtol=1e-4, atol=1e-5)


def test_a_layer_that_changes_its_argument() -> None:
    model = nn.Sequential(Choosing(), nn.ReLU(inplace=True), nn.Linear(8, 4096)).eval()
    text = r"modules 2: .*module '1': .*ReLU changes its argument .*activation.py:\d+\)$"
    with pytest.warns(sol.SolWarning, match=text):
        fast = sol.optimize(model, torch.randn(4, 8), fallback=True)
    x = torch.randn(4, 8)
    with torch.no_grad():
        torch.testing.assert_close(fast(x.clone()), model(x.clone()), rtol=1e-4, atol=1e-5)
