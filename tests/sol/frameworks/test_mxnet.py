"""Optimized models as functions of MXNet's arrays, and their parameters."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest
import torch

import mx
from mx import sol

from .networks import (
    EXPECTED,
    HEAD,
    IMAGE,
    Network,
    arrays,
    floats,
    onnx_network,
    symbol_network,
)

ROWS = floats(3, 2)
# Normalizes columns, and multiplies them.
NORM = mx.sym.BatchNorm(mx.sym.var("data"), name="norm", fix_gamma=False)
SYMBOL = mx.sym.FullyConnected(NORM, num_hidden=2, name="head", no_bias=True)
ARGUMENTS = {
    "norm_gamma": np.float32([2, -1]),
    "norm_beta": np.float32([0, 5]),
    "head_weight": np.float32([[1, 2], [3, 4]]),
}
STATES = {"norm_moving_mean": np.float32([1, 2]), "norm_moving_var": np.float32([3, 8])}


def expected(arguments, states) -> np.ndarray:
    every = {name: np.asarray(one) for name, one in (arguments | states).items()}
    normal = (ROWS - every["norm_moving_mean"]) / np.sqrt(every["norm_moving_var"] + 1e-3)
    return (normal * every["norm_gamma"] + every["norm_beta"]) @ every["head_weight"].T


def optimized():
    return sol.optimize((SYMBOL, ARGUMENTS, STATES), ROWS)


def close(result, wanted) -> None:
    assert isinstance(result, mx.np.ndarray) and result.ctx == mx.cpu()
    np.testing.assert_allclose(result.asnumpy(), wanted, rtol=1e-5, atol=1e-5)


def test_parameters_of_symbols(tmp_path) -> None:
    fast = optimized()
    close(fast(mx.np.array(ROWS)), expected(ARGUMENTS, STATES))
    arguments, states = fast.get_params()
    assert sorted(arguments) == sorted(ARGUMENTS) and sorted(states) == sorted(STATES)
    assert all(isinstance(one, mx.np.ndarray) for one in (arguments | states).values())
    arguments["head_weight"] *= 2  # a copy
    close(fast(data=ROWS), expected(ARGUMENTS, STATES))
    fast.set_params(arguments, states)
    arguments["head_weight"] *= 2
    twice = ARGUMENTS | {"head_weight": 2 * ARGUMENTS["head_weight"]}
    close(fast(ROWS), expected(twice, STATES))
    mean = {"norm_moving_mean": mx.np.zeros(2)}
    fast.set_params({}, mean, allow_missing=True)
    fast.set_params(ARGUMENTS, STATES, force_init=False)
    close(fast(ROWS), expected(twice, STATES | mean))
    fast.save_params(tmp_path / "kept-0000.params")
    kept, states = mx.model.load_params(tmp_path / "kept", 0)
    close(fast(ROWS), expected(kept, states))


WRONG = {
    "an unknown name": ({"norm_gamme": ROWS}, ValueError, "has no parameter norm_gamme: it"),
    "a missing name": (
        {name: ARGUMENTS[name] for name in list(ARGUMENTS)[1:]}, ValueError,
        "missing are norm_gamma: it has",
    ),
    "another shape": (
        ARGUMENTS | {"norm_gamma": np.ones(3, "float32")}, ValueError,
        r"'norm_gamma': expected shape \(2,\), got \(3,\)",
    ),
    "no arrays by name": (None, TypeError, "arg_params: expected arrays by name, got NoneType"),
    "another type": (
        ARGUMENTS | {"norm_gamma": mx.np.ones(2, dtype="float64")}, TypeError,
        "'norm_gamma': expected float32, got float64",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", WRONG)
def test_wrong_parameters(name) -> None:
    arguments, kind, text = WRONG[name]
    fast = optimized()
    with pytest.raises(kind, match=f"set_params: .*{text}"):
        fast.set_params(arguments, STATES)
    close(fast(ROWS), expected(ARGUMENTS, STATES))


def test_parameters_are_its_own() -> None:
    module = Network().eval()
    fast = sol.optimize(module, torch.tensor(IMAGE), framework="mxnet")
    with torch.no_grad():
        module.head.weight.zero_()
    close(fast(IMAGE), EXPECTED)
    fast.set_params({"head.weight": 2 * HEAD.T}, allow_missing=True)
    close(fast(mx.np.array(IMAGE)), 2 * EXPECTED)
    with pytest.raises(TypeError, match="input 'x': expected float32, got float64"):
        fast(mx.np.zeros(IMAGE.shape, dtype="float64"))


@pytest.mark.parametrize("made", [copy.deepcopy, lambda one: pickle.loads(pickle.dumps(one))])
def test_copies(made) -> None:
    fast = sol.optimize(onnx_network(), IMAGE, framework="mxnet")
    first = made(fast)
    fast.set_params({"head.weight": 2 * HEAD.T}, allow_missing=True)
    second = made(fast)
    fast.set_params({"head.weight": 3 * HEAD.T}, allow_missing=True)
    for one, factor in ((first, 1), (second, 2), (fast, 3), (copy.copy(fast), 3)):
        close(one(IMAGE), factor * EXPECTED)
    with pytest.raises(TypeError, match="cannot be copied or pickled"):
        made(sol.optimize(Network().eval(), torch.tensor(IMAGE), framework="mxnet"))


@pytest.mark.parametrize("made", [copy.deepcopy, lambda one: pickle.loads(pickle.dumps(one))])
@pytest.mark.parametrize("options", [{}, {"dtype": "float64"}, {"vdims": True}], ids=str)
@pytest.mark.parametrize("framework", ["mxnet", "numpy"])
def test_copies_of_symbols(framework, options, made) -> None:
    image = IMAGE.astype(options.get("dtype", "float32"))
    fast = sol.optimize(symbol_network(), IMAGE, framework=framework, **options)
    copied = made(fast)
    if framework == "mxnet":
        fast.set_params({"network_weight": 2 * HEAD.T}, allow_missing=True)
    np.testing.assert_allclose(arrays(copied(image)), EXPECTED, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("dtype", ["float64", "float16", "bfloat16"])
def test_other_data_types(dtype) -> None:
    module, x = torch.nn.Linear(2, 2), torch.tensor(ROWS).to(getattr(torch, dtype))
    fast = sol.optimize(module.to(x.dtype).eval(), x, framework="mxnet")
    arguments, _ = fast.get_params()
    assert {str(one.dtype) for one in arguments.values()} == {dtype}
    fast.set_params({name: -one for name, one in arguments.items()})
    result = fast(mx.np.array(ROWS).astype(dtype))
    assert str(result.dtype) == dtype
    np.testing.assert_allclose(
        result.astype("float64").asnumpy(), -module(x).detach().double(), rtol=0.02, atol=0.02
    )
