"""Saved values are handed from forward to backward in the layouts that kernels have."""

import copy

import pytest

torch = pytest.importorskip("torch")

import mx  # noqa: E402
from mx import sol  # noqa: E402
from mx.sol import _training  # noqa: E402


class Network(torch.nn.Module):
    """Two convolutions; of `channels` of 16 each block of the layout is full."""

    def __init__(self, channels: int) -> None:
        super().__init__()
        self.first = torch.nn.Conv2d(3, channels, 3, padding=1)
        self.norm = torch.nn.BatchNorm2d(channels)
        self.second = torch.nn.Conv2d(channels, channels, 3)

    def forward(self, x):
        return self.second(torch.relu(self.norm(self.first(x)))).mean((2, 3))


def several_plans(plan, arrays):
    """What is known of a backward graph that takes several plans."""
    return None


@pytest.mark.parametrize("channels", [16, 5], ids=["full blocks", "blocks with gaps"])
@pytest.mark.parametrize("is_single", [True, False], ids=["one plan", "several plans"])
def test_gradients_do_not_depend_on_layouts(channels, is_single, monkeypatch, one_thread) -> None:
    if not is_single:
        monkeypatch.setattr(_training, "_compiled", several_plans)
    torch.manual_seed(0)
    model = Network(channels)
    reference = copy.deepcopy(model)
    x = torch.rand(2, 3, 12, 12)
    fast = sol.optimize(model, x)
    for _ in range(2):
        fast(x).square().sum().backward()
        reference(x).square().sum().backward()
    for name, parameter in reference.named_parameters():
        scale = parameter.grad.abs().max()
        error = (model.get_parameter(name).grad - parameter.grad).abs().max()
        assert error <= 1e-4 * scale + 1e-6, name
    (version,) = fast._sol.trainer._versions.values()
    layouts = version.plans._planned_forward.layouts
    assert bool(layouts) is (channels == 16)


@pytest.mark.parametrize("argument", [{"any_layout": ["z"]}, {"layouts": {"z": None}}])
def test_layouts_of_unknown_values(argument) -> None:
    graph = mx.sym.relu(mx.sym.var("x")).to_graph({"x": (2, 3)})
    (name,) = argument
    with pytest.raises(ValueError, match=f"Plan: {name}: the graph has no such value as 'z'"):
        mx.graph.Plan(graph, **argument)
