"""Graphs of modules in training in the cache, and what a second start does not import."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn
from torch.nn import functional as F

import mx
from mx import sol
from mx.cache import CacheWarning
from mx.sol.frameworks.torch.kept._captures import Key

pytestmark = pytest.mark.usefixtures("one_thread", "cache")

X, LABELS = torch.arange(32.0).reshape(8, 4) / 32, torch.arange(8) % 3


class Network(nn.Module):
    """With statistics that a call writes, a counter, random elements and a constant."""

    def __init__(self) -> None:
        super().__init__()
        self.first, self.norm = nn.Linear(4, 6), nn.BatchNorm1d(6)
        self.dropout, self.last = nn.Dropout(0.5), nn.Linear(6, 3)
        self.scale = torch.tensor([1.0, 2.0, 3.0])

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = self.dropout(F.relu(self.norm(self.first(x))))
        return self.last(x) * self.scale + torch.tensor([0.5, 0.0, -0.5])


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("MXNET_CACHE", "1")
    monkeypatch.setenv("MXNET_CACHE_DIR", str(tmp_path / "cache"))
    return tmp_path / "cache"


def network() -> Network:
    torch.manual_seed(0)
    return Network().train()


def by_autograd(model: nn.Module) -> Callable[[], float]:
    fast = sol.optimize(model, X)
    optimizer = torch.optim.SGD(fast.parameters(), lr=0.1, momentum=0.9)

    def step() -> float:
        optimizer.zero_grad()
        loss = F.cross_entropy(fast(X), LABELS)
        loss.backward()
        optimizer.step()
        return float(loss.detach())

    return step


def by_step(model: nn.Module) -> Callable[[], float]:
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    whole = sol.training_step(model, F.cross_entropy, optimizer)
    return lambda: float(whole(X, LABELS))


WAYS = {"autograd": by_autograd, "step": by_step}


def trained(way: str, change: Callable[[Network], Any] = lambda model: None) -> tuple[Any, ...]:
    """Losses of a few steps, and what the module has afterwards."""
    model = network()
    change(model)
    sol.set_seed(0)
    try:
        step = WAYS[way](model)
        losses = [step() for _ in range(3)]
    finally:
        sol.set_seed(None)
    return losses, [one.clone() for one in model.state_dict().values()]


def kept() -> int:
    return len([one for one in mx.cache.entries() if one.about.get("accelerator") == "torch"])


@pytest.mark.parametrize("way", WAYS)
def test_a_kept_graph_trains_as_a_new_one(way: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MXNET_CACHE", "0")
    expected = trained(way)
    monkeypatch.setenv("MXNET_CACHE", "1")
    first = trained(way)
    number = kept()
    assert number
    second = trained(way)
    assert kept() == number
    for losses, state in (first, second):
        assert losses == expected[0]
        assert all(map(torch.equal, state, expected[1]))


# What makes another graph, or the same one.
CHANGES: dict[str, tuple[Callable[[Network], Any], bool]] = {
    "nothing": (lambda model: None, False),
    "parameters": (lambda model: nn.init.ones_(model.first.weight), False),
    "a buffer": (lambda model: model.norm.running_mean.add_(1), False),
    "a constant": (lambda model: model.scale.add_(1), True),
    "the mode of a module": (lambda model: model.norm.eval(), True),
    "what is trained": (lambda model: model.first.requires_grad_(False), True),
    "a rate": (lambda model: setattr(model.dropout, "p", 0.25), True),
    "no bias": (lambda model: setattr(model.last, "bias", None), True),
}


@pytest.mark.parametrize("change", CHANGES)
def test_what_the_key_has(change: str) -> None:
    make, is_other = CHANGES[change]
    key, model = Key(network(), (X,), {}, training=True).text, network()
    make(model)
    assert (Key(model, (X,), {}, training=True).text != key) == is_other


def test_a_graph_for_inference_has_another_key() -> None:
    assert Key(network(), (X,), {}).text != Key(network(), (X,), {}, training=True).text


def test_a_constant_that_changes_is_seen_with_a_kept_graph() -> None:
    trained("autograd")
    model = network()
    model.dropout.p = 0.0
    for _ in range(2):
        fast = sol.optimize(model, X)
        loss = fast(X).sum()
        with torch.no_grad():
            model.scale.add_(1)
        again = fast(X).sum()
        model.norm.reset_running_stats()
        expected = type(model).forward(model, X).sum()
        assert not torch.equal(loss, again)
        torch.testing.assert_close(again, expected)


def test_what_cannot_be_kept_is_captured() -> None:
    weight = torch.ones(3)

    def loss(out: torch.Tensor, target: torch.Tensor) -> torch.Tensor:
        return F.cross_entropy(out * weight, target)

    model = network()
    step = sol.training_step(model, loss, torch.optim.SGD(model.parameters(), lr=0.1))
    step(X, LABELS)
    assert step.fused == ("forward", "loss", "backward", "optimizer") and not kept()


def test_a_broken_entry(cache: Path) -> None:
    expected = trained("step")
    (path,) = cache.glob("*.compiled")
    path.write_bytes(path.read_bytes()[:-100])
    with pytest.warns(CacheWarning, match="anew"):
        assert trained("step")[0] == expected[0]


PROGRAM = """
import sys
from tests.sol.test_torch_kept_training import network, WAYS
step = WAYS[sys.argv[1]](network())
step()
print(*(name in sys.modules for name in sys.argv[2:]))
"""
# What no start needs, and what only the first one does, which exports.
NEVER, FIRST = (
    ("networkx", "onnx.reference"),
    ("torch._functorch.partitioners", "torch.export._trace"),
)


@pytest.mark.parametrize("way", WAYS)
def test_what_is_imported(way: str, cache: Path) -> None:
    for is_first in (True, False):
        done = subprocess.run(
            [sys.executable, "-c", PROGRAM, way, *NEVER, *FIRST],
            capture_output=True,
            text=True,
            cwd=Path(__file__).parents[2],
            env={**os.environ, "MXNET_CACHE": "1", "MXNET_CACHE_DIR": str(cache)},
        )
        assert done.returncode == 0, done.stderr
        assert done.stdout.split() == ["False"] * len(NEVER) + [str(is_first)] * len(FIRST)
