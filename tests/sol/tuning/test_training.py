"""Backends of plans of training by measurement: gradients are right whichever is chosen."""

from __future__ import annotations

import copy

import pytest
import torch
from torch import nn

from mx import np, sol
from mx.graph.lowering import BACKENDS, Backend
from mx.sol._plans import plan_of
from mx.sol._training_report import TrainingReport
from mx.sol.tuning import Choices, _choices, _measure
from mx.sol.tuning._layers import Recording

torch.manual_seed(0)


class Attention(nn.Module):
    """A layer of a transformer."""

    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.TransformerEncoderLayer(16, 2, 32, dropout=0.0, batch_first=True)

    def forward(self, x):
        return self.layer(x)


class Last(nn.Module):
    """What an LSTM gives for the last step."""

    def __init__(self) -> None:
        super().__init__()
        self.lstm = nn.LSTM(8, 16, batch_first=True)

    def forward(self, x):
        return self.lstm(x)[0][:, -1]


# Modules and inputs, in modes of training.
MODELS = {
    "dense": (lambda: nn.Sequential(nn.Linear(8, 16), nn.GELU(), nn.Linear(16, 4)), (4, 8)),
    "convolution": (
        lambda: nn.Sequential(
            nn.Conv2d(3, 8, 3, padding=1), nn.BatchNorm2d(8), nn.ReLU(), nn.MaxPool2d(2),
            nn.Conv2d(8, 16, 3, stride=2), nn.ReLU(), nn.Flatten(), nn.Linear(144, 4),
        ),
        (2, 3, 16, 16),
    ),
    "attention": (Attention, (2, 6, 16)),
    "lstm": (Last, (2, 5, 8)),
}  # fmt: skip


@pytest.fixture
def without_gen(monkeypatch) -> None:
    """Spares tests the compiler, whose code is measured as that of others is."""
    monkeypatch.setattr(_measure, "all_backends", lambda: BACKENDS)


@pytest.fixture
def autotune(monkeypatch, without_gen):
    monkeypatch.setitem(sol.config, "autotune", True)
    monkeypatch.setitem(sol.config, "tuning_seconds", 1)


def model_of(name):
    make, shape = MODELS[name]
    return make().train(), torch.randn(shape)


def plans_of(fast):
    """The plans of the last step."""
    return list(fast._sol.trainer._versions.values())[-1].plans


def gradients(module, x):
    """The output, the gradients of all parameters and of the input, and the buffers behind it."""
    module.zero_grad()
    x = x.clone().requires_grad_()
    output = module(x)
    (output * output).sum().backward()
    return [output, x.grad, *(one.grad.clone() for one in module.parameters()), *module.buffers()]


def assert_same(found, expected) -> None:
    for one, other in zip(found, expected, strict=True):
        torch.testing.assert_close(one, other, rtol=1e-3, atol=1e-4)


class Alternating:
    """Plans of which layers have backends in turns, as measurements might choose them."""

    def __init__(self, names: tuple[str, ...]) -> None:
        self._names = names
        self.chosen: dict[int, str] = {}

    def plan(self, graph, inputs, **options):
        """See Tuner."""
        recording = Recording()
        plan_of(graph, recording, **options).compiled(inputs)
        layers = [one.layer.position for one in recording.stop()]
        self.chosen = {n: self._names[i % len(self._names)] for i, n in enumerate(layers)}
        return None, plan_of(graph, Choices(self.chosen), **options)


@pytest.mark.parametrize("names", [("mx",), ("mx", "onednn"), ("blas", "gen")])
@pytest.mark.parametrize("name", MODELS)
def test_gradients_do_not_depend_on_choices(name, names) -> None:
    module, x = model_of(name)
    expected = gradients(copy.deepcopy(module), x)
    tuner = Alternating(names)
    fast = sol.optimize(module, x)
    fast._sol.compiled.tune_training(tuner)
    assert_same(gradients(fast, x), expected)
    assert tuner.chosen


@pytest.mark.parametrize("name", MODELS)
def test_tuned(name, without_gen) -> None:
    """Measuring changes nothing of the model, and its steps are those of torch."""
    module, x = model_of(name)
    expected = gradients(copy.deepcopy(module), x)
    fast = sol.optimize(module, x)
    before = copy.deepcopy(fast.state_dict())
    gradients(copy.deepcopy(fast), x)  # plans that are not tuned are there
    found = sol.tune(fast, 1.0, training=True)
    assert list(found.parts) == ["forward", "backward"]
    assert all(one.grad is None for one in fast.parameters())
    torch.testing.assert_close(fast.state_dict(), before, rtol=0, atol=0)
    layers = [layer for tuning in found.parts.values() for layer in tuning.layers]
    # No layer of an LSTM has several.
    assert any(len(layer.candidates) > 1 for layer in layers) or name == "lstm"
    assert_same(gradients(fast, x), expected)
    report = sol.report(fast, training=True)
    assert report.forward.tuning is found.parts["forward"]
    assert report.backward.tuning is found.parts["backward"]


