"""Operators of torch that rules write as several of ONNX: their values and gradients."""

from __future__ import annotations

import copy
import functools
import warnings
from typing import Any

import pytest
import torch
from torch import nn
from torch.nn import functional as F
from torch.utils import _pytree as pytree

from mx import sol

from ..importers.torch.running import Calls, Case, floats, ints

pytestmark = pytest.mark.usefixtures("one_thread")

X, FEW = floats(2, 3, 4), torch.tensor([1, 0, 1])
NAN, INF = float("nan"), float("inf")
UNUSUAL = torch.tensor([[1, 1, 0, NAN, 2, NAN, 3, -INF], [-INF, -INF, 5, 5, -INF, 4, 6, INF]])
TIES = torch.randint(0, 3, (2, 3, 7, 5), generator=torch.Generator().manual_seed(0)).float()


def scans() -> list[Case]:
    cases = [
        Case(f"{name} {kind}", lambda x, name=name: getattr(x, name)(-1), [x])
        for name in ("cummax", "cummin")
        for kind, x in {
            "of floats": X,
            "with ties": TIES,
            "with NaN": UNUSUAL,
            "of integers": ints(3, 9),
            "of truth values": TIES > 0,
            "of nothing": torch.zeros(2, 0),
            "of a 0-d array": X[0, 0, 0],
        }.items()
    ]
    return [
        *cases,
        Case("cummax along the first axis", lambda x: x.cummax(0), [X]),
        Case("logcumsumexp", lambda x: x.logcumsumexp(1), [X]),
        Case("logcumsumexp of a wide range", lambda x: x.logcumsumexp(0),
             [torch.tensor([-200.0, 0, 3, 80, -1])]),
    ]  # fmt: skip


def written() -> list[Case]:
    cases = [
        Case(
            f"index_reduce {how}{' alone' if alone else ''}",
            lambda x, y, how=how, alone=alone: x.index_reduce(
                1, FEW, y, how, include_self=not alone
            ),
            [X, floats(2, 3, 4)],
        )
        for how in ("prod", "mean", "amax", "amin")
        for alone in (False, True)
    ]
    return [
        *cases,
        Case("index_reduce of integers",
             lambda x, y: x.index_reduce(0, FEW, y, "amax", include_self=False),
             [ints(2, 3), ints(3, 3)]),
        Case("scatter_reduce alone",
             lambda x, y: x.scatter_reduce(0, FEW, y, "amin", include_self=False),
             [floats(4), floats(3)]),
        Case("index_reduce of a 0-d array",
             lambda x, y: x.index_reduce(0, FEW[:1] - 1, y, "amin"), [floats(), floats()]),
        *(
            Case(f"scatter_reduce {how} of NaN{' alone' if alone else ''}",
                 lambda x, y, how=how, alone=alone: x.scatter_reduce(
                     0, FEW, y, how, include_self=not alone
                 ), [UNUSUAL[0, 2:6], torch.tensor([3, NAN, 4])])
            for how in ("amax", "amin")
            for alone in (False, True)
        ),
        Case("scatter and multiply",
             lambda x: x.scatter(0, FEW, 3, reduce="multiply"), [ints(4)]),
        Case("scatter and add",
             lambda x: x.scatter(0, FEW, x[:3], reduce="add"), [ints(4)]),
        Case("index_fill", lambda x, y: x.index_fill(1, FEW, y), [X, floats()]),
        Case("index_fill from the end", lambda x: x.index_fill(-1, FEW - 2, 2.0), [X]),
        Case("index_fill of a 0-d array", lambda x: x.index_fill(0, FEW[1], 2.0), [floats()]),
        Case("put", lambda x, y: x.put(torch.tensor([0, -1]), y), [X, floats(2)]),
        Case("put and add", lambda x, y: x.put(FEW, y, accumulate=True), [X, floats(3)]),
        Case("gather by int32", lambda x, i: x.gather(0, i), [X[0, 0], FEW.int()]),
        Case("gather by a 0-d array", lambda x, i: x.gather(0, i), [X[0, 0], FEW[0]]),
        Case("gather of nothing", lambda x: x.gather(0, torch.zeros(0).long()) + 1, [X]),
        Case("unfold of a 0-d array", lambda x: x.unfold(0, 1, 1), [floats()]),
        Case("unbind_copy", torch.unbind_copy, [X]),
        Case("unique_consecutive", lambda x: torch.unique_consecutive(x, True, True),
             [torch.tensor([[1, 1, 2], [2, 3, 1]])]),
        Case("unique_consecutive of nothing", lambda x: torch.unique_consecutive(x, True, True),
             [torch.zeros(0).long()]),
    ]  # fmt: skip


