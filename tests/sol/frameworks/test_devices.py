"""Models of every framework on a device that does not execute all of their operators."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import torch

import mx
from mx import sol
from tests.acc.conftest import FILES, build
from tests.importers.tensorflow.running import keras, tf

from .networks import (
    EXPECTED,
    IMAGE,
    KINDS,
    LAST,
    MODELS,
    PARAMS,
    Module,
    Network,
    arrays,
    jax_network,
    keras_network,
    onnx_network,
)

pytestmark = pytest.mark.filterwarnings("ignore::mx.AccPlacementWarning")


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """That of the reference accelerator."""
    folder = tmp_path_factory.mktemp("accelerators")
    build(folder, "refacc")
    return folder / FILES["refacc"]


@pytest.fixture
def ctx(library: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[mx.Context]:
    """A device without convolutions, which executes all else, however small."""
    monkeypatch.setenv("MXNET_ACC_COSTS", "0")
    monkeypatch.setenv("REFACC_NODES", "!Conv")
    yield mx.load_acc(library, "sun")
    gc.collect()
    mx.unload_acc("sun")


def close(got, wanted) -> None:
    np.testing.assert_allclose(arrays(got), wanted, rtol=2e-4, atol=2e-4)


@pytest.mark.parametrize("source", MODELS)
def test_the_same_answers(ctx, source) -> None:
    make, image, own = MODELS[source]
    fast = sol.optimize(make(), own(image), device=ctx)
    with torch.no_grad():
        result = fast(own(image))
    assert isinstance(result, KINDS.get(source, np.ndarray))
    close(result, EXPECTED)
    placement = sol.report(fast).placement
    assert placement.startswith("sun: ") and placement.endswith(" nodes; on cpu: Conv x1")
    assert int(ctx.configure()["runs"]) > 0


def of_torch():
    """A model, and its weights: those of the CPU's part, and that of the device's."""
    model = Network().eval()
    return model, [*model.conv.parameters()], model.head.weight


def of_tensorflow():
    model = Module()
    return model, [model.kernel, model.bias], model.head


def of_keras():
    model = keras_network()
    return model, model.layers[0].weights, model.layers[-1].kernel


WEIGHTS = {"torch": of_torch, "tensorflow": of_tensorflow, "keras": of_keras}


@pytest.mark.parametrize("source", WEIGHTS)
def test_weights_that_change(ctx, source) -> None:
    model, on_cpu, on_device = WEIGHTS[source]()
    _, image, own = MODELS[source]
    fast = sol.optimize(model, own(image), device=ctx)

    def double(weight) -> None:
        if source == "torch":
            weight.mul_(2)
        else:
            weight.assign(2 * weight)

    with torch.no_grad():
        for factor, changed in ((1, []), (2, on_cpu), (4, [on_device]), (16, [*on_cpu, on_device])):
            for weight in changed:
                double(weight)
            close(fast(own(image)), factor * EXPECTED)


@pytest.fixture(scope="module")
def gradients():
    """Of the network's squares: by the image, whose last axis is that of channels, and by the
    weights as TensorFlow has them."""
    network, image = Network(), torch.tensor(IMAGE, requires_grad=True)
    (network(image) ** 2).sum().backward()
    kernel, bias, head = (one.grad.numpy() for one in network.parameters())
    of_image = image.grad.numpy().transpose(0, 2, 3, 1)
    return of_image, kernel.transpose(2, 3, 1, 0), bias, head.T


def in_onnx(ctx):
    fast = sol.optimize(onnx_network(False), framework="torch", device=ctx)
    image = torch.tensor(IMAGE, requires_grad=True)
    (fast(image) ** 2).sum().backward()
    kernel, bias = fast.conv.weight.grad, fast.conv.bias.grad
    found = image.grad.permute(0, 2, 3, 1), kernel.permute(2, 3, 1, 0), bias
    return *found, fast.head.weight.grad.T


def in_tensorflow(ctx):
    module = Module()
    fast = sol.optimize(module, tf.constant(LAST), device=ctx)
    x = tf.constant(LAST)
    with tf.GradientTape() as tape:
        tape.watch(x)
        loss = tf.reduce_sum(fast(x) ** 2)
    return tape.gradient(loss, [x, module.kernel, module.bias, module.head])


def in_jax(ctx):
    fast = sol.optimize(jax_network, PARAMS, LAST, device=ctx)
    loss = jax.jit(jax.grad(lambda params, x: (fast(params, x) ** 2).sum(), (0, 1)))
    of_params, of_image = loss(PARAMS, jnp.asarray(LAST))
    return of_image, of_params["kernel"], of_params["bias"], of_params["head"]


@pytest.mark.parametrize("found", [in_onnx, in_tensorflow, in_jax])
def test_gradients(ctx, gradients, found) -> None:
    for got, wanted in zip(found(ctx), gradients, strict=True):
        close(got, wanted)
    assert int(ctx.configure()["runs"]) > 1


def test_training_in_keras(ctx) -> None:
    losses = []
    for optimized in (False, True):
        model = keras_network()
        fast = sol.optimize(model, LAST, device=ctx) if optimized else model
        fast.compile(keras.optimizers.SGD(0.05), "mse", jit_compile=False)
        history = fast.fit(LAST, np.ones((2, 5), "float32"), epochs=4, verbose=0, batch_size=2)
        losses.append(history.history["loss"])
    np.testing.assert_allclose(losses[0], losses[1], rtol=1e-4)
    assert int(ctx.configure()["runs"]) > 4
