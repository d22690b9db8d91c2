"""Optimized models that an accelerator executes."""

from __future__ import annotations

import copy

import numpy
import pytest
import torch
from torch import nn

import mx
from mx import sol
from tests.graph.build import graph_of

TEXT = "g (float[N,4] x) => (float[N,4] y) { h = Abs(x) y = Erf(h) }"


@pytest.fixture
def ctx(load_refacc):
    before = sol.device.get()
    yield load_refacc("sun")
    sol.device.set(before)


def test_graphs(ctx) -> None:
    x = numpy.linspace(-2, 1, 8, dtype="float32").reshape(2, 4)
    expected = sol.optimize(graph_of(TEXT))(x)
    fast = sol.optimize(graph_of(TEXT), device=ctx)
    numpy.testing.assert_allclose(fast(x), expected, rtol=1e-6)
    numpy.testing.assert_allclose(fast(x[:1]), expected[:1], rtol=1e-6)
    sol.device.set("sun", 0)
    assert sol.device.get() == ctx and repr(sol.device) == "sol.device: sun(0)"
    assert sol.optimize(graph_of(TEXT)).compiled.context == ctx


@pytest.mark.parametrize(
    "call",
    [
        lambda: sol.device.set("sun", 9),
        lambda: sol.device.set(mx.Context("sun", 9)),
        lambda: sol.optimize(graph_of(TEXT), device=("sun", 9)),
    ],
)
def test_a_device_that_is_not_there(ctx, call) -> None:
    with pytest.raises(ValueError, match=r"there is no sun\(9\): sun has 2 devices"):
        call()
    assert sol.device.get() == mx.cpu()


def test_functions_of_arrays_of_mxnet(ctx) -> None:
    model = torch.nn.Sequential(torch.nn.Linear(4, 3), torch.nn.ReLU()).eval()
    x = torch.randn(2, 4)
    fast = sol.optimize(model, x, framework="mxnet", device=ctx)
    for own in (mx.cpu(), ctx):
        result = fast(mx.np.array(x.numpy(), ctx=own))
        assert result.ctx == ctx
        torch.testing.assert_close(torch.tensor(result.asnumpy()), model(x).detach())


def test_modules_of_torch(ctx) -> None:
    model = torch.nn.Sequential(torch.nn.Linear(4, 3), torch.nn.ReLU()).eval()
    x = torch.randn(2, 4)
    fast = sol.optimize(model, x, device=("sun", 0))
    with torch.no_grad():
        for _ in range(2):
            torch.testing.assert_close(fast(x), model(x))
            model[0].weight.mul_(2)


@pytest.mark.parametrize("updates", ["1", "0"])
def test_weights_that_are_trained(load_refacc, updates) -> None:
    """Only what has changed goes to the models that are there."""
    ctx = load_refacc("sun", UPDATES=updates)
    model = torch.nn.Sequential(
        torch.nn.Linear(4, 4), torch.nn.BatchNorm1d(4), torch.nn.ReLU(), torch.nn.Linear(4, 2)
    )
    x = torch.randn(3, 4)
    fast = sol.optimize(model.eval(), x, device=ctx, vdims=[True])
    other = {name: one + 1 for name, one in model.state_dict().items()}
    optimizer = torch.optim.SGD(model.parameters(), 0.1)
    steps = [
        lambda: model.load_state_dict(other),
        torch.no_grad()(lambda: model[3].bias.fill_(7)),
        lambda: model[1].running_mean.fill_(2),
        lambda: (model(x).sum().backward(), optimizer.step()),
        lambda: model.load_state_dict(other),
    ]
    with torch.no_grad():
        torch.testing.assert_close(fast(x), model(x))
    for step in steps:
        step()
        for rows in (3, 5):
            given = x[:1].repeat(rows, 1)
            with torch.no_grad():
                torch.testing.assert_close(fast(given), model(given))
    state = ctx.configure()
    expected = ("2", "9") if updates == "1" else ("11", "0")
    assert (state["compiled"], state["updated"]) == expected


# What a device executes, and how the report tells that of the network below.
DEVICES = [
    ("!Conv", "sun: 3 of 4 nodes; on cpu: Conv x1"),
    ("Conv", "sun: 1 of 4 nodes; on cpu: Relu x1, Reshape x1, Gemm x1"),
    ("!Relu,Gemm", "sun: 2 of 4 nodes; on cpu: Relu x1, Gemm x1"),
]


def network() -> nn.Sequential:
    torch.manual_seed(0)
    layers = nn.Conv2d(3, 4, 3, padding=1), nn.ReLU(), nn.Flatten(), nn.Linear(4 * 36, 5)
    return nn.Sequential(*layers)


@pytest.mark.filterwarnings("ignore::mx.AccPlacementWarning")
@pytest.mark.parametrize(("nodes", "placement"), DEVICES)
def test_devices_that_lack_operators(load_refacc, nodes, placement) -> None:
    """Weights of the CPU's part and of the device's are both those that the model has now."""
    ctx = load_refacc("sun", NODES=nodes)
    model, x = network().eval(), torch.linspace(-1, 2, 5 * 3 * 36).reshape(5, 3, 6, 6)
    fast = sol.optimize(model, x[:2], device=ctx, vdims=[True, 6, 6])
    for changed in ([], [0], [3], [0, 3]):
        before = model(x).detach()
        optimizer = torch.optim.SGD([*model[0].parameters(), *model[3].parameters()], 0.01)
        optimizer.zero_grad()
        model(x).square().mean().backward()
        for layer in {0, 3}.difference(changed):
            model[layer].zero_grad()
        optimizer.step()
        for rows in (2, 5):
            with torch.no_grad():
                torch.testing.assert_close(fast(x[:rows]), model(x[:rows]))
        assert torch.equal(before, model(x)) == (not changed)
        assert sol.report(fast).placement == placement
    assert ctx.configure()["violations"] == "0"


@pytest.mark.filterwarnings("ignore::mx.AccPlacementWarning")
@pytest.mark.parametrize("nodes", [nodes for nodes, _ in DEVICES])
def test_training_on_devices_that_lack_operators(load_refacc, nodes) -> None:
    """By autograd, and by a step of training; gradients of the input, too."""
    ctx = load_refacc("sun", NODES=nodes)
    model = nn.Sequential(nn.BatchNorm2d(3), *network())
    other, x = copy.deepcopy(model), torch.linspace(-1, 2, 2 * 3 * 36).reshape(2, 3, 6, 6)
    fast = sol.optimize(model, x, device=ctx)
    optimizers = [torch.optim.SGD(one.parameters(), 0.01, momentum=0.9) for one in (model, other)]
    for _ in range(3):
        grads = []
        for one, optimizer in zip((fast, other), optimizers, strict=True):
            given = x.clone().requires_grad_()
            optimizer.zero_grad()
            one(given).square().mean().backward()
            optimizer.step()
            grads.append(given.grad)
        torch.testing.assert_close(*grads)
    step = sol.training_step(fast, nn.functional.mse_loss, optimizers[0], device=ctx)
    target = torch.ones(2, 5)
    optimizers[1].zero_grad()
    loss = nn.functional.mse_loss(other(x), target)
    loss.backward()
    optimizers[1].step()
    torch.testing.assert_close(step(x, target), loss.detach())
    for name, value in other.state_dict().items():
        torch.testing.assert_close(model.state_dict()[name], value, msg=name)
    state = ctx.configure()
    assert int(state["runs"]) >= 4 and state["violations"] == "0"
