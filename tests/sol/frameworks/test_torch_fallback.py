"""Modules of torch of which plans execute parts, and torch what cannot be exported."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
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


class Inner(nn.Module):
    """A layer, and what else a call does."""

    def __init__(self, does: Callable[..., Any]) -> None:
        super().__init__()
        self.layer, self.does, self.seen = nn.Linear(8, 8), does, []
        self.last = torch.zeros(())

    def forward(self, x: torch.Tensor, *more: Any) -> Any:
        return self.does(self, self.layer(x), x, *more)


class Outer(nn.Module):
    """Calls it, and reads what it did, around what torch executes."""

    def __init__(self, does: Callable[..., Any], calls: Callable[..., Any]) -> None:
        super().__init__()
        self.inner, self.choosing, self.calls = Inner(does), Choosing(), calls
        self.steps = nn.Sequential(nn.Linear(8, 8), nn.Sequential(nn.Linear(8, 8), nn.Tanh()))
        self.same, self.count = self.inner, 0
        self.register_buffer("drawn", torch.zeros(()))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.choosing(self.calls(self, x))


class Backwards(nn.Sequential):
    """Executes its modules from the last to the first."""

    def __iter__(self) -> Any:
        return reversed(list(self._modules.values()))


def keeps(inner, y, x):
    inner.last = y
    return y * 2


def sets(outer, x):
    outer.inner.last = x.sum()
    return outer.inner(x)


def keeps_in_list(inner, y, x):
    inner.seen.append(y)
    return y * 2


def appends(inner, y, x, given):
    given.append(y)
    return y * 2


def with_list(outer, x):
    given = [x]
    return outer.inner(x, given) + given[-1]


def changes_view(outer, x):
    x = x * 2
    view, y = outer.inner(x)
    view += 1
    return x + y


def iterates(outer, x):
    for step in outer.steps:
        x = step(x)
    return x + outer.inner(x) + outer.same(x)


def plain(inner, y, x, *more):
    return y if not more or more[0] is None else y + 1


DOING = {
    "an attribute": (
        keeps,
        lambda outer, x: outer.inner(x) + outer.inner.last,
        [],
        "module 'inner': the attribute 'last' of Inner is set in a call",
    ),
    "an attribute that the model sets": (
        lambda inner, y, x: y * inner.last,
        sets,
        [],
        "module 'inner': the attribute 'last' of Inner is set in a call",
    ),
    "a list among the attributes": (
        keeps_in_list,
        lambda outer, x: outer.inner(x) + sum(outer.inner.seen),
        [],
        "module 'inner': the attribute 'seen' of Inner is set in a call",
    ),
    "a list among the arguments": (
        appends,
        with_list,
        [],
        "module 'inner': it changes a list or a dict among its arguments",
    ),
    "a view of an argument": (
        lambda inner, y, x: (x[:, :4], y),
        changes_view,
        [],
        "module 'inner': what it returns has memory in common with its arguments, weights",
    ),
    "one result twice": (
        lambda inner, y, x: (y, y),
        changes_view,
        [],
        "module 'inner': what it returns has memory in common with its arguments, weights",
    ),
    "arrays of NumPy": (
        lambda inner, y, x, scale: y * float(scale[0]),
        lambda outer, x: outer.inner(outer.inner(x, np.ones(2)), np.ones(2)),
        [],
        "module 'inner': Inner cannot be exported",
    ),
    # A sequence that is not called has no runs, and one module of two names is one part.
    "modules of a sequence": (plain, iterates, ["inner", "steps.1"], "module 'choosing'"),
    "other arguments": (
        plain,
        lambda outer, x: outer.inner(x, None if x.sum() > 0 else 1),
        ["inner"],
        "cannot be exported",
    ),
    "other shapes": (
        plain,
        lambda outer, x: outer.inner(x[x[:, 0] > -x[0, 1]]).sum(0),
        ["inner"],
        "cannot be exported",
    ),
}


@pytest.mark.filterwarnings("ignore:Inner is executed by torch:mx.sol.SolWarning")
@pytest.mark.parametrize("case", DOING)
def test_what_a_call_does_besides(case) -> None:
    does, calls, parts, text = DOING[case]
    model, x = made(lambda: Outer(does, calls)).eval(), torch.ones(4, 8)
    other = copy.deepcopy(model)
    with pytest.warns(sol.SolWarning, match=text):
        fast = sol.optimize(model, x, fallback=True)
    if parts:
        assert list(sol.report(fast).parts) == parts
        assert fast.same is fast.inner
    with torch.no_grad():
        for given in (x, -x, torch.randn(4, 8)):
            torch.testing.assert_close(fast(given), other(given), rtol=1e-4, atol=1e-5)


def test_parts_of_other_arguments_are_told_of() -> None:
    does, calls, *_ = DOING["other arguments"]
    model, x = Outer(does, calls).eval(), torch.ones(4, 8)
    with pytest.warns(sol.SolWarning):
        fast = sol.optimize(model, x, fallback=True)
    fast(x)
    for one in (fast, copy.deepcopy(fast)):
        with pytest.warns(sol.SolWarning, match="Inner is executed by torch: its arguments are"):
            one(-x)


def test_a_sequence_of_another_order() -> None:
    modules = [Choosing(), nn.Linear(8, 4), nn.Tanh(), nn.Linear(8, 8)]
    model, x = nn.Sequential(Choosing(), Backwards(*modules)).eval(), torch.randn(4, 8)
    with pytest.warns(sol.SolWarning):
        fast = sol.optimize(model, x, fallback=True)
    with torch.no_grad():
        torch.testing.assert_close(fast(x), model(x), rtol=1e-4, atol=1e-5)


@pytest.mark.filterwarnings("ignore:.torch.jit:DeprecationWarning")
def test_a_module_without_python_code() -> None:
    traced = torch.jit.trace(nn.Sequential(nn.Linear(8, 8), nn.Tanh()).eval(), torch.ones(4, 8))
    model, x = nn.Sequential(traced, nn.Linear(8, 4096)).eval(), torch.randn(4, 8)
    with pytest.warns(sol.SolWarning, match="except the modules 1: module '0': .*ScriptModule"):
        fast = sol.optimize(model, x, fallback=True)
    with torch.no_grad():
        torch.testing.assert_close(fast(x), model(x), rtol=1e-4, atol=1e-5)


def counts(outer, x):
    outer.count += 1
    outer.drawn += torch.rand(())
    return outer.inner(x.add_(1))


def test_the_example_changes_nothing() -> None:
    model, x = Outer(plain, counts).eval(), torch.zeros(4, 8)
    state = torch.get_rng_state()
    with pytest.warns(sol.SolWarning, match="all except the modules inner"):
        sol.optimize(model, x, fallback=True)
    assert model.count == 0 and model.drawn == 0 and not x.any()
    assert torch.equal(torch.get_rng_state(), state)
    assert not any(one._forward_hooks or one._forward_pre_hooks for one in model.modules())


def test_nothing_is_printed(capsys) -> None:
    """torch prints all of the graph up to what it cannot follow, once for each module around it."""
    model, x = made(lambda: Mixed(4096)).eval(), torch.randn(3, 8)
    with pytest.warns(sol.SolWarning):
        fast = sol.optimize(model, x, fallback=True)
    with pytest.raises(ValueError, match="depends on the elements"):
        sol.optimize(model, x)
    with torch.no_grad():
        fast(x)
    printed = capsys.readouterr()
    assert printed.out == printed.err == ""
