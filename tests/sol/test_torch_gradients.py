"""Gradients of optimized modules of torch, and all that autograd does with them."""

from __future__ import annotations

import copy
import gc
import pickle
import runpy
import subprocess
import sys
import warnings
import weakref
from pathlib import Path

import pytest
import torch
from torch import nn
from torch.utils.checkpoint import checkpoint

from mx import sol
from mx.graph import GraphError

from .test_torch_training import Net, pair, same_state

pytestmark = pytest.mark.usefixtures("one_thread")


@pytest.fixture
def x() -> torch.Tensor:
    torch.manual_seed(0)
    return torch.randn(4, 1, 5, 6)


@pytest.fixture(autouse=True)
def no_warnings():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        yield


def same_gradients(one: nn.Module, other: nn.Module) -> None:
    for (name, a), b in zip(one.named_parameters(), other.parameters(), strict=True):
        assert (a.grad is None) == (b.grad is None), name
        if a.grad is not None:
            torch.testing.assert_close(
                a.grad, b.grad, atol=2e-6, rtol=1e-4, msg=lambda text, name=name: f"{name}: {text}"
            )


def simple(model, x) -> None:
    model(x).square().sum().backward()


def accumulated(model, x) -> None:
    for factor in (1.0, 2.0):
        model(x * factor).square().sum().backward()


def two_forwards(model, x) -> None:
    first, second = model(x), model(x * 2)
    second.square().sum().backward()
    first.exp().sum().backward()


def used_twice(model, x) -> None:
    (model(x) * model(x + 1)).sum().backward()


def retained(model, x) -> None:
    loss = model(x).square().sum()
    loss.backward(retain_graph=True)
    loss.backward()


def of_inputs(model, x) -> None:
    x = x.clone().requires_grad_()
    (grad,) = torch.autograd.grad(model(x).square().sum(), x, retain_graph=True)
    model.seen = grad
    (x * 2).sum().backward()
    model(x * 1).sum().backward()
    model.seen += x.grad


def frozen(model, x) -> None:
    model.conv.requires_grad_(False)
    model.head.bias.requires_grad_(False)
    simple(model, x)
    model.conv.requires_grad_(True)
    simple(model, x)


def norm_in_eval(model, x) -> None:
    simple(model, x)
    model.norm.eval()
    simple(model, x)
    simple(model.eval(), x)


def without_gradients(model, x) -> None:
    with torch.no_grad():
        assert not model(x).requires_grad
    with torch.inference_mode():
        model(x)
    simple(model, x)


def detached(model, x) -> None:
    model(x).detach().sum()
    output = model(x)
    (output * output.detach()).sum().backward()


def written_after(model, x) -> None:
    model(x).mul_(3).square().sum().backward()


def clipped(model, x) -> None:
    simple(model, x)
    nn.utils.clip_grad_norm_(model.parameters(), 0.1)


def zero_grad(model, x) -> None:
    simple(model, x)
    model.zero_grad()
    simple(model, x)


def through_a_checkpoint(model, x) -> None:
    checkpoint(model, x, use_reentrant=False).square().sum().backward()


def on_the_cpu_in_between(model, x) -> None:
    with torch.autograd.graph.save_on_cpu():
        loss = model(x).square().sum()
    loss.backward()


def expanded(model, x) -> None:
    model(x).sum().backward()


def by_hooks(model, x) -> None:
    handles = [
        model.register_forward_pre_hook(lambda module, args: (args[0] * 2,)),
        model.register_forward_hook(lambda module, args, output: output + 1),
        model.head.weight.register_hook(lambda grad: grad * 3),
        model.register_full_backward_hook(lambda module, grads, given: None),
    ]
    output = model(x.requires_grad_())
    output.register_hook(lambda grad: grad + 1)
    try:
        output.square().sum().backward()
    finally:
        for handle in handles:
            handle.remove()


def strided(model, x) -> None:
    simple(model, x.transpose(2, 3).contiguous().transpose(2, 3))
    simple(model, x.to(memory_format=torch.channels_last))


def stepped(model, x) -> None:
    optimizer = torch.optim.Adam(model.parameters(), 0.01)
    for _ in range(3):
        optimizer.zero_grad()
        simple(model, x)
        optimizer.step()


