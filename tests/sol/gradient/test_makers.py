"""What makes kernels of training rejects arguments by which a kernel would read other memory."""

from __future__ import annotations

from typing import Any

import pytest

import ffi
from mx import _onednn

# Functions, arguments, and what the error says after the function's name.
WRONG: list[tuple[str, tuple[Any, ...], str]] = [
    ("max_pool", ([1, 1, 4], [4], [1], [0], [0], [1]), "strides: expected 1 to .*, got 0"),
    ("max_pool", ([1, 1, 4], [4], [0], [1], [0], [1]), "kernel: expected 1 to .*, got 0"),
    ("max_pool", ([1, 1, 4], [4], [1], [1], [-1], [1]), "pads: expected 0 to .*, got -1"),
    ("max_pool", ([1, 1, 4], [4], [2], [1], [0], [-2]), "dilations: expected 1 to .*, got -2"),
    ("max_pool", ([1, 1, 4], [-4], [1], [1], [0], [1]), "counts: expected 0 to .*, got -4"),
    ("max_pool", ([1, -1, 4], [4], [1], [1], [0], [1]), "shape: expected extents .*, got -1"),
    ("max_pool", ([1, 1, 4], [4], [2**62], [1], [0], [1]), f"kernel: expected .*, got {2**62}"),
    ("max_pool", ([1, 1, 4, 4], [4], [1], [1], [0], [1]), "kernel: expected one to three axes"),
    ("max_pool_grad", ([1, 1, -4], [1, 1, 4]), "shape: expected extents .*, got -4"),
    ("max_pool_grad", ([1, 1, 4], [1, 1, -4]), "pooled: expected extents .*, got -4"),
    ("batch_norm", ([0, 3, 4], 1, 1e-5, 0.1, True), "shape: expected one element"),
    ("batch_norm", ([2, 3, 0], 8, 1e-5, 0.1, True), "shape: expected one element"),
    ("batch_norm", ([-2, 3, -2], 1, 1e-5, 0.1, True), "shape: expected extents .*, got -2"),
    ("batch_norm_grad", ([2, 3, -2], 1), "shape: expected extents .*, got -2"),
    ("batch_norm_grad", ([2, 3], 3), "block: expected a divisor of 64, got 3"),
    ("relu_grad", ([2, 3], 20), "bytes: expected 0, or 24 or more, a multiple of 4, got 20"),
    ("relu_grad", ([2, 3], -4), "bytes: expected .*, got -4"),
    ("relu_grad", ([2, 3], 26), "bytes: expected .*, got 26"),
    ("relu_grad", ([2**40, 2**40], 0), r"shape: expected 2 \*\* 48 elements"),
    ("softmax_grad", ([2, -3], 0, False), "shape: expected extents .*, got -3"),
    ("softmax_grad", ([2, 3], 2, False), "axis: expected 0 to 1, got 2"),
    ("softmax_grad", ([], 0, True), "shape: expected one axis or more, got none"),
    ("layer_norm", ([2, -3], 1, 1e-5, True), "shape: expected extents .*, got -3"),
    ("rms_norm", ([2, 3], -1, 1e-5), "axis: expected 0 to 1, got -1"),
    ("layer_norm_grad", ([], 0), "shape: expected one axis or more, got none"),
    ("rms_norm_grad", ([-2, 3], 1), "shape: expected extents .*, got -2"),
    ("gather_grad", ([-2, 3], [2], 0, False), "shape: expected extents .*, got -2"),
    ("gather_grad", ([2, 3], [-2], 0, False), "indices: expected extents .*, got -2"),
    ("cross_entropy", ([-2, 3], 0, "mean", False), "shape: expected extents .*, got -2"),
    ("cross_entropy_grad", ([2, 0], 0, "mean", False), "shape: expected .* classes"),
    ("cross_entropy_grad", ([2, 3], 0, "max", False), "reduction: expected .*, got 'max'"),
    ("dropout", ([-2], [1], 0.5), "shape: expected extents .*, got -2"),
    ("dropout", ([2], [-1, -1], 0.5), "seed: expected extents .*, got -1"),
    ("dropout_grad", ([-2], 0.5), "shape: expected extents .*, got -2"),
    ("resize_grad", ([2, 3], 2, 4, [0] * 4, [1.0] * 4), "axis: expected 0 to 1, got 2"),
    ("resize_grad", ([2, 3], 1, 0, [], []), "extent: expected 1 to .*, got 0"),
    ("resize_grad", ([2, 3], 1, 4, [0] * 3, [1.0] * 3), "indices and weights: .* multiple of 4"),
    ("random_uniform", ([-2], [1], 0.0, 1.0), "shape: expected extents .*, got -2"),
    ("random_normal", ([2], [3], 0.0, 1.0), "seed: expected one or two elements, got 3"),
    ("sgd_step", ([-2], True, False, False), "shape: expected extents .*, got -2"),
    ("adam_step", ([-2], False, False, True), "shape: expected extents .*, got -2"),
]


