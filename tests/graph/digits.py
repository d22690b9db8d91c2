"""LeNet for scikit-learn's digits, trained by torch, and the same network as MXNet composes it."""

from typing import Any

import numpy as np
import torch
from sklearn.datasets import load_digits
from torch.nn import functional

from mx import sym


def lenet() -> Any:
    """LeNet for images of 8 by 8, as MXNet's examples compose it."""
    net = sym.Convolution(sym.var("data"), kernel=(3, 3), num_filter=8, pad=(1, 1), name="conv1")
    net = sym.Pooling(
        sym.Activation(net, act_type="tanh"), pool_type="max", kernel=(2, 2), stride=(2, 2)
    )
    net = sym.Convolution(net, kernel=(3, 3), num_filter=16, name="conv2")
    net = sym.BatchNorm(net, fix_gamma=False, eps=1e-5, name="norm")
    net = sym.Activation(net, act_type="relu")
    net = sym.FullyConnected(sym.Flatten(net), num_hidden=32, name="fc1")
    net = sym.FullyConnected(sym.Activation(net, act_type="tanh"), num_hidden=10, name="fc2")
    return sym.SoftmaxOutput(net, name="softmax")


class LeNet(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.conv1 = torch.nn.Conv2d(1, 8, 3, padding=1)
        self.conv2 = torch.nn.Conv2d(8, 16, 3)
        self.norm = torch.nn.BatchNorm2d(16)
        self.fc1 = torch.nn.Linear(64, 32)
        self.fc2 = torch.nn.Linear(32, 10)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = functional.max_pool2d(torch.tanh(self.conv1(x)), 2)
        x = functional.relu(self.norm(self.conv2(x)))
        return self.fc2(torch.tanh(self.fc1(x.flatten(1))))


def trained() -> tuple[LeNet, np.ndarray, np.ndarray]:
    """The network after a few epochs, with the images and classes it has not seen."""
    torch.manual_seed(0)
    digits = load_digits()
    images = (digits.images[:, None] / 16).astype("float32")
    order = np.random.default_rng(0).permutation(len(images))
    seen, unseen = order[:1000], order[-100:]
    x, y = torch.from_numpy(images[seen]), torch.from_numpy(digits.target[seen])
    net = LeNet()
    optimizer = torch.optim.Adam(net.parameters(), 5e-3)
    for _ in range(5):
        for batch in torch.randperm(len(x)).split(50):
            optimizer.zero_grad()
            functional.cross_entropy(net(x[batch]), y[batch]).backward()
            optimizer.step()
    return net.eval(), images[unseen], digits.target[unseen]


NAMES = {"running_mean": "moving_mean", "running_var": "moving_var"}


def arrays_of(net: LeNet) -> tuple[dict[str, np.ndarray], dict[str, np.ndarray]]:
    """The arrays by MXNet's names: a normalization's weight and bias are gamma and beta."""
    arguments, states = {}, {}
    for key, tensor in net.state_dict().items():
        layer, kind = key.split(".")
        if layer == "norm":
            kind = {"weight": "gamma", "bias": "beta"}.get(kind, kind)
        if kind in NAMES:
            states[f"{layer}_{NAMES[kind]}"] = tensor.numpy()
        elif kind != "num_batches_tracked":
            arguments[f"{layer}_{kind}"] = tensor.numpy()
    return arguments, states