def other_parameters(model, x) -> None:
    simple(model, x)
    model.head.weight = nn.Parameter(model.head.weight.detach() * 2)
    model.head.bias.data = model.head.bias.data + 1
    simple(model, x)
    model.load_state_dict({key: value * 1.5 for key, value in model.state_dict().items()})
    simple(model, x)


WAYS = [
    simple, accumulated, two_forwards, used_twice, retained, of_inputs, frozen, norm_in_eval,
    without_gradients, detached, written_after, clipped, zero_grad, through_a_checkpoint,
    on_the_cpu_in_between, expanded, by_hooks, strided, stepped, other_parameters,
]  # fmt: skip


@pytest.fixture(scope="module")
def shared():
    """Modules of which tests leave the parameters as they were."""
    torch.manual_seed(1)
    return pair(Net(), torch.randn(4, 1, 5, 6))


@pytest.mark.parametrize("way", WAYS)
def test_what_autograd_does(shared, x, way) -> None:
    state = copy.deepcopy(shared[0].state_dict())
    for model in shared:
        model.zero_grad()
        way(model.train(), x)
    same_gradients(*shared)
    same_state(*shared)
    if way is of_inputs:
        torch.testing.assert_close(shared[0].seen, shared[1].seen)
    for model in shared:
        model.load_state_dict(state)


