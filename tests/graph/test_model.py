"""`mx.model`: checkpoints written and read, ONNX files, and a network that torch has trained."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest
import torch

import mx
from mx.graph import GraphError
from tests.importers.mxnet.running import run_graph

from .digits import arrays_of, lenet, trained

sym = mx.sym


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