def test_report() -> None:
    module, x = model_of("convolution")
    fast = sol.optimize(module.eval(), x)
    found = sol.report(fast, training=True)
    assert isinstance(found, TrainingReport)
    assert [step.layer for step in found.forward.steps][0] == "0"
    assert found.forward.tuning is None and found.memory.is_training
    for way in (found.forward, found.backward):
        assert 0 < way.left <= way.nodes
        assert all(step.microseconds > 0 and step.implementation for step in way.steps)
    # Each layer with weights has steps in both, and passes have left nodes of both out.
    weighted = {"0", "4", "7"}
    assert all(
        weighted <= {step.layer for step in way.steps} for way in (found.forward, found.backward)
    )
    text = str(found)
    for line in ("Sequential, forward:", "Sequential, backward:", "Passes:", "Peak Memory"):
        assert line in text
    assert all(
        torch.equal(one, other) for one, other in zip(fast.buffers(), module.buffers(), strict=True)
    )


def test_a_backend_of_another_package_is_asked(monkeypatch) -> None:
    own = Backend("own")
    own.rule("Sin")(lambda to, x: to.call(np.sin, x))
    monkeypatch.setattr(_choices, "all_backends", lambda: (own, *BACKENDS))

    class Wave(nn.Module):
        def forward(self, x):
            return torch.sin(x) * x

    x = torch.randn(3, 4)
    fast = sol.optimize(Wave(), x)
    assert_same(gradients(fast, x), gradients(Wave(), x))
    plans = plans_of(fast)
    assert "own" in [step.backend for step in plans.plans["forward"].steps()]


def test_autotune(autotune) -> None:
    module, x = model_of("dense")
    expected = gradients(copy.deepcopy(module), x)
    fast = sol.optimize(module, x)
    assert_same(gradients(fast, x), expected)
    plans = plans_of(fast)
    assert list(plans.tunings) == ["forward", "backward"]


@pytest.mark.parametrize("kind", [torch.optim.SGD, torch.optim.Adam])
def test_autotuned_step(autotune, kind) -> None:
    """A step writes to weights, which measuring must not."""
    module, x = model_of("dense")
    target, losses = torch.randn(4, 4), []
    for one in (copy.deepcopy(module), module):
        optimizer = kind(one.parameters(), 0.05)
        if one is module:
            step = sol.training_step(one, nn.MSELoss(), optimizer)
            losses.append([float(step(x, target)) for _ in range(4)])
            assert step.fused == ("forward", "loss", "backward", "optimizer")
            continue
        made = []
        for _ in range(4):
            optimizer.zero_grad()
            loss = nn.functional.mse_loss(one(x), target)
            loss.backward()
            optimizer.step()
            made.append(float(loss.detach()))
        losses.append(made)
    torch.testing.assert_close(torch.tensor(losses[1]), torch.tensor(losses[0]))


def test_models_of_others(without_gen) -> None:
    """A model of torch that trains in Keras, of which a gradient stays what it was."""
    keras = pytest.importorskip("keras")
    tf = pytest.importorskip("tensorflow")
    module, x = model_of("dense")
    fast = sol.optimize(module.eval(), x, framework="keras")
    assert isinstance(fast, keras.Model)

    def gradients_of():
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(fast(x.numpy()))
        found = tape.gradient(loss, [one.value for one in fast.trainable_variables])
        return [torch.from_numpy(one.numpy()) for one in found]

    before = gradients_of()
    found = sol.tune(fast, 1.0, training=True)
    assert any(len(layer.candidates) > 1 for layer in found.parts["backward"].layers)
    assert_same(gradients_of(), before)
    assert sol.report(fast, training=True).backward.tuning is found.parts["backward"]


def frozen():
    return nn.Linear(2, 2).requires_grad_(False), torch.ones(1, 2)


ERRORS = {
    "no bool": (
        lambda: (nn.Linear(2, 2), torch.ones(1, 2)),
        "yes",
        TypeError,
        "training: expected True or False, got 'yes'",
    ),
    "nothing to train": (frozen, True, ValueError, "no parameter of the model requires a gradient"),
}


@pytest.mark.parametrize("function", [sol.tune, sol.report])
@pytest.mark.parametrize("name", ERRORS)
def test_errors(name, function) -> None:
    make, training, kind, text = ERRORS[name]
    module, x = make()
    fast = sol.optimize(module, x)
    with pytest.raises(kind, match=f"sol.{function.__name__}: .*{text}"):
        function(fast, training=training)