def test_outputs_without_gradients() -> None:
    class Several(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.weight = nn.Parameter(torch.ones(3))
            self.unused = nn.Parameter(torch.ones(2))

        def forward(self, x):
            y = x * self.weight
            with torch.no_grad():
                level = y.sum()
            return {"y": y, "best": y.argmax(), "x": x + 1, "level": level, "other": y.exp()}

    model = Several()
    fast = sol.optimize(model, torch.randn(3))
    x = torch.randn(3)
    found, expected = fast(x), model.forward(x)
    for name, value in Several.forward(copy.deepcopy(model), x).items():
        assert found[name].requires_grad == value.requires_grad, name
        torch.testing.assert_close(expected[name], found[name])
    (found["y"] * found["level"]).sum().backward()
    torch.testing.assert_close(model.weight.grad, x * (x.sum()))
    assert model.unused.grad is None


def test_a_second_derivative_is_an_error(x) -> None:
    fast, _ = pair(Net(), x)
    x.requires_grad_()
    (grad,) = torch.autograd.grad(fast(x).square().sum(), x, create_graph=True)
    with pytest.raises(RuntimeError, match="Net: an optimized model has no second gradients"):
        grad.sum().backward()


def test_a_backward_needs_what_the_forward_has_seen(x) -> None:
    fast, _ = pair(Net(), x)
    loss = fast(x).sum()
    with torch.no_grad():
        fast.head.weight.add_(1)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        loss.backward()
    loss = fast(x).sum()
    loss.backward()
    with pytest.raises(RuntimeError, match="second time"):
        loss.backward()


def test_memory_is_freed_by_the_backward(x) -> None:
    from mx.sol.frameworks.torch._held import _keepers

    fast, _ = pair(Net(), x)
    gc.collect()
    before = len(_keepers)
    loss = fast(x).sum()
    assert len(_keepers) == before + 1
    loss.backward()
    assert len(_keepers) == before
    given = weakref.ref(loss)
    del loss
    assert given() is None


@pytest.mark.parametrize(
    "made", [copy.deepcopy, lambda m: pickle.loads(pickle.dumps(m))], ids=["copy", "pickle"]
)
def test_copies_train_on_their_own(shared, x, made) -> None:
    fast, model = shared
    other = made(fast)
    other.zero_grad()
    fast.zero_grad()
    other(x).sum().backward()
    assert other.head.weight.grad is not None and fast.head.weight.grad is None
    assert list(other.state_dict()) == list(model.state_dict())


def test_other_types_and_shapes(x) -> None:
    fast, _ = pair(Net(), x)
    simple(fast, x)
    fast.conv.double()
    with pytest.raises(TypeError, match=r"conv.weight.*float64.*optimize it again"):
        fast(x)
    fast.float()
    head, fast.head = fast.head, nn.Linear(4, 3)
    with pytest.raises(TypeError, match="a module is new or another than.*optimize it again"):
        fast(x)
    fast.head = head
    with pytest.raises(ValueError, match="axis 0: expected 4, got 3"):
        fast(x[:3])
    with pytest.raises(TypeError, match="input 'x': expected torch.float32, got torch.float64"):
        fast(x.double())
    simple(fast, x)


def test_conversion_between_steps(x) -> None:
    # Of float64 NumPy executes the layers that have no kernels.
    warnings.simplefilter("ignore", sol.SolWarning)
    fast, model = (one.eval() for one in pair(Net(), x))
    simple(fast, x)
    for dtype in (torch.float64, torch.float32):
        fast.to(dtype)
        model.to(dtype)
        for module in (fast, model):
            module.zero_grad()
            module(x.to(dtype)).sum().backward()
        for ours, theirs in zip(fast.parameters(), model.parameters(), strict=True):
            assert ours.grad.dtype == dtype
            torch.testing.assert_close(ours.grad, theirs.grad, rtol=1e-4, atol=1e-5)


def test_dimensions_that_vary(x) -> None:
    fast, model = pair(Net(), x, vdims=True)
    for length in (4, 1, 3):
        for one in (fast, model):
            one.zero_grad()
            simple(one, x[:length])
        same_gradients(fast, model)


class Tied(nn.Module):
    """One weight in two modules."""

    def __init__(self) -> None:
        super().__init__()
        self.embed = nn.Embedding(7, 4)
        self.out = nn.Linear(4, 7, bias=False)
        self.out.weight = self.embed.weight

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        return self.out(torch.tanh(self.embed(tokens)))


def test_tied_weights() -> None:
    tokens = torch.tensor([[1, 2, 2], [0, 6, 1]])
    fast, model = pair(Tied(), tokens)
    for one in (fast, model):
        simple(one, tokens)
    same_gradients(fast, model)
    assert len(list(fast.parameters())) == 1


class Branches(nn.Module):
    """Takes a layer by the sum of what it is given."""

    def __init__(self) -> None:
        super().__init__()
        self.one, self.two = nn.Linear(3, 3), nn.Linear(3, 3)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.cond(x.sum() > 0, self.one, lambda y: torch.tanh(self.two(y)), (x,))


@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.filterwarnings("ignore")  # torch compiles cond, which warns of itself
def test_branches(sign: int) -> None:
    rows = sign * torch.rand(4, 3)
    fast, model = pair(Branches(), rows)
    for one in (fast, model):
        simple(one, rows)
    same_gradients(fast, model)


class Unknown(nn.Module):
    """Has an operator whose gradient is not there, and a linear layer."""

    def __init__(self) -> None:
        super().__init__()
        self.first = nn.Sequential(nn.Linear(3, 3), nn.Tanh())

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.first(x).i0()


def test_what_has_no_gradient() -> None:
    x = torch.randn(4, 3)
    with pytest.raises(GraphError, match="i0") as raised:
        sol.optimize(Unknown(), x)(x)
    assert "test_torch_gradients" in str(raised.value)
    model = Unknown()
    with pytest.warns(sol.SolWarning, match="torch"):
        fast = sol.optimize(model, x, fallback=True)
        fast(x).sum().backward()
    assert model.first[0].weight.grad is not None


def test_two_processes_have_the_losses_of_one() -> None:
    path = Path(__file__).resolve().parents[2] / "examples" / "ddp_training.py"
    done = subprocess.run([sys.executable, path, "2"], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    example = runpy.run_path(str(path))
    found = [float(line) for line in done.stdout.split()]
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(8, 32), nn.Tanh(), nn.Linear(32, 1))
    steps, batch = example["STEPS"], example["BATCH"]
    inputs, noise = torch.randn(steps, batch, 8), torch.randn(steps, batch, 1)
    targets = inputs.sum(-1, keepdim=True).sin() + noise / 20
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
    expected = []
    for x, target in zip(inputs, targets, strict=True):
        optimizer.zero_grad()
        loss = nn.functional.mse_loss(model(x), target)
        loss.backward()
        optimizer.step()
        expected.append(loss.item())
    assert found == pytest.approx(expected, rel=1e-4)


@pytest.mark.parametrize("count", [0, 3])
def test_processes_that_cannot_share_a_batch_evenly(count: int) -> None:
    path = Path(__file__).resolve().parents[2] / "examples" / "ddp_training.py"
    done = subprocess.run([sys.executable, path, str(count)], capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == f"PROCESSES: expected a divisor of 16, got {count}\n"
