"""Arguments that makers of kernels reject, and what they say."""

import pytest

import mx

from .kernels import Input, Layout, PostOp, dnn, run_kernel

WEIGHT = mx.np.zeros((8, 4, 3, 3))


REJECTED = {
    "axes of x": (
        lambda: dnn.convolution(Input((4, 9)), WEIGHT),
        ValueError,
        "mx.onednn.convolution: x: expected 3 to 5 axes, got the shape (4, 9)",
    ),
    "type of x": (
        lambda: dnn.convolution(Input((1, 4, 9, 9), "int32"), WEIGHT),
        TypeError,
        "mx.onednn.convolution: x: expected float32, float16 or bfloat16, got int32",
    ),
    "type that oneDNN has not": (
        lambda: dnn.eltwise(Input((2,), "float64"), "relu"),
        NotImplementedError,
        "mx.onednn.eltwise: x: expected a data type that oneDNN has",
    ),
    "axes of weight": (
        lambda: dnn.convolution(Input((1, 4, 9)), WEIGHT),
        ValueError,
        "mx.onednn.convolution: weight: expected 3 axes, got the shape (8, 4, 3, 3)",
    ),
    "channels": (
        lambda: dnn.convolution(Input((1, 5, 9, 9)), WEIGHT),
        ValueError,
        "mx.onednn.convolution: weight: expected the shape (out channels, in channels / groups",
    ),
    "groups": (
        lambda: dnn.convolution(Input((1, 12, 9, 9)), WEIGHT, groups=3),
        ValueError,
        "mx.onednn.convolution: weight: expected the shape (out channels, in channels / groups",
    ),
    "bias": (
        lambda: dnn.convolution(Input((1, 4, 9, 9)), WEIGHT, mx.np.zeros((7,))),
        ValueError,
        "mx.onednn.convolution: bias: expected the shape (8,), got (7,)",
    ),
    "strides": (
        lambda: dnn.convolution(Input((1, 4, 9, 9)), WEIGHT, strides=(0, 1)),
        ValueError,
        "mx.onednn.convolution: strides: expected 2 integers of 1 or more, got (0, 1)",
    ),
    "pads": (
        lambda: dnn.convolution(Input((1, 4, 9, 9)), WEIGHT, pads=(1, 1)),
        ValueError,
        "mx.onednn.convolution: pads: expected 4 integers of 0 or more, got (1, 1)",
    ),
    "too small": (
        lambda: dnn.convolution(Input((1, 4, 2, 9)), WEIGHT),
        ValueError,
        "mx.onednn.convolution: a window that reaches over 3 elements does not fit into 2",
    ),
    "no elements": (
        lambda: dnn.convolution(Input((0, 4, 9, 9)), WEIGHT),
        ValueError,
        "mx.onednn.convolution: x: expected extents of 1 or more, got the shape (0, 4, 9, 9)",
    ),
    "products": (
        lambda: dnn.matmul(Input((2, 3)), Input((4, 5))),
        ValueError,
        "mx.onednn.matmul: a and b: expected (..., m, k) and (..., k, n)",
    ),
    "types of products": (
        lambda: dnn.matmul(Input((2, 3)), Input((3, 5), "bfloat16")),
        TypeError,
        "mx.onednn.matmul: b: expected float32 as a is, got bfloat16",
    ),
    "broadcasting": (
        lambda: dnn.binary(Input((2, 3)), Input((4,)), "add"),
        ValueError,
        "mx.onednn.binary: a and b: expected shapes that broadcast, got (2, 3) and (4,)",
    ),
    "kind of eltwise": (
        lambda: dnn.eltwise(Input((2, 3)), "reluu"),
        ValueError,
        "mx.onednn.eltwise: kind: expected one of abs, clip",
    ),
    "kind of pooling": (
        lambda: dnn.pooling(Input((1, 2, 3)), "min"),
        ValueError,
        "mx.onednn.pooling: kind: expected 'max' or 'avg', got 'min'",
    ),
    "window of pooling": (
        lambda: dnn.pooling(Input((1, 2, 3)), "max", (2, 2)),
        ValueError,
        "mx.onednn.pooling: kernel: expected 1 integers of 1 or more, got (2, 2)",
    ),
    "means with a partial window": (
        lambda: dnn.pooling(
            Input((1, 2, 8)), "avg", (3,), (2,), ceil_mode=True, count_include_pad=True
        ),
        NotImplementedError,
        "mx.onednn.pooling: count_include_pad: oneDNN would count",
    ),
    "axis": (
        lambda: dnn.softmax(Input((2, 3)), 2),
        ValueError,
        "mx.onednn.softmax: axis: expected -2 to 1, got 2",
    ),
    "scale": (
        lambda: dnn.layer_normalization(Input((2, 3)), mx.np.ones((2,))),
        ValueError,
        "mx.onednn.layer_normalization: scale: expected 3 elements, got the shape (2,)",
    ),
    "types of concat": (
        lambda: dnn.concat([Input((2, 3)), Input((2, 3), "bfloat16")], 0),
        TypeError,
        "mx.onednn.concat: inputs[1]: expected float32 as inputs[0] is, got bfloat16",
    ),
    "shapes of concat": (
        lambda: dnn.concat([Input((2, 3)), Input((2, 4))], 0),
        ValueError,
        "mx.onednn.concat: inputs[1]: expected the shape (2, 3), got (2, 4)",
    ),
    "no inputs of concat": (
        lambda: dnn.concat([], 0),
        ValueError,
        "mx.onednn.concat: inputs: expected one or more",
    ),
    "kind of reduction": (
        lambda: dnn.reduction(Input((2, 3)), "median"),
        ValueError,
        "mx.onednn.reduction: kind: expected one of sum, mean, max, min, prod, got 'median'",
    ),
    "extents": (
        lambda: dnn.resampling(Input((1, 2, 3)), (4, 5), "nearest"),
        ValueError,
        "mx.onednn.resampling: extents: expected 1 integers of 1 or more, got (4, 5)",
    ),
    "groups of shuffle": (
        lambda: dnn.shuffle(Input((1, 6)), 4),
        ValueError,
        "mx.onednn.shuffle: groups: expected a divisor of 6, got 4",
    ),
    "slope": (
        lambda: dnn.prelu(Input((1, 6)), mx.np.ones((2,))),
        ValueError,
        "mx.onednn.prelu: slope: expected a shape that broadcasts to (1, 6), got (2,)",
    ),
    "weights of a recurrent layer": (
        lambda: dnn.recurrent(
            Input((5, 1, 3)), mx.np.zeros((1, 8, 4)), mx.np.zeros((1, 8, 2)), kind="lstm"
        ),
        ValueError,
        "mx.onednn.recurrent: weight: expected the shape (1, 8, 3), got (1, 8, 4)",
    ),
    "weights that are no constants": (
        lambda: dnn.recurrent(Input((5, 1, 3)), Input((1, 8, 3)), mx.np.zeros((1, 8, 2))),
        NotImplementedError,
        "mx.onednn.recurrent: weight: expected a constant",
    ),
    "direction": (
        lambda: dnn.recurrent(
            Input((5, 1, 3)), mx.np.zeros((1, 8, 3)), mx.np.zeros((1, 8, 2)), direction="both"
        ),
        ValueError,
        "mx.onednn.recurrent: direction: expected 'forward', 'reverse' or 'bidirectional'",
    ),
    "c of gru": (
        lambda: dnn.recurrent(
            Input((5, 1, 3)),
            mx.np.zeros((1, 6, 3)),
            mx.np.zeros((1, 6, 2)),
            initial_c=mx.np.zeros((1, 1, 2)),
            kind="gru",
        ),
        ValueError,
        "mx.onednn.recurrent: initial_c and peephole: only lstm has them",
    ),
    "kind of post-op": (
        lambda: PostOp("add2"),
        ValueError,
        "mx.onednn.PostOp: kind: expected one of sum, add",
    ),
    "post-op without operand": (
        lambda: PostOp("add"),
        ValueError,
        "mx.onednn.PostOp: operand: add takes an operand",
    ),
    "operand of post-op": (
        lambda: dnn.matmul(
            Input((2, 3)), Input((3, 5)), post_ops=[PostOp("add", operand=Input((4,)))]
        ),
        ValueError,
        "mx.onednn.matmul: post_ops[0].operand: expected a shape that broadcasts to (2, 5)",
    ),
    "two sums": (
        lambda: dnn.matmul(
            Input((2, 3)), Input((3, 5)), post_ops=[PostOp("sum", operand=Input((2, 5)))] * 2
        ),
        ValueError,
        "mx.onednn.matmul: post_ops[1].operand: expected one sum, over an Input",
    ),
    "layout of another shape": (
        lambda: Input((2, 3), layout=Layout.plain((2, 4))),
        ValueError,
        "mx.onednn.Input: layout: expected one of float32 and the shape (2, 3)",
    ),
    "reorder": (
        lambda: dnn.reorder(Input((2, 3)), Layout.plain((2, 4))),
        ValueError,
        "mx.onednn.reorder: to: expected a layout of the shape (2, 3), got one of (2, 4)",
    ),
    "axes of a layout": (
        lambda: Layout.plain((2, 4)).permuted((0, 2)),
        ValueError,
        "mx.onednn.Layout.permuted: axes: expected the axes 0 to 1 in some order, got (0, 2)",
    ),
    "shape of a layout": (
        lambda: Layout.plain((2, 4)).reshaped((3, 3)),
        ValueError,
        "mx.onednn.Layout.reshaped: shape: expected 8 elements, got (3, 3)",
    ),
    "inputs of a run": (
        lambda: run_kernel(dnn.eltwise(Input((2,)), "relu").kernel, []),
        ValueError,
        "a kernel of oneDNN: expected 1 inputs and 1 outputs, got 0 and 1",
    ),
}


@pytest.mark.parametrize(("call", "kind", "text"), REJECTED.values(), ids=REJECTED)
def test_rejections(call, kind, text):
    with pytest.raises(kind) as caught:
        call()
    assert text in str(caught.value)
