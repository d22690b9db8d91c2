"""Attention in training: masks that are trained, and dropout of its weights."""

from __future__ import annotations

import copy
from typing import Any

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("onnx_ir")

from torch.nn import functional as F  # noqa: E402

from mx import sol  # noqa: E402

pytestmark = [
    pytest.mark.usefixtures("one_thread"),
    pytest.mark.filterwarnings("ignore::mx.sol.SolWarning"),  # of float64, which NumPy trains
]


class Biased(torch.nn.Module):  # type: ignore[misc]
    """Attention with a bias of scores that is trained, looked up as of Swin or given as it is."""

    def __init__(self, shape: tuple[int, ...] | None, **options: Any) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.project = torch.nn.Linear(8, 24)
        self.bias = torch.nn.Parameter(torch.randn(shape or (2, 9)))
        self.is_looked_up, self.options = shape is None, options
        self.register_buffer("index", torch.arange(5)[:, None] - torch.arange(5) + 4)

    def forward(self, x: Any) -> Any:
        """Of shape (batch, 5, 8)."""
        q, k, v = self.project(x).reshape(len(x), 5, 3, 2, 4).permute(2, 0, 3, 1, 4)
        bias = self.bias[:, self.index] if self.is_looked_up else self.bias
        return F.scaled_dot_product_attention(q, k, v, bias, **self.options)


BIASES: list[tuple[tuple[int, ...] | None, dict[str, Any]]] = [
    (None, {}),
    ((5, 5), {"scale": -0.7}),
    ((1, 2, 1, 5), {}),
    ((5, 1), {}),
    ((1, 1), {}),
]


@pytest.mark.parametrize(("shape", "options"), BIASES)
def test_trained_masks(shape: Any, options: Any) -> None:
    model, x = Biased(shape, **options), torch.linspace(-2, 1, 120).reshape(3, 5, 8)
    other, fast = copy.deepcopy(model), sol.optimize(model, x)
    with torch.no_grad():
        torch.testing.assert_close(fast(x), other(x))
    for one in (fast, other):
        one(x).square().sum().backward()
    for (name, found), expected in zip(model.named_parameters(), other.parameters(), strict=True):
        torch.testing.assert_close(found.grad, expected.grad, atol=2e-5, rtol=1e-4, msg=name)


class Dropping(torch.nn.Module):  # type: ignore[misc]
    """Drops some weights in training; `mask` may leave a query no key."""

    def __init__(self, mask: Any) -> None:
        super().__init__()
        self.project, self.mask = torch.nn.Linear(8, 24), mask

    def forward(self, x: Any) -> Any:
        q, k, v = self.project(x).reshape(len(x), 5, 3, 2, 4).permute(2, 0, 3, 1, 4)
        dropped = 0.4 if self.training else 0.0
        return F.scaled_dot_product_attention(q, k, v, self.mask, dropout_p=dropped)


MASKS = [
    None,
    torch.tensor([[-torch.inf], [0], [1], [2], [3]], dtype=torch.float64),
]


@pytest.mark.parametrize("number", range(len(MASKS)))
def test_dropped_weights(number: int) -> None:
    """Gradients are those of what the same seed drops, by finite differences, and no NaN."""
    torch.manual_seed(0)
    model = Dropping(MASKS[number]).double()
    x = torch.randn(2, 5, 8, dtype=torch.float64)
    fast = sol.optimize(model, x)

    def loss() -> Any:
        sol.set_seed(3)
        return fast(x).square().sum()

    try:
        loss().backward()
        (weight, grad), step = (model.project.weight, model.project.weight.grad), 1e-6
        with torch.no_grad():
            for index in [(0, 1), (9, 3), (20, 7)]:
                losses = []
                for change in (step, -2 * step, step):
                    weight[index] += change
                    losses.append(loss().item())
                slope = (losses[0] - losses[1]) / (2 * step)
                assert abs(slope - grad[index]) < 1e-6 * max(1, abs(slope)), index
    finally:
        sol.set_seed(None)
    assert grad.abs().sum() > 0


@pytest.mark.parametrize("scale", [None, 0.3, -0.3])
def test_float64_with_a_scale_of_float64(scale) -> None:
    """The operator's scale is a float32, which would leave 8 digits."""

    class Attention(torch.nn.Module):
        def forward(self, q, k, v):
            return F.scaled_dot_product_attention(q, k, v, scale=scale)

    given = [torch.randn(2, 3, 5, 7, dtype=torch.float64) for _ in range(3)]
    fast = sol.optimize(Attention(), *given)
    with torch.no_grad():
        torch.testing.assert_close(fast(*given), Attention()(*given), rtol=0, atol=1e-14)
