"""What torch does around calls of optimized modules: transforms, forward mode, autocast, traces."""

from __future__ import annotations

import copy
import functools
import warnings
from typing import Any

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("onnx_ir")

from torch import nn  # noqa: E402
from torch.autograd import forward_ad  # noqa: E402
from torch.autograd import functional as AF  # noqa: E402

from mx import sol  # noqa: E402

pytestmark = pytest.mark.usefixtures("one_thread")

X = torch.linspace(-1, 1, 12).reshape(3, 4)


def plain() -> Any:
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(4, 5), nn.Tanh(), nn.Linear(5, 2))


def dual(model: Any) -> Any:
    with forward_ad.dual_level():
        return forward_ad.unpack_dual(model(forward_ad.make_dual(X, X + 1)))


def dual_parameter(model: Any) -> Any:
    weight = model[0].weight.detach()
    with forward_ad.dual_level():
        given = {"0.weight": forward_ad.make_dual(weight, torch.ones_like(weight))}
        return forward_ad.unpack_dual(torch.func.functional_call(model, given, (X,)))


def traced(model: Any) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        warnings.simplefilter("ignore", torch.jit.TracerWarning)
        return torch.jit.trace(model, X)(X + 1)


def exported(model: Any) -> Any:
    return torch.export.export(model, (X,)).module()(X + 1)


def gradients_of_parameters(model: Any) -> Any:
    def loss(parameters: Any) -> Any:
        return torch.func.functional_call(model, parameters, (X,)).square().sum()

    return tuple(torch.func.grad(loss)(dict(model.named_parameters())).values())


EXECUTED_BY_TORCH = [
    ("forward mode", dual),
    ("forward mode", dual_parameter),
    ("forward mode", lambda m: AF.jacobian(m, X, vectorize=True, strategy="forward-mode")),
    ("torch.func", lambda m: torch.func.jvp(m, (X,), (X + 1,))),
    ("torch.func", lambda m: torch.func.vmap(m)(torch.stack([X, X + 1]))),
    ("torch.func", lambda m: torch.func.hessian(lambda x: m(x).square().sum())(X)),
    ("torch.func", gradients_of_parameters),
    ("traces", traced),
    ("traces", exported),
]


@functools.cache
def pair(trains: bool, has_gradients: bool) -> Any:
    model = plain().train(trains).requires_grad_(has_gradients)
    return model, sol.optimize(model, X)


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # torch's, of what it calls itself
@pytest.mark.parametrize("mode", ["training", "inference", "no_grad"])
@pytest.mark.parametrize("number", range(len(EXECUTED_BY_TORCH)))
def test_executed_by_torch(number: int, mode: str) -> None:
    why, what = EXECUTED_BY_TORCH[number]
    model, fast = pair(mode == "training", mode != "inference")
    fast._sol._warned.clear()
    with torch.set_grad_enabled(mode != "no_grad"):
        for _ in range(2):  # the second has everything ready
            fast(X)
        with pytest.warns(sol.SolWarning, match=f"Sequential is executed by torch: .*{why}"):
            found = what(fast)
        expected = what(model)
        torch.testing.assert_close(found, expected)
        torch.testing.assert_close(fast(X), model(X))


@functools.cache
def beginning_with(first: str, is_foreign: bool) -> Any:
    layers = {"Linear": nn.Linear(4, 4), "Tanh": nn.Tanh(), "Identity": nn.Identity()}
    model = nn.Sequential(layers[first], nn.Tanh(), nn.Linear(4, 2))
    if not is_foreign:
        return sol.optimize(model, X)
    return sol.optimize(sol.optimize(model.eval(), X, framework="onnx"), framework="torch")


@pytest.mark.parametrize("number", [0, 3, 4, 7, 8])
def test_models_of_others_are_rejected(number: int) -> None:
    why, what = EXECUTED_BY_TORCH[number]
    fast = beginning_with("Linear", True)
    with torch.no_grad():
        fast(X)
        with pytest.raises(RuntimeError, match=f"of another framework: .*{why}"):
            what(fast)


def penalty(model: Any, x: Any) -> None:
    (grad,) = torch.autograd.grad(model(x).square().sum(), x, create_graph=True)
    grad.norm().backward()


def of_parameters(model: Any, x: Any) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # torch's, of reference cycles
        model(x).square().sum().backward(create_graph=True)
    grads = [one.grad for one in model.parameters()]
    torch.autograd.grad(sum(one.square().sum() for one in grads), [*model.parameters()][1:])


def of_what_is_before(model: Any, x: Any) -> None:
    scale = torch.tensor(2.0, requires_grad=True)
    (grad,) = torch.autograd.grad(model(x * scale).square().sum(), scale, create_graph=True)
    torch.autograd.grad(grad, scale, allow_unused=True)


