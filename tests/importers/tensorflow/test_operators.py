"""Every rule against TensorFlow."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest

import mx

from .running import bools, check, floats, ints, positive, run, tf

X, Y = floats(2, 3, 4), positive(2, 3, 4)
IMAGE = floats(2, 6, 7, 4)
FIRST = floats(2, 4, 6, 7)
P, Q = ints(3, 4), ints(3, 4)
nn, raw = tf.nn, tf.raw_ops

UNARY = (
    "abs atan asinh ceil cos cosh exp expm1 floor negative round sigmoid sign sin sinh square tan"
    " tanh erf rint identity zeros_like ones_like"
).split()
POSITIVE = "acos asin atanh log log1p sqrt rsqrt reciprocal erfc".split()
BINARY = (
    "add subtract multiply divide maximum minimum pow squared_difference floordiv floormod"
    " truncatemod divide_no_nan xdivy atan2 less less_equal greater greater_equal equal not_equal"
).split()


def find(name):
    return getattr(tf, name, None) or getattr(tf.math, name)


def branch(x):
    return tf.cond(tf.reduce_sum(x) > 0, lambda: x * 2, lambda: x - 1)


def loop(x):
    return tf.while_loop(lambda i, y: i < 3, lambda i, y: (i + 1, y * x), (0, x))[1]


def switch(number, x):
    """Two branches that call one function, and one that gives what it gets."""
    return tf.switch_case(
        number, [lambda: (x * 2, number), lambda: (find("tanh")(x), number + 1), lambda: (x, 7)]
    )


def switch_with_default(number, x):
    return tf.switch_case(number, {0: lambda: x * 2, 1: lambda: x - 1}, lambda: x / 3)


CASES = {
    **{name: (find(name), X) for name in UNARY},
    "softmax along another axis": (lambda x: nn.softmax(x, axis=0), X),
    "map_fn": (lambda x: tf.map_fn(lambda y: tf.reduce_sum(y) * y, x), X),
    "map_fn of two results": (
        lambda x: tf.map_fn(lambda y: (y[0], y * 2), x, fn_output_signature=(tf.float32,) * 2), X,
    ),
    "vectorized_map": (lambda x: tf.vectorized_map(lambda y: y @ tf.transpose(y), x), X),
    **{name: (find(name), Y) for name in POSITIVE},
    "acosh": (tf.acosh, Y + 1),
    **{f"{name} broadcast": (find(name), Y, positive(3, 1)) for name in BINARY},
    **{
        f"{name} of integers": (find(name), P, Q)
        for name in "add multiply floordiv floormod truncatemod less equal maximum".split()
    },
    **{
        name: (getattr(nn, name), X)
        for name in "relu relu6 elu selu leaky_relu softplus softsign softmax log_softmax".split()
    },
    "gelu": (nn.gelu, X),
    "gelu of tanh": (lambda x: nn.gelu(x, approximate=True), X),
    "add_n": (lambda x, y: tf.add_n([x, y, x]), X, Y),
    "cast": (lambda x: tf.cast(x, tf.int32), X),
    "where": (tf.where, bools(2, 3, 4), X, Y),
    "positions of true": (tf.where, bools(3, 4)),
    "clip": (lambda x: tf.clip_by_value(x, -0.5, 0.5), X),
    "logic": (lambda x, y: tf.logical_and(x, ~y) | (x & y), bools(5), bools(5)),
    "finite": (lambda x: (tf.math.is_finite(x), tf.math.is_nan(x), tf.math.is_inf(x)),
               np.array([1, np.inf, np.nan, -np.inf], "float32")),
    "reduce_sum": (lambda x: tf.reduce_sum(x, [0, 2]), X),
    "reduce_mean": (lambda x: tf.reduce_mean(x, 1, keepdims=True), X),
    "reduce_max of all": (tf.reduce_max, X),
    "reduce_prod": (lambda x: tf.reduce_prod(x, -1), X),
    "reduce_min": (lambda x: tf.reduce_min(x, -1), P),
    "all and any": (lambda x: (tf.reduce_all(x, 0), tf.reduce_any(x, 1)), bools(3, 4)),
    "norm": (lambda x: tf.norm(x, axis=1), X),
    "argmax": (lambda x: (tf.argmax(x, 1), tf.argmin(x, 2, tf.int32)), X),
    "cumsum": (lambda x: tf.cumsum(x, 1, exclusive=True, reverse=True), X),
    "cumprod": (lambda x: tf.math.cumprod(x, 1, exclusive=True, reverse=True), X),
    "cumulative_logsumexp": (
        lambda x: (tf.math.cumulative_logsumexp(x, 1),
                   tf.math.cumulative_logsumexp(x, 2, reverse=True)), X,
    ),
    **{
        f"{name} of zeros": (
            find(name), np.float32([0, 0, 2, 0]), np.float32([0, np.nan, 3, np.inf]),
        )
        for name in "xlogy xdivy xlog1py".split()
    },
    "xlog1py of small": (find("xlog1py"), Y, Y / 1e6),
    "cross": (tf.linalg.cross, floats(2, 4, 3), floats(2, 4, 3)),
    **{
        f"diagonals as matrices{n}": (partial(tf.linalg.diag, **options), floats(*shape))
        for n, (shape, options) in enumerate([
            ((2, 3), {}),
            ((2, 3), {"k": -1, "num_cols": 5, "padding_value": 7.0}),
            ((2, 3, 3), {"k": (-1, 1), "num_rows": 3, "num_cols": 4}),
            ((3, 3), {"k": (0, 2), "align": "LEFT_RIGHT"}),
        ])
    },
    **{
        f"diagonals of matrices{n}": (partial(tf.linalg.diag_part, **options), X)
        for n, options in enumerate([{}, {"k": 1}, {"k": (-1, 2), "padding_value": 7.0}])
    },
    "old diagonals": (
        lambda x: (raw.MatrixDiag(diagonal=x), raw.MatrixDiagPart(input=x), raw.MatrixDiagV2(
            diagonal=x[0], k=1, num_rows=-1, num_cols=-1, padding_value=0.0)), X,
    ),
    "new diagonals": (
        lambda x, y: (tf.linalg.set_diag(x, y[:, :, 0]),
                      tf.linalg.set_diag(x, y[:, :2, :3], k=(1, 2)),
                      raw.MatrixSetDiag(input=x, diagonal=y[:, :, 0])), X, Y,
    ),
    "traces": (lambda x: (tf.linalg.trace(x), tf.linalg.tensor_diag(x[0]),
                          tf.linalg.tensor_diag_part(x[0])), floats(2, 3, 3)),
    **{
        f"crops, {method}": (
            partial(tf.image.crop_and_resize, crop_size=[3, size], method=method,
                    extrapolation_value=7.0),
            IMAGE, np.float32([[0, 0.1, 0.8, 0.9], [0.9, 0.5, 0, 1.4], [0.25, 0.5, 0.75, 0.5]]),
            np.int32([1, 0, 1]),
        )
        for method, size in (("bilinear", 5), ("nearest", 1))
    },
    "top_k": (lambda x: tf.math.top_k(x, 2), X),
    "l2_loss": (nn.l2_loss, X),
    "cross entropy of classes": (
        lambda x: tf.raw_ops.SparseSoftmaxCrossEntropyWithLogits(
            features=tf.reshape(x, [6, 4]), labels=[0, 3, 1, 2, 2, 0]
        ),
        X,
    ),
    "cross entropy of probabilities": (
        lambda x, y: tf.raw_ops.SoftmaxCrossEntropyWithLogits(
            features=tf.reshape(x, [6, 4]), labels=nn.softmax(tf.reshape(y, [6, 4]))
        ),
        X,
        Y,
    ),
    "reshape": (lambda x: tf.reshape(x, [4, -1]), X),
    "transpose": (lambda x: tf.transpose(x, [2, 0, 1]), X),
    "expand and squeeze": (lambda x: tf.squeeze(tf.expand_dims(x, 1)[:, :, :1], [1, 2]), X),
    "concat": (lambda x, y: tf.concat([x, y], 2), X, Y),
    "stack": (lambda x, y: tf.stack([x, y], 1), X, Y),
    "unstack": (lambda x: tf.unstack(x, axis=1), X),
    "split": (lambda x: tf.split(x, 2, 2), X),
    "split by sizes": (lambda x: tf.split(x, [1, -1], 2), X),
    "pad": (lambda x: tf.pad(x, [[1, 0], [0, 2], [0, 0]], constant_values=3.0), X),
    "reflect": (lambda x: tf.pad(x, [[0, 0], [1, 1], [2, 0]], "REFLECT"), X),
    "tile": (lambda x: tf.tile(x, [1, 2, 1]), X),
    "broadcast_to": (lambda x: tf.broadcast_to(x, [5, 3, 4]), floats(3, 1)),
    "shape": (lambda x: (tf.shape(x), tf.size(x), tf.rank(x), x), X),
    "fill and range": (lambda x: tf.fill([2, 2], x[0, 0, 0]) + tf.range(2, dtype=tf.float32), X),
    "reverse": (lambda x: tf.reverse(x, [0, 2]), X),
    "roll": (lambda x: tf.roll(x, [1, -1], [1, 2]), X),
    "band": (lambda x: tf.linalg.band_part(x, 0, 1), X),
    "slice": (lambda x: tf.slice(x, [0, 1, 0], [-1, 2, 3]), X),
    "strided slice": (lambda x: (x[:, ::2], x[..., -1], x[1, tf.newaxis, 1:, ::-1]), X),
    "computed slice": (lambda x, i: (x[:, i:], x[:, i]), X, np.array(1, "int32")),
    "gather": (lambda x, i: tf.gather(x, i, axis=1), X, np.array([[0, 2], [1, 1]], "int32")),
    "gather by row": (lambda x, i: tf.gather(x, i, batch_dims=1, axis=1), X,
                      np.array([[0, 2], [1, 1]], "int32")),
    "gather_nd": (tf.gather_nd, X, np.array([[0, 2], [1, 1]], "int32")),
    "one_hot": (lambda i: tf.one_hot(i, 4, 2.0, -1.0), np.array([0, 3, -1, 4], "int32")),
    "scatter": (lambda x: tf.tensor_scatter_nd_update(x, [[0], [2]], tf.ones((2, 3))),
                floats(3, 3)),
    "scatter_nd": (lambda x: tf.scatter_nd([[1], [1], [0]], x, [4, 3]), floats(3, 3)),
    "matmul": (lambda x, y: tf.matmul(x, y, transpose_b=True), floats(3, 4), floats(5, 4)),
    "matmul of integers": (tf.matmul, ints(3, 4), ints(4, 2)),
    "batch matmul": (lambda x, y: tf.matmul(x, y, transpose_a=True), X, floats(2, 3, 5)),
    "einsum": (lambda x, y: tf.einsum("abc,cd->abd", x, y), X, floats(4, 2)),
    "conv2d same": (lambda x, w: nn.conv2d(x, w, 2, "SAME"), IMAGE, floats(3, 3, 4, 5)),
    "conv2d grouped": (lambda x, w: nn.conv2d(x, w, 1, "VALID"), IMAGE, floats(3, 3, 2, 6)),
    "conv2d padded": (
        lambda x, w: nn.conv2d(x, w, 1, [[0, 0], [1, 2], [0, 1], [0, 0]], dilations=2),
        IMAGE, floats(2, 2, 4, 3)),
    "conv2d, bias, relu": (
        lambda x, w, c: nn.relu(nn.bias_add(nn.conv2d(x, w, 1, "SAME"), c)),
        IMAGE, floats(3, 3, 4, 5), floats(5)),
    "conv1d": (lambda x, w: nn.conv1d(x, w, 1, "SAME") + 1.0, floats(2, 9, 4), floats(3, 4, 5)),
    "conv3d": (lambda x, w: nn.conv3d(x, w, [1, 1, 2, 1, 1], "SAME"), floats(1, 3, 4, 5, 2),
               floats(2, 2, 2, 2, 3)),
    "depthwise": (lambda x, w: nn.depthwise_conv2d(x, w, [1, 2, 2, 1], "SAME"), IMAGE,
                  floats(3, 3, 4, 2)),
    "transposed": (lambda x, w: nn.conv2d_transpose(x, w, [2, 12, 14, 3], 2, "SAME"), IMAGE,
                   floats(3, 3, 3, 4)),
    "transposed, valid": (lambda x, w: nn.conv2d_transpose(x, w, [2, 13, 15, 3], 2, "VALID"), IMAGE,
                          floats(3, 3, 3, 4)),
    "transposed, far": (lambda x, w: nn.conv2d_transpose(x, w, [2, 17, 20, 3], 3, "SAME"), IMAGE,
                        floats(2, 2, 3, 4)),
    "max_pool": (lambda x: nn.max_pool2d(x, 3, 2, "SAME"), IMAGE),
    "avg_pool": (lambda x: nn.avg_pool2d(x, [2, 3], 1, "SAME"), IMAGE),
    "max_pool3d": (lambda x: nn.max_pool3d(x, 2, 2, "VALID"), floats(1, 4, 4, 4, 2)),
    "batch norm": (
        lambda x, m: raw.FusedBatchNormV3(x=x, scale=m, offset=m, mean=m, variance=m * m,
                                          is_training=False)[0],
        IMAGE, positive(4)),
    "batch norm written out": (
        lambda x, m, s: nn.batch_normalization(nn.conv2d(x, s, 1, "SAME"), m, m, m, m, 1e-3),
        IMAGE, positive(5), floats(1, 1, 4, 5)),
    "batch norm without scale": (
        lambda x, m: nn.batch_normalization(x, m, m, m, None, 1e-3), IMAGE, positive(4)),
    "bilinear": (lambda x: tf.image.resize(x, [9, 4]), IMAGE),
    "nearest": (lambda x: tf.image.resize(x, [9, 4], "nearest"), IMAGE),
    "old bilinear": (
        lambda x: tf.compat.v1.image.resize_bilinear(x, [9, 4], align_corners=True), IMAGE),
    "depth_to_space": (lambda x: nn.depth_to_space(x, 2), IMAGE),
    "space_to_depth": (lambda x: nn.space_to_depth(x, 2), IMAGE[:, :, :6]),
    "space_to_batch": (lambda x: tf.space_to_batch(x, [2, 2], [[0, 0], [1, 0]]), IMAGE),
    "batch_to_space": (lambda x: tf.batch_to_space(x, [1, 2], [[0, 0], [1, 0]]), IMAGE),
    "lrn": (lambda x: nn.lrn(x, 2, 1.0, 0.5, 0.75), IMAGE),
    "branch": (branch, X),
    "other branch": (branch, -abs(X)),
    **{f"branch {n} of three": (switch, np.int32(n), X) for n in (-1, 0, 1, 2, 3)},
    **{f"branch {n} or another": (switch_with_default, np.int32(n), X) for n in (-1, 0, 1, 2, 3)},
    "one branch": (lambda n, x: tf.switch_case(n, [lambda: x * 2]), np.int32(5), X),
    "loop": (loop, X),
    "call": (lambda x: tf.function(lambda y: y + 1)(x) * 2, X),
    # Axes stay turned from one convolution to the next.
    "turned axes": (
        lambda x, w: nn.conv2d(
            tf.concat(
                [tf.pad(nn.conv2d(x, w, 1, "SAME") * tf.constant([1.0, 2, 3, 4]),
                        [[0, 0], [1, 0], [0, 2], [0, 0]]) + 1, tf.ones((2, 7, 9, 1))], 3
            )[..., :4] * tf.reduce_mean(x, [1, 2], keepdims=True), w, 1, "SAME"),
        IMAGE, floats(3, 3, 4, 4)),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_operators(name) -> None:
    function, *inputs = CASES[name]
    check(tf.function(function), *inputs)


VARYING = {
    "conv": lambda x: nn.relu(nn.conv2d(x, KERNEL, 2, "SAME")),
    "transposed": lambda x: nn.conv2d_transpose(
        x, KERNEL, tf.stack([tf.shape(x)[0], 2 * tf.shape(x)[1], 2 * tf.shape(x)[2], 4]), 2, "SAME"
    ),
    "pool": lambda x: nn.max_pool2d(x, 3, 2, "SAME"),
    "flat": lambda x: tf.reshape(x, [tf.shape(x)[0], -1, 4]),
    "shape": lambda x: tf.ones(tf.shape(x)) * tf.cast(tf.size(x), tf.float32) + x,
    "mean": lambda x: tf.reduce_mean(x, [1, 2]),
    "concat": lambda x: tf.concat([x, x], 1)[:, 1:-1],
    "range": lambda x: x + tf.cast(tf.range(tf.shape(x)[2])[:, tf.newaxis], tf.float32),
}
KERNEL = tf.constant(floats(3, 3, 4, 4))


@pytest.mark.parametrize("name", VARYING)
def test_sizes_that_vary(name) -> None:
    other = floats(3, 8, 5, 4)
    check(
        tf.function(VARYING[name]),
        IMAGE,
        others=[[other]],
        dynamic={"x": ("n", "h", "w", None)},
    )


def test_convolutions_keep_their_axes_turned() -> None:
    function, *inputs = CASES["turned axes"]
    graph = mx.importers.tensorflow.load(tf.function(function), inputs)
    big = [
        node
        for node in graph.nodes
        if node.op_type == "Transpose" and len(node.inputs[0].shape) == 4
        and not all(value.is_graph_input() for value in node.inputs)
    ]  # fmt: skip
    assert len(run(graph, inputs)) == 1
    # What comes out, a slice of ones, and what is no image.
    assert len(big) <= 3


WRONG = {
    "an operator": (
        lambda x: tf.linalg.inv(x),
        "MatrixInverse \\(node .*test_operators.py:[0-9]+\\): there is no rule",
    ),
    "two": (lambda x: tf.linalg.inv(x) + tf.linalg.det(x), "2 operations:\n  Matrix"),
    "arguments": (lambda x: tf.pad(x, [[1, 1], [1, 1]], "SYMMETRIC"), "MirrorPad.*mode SYMMETRIC"),
    "text": (lambda x: tf.strings.length(tf.strings.as_string(x)), "AsString"),
    "Python": (lambda x: tf.numpy_function(np.sin, [x], tf.float32), "PyFunc .*function of Python"),
    "a branch": (
        lambda x: tf.cond(x[0, 0] > 0, lambda: tf.linalg.inv(x), lambda: x),
        "MatrixInverse \\(node 'cond/MatrixInverse' in layer 'cond', .*there is no rule",
    ),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_cannot_be_imported(name) -> None:
    function, text = WRONG[name]
    with pytest.raises(mx.graph.GraphError, match=f"mx.importers.tensorflow cannot import {text}"):
        mx.importers.tensorflow.load(tf.function(function), (floats(3, 3),))