def pools() -> list[Case]:
    return [
        Case("adaptive_max_pool1d", lambda x: F.adaptive_max_pool1d(x, 3, True), [TIES[0]]),
        Case("adaptive_max_pool2d", lambda x: F.adaptive_max_pool2d(x, (3, 2), True), [TIES]),
        Case("adaptive_max_pool2d, even", lambda x: F.adaptive_max_pool2d(x, (7, 1), True), [TIES]),
        Case("adaptive_max_pool3d", lambda x: F.adaptive_max_pool3d(x, (2, 3, 2), True), [TIES]),
        Case("adaptive_max_pool2d to nothing",
             lambda x: F.adaptive_max_pool2d(x.detach(), (0, 2), True), [TIES]),
        Case("adaptive_max_pool2d of NaN", lambda x: F.adaptive_max_pool2d(x, 3), [UNUSUAL[None]]),
        Case("adaptive_max_pool1d of several NaN",
             lambda x: F.adaptive_max_pool1d(x, 3, True), [UNUSUAL[None]]),
    ]  # fmt: skip


def medians() -> list[Case]:
    return [
        Case("median", lambda x: x.median(1), [X]),
        Case("median with NaN", lambda x: x.median(1, keepdim=True), [UNUSUAL]),
        Case("median of all, with NaN", lambda x: x.median(), [UNUSUAL]),
        Case("median of all, with ties", lambda x: x.median(), [TIES[0]]),
        Case("median of integers", lambda x: x.median(0), [ints(5, 2)]),
        Case("nanmedian", lambda x: x.nanmedian(1), [UNUSUAL]),
        Case("nanmedian of all", lambda x: x.nanmedian(), [UNUSUAL]),
        Case("nanmedian of NaN", lambda x: x.nanmedian(1)[0], [UNUSUAL[:, 3:4]]),
    ]


def numbers() -> list[Case]:
    whole = torch.tensor([12, -8, 0, 7])
    return [
        Case("native_layer_norm", lambda x: torch.native_layer_norm(x, [4], None, None, 1e-5), [X]),
        Case(
            "multilabel_margin_loss of a 0-d array",
            lambda x: F.multilabel_margin_loss(x, FEW[1]),
            [floats()],
        ),
        # Of negative exponents torch's gradient is 0.
        Case("ldexp", torch.ldexp, [X, ints(4, low=0)]),
        Case(
            "ldexp beyond the powers of the type",
            lambda x, e: torch.ldexp(x.detach(), e),
            [
                torch.tensor([1e-30, 0, 1e38, 1, INF, 1]),
                torch.tensor([140, 1000, -250, -149, -1000, 500]),
            ],
        ),
        Case("ldexp by what is not whole", lambda x: torch.ldexp(x, X[0, 0]), [X]),
        Case("gcd", torch.gcd, [whole[:, None], torch.tensor([18, 4, 5, 0])]),
        Case("lcm", torch.lcm, [whole.to(torch.int8), torch.tensor(4, dtype=torch.int8)]),
        Case("sign of NaN", torch.sign, [UNUSUAL]),
        Case("bucketize of NaN", lambda x: torch.bucketize(x, UNUSUAL[0, :2]), [UNUSUAL]),
        *(
            Case(
                f"bucketize by NaN{', right' if right else ''}",
                lambda x, right=right: torch.bucketize(
                    x, torch.tensor([0, 1, 1, NAN]), right=right
                ),
                [UNUSUAL],
            )
            for right in (False, True)
        ),
        Case(
            "searchsorted by NaN",
            lambda x: torch.searchsorted(torch.tensor([[0, 1, 2], [3, 4, NAN]]), x),
            [torch.tensor([[1, NAN], [4, 5]])],
        ),
        Case(
            "searchsorted of NaN",
            lambda x: torch.searchsorted(UNUSUAL[0, :2], x, right=True),
            [UNUSUAL],
        ),
    ]


CASES = [*scans(), *written(), *pools(), *medians(), *numbers()]


@functools.cache
def outcomes() -> list[tuple[list[Any], list[Any]]]:
    """What torch gives for each case, results and gradients, and what the optimizer does."""
    model = Calls([case.function for case in CASES])
    example = [list(case.inputs) for case in CASES]
    with warnings.catch_warnings():
        # Of what NumPy executes, and of what torch has in beta.
        warnings.simplefilter("ignore")
        results = [_run(one, example) for one in (model, sol.optimize(model, example))]
    return list(zip(*results, strict=True))


def _run(model: nn.Module, example: Any) -> list[list[Any]]:
    inputs = pytree.tree_map_only(
        torch.Tensor, lambda one: one.clone().requires_grad_(one.is_floating_point()), example
    )
    results = [pytree.tree_leaves(one) for one in model(inputs)]
    flat = [one for result in results for one in result if one.requires_grad]
    sum(
        (one.nan_to_num(0, 1, -1) * torch.linspace(-1, 2, one.numel()).view(one.shape)).sum()
        for one in flat
    ).backward()
    return [
        [*result, *(_gradient(one) for one in own)]
        for result, own in zip(results, inputs, strict=True)
    ]