def of_what_comes_after(model: Any, x: Any) -> None:
    weights = torch.ones(3, 2, requires_grad=True)
    (grad,) = torch.autograd.grad(model(x), x, weights, create_graph=True)
    torch.autograd.grad(grad.sum(), weights, allow_unused=True)


SECOND = [
    penalty,
    of_parameters,
    of_what_is_before,
    of_what_comes_after,
    lambda model, x: AF.hessian(lambda one: model(one).square().sum(), x),
    lambda model, x: AF.hvp(lambda one: model(one).square().sum(), x, x),
    lambda model, x: AF.jvp(model, x, x),
]


@pytest.mark.parametrize("is_foreign", [False, True])
@pytest.mark.parametrize("first", ["Linear", "Tanh", "Identity"])
@pytest.mark.parametrize("number", range(len(SECOND)))
def test_second_gradients_are_never_zero(number: int, first: str, is_foreign: bool) -> None:
    """Whether backward reads what was given, as it does of Linear, or what it made of that."""
    fast = beginning_with(first, is_foreign)
    fast.zero_grad()
    with pytest.raises(RuntimeError, match="an optimized model has no second gradients"):
        SECOND[number](fast, X.clone().requires_grad_())


def test_gradients_of_several_outputs_at_once() -> None:
    fast = sol.optimize(plain(), X)
    with pytest.raises(RuntimeError, match="no gradients of several outputs at once"):
        AF.jacobian(fast, X, vectorize=True)
    torch.testing.assert_close(AF.jacobian(fast, X), AF.jacobian(plain(), X))


class Casting(nn.Module):  # type: ignore[misc]
    """Has a part that is cast whatever is around it, one that is not, and what trains by itself."""

    def __init__(self) -> None:
        super().__init__()
        self.first, self.second, self.norm = nn.Linear(4, 4), nn.Linear(4, 4), nn.BatchNorm1d(4)
        self.last = nn.Linear(4, 2)

    def forward(self, x: Any) -> Any:
        with torch.autocast("cpu", dtype=torch.bfloat16):
            y = self.first(x)
        with torch.autocast("cpu", enabled=False):
            y = self.second(y.float())
        return self.last(self.norm(y))


def steps(model: Any, scaler: Any, dtype: Any) -> list[Any]:
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    found = []
    for _ in range(3):
        optimizer.zero_grad()
        with torch.autocast("cpu", dtype=dtype):
            found.append(model(X))
            loss = found[-1].float().square().sum()
        if scaler is None:
            loss.backward()
            optimizer.step()
        else:
            scaler.scale(loss).backward()
            scaler.unscale_(optimizer)
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            scaler.step(optimizer)
            scaler.update()
    return found


@pytest.mark.parametrize(
    ("make", "scales", "dtype"),
    [(plain, True, torch.float16), (Casting, False, torch.bfloat16)],
)
def test_training_with_autocast(make: Any, scales: bool, dtype: Any) -> None:
    """It is torch that executes, and nothing of it stays behind for calls outside."""
    torch.manual_seed(0)
    model = make()
    other = copy.deepcopy(model)
    with torch.autocast("cpu", dtype=dtype):
        fast = sol.optimize(model, X)
        sol.memory(fast, training=True)
    scalers = [torch.amp.GradScaler("cpu", init_scale=64.0) if scales else None for _ in range(2)]
    with pytest.warns(sol.SolWarning, match="torch.autocast is on"):
        found = steps(fast, scalers[0], dtype)
    torch.testing.assert_close(found, steps(other, scalers[1], dtype), rtol=0, atol=0)
    for mode in (True, False):
        fast.train(mode), other.train(mode)
        exactly = {"rtol": 1e-6, "atol": 1e-6} if make is plain else {"rtol": 1e-2, "atol": 1e-2}
        torch.testing.assert_close(fast(X), other(X), **exactly)
        with torch.no_grad():
            torch.testing.assert_close(fast(X), other(X), **exactly)
        fast.zero_grad(), other.zero_grad()
        fast(X).square().sum().backward(), other(X).square().sum().backward()
        for one, expected in zip(fast.parameters(), other.parameters(), strict=True):
            torch.testing.assert_close(one.grad, expected.grad, **exactly)


def test_scaled_gradients_outside_of_autocast() -> None:
    """A scaler finds what is infinite in gradients of plans, and leaves that step out."""
    model = plain()
    fast = sol.optimize(model, X)
    optimizer = torch.optim.SGD(fast.parameters(), lr=0.1)
    scaler = torch.amp.GradScaler("cpu", init_scale=1e38)
    before = [one.detach().clone() for one in model.parameters()]
    scaler.scale((fast(X) * 100).square().sum()).backward()
    scaler.step(optimizer)
    scaler.update()
    assert scaler.get_scale() < 1e38
    assert all(map(torch.equal, before, model.parameters()))