def maker(name: str) -> Any:
    return ffi.get_global_func(f"mx.graph.training.{name}")


@pytest.mark.parametrize(("name", "arguments", "message"), WRONG)
def test_wrong_arguments(name: str, arguments: tuple[Any, ...], message: str) -> None:
    with pytest.raises(ValueError, match=rf"^mx\.graph\.training\.{name}: {message}"):
        maker(name)(*arguments)


@pytest.mark.parametrize(
    ("extents", "message"),
    [
        ([2, 3], "extents: expected steps, batch and hidden, got 2 numbers"),
        ([2, 3, 0], "extents: expected 1 to .*, got 0"),
        ([2**31 - 1, 2**31 - 1, 2], r"extents, .*: expected 2 \*\* 48 elements"),
        ([2, 3, 4], "product: expected a kernel of float32 .*, got training.relu_grad"),
    ],
)
def test_wrong_layers(extents: list[int], message: str) -> None:
    product = maker("relu_grad")([2, 3])
    names = {"gru": (None,), "gru_grad": (None, True), "rnn_grad": ("Tanh", True)}
    for name, rest in {"lstm": (), "lstm_grad": (True,)}.items():
        if message.startswith("extents"):
            with pytest.raises(ValueError, match=rf"^mx\.graph\.training\.{name}: {message}"):
                maker(name)(extents, False, *rest)
        with pytest.raises(TypeError):
            maker(name)(extents, None, *rest)
    for name, rest in names.items():
        with pytest.raises(ValueError, match=rf"^mx\.graph\.training\.{name}: {message}"):
            maker(name)(extents, False, product, *rest)
        with pytest.raises(TypeError):
            maker(name)(extents, False, None, *rest)


@pytest.mark.parametrize(("name", "rest"), [("lstm", ()), ("lstm_grad", (True,))])
def test_recurrent_weights_that_no_memory_has(name: str, rest: tuple[Any, ...]) -> None:
    message = rf"^mx\.graph\.training\.{name}: extents, of recurrent weights: expected 2 \*\* 48"
    with pytest.raises(ValueError, match=message):
        maker(name)([1, 1, 2**31 - 1], False, *rest)


def test_wrong_kernels_of_layers() -> None:
    other = maker("relu_grad")([2, 3])
    product = _onednn.load().matmul
    rows, square = (_onednn.load().Input(shape) for shape in ((3, 4), (4, 4)))
    fits = product(rows, square).kernel
    wide = product(rows, _onednn.load().Input((4, 8))).kernel
    with pytest.raises(ValueError, match="activation: expected Tanh, Relu or Sigmoid, got 'Elu'"):
        maker("rnn_grad")([2, 3, 4], False, fits, "Elu", True)
    with pytest.raises(ValueError, match="product: expected a kernel of float32 .*relu_grad"):
        maker("gru")([2, 3, 4], False, wide, other)


@pytest.mark.parametrize("dtype", ["bfloat16", "float16"])
def test_a_layer_takes_no_product_of_another_type(dtype: str) -> None:
    try:
        onednn = _onednn.load()
    except ImportError as error:
        pytest.skip(str(error))
    left, right = onednn.Input((3, 4), dtype), onednn.Input((4, 8), dtype)
    try:
        product = onednn.matmul(left, right, None, False, False).kernel
    except NotImplementedError:
        pytest.skip(f"no product of {dtype} on this processor")
    with pytest.raises(ValueError, match="product: expected a kernel of float32"):
        maker("gru")([2, 3, 4], False, product, None)
