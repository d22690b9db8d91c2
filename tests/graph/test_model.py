"""`mx.model`: checkpoints written and read, ONNX files, and a network that torch has trained."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest
import torch
from sklearn.datasets import load_digits
from torch.nn import functional

import mx
from mx.graph import GraphError
from tests.importers.mxnet.running import run_graph

sym = mx.sym


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


def test_lenet_of_torch_through_a_checkpoint(tmp_path: Path) -> None:
    net, images, classes = trained()
    arguments, states = arrays_of(net)
    prefix = tmp_path / "lenet"
    mx.model.save_checkpoint(prefix, 6, lenet(), arguments, states)
    symbol, arg_params, aux_params = mx.model.load_checkpoint(prefix, 6)
    assert set(arg_params) | {"data", "softmax_label"} == set(symbol.list_arguments())
    assert set(aux_params) == set(symbol.list_auxiliary_states())
    graph = symbol.to_graph({"data": ("n", 1, 8, 8)}, params={**arg_params, **aux_params})
    (out,) = run_graph(graph, {"data": images})
    expected = torch.softmax(net(torch.from_numpy(images)), 1).detach().numpy()
    np.testing.assert_allclose(out, expected, rtol=1e-3, atol=1e-5)
    accuracy = (out.argmax(1) == classes).mean()
    assert accuracy == (expected.argmax(1) == classes).mean() and accuracy > 0.9
    graph.save(tmp_path / "lenet.onnx")
    again, arg_again, aux_again = mx.model.load_onnx(tmp_path / "lenet.onnx")
    assert set(arg_again) == set(arg_params) and set(aux_again) == set(aux_params)
    np.testing.assert_array_equal(arg_again["fc1_weight"].asnumpy(), arguments["fc1_weight"])
    (out_again,) = run_graph(again, {"data": images})
    np.testing.assert_array_equal(out_again, out)


@pytest.mark.parametrize(
    "dtype", ["float32", "float64", "float16", "int8", "int64", "bool", ml_dtypes.bfloat16], ids=str
)
def test_arrays_of_a_checkpoint(tmp_path: Path, dtype: Any) -> None:
    array = np.array([[0, 1, 1], [1, 0, 1]]).astype(dtype)
    mx.model.save_checkpoint(tmp_path / "a", 12, None, {"w": mx.np.array(array)}, {"m": array})
    assert [path.name for path in tmp_path.iterdir()] == ["a-0012.params"]
    arguments, states = mx.model.load_params(tmp_path / "a", 12)
    for found in (arguments["w"], states["m"]):
        assert isinstance(found, mx.np.ndarray) and found.ctx == mx.cpu(0)
        assert found.asnumpy().dtype == array.dtype
        np.testing.assert_array_equal(found.asnumpy(), array)


def damaged(path: Path) -> None:
    (path / "net-0001.params").write_bytes(b"\x12\x01")


def without_heads(path: Path) -> None:
    graph = json.loads((path / "net-symbol.json").read_text())
    (path / "net-symbol.json").write_text(json.dumps(graph | {"heads": []}))


def binary(path: Path) -> None:
    (path / "net-symbol.json").write_bytes(b"\xff\xfe")


@pytest.mark.parametrize(
    ("change", "epoch", "kind", "message"),
    [
        (damaged, 1, GraphError, "net-0001.params: the header, offset 0: expected 8 bytes"),
        (without_heads, 1, GraphError, "net-symbol.json: 'heads': expected one or more"),
        (binary, 1, GraphError, "net-symbol.json: expected UTF-8"),
        (None, 2, FileNotFoundError, "net-0002.params"),
        (None, -1, ValueError, "load_checkpoint: epoch: expected a whole number from 0 on, got -1"),
        (None, "1", ValueError, "epoch: expected a whole number"),
    ],
)
def test_checkpoints_that_cannot_be_read(
    tmp_path: Path,
    change: Callable[[Path], None] | None,
    epoch: Any,
    kind: type[Exception],
    message: str,
) -> None:
    net = sym.FullyConnected(sym.var("data"), num_hidden=2, name="fc")
    mx.model.save_checkpoint(tmp_path / "net", 1, net, {"fc_weight": np.ones((2, 3), "f")}, {})
    if change is not None:
        change(tmp_path)
    with pytest.raises(kind) as caught:
        mx.model.load_checkpoint(tmp_path / "net", epoch)
    assert message in str(caught.value)


def test_what_cannot_be_saved(tmp_path: Path) -> None:
    with pytest.raises(TypeError, match="symbol: expected a Symbol or None, got str"):
        mx.model.save_checkpoint(tmp_path / "a", 1, "net", {}, {})
    with pytest.raises(TypeError, match="'arg:w': expected one of float32"):
        mx.model.save_checkpoint(tmp_path / "a", 1, None, {"w": np.ones(1, complex)}, {})
    assert not list(tmp_path.iterdir())