def _gradient(x: torch.Tensor) -> torch.Tensor:
    """Zeros where nothing is known of a gradient, which is what torch often has."""
    return torch.zeros(x.shape) if x.grad is None else x.grad


@pytest.mark.parametrize("index", range(len(CASES)), ids=[case.name for case in CASES])
def test_values_and_gradients(index: int) -> None:
    wanted, got = outcomes()[index]
    for one, other in zip(got, wanted, strict=True):
        torch.testing.assert_close(one, other, equal_nan=True)


STATISTICS = {
    "InstanceNorm1d": (lambda: nn.InstanceNorm1d(3, track_running_stats=True, affine=True), X),
    "InstanceNorm2d": (lambda: nn.InstanceNorm2d(3, momentum=0.3, track_running_stats=True), TIES),
    "InstanceNorm1d of one image": (lambda: nn.InstanceNorm1d(3, track_running_stats=True), X[0]),
    "BatchNorm1d without momentum": (lambda: nn.BatchNorm1d(3, momentum=None), X),
    "BatchNorm2d without momentum": (lambda: nn.BatchNorm2d(3, momentum=None, affine=False), TIES),
    "in a network": (
        lambda: nn.Sequential(
            nn.Conv2d(3, 4, 3), nn.InstanceNorm2d(4, track_running_stats=True), nn.ReLU(),
            nn.BatchNorm2d(4, momentum=None),
        ), TIES,
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", STATISTICS)
def test_running_statistics(name: str) -> None:
    """Of several steps, then in eval mode."""
    make, x = STATISTICS[name]
    torch.manual_seed(0)
    other = make()
    model = copy.deepcopy(other)
    fast = sol.optimize(model, x)
    for step in range(4):
        for one in (other, fast):
            one.train(step < 3).zero_grad()
        inputs = [(x + step).requires_grad_() for _ in range(2)]
        results = [one(own) for one, own in zip((fast, other), inputs, strict=True)]
        torch.testing.assert_close(*results)
        for result in results:
            (result * torch.arange(result.numel()).view(result.shape)).sum().backward()
        torch.testing.assert_close(inputs[0].grad, inputs[1].grad, rtol=1e-4, atol=1e-3)
        for one, wanted in zip(model.parameters(), other.parameters(), strict=True):
            torch.testing.assert_close(one.grad, wanted.grad, rtol=1e-4, atol=1e-3)
        for (key, one), (_, wanted) in zip(
            model.named_buffers(), other.named_buffers(), strict=True
        ):
            torch.testing.assert_close(one, wanted, msg=lambda said, key=key: f"{key}: {said}")


# Of rows of 512 numbers.
ACCURATE = {
    "log_softmax": lambda x: F.log_softmax(x, -1),
    "softmax": lambda x: F.softmax(x, -1),
    "logsumexp": lambda x: x.logsumexp(-1),
    "cross_entropy": lambda x: F.cross_entropy(x, torch.arange(len(x))),
    "layer_norm": lambda x: F.layer_norm(x, x.shape[-1:]),
    "rms_norm": lambda x: F.rms_norm(x, x.shape[-1:]),
    "group_norm": lambda x: F.group_norm(x.view(len(x), 8, -1), 4),
    "sum": lambda x: x.sum(-1),
    "mean": lambda x: x.mean(-1),
    "var": lambda x: x.var(-1),
    "norm": lambda x: x.norm(dim=-1),
    "cumsum": lambda x: x.cumsum(-1),
    "cumsum of columns": lambda x: x.T.contiguous().cumsum(0),
    "cumprod": lambda x: (1 + x / 50).cumprod(-1),
    "gelu": F.gelu,
    "gelu of tanh": lambda x: F.gelu(x, approximate="tanh"),
    "silu": F.silu,
    "mish": F.mish,
    "softplus": F.softplus,
    "tanh": torch.tanh,
    "erf": torch.erf,
    "log1p": lambda x: x.abs().log1p(),
}


class Applied(nn.Module):
    """A function as a module."""

    def __init__(self, function: Any) -> None:
        super().__init__()
        self.function = function

    def forward(self, x: Any) -> Any:
        return self.function(x)


@pytest.mark.parametrize("name", ACCURATE)
def test_errors(name: str) -> None:
    """Root mean squares against float64: no more than twice torch's own."""
    module = Applied(ACCURATE[name]).eval()
    x = 3 * torch.randn(16, 512, generator=torch.Generator().manual_seed(0))
    with torch.inference_mode():
        exact = module(x.double())
        errors = [
            (one(x).double() - exact).square().mean().sqrt()
            for one in (sol.optimize(module, x), module)
        ]
    assert errors[0] <= 2.0 * errors[1] + 1e-9
