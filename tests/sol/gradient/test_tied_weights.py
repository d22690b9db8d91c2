"""Weights that are the embedding and the last layer at once: both gradients in one array."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import nn
from torch.nn import functional as F

from mx import sol

pytestmark = pytest.mark.usefixtures("one_thread")

ROWS, WIDTH = 300, 48


class Tied(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.words, self.middle = nn.Embedding(ROWS, WIDTH), nn.Linear(WIDTH, WIDTH)

    def forward(self, ids: torch.Tensor) -> torch.Tensor:
        return F.linear(torch.tanh(self.middle(self.words(ids))), self.words.weight)


# One row each, rows again and again, all the same one, and positions from the end.
IDS = {
    "different": torch.arange(24).reshape(2, 12) * 7,
    "again": torch.arange(24).reshape(2, 12) % 5,
    "the same": torch.full((2, 12), ROWS - 1),
}


@pytest.mark.parametrize("ids", IDS.values(), ids=IDS)
def test_gradients_of_tied_weights(ids: torch.Tensor) -> None:
    torch.manual_seed(0)
    model = Tied().train()
    F.cross_entropy(model(ids).flatten(0, 1), ids.flatten()).backward()
    expected = [one.grad.clone() for one in model.parameters() if one.grad is not None]
    model.zero_grad()
    fast: Any = sol.optimize(model, ids)
    for _ in range(2):
        model.zero_grad()
        F.cross_entropy(fast(ids).flatten(0, 1), ids.flatten()).backward()
        for one, other in zip(model.parameters(), expected, strict=True):
            torch.testing.assert_close(one.grad, other)
    # What is computed on the way takes less than one of the two gradients alone.
    (version,) = fast._sol.trainer._versions.values()
    (segment,) = version.plans.plans["backward"]._program.segments()
    assert segment.plan.arena_bytes < ROWS * WIDTH * 4
