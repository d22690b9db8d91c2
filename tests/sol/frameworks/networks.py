"""One network in six frameworks, and their arrays for NumPy."""

from __future__ import annotations

import functools
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import torch

import mx
from tests.importers.tensorflow.running import keras, tf

_random = np.random.default_rng(1)


def floats(*shape: int) -> np.ndarray:
    return _random.standard_normal(shape).astype("float32")


# One network in six frameworks: convolution, pooling, a product.
KERNEL, BIAS, HEAD = floats(4, 3, 3, 3), floats(4), floats(4, 5)
IMAGE = floats(2, 3, 8, 6)
LAST = np.ascontiguousarray(IMAGE.transpose(0, 2, 3, 1))


class Network(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.conv = torch.nn.Conv2d(3, 4, 3, padding=1)
        self.head = torch.nn.Linear(4, 5, bias=False)
        with torch.no_grad():
            self.conv.weight.copy_(torch.tensor(KERNEL))
            self.conv.bias.copy_(torch.tensor(BIAS))
            self.head.weight.copy_(torch.tensor(HEAD.T.copy()))

    def forward(self, x):
        hidden = torch.relu(self.conv(x))
        hidden = torch.nn.functional.max_pool2d(hidden, 2)
        return self.head(hidden.mean((2, 3)))


class Module(tf.Module):
    def __init__(self) -> None:
        super().__init__(name="network")
        self.kernel = tf.Variable(KERNEL.transpose(2, 3, 1, 0))
        self.bias, self.head = tf.Variable(BIAS), tf.Variable(HEAD)

    @tf.function
    def __call__(self, x):
        hidden = tf.nn.relu(tf.nn.conv2d(x, self.kernel, 1, "SAME") + self.bias)
        return tf.reduce_mean(tf.nn.max_pool2d(hidden, 2, 2, "VALID"), [1, 2]) @ self.head


def keras_network():
    layers = keras.layers
    model = keras.Sequential(
        [
            keras.Input((None, None, 3)),
            layers.Conv2D(4, 3, padding="same", activation="relu", name="conv"),
            layers.MaxPooling2D(),
            layers.GlobalAveragePooling2D(),
            layers.Dense(5, use_bias=False, name="head"),
        ],
        name="network",
    )
    model.set_weights([KERNEL.transpose(2, 3, 1, 0), BIAS, HEAD])
    return model


@jax.jit
def jax_network(params, x):
    numbers = ("NHWC", "HWIO", "NHWC")
    hidden = jax.lax.conv_general_dilated(
        x, params["kernel"], (1, 1), "SAME", dimension_numbers=numbers
    )
    hidden = jax.nn.relu(hidden + params["bias"])
    window = (1, 2, 2, 1)
    hidden = jax.lax.reduce_window(hidden, -jnp.inf, jax.lax.max, window, window, "VALID")
    return hidden.mean((1, 2)) @ params["head"]


PARAMS = {"kernel": jnp.asarray(KERNEL.transpose(2, 3, 1, 0)), "bias": jnp.asarray(BIAS),
          "head": jnp.asarray(HEAD)}  # fmt: skip


@functools.cache
def exported(varies):
    dynamic = {"x": ("N", None, None, None)} if varies else None
    return mx.importers.torch.load(Network().eval(), (torch.tensor(IMAGE),), dynamic=dynamic)


def onnx_network(varies=True):
    return exported(varies).copy()


def symbol_network():
    hidden = mx.sym.Convolution(
        mx.sym.var("x"), kernel=(3, 3), pad=(1, 1), num_filter=4, name="conv"
    )
    hidden = mx.sym.Activation(hidden, act_type="relu")
    hidden = mx.sym.Pooling(hidden, kernel=(2, 2), stride=(2, 2), pool_type="max")
    hidden = mx.sym.Flatten(mx.sym.mean(hidden, axis=(2, 3), keepdims=True))
    head = mx.sym.FullyConnected(hidden, num_hidden=5, no_bias=True, name="network")
    params = {"conv_weight": KERNEL, "conv_bias": BIAS, "network_weight": HEAD.T.copy()}
    return head, {name: mx.np.array(one) for name, one in params.items()}


MODELS = {
    "torch": (lambda: Network().eval(), IMAGE, torch.tensor),
    "tensorflow": (Module, LAST, tf.constant),
    "keras": (keras_network, LAST, tf.constant),
    "jax": (lambda: partial(jax_network, PARAMS), LAST, jnp.asarray),
    "onnx": (onnx_network, IMAGE, np.asarray),
    "mxnet": (symbol_network, IMAGE, mx.np.array),
}
TARGETS = {
    "torch": torch.tensor,
    "tensorflow": tf.constant,
    "keras": tf.constant,
    "jax": jnp.asarray,
    "onnx": np.asarray,
    "mxnet": mx.np.array,
    "numpy": np.asarray,
}
KINDS = {"torch": torch.Tensor, "tensorflow": tf.Tensor, "keras": tf.Tensor, "jax": jax.Array,
         "onnx": np.ndarray, "mxnet": mx.np.ndarray, "numpy": np.ndarray}  # fmt: skip
EXPECTED = Network().eval()(torch.tensor(IMAGE)).detach().numpy()


def arrays(result) -> np.ndarray:
    return result.detach().numpy() if isinstance(result, torch.Tensor) else np.asarray(result)
