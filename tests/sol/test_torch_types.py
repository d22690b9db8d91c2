"""Optimized modules of torch whose weights are given other types."""

from __future__ import annotations

import copy
from typing import ClassVar

import pytest
import torch
from torch import nn

from mx import sol

from .test_torch import check, image, saved


class OnlyOfFloat32(nn.Module):
    """Its Python code depends on elements where they are of another type."""

    calls: ClassVar[list[torch.dtype]] = []

    def __init__(self) -> None:
        super().__init__()
        self.inner = nn.Linear(3, 3)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        self.calls.append(x.dtype)
        y: torch.Tensor = self.inner(x)
        return y if x.dtype == torch.float32 or y.sum() > 0 else -y


class Converts(nn.Module):
    """Converts its argument to the type of its weights."""

    def __init__(self) -> None:
        super().__init__()
        self.inner = nn.Linear(3, 3)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.inner(x.to(self.inner.weight.dtype))


class OfFloat32(Converts):
    """The same, of float32 alone."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        if x.dtype != torch.float32:
            raise TypeError("only float32")
        return super().forward(x)


@pytest.mark.parametrize("convert", [nn.Module.double, nn.Module.bfloat16, nn.Module.half])
@pytest.mark.parametrize("which", ["optimized", "original"])
def test_other_types(small, fast, which, convert) -> None:
    x = image()
    module = fast if which == "optimized" else small
    convert(module)
    dtype = module.conv.weight.dtype
    name = f"expected {dtype}, got torch.float32"
    with torch.no_grad():
        for _ in range(2):
            result = fast(x.to(dtype))
            assert result.dtype == dtype
            tolerance = 1e-12 if dtype == torch.float64 else 2e-2
            torch.testing.assert_close(result, small(x.to(dtype)), rtol=tolerance, atol=tolerance)
            with pytest.raises(TypeError, match=name):
                fast(x)
    module.float()
    check(fast, small, x)


def test_reports_of_other_types_before_a_call(tmp_path) -> None:
    x = torch.randn(2, 3)
    fast = sol.optimize(nn.Sequential(nn.Linear(3, 4), nn.ReLU()).eval(), x)
    fast.double()
    assert sol.summary(fast).weight_bytes == 8 * (3 * 4 + 4)
    sol.deploy(fast, "source", path=tmp_path)
    assert "const double *input" in next(tmp_path.rglob("*.h")).read_text()
    with torch.no_grad():
        assert fast(x.double()).dtype == torch.float64


def test_a_type_that_cannot_be_optimized() -> None:
    """torch executes it, after one look at what the module does."""
    model, x = OnlyOfFloat32().eval(), torch.randn(2, 3)
    fast = sol.optimize(model, x, fallback=True)
    fast.double()
    with torch.no_grad():
        with pytest.warns(sol.SolWarning, match="is executed by torch: .*Python code"):
            torch.testing.assert_close(fast(x.double()), model(x.double()))
        OnlyOfFloat32.calls.clear()
        fast(x.double())
    assert len(OnlyOfFloat32.calls) == 1
    model.float()
    check(fast, model, x)


def test_types_of_some_weights_and_replaced_modules(small, fast) -> None:
    small.conv.double()
    with torch.no_grad(), pytest.raises(TypeError, match="conv.weight.*float64.*optimize it again"):
        fast(image())
    small.float()
    check(fast, small, image())
    small.head = nn.Linear(4, 3)
    with torch.no_grad(), pytest.raises(TypeError, match="'head' is new, another one or gone"):
        fast(image())


def refreshed(model):
    sol.refresh(model)
    return model


@pytest.mark.parametrize("made", [copy.deepcopy, saved, refreshed], ids=str)
def test_what_is_made_of_modules_of_other_types(small, fast, made) -> None:
    x = image().double()
    check(made(fast.double()), small, x)
    check(fast, small, x)


@pytest.mark.parametrize("kind", [Converts, OfFloat32])
@pytest.mark.parametrize("dtype", [torch.float64, torch.bfloat16])
def test_modules_that_convert_their_arguments(kind, dtype) -> None:
    model, x = kind().eval(), torch.randn(2, 3)
    fast = sol.optimize(model, x)
    fast.to(dtype)
    both = [x, x.to(dtype)] if kind is Converts else [x]
    for _ in range(2):
        for given in both:
            check(fast, model, given)
            fast.zero_grad()
            fast(given).sum().backward()
            grads = [one.grad for one in fast.parameters()]
            model.zero_grad()
            model(given).sum().backward()
            torch.testing.assert_close(grads, [one.grad for one in model.parameters()])
    for made in (copy.deepcopy(fast), saved(fast)):
        for given in both:
            check(made, model, given)
    with pytest.raises(TypeError, match="input 'x': expected .*, got torch.complex64"):
        fast(x.to(torch.complex64))
    fast.float()
    check(fast, model, x)
    with pytest.raises(TypeError, match=f"expected torch.float32, got {dtype}"):
        fast(x.to(dtype))
    fast.half()
    check(fast, model, x)


def test_arguments_that_a_module_does_not_take_are_tried_once() -> None:
    class Strict(Converts):
        calls: ClassVar[list[torch.dtype]] = []

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            self.calls.append(x.dtype)
            return self.inner(x)

    model, x = Strict().eval(), torch.randn(2, 3)
    fast = sol.optimize(model, x)
    fast.double()
    check(fast, model, x.double())
    for number in range(3):
        before = len(Strict.calls)
        with torch.no_grad(), pytest.raises(TypeError, match="torch.float64, got torch.float32"):
            fast(x)
        assert (len(Strict.calls) > before) == (number == 0)


class Layers(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.ModuleList([nn.Linear(4, 4), nn.Tanh()])

    def forward(self, x):
        for layer in self.layers:
            x = layer(x)
        return x


CHANGES = {
    "appended": lambda layers: layers.append(nn.ReLU()),
    "inserted": lambda layers: layers.insert(0, nn.ReLU()),
    "deleted": lambda layers: layers.__delitem__(1),
    "deleted and appended": lambda layers: (layers.__delitem__(1), layers.append(nn.ReLU())),
}


@pytest.mark.parametrize("training", [False, True], ids=["eval", "training"])
@pytest.mark.parametrize("kind", ["Sequential", "ModuleList"])
@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_changed_lists_of_layers(change, kind, training) -> None:
    module = nn.Sequential(nn.Linear(4, 4), nn.Tanh()) if kind == "Sequential" else Layers()
    x = torch.randn(2, 4)
    fast = sol.optimize(module.train(training), x)
    with torch.set_grad_enabled(training):
        torch.testing.assert_close(fast(x), module(x))
        change(module if kind == "Sequential" else module.layers)
        for _ in range(2):
            with pytest.raises(TypeError, match="new.* or .*: optimize it again"):
                fast(x)


@pytest.mark.parametrize("capture", ["largest_batch", "another length"])
@pytest.mark.parametrize("change", ["replaced", "tied no longer"])
def test_what_changes_before_another_capture(change, capture) -> None:
    """A capture of the module as it is now does not make the one of before right."""

    class Squeezes(nn.Sequential):
        def forward(self, x):
            return super().forward(x).squeeze(0)

    module, x = Squeezes(nn.Linear(4, 4), nn.Tanh(), nn.Linear(4, 4)).eval(), torch.randn(2, 4)
    module[2].weight = module[0].weight
    fast = sol.optimize(module, x, vdims=True)
    check(fast, module, x)
    if change == "replaced":
        module[1] = nn.ReLU()
    else:
        module[2].weight = nn.Parameter(torch.randn(4, 4))
    with pytest.raises(TypeError, match="optimize it again"):
        if capture == "largest_batch":
            sol.largest_batch(fast, "1MB")
        else:
            fast._sol.compiled.memory_of_shapes(((1, 4),))
    for _ in range(2):
        with torch.no_grad(), pytest.raises(TypeError, match="optimize it again"):
            fast(x)
