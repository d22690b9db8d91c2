"""Exports in several threads."""

from __future__ import annotations

import threading
import warnings

import torch
from torch import nn

from mx.graph import GraphError
from mx.importers.torch._export import decomposed, export


class Negated(torch.autograd.Function):
    """A function whose gradient is defined in Python."""

    @staticmethod
    def forward(ctx, x):
        return -x

    @staticmethod
    def backward(ctx, grad):
        return -grad


class Waits(nn.Module):
    """Says that it is called, and waits, at most for `seconds`."""

    def __init__(self, seconds: float) -> None:
        super().__init__()
        self.called, self.goes_on, self.seconds = threading.Event(), threading.Event(), seconds

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        self.called.set()
        self.goes_on.wait(self.seconds)
        return x + 1


def test_exports_in_several_threads() -> None:
    """What exports set for all of torch is as before when they are done; others may go on."""
    x = torch.ones(3, requires_grad=True)
    before = torch.autograd.Function.__dict__["apply"]
    models = [Waits(30), Waits(30)]

    def run(model: Waits) -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            export(model, (torch.ones(3),), {}, None, training=True)

    threads = [threading.Thread(target=run, args=(model,)) for model in models]
    try:
        threads[0].start()
        assert models[0].called.wait(30)
        threads[1].start()
        models[1].called.wait(0.2)  # it does not come that far
        Negated.apply(x).sum().backward()
        assert torch.equal(x.grad, -torch.ones(3))
        assert nn.LSTM(2, 3)(torch.ones(4, 1, 2))[0].shape == (4, 1, 3)
        norm = nn.InstanceNorm1d(2, track_running_stats=True)
        assert norm(torch.ones(1, 2, 3)).shape == (1, 2, 3) and norm.running_mean[0] > 0
    finally:
        for model, thread in zip(models, threads, strict=True):
            model.goes_on.set()
            thread.join()
    assert torch.autograd.Function.__dict__["apply"] is before


def test_decompositions_in_several_threads() -> None:
    """What torch notes while it decomposes is of all threads."""
    model = nn.Sequential(*(nn.Linear(4, 4) for _ in range(30)))
    given = (torch.ones(2, 4),)
    failed = []

    def run() -> None:
        try:
            for _ in range(3):
                decomposed(export(model, given, {}, None)[0])
        except GraphError as error:
            failed.append(error)

    threads = [threading.Thread(target=run) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failed == []
