"""Steps of training are computed by kernels, in all types; a warning tells where they are not."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from mx import sol
from tests.sol.gradient.test_kernels import has_onednn

nn, F = torch.nn, torch.nn.functional
GENERATOR = torch.Generator().manual_seed(5)
IMAGES, WORDS, SEQUENCES = (
    torch.randn(shape, generator=GENERATOR) for shape in ((2, 3, 16, 16), (2, 5, 16), (2, 5, 6))
)


class Recurrent(nn.Module):
    def __init__(self, kind: str, **settings: Any) -> None:
        super().__init__()
        self.layer = getattr(nn, kind)(6, 8, batch_first=True, **settings)
        self.head = nn.LazyLinear(3)
        self(SEQUENCES)

    def forward(self, x):
        return self.head(self.layer(x)[0][:, -1])


class Resized(nn.Module):
    def __init__(self, **settings: Any) -> None:
        super().__init__()
        self.down, self.up = nn.Conv2d(3, 8, 3, 2, 1), nn.Conv2d(8, 3, 3, 1, 1)
        self.settings = settings

    def forward(self, x):
        hidden = F.relu(self.down(x))
        return self.up(F.interpolate(hidden, scale_factor=2, **self.settings))


class Determinant(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.randn(16, 16))

    def forward(self, x):
        return torch.linalg.det(x[0, 0] @ self.weight)


class Attention(nn.Module):
    """Attention with a mask: by torch's function for it, or spelled out, with what is added to
    scores or written over them."""

    def __init__(self, kind: str = "function", trains_mask: bool = False) -> None:
        super().__init__()
        self.parts = nn.ModuleList(nn.Linear(16, 16) for _ in range(4))
        self.mask = nn.Parameter(torch.randn(5, 5), requires_grad=trains_mask)
        self.kind = kind

    def forward(self, x):
        batch, length, width = x.shape
        q, k, v = (
            part(x).view(batch, length, 4, width // 4).transpose(1, 2) for part in self.parts[:3]
        )
        if self.kind == "function":
            y = F.scaled_dot_product_attention(q, k, v, self.mask)
        elif self.kind == "added":
            y = torch.softmax(q @ k.transpose(2, 3) / 2 + self.mask, -1) @ v
        else:
            later = torch.ones(length, length).triu(1) == 1
            scores = (q @ k.transpose(2, 3) / 2).masked_fill(later, -1e9)
            y = torch.softmax(scores, -1) @ v
        return self.parts[3](y.transpose(1, 2).reshape(batch, length, width))


def convolutional() -> nn.Module:
    return nn.Sequential(
        nn.Conv2d(3, 8, 3, padding=1), nn.BatchNorm2d(8), nn.ReLU(), nn.MaxPool2d(2),
        nn.Conv2d(8, 8, 3, groups=8), nn.GroupNorm(2, 8), nn.SiLU(), nn.AvgPool2d(2),
        nn.ConvTranspose2d(8, 4, 2, 2), nn.Flatten(), nn.Dropout(0.2), nn.Linear(4 * 36, 4),
        nn.LogSoftmax(-1),
    )  # fmt: skip


def transformer() -> nn.Module:
    layer = nn.TransformerEncoderLayer(16, 2, 32, batch_first=True, activation="gelu")
    return nn.Sequential(layer, nn.LayerNorm(16), nn.Tanh())


MODELS = {
    "convolutional": (convolutional, IMAGES),
    "transformer": (transformer, WORDS),
    "attention": (Attention, WORDS),
    "attention, added mask": (lambda: Attention("added"), WORDS),
    "attention, filled scores": (lambda: Attention("filled"), WORDS),
    "attention with a mask that is trained": (lambda: Attention(trains_mask=True), WORDS),
    "lstm": (lambda: Recurrent("LSTM", bidirectional=True), SEQUENCES),
    "gru": (lambda: Recurrent("GRU", num_layers=2), SEQUENCES),
    "rnn": (lambda: Recurrent("RNN", nonlinearity="relu"), SEQUENCES),
    "nearest": (lambda: Resized(mode="nearest"), IMAGES),
    "bilinear": (lambda: Resized(mode="bilinear", align_corners=False), IMAGES),
    "bicubic": (lambda: Resized(mode="bicubic", align_corners=True), IMAGES),
}


@pytest.mark.skipif(not has_onednn(), reason="oneDNN is not there")
@pytest.mark.parametrize(
    ("name", "dtype"),
    [
        *((name, torch.bfloat16) for name in MODELS),
        *((name, torch.float32) for name in MODELS if "transformer" not in name),
        ("convolutional", torch.float16),
    ],
)
def test_no_step_is_left_to_numpy(name: str, dtype: torch.dtype) -> None:
    make, x = MODELS[name]
    torch.manual_seed(1)
    model, x = make().to(dtype).train(), x.to(dtype)
    fast = sol.optimize(model, x)
    fast(x).float().square().sum().backward()
    plans = fast._sol.training_plans()[0].plans
    assert set(plans) == {"forward", "backward"}
    for which, plan in plans.items():
        assert {(which, s.node.op_type) for s in plan.steps() if s.backend == "reference"} == set()
    if any(isinstance(one, nn.Dropout) and one.p for one in model.modules()):
        return
    trained = [one for one in model.parameters() if one.requires_grad]
    found = [one.grad.float() for one in trained]
    model.zero_grad()
    model(x).float().square().sum().backward()
    bound = {torch.float32: 1e-4, torch.bfloat16: 0.06, torch.float16: 0.01}[dtype]
    for got, one in zip(found, trained, strict=True):
        wanted = one.grad.float()
        assert (got - wanted).abs().max() <= bound * wanted.abs().max() + bound / 10


@pytest.mark.parametrize("kind", ["function", "added", "filled"])
def test_attention_is_one_step_each_way_without_copies(kind: str) -> None:
    fast = sol.optimize(Attention(kind), WORDS)
    fast(WORDS).sum().backward()
    plans = fast._sol.training_plans()[0].plans
    found = {
        which: [step.node.op_type for step in plan.steps() if "Attention" in step.node.op_type]
        for which, plan in plans.items()
    }
    assert found == {"forward": ["AttentionTraining"], "backward": ["AttentionGrad"]}
    for plan in plans.values():
        moved = [step for step in plan.steps() if step.node.op_type == "Transpose"]
        assert not [step for step in moved if len(step.node.outputs[0].shape) == 4]


def test_a_warning_tells_what_numpy_executes() -> None:
    fast = sol.optimize(Determinant(), IMAGES[:, :, :16, :16])
    with pytest.warns(sol.SolWarning, match=r"Determinant: NumPy executes .*\(Det\)"):
        loss = fast(IMAGES)
    with pytest.warns(sol.SolWarning, match=r"\(Cofactors\)"):
        loss.backward()
    fast(IMAGES).backward()  # once for each plan


class Noisy(nn.Module):
    """Noise of each kind, which a gradient goes past."""

    def __init__(self) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(4000))

    def forward(self, x):
        return self.weight * x + torch.randn_like(x) + 2 * torch.rand_like(x) + torch.randn(4000)


def test_noise_follows_the_seed() -> None:
    x = torch.zeros(4000)
    fast = sol.optimize(Noisy(), x)
    found = []
    for seed in (torch.manual_seed, sol.set_seed):
        seed(3)
        first, second = fast(x), fast(x)
        seed(3)
        assert torch.equal(fast(x), first) and not torch.equal(first, second)
        found.append(first.detach())
    sol.set_seed(None)
    for one in found:
        assert abs(one.mean() - 1) < 0.1 and abs(one.var() - (2 + 1 / 3)) < 0.25
    first.sum().backward()
    torch.testing.assert_close(fast.weight.grad, x)
    (plan,) = (fast._sol.training_plans()[0].plans[name] for name in ("forward",))
    assert "reference" not in {step.backend for step in plan.steps()}
