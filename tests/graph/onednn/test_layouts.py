"""In which layouts kernels of oneDNN take and give arrays, and how these are converted."""

import numpy as np
import pytest

from .. import layers
from .kernels import (
    Input,
    Layout,
    PostOp,
    array,
    blocked,
    check,
    convert,
    dnn,
    normal,
    run,
    run_kernel,
)


@pytest.mark.parametrize("shape", [(2, 17, 5, 6), (3, 8, 9), (1, 3, 4, 5, 6)])
def test_reorder(shape):
    data = normal(*shape)
    layout = blocked(shape)
    (there,) = run_kernel(dnn.reorder(Input(shape), layout).kernel, [array(data)])
    assert there.shape == (layout.bytes,)
    (back,) = run_kernel(dnn.reorder(Input(shape, layout=layout)).kernel, [there])
    np.testing.assert_array_equal(back.asnumpy(), data)


def test_reorder_converts_and_transposes():
    data = normal(3, 4, 5)
    step = dnn.reorder(Input(data.shape), dtype="bfloat16")
    (half,) = run_kernel(step.kernel, [array(data)])
    assert str(half.dtype) == "bfloat16"
    seen = Layout.plain((3, 4, 5)).permuted((2, 0, 1))
    assert seen.shape == [5, 3, 4] and not seen.is_plain
    (turned,) = run_kernel(dnn.reorder(Input((5, 3, 4), layout=seen)).kernel, [array(data)])
    np.testing.assert_array_equal(turned.asnumpy(), data.transpose(2, 0, 1))


IMAGE = (1, 16, 6, 5)
CHANNELS, NUMBER, ROW = (array(normal(*shape)) for shape in ((16, 1, 1), (1,), (5,)))


# What oneDNN has but its reference for, as it is given, and what is made of it.
FAST = {
    "a - b of a constant a": (lambda x: dnn.binary(CHANNELS, x, "sub"), True),
    "a / b of a constant a": (lambda x: dnn.binary(NUMBER, x, "div"), True),
    "a > b of a constant a": (lambda x: dnn.binary(ROW, x, "greater"), True),
    "softmax of rows": (lambda x: dnn.softmax(x, -1), False),
    "sums of rows": (lambda x: dnn.reduction(x, "sum", (3,)), False),
    "means of images": (lambda x: dnn.reduction(x, "mean", (2, 3)), False),
    "sums of single elements": (lambda x: dnn.reduction(x, "sum", (0,)), True),
    "concat with what is row-major": (lambda x: dnn.concat([x, Input((1, 7, 6, 5))], 1), True),
}


@pytest.mark.parametrize(("make", "stays"), FAST.values(), ids=FAST)
def test_makers_avoid_the_reference(make, stays):
    layout = blocked(IMAGE)
    made = make(Input(IMAGE, layout=layout))
    assert not made.is_reference and made.inputs[0] == (layout if stays else None)
    inputs = [normal(*IMAGE), normal(1, 7, 6, 5)][: len(made.inputs)]
    (result,) = run(made, *map(array, inputs))
    (plain,) = run(make(Input(IMAGE)), *map(array, inputs))
    np.testing.assert_allclose(result.asnumpy(), plain.asnumpy(), rtol=1e-4, atol=1e-5)


def test_what_is_kept_is_kept():
    layout = blocked(IMAGE)
    made = dnn.softmax(Input(IMAGE, layout=layout, keep=True), -1)
    assert made.inputs[0] == layout == made.output and made.is_reference


def test_layouts():
    plain = Layout.plain((2, 16, 3, 4))
    assert plain.text == "abcd f32" and plain.is_plain and plain.bytes == 2 * 16 * 3 * 4 * 4
    first, second = blocked((1, 17, 3, 3)), blocked((1, 17, 3, 3))
    assert first == second and hash(first) == hash(second) and first != plain
    assert {first: 1}[second] == 1
    assert first.text[0] == "a" and "b" in first.text and "(1, 17, 3, 3)" in repr(first)
    assert first.bytes >= 17 * 9 * 4 and first.shape == [1, 17, 3, 3]
    flat = Layout.plain((2, 16, 1, 1)).reshaped((2, 16))
    assert flat.is_plain and flat.shape == [2, 16]


@pytest.mark.parametrize("channels", [1, 3, 6])
def test_few_channels_are_written_without_padding(channels):
    data, weights = normal(2, 1, 12, 12), normal(channels, 1, 5, 5)
    made = dnn.convolution(Input(data.shape), array(weights), post_ops=[PostOp("relu")])
    assert made.inputs[0] is None
    expected = np.maximum(layers.convolution(data, weights), 0)
    check(made, [data], expected)
    if made.output is not None:
        assert made.output.bytes < 2 * 4 * expected.size


def test_layouts_go_from_neighbour_to_neighbour():
    data = normal(1, 3, 20, 20)
    weights = [normal(24, 3, 3, 3), normal(24, 1, 3, 3), normal(40, 24, 1, 1)]
    expected, layout, value, shape = data, None, array(data), data.shape
    for weight in weights:
        groups = expected.shape[1] // weight.shape[1]
        expected = np.maximum(layers.convolution(expected, weight, groups=groups), 0)
        made = dnn.convolution(
            Input(shape, layout=layout), array(weight), groups=groups, post_ops=[PostOp("relu")]
        )
        value = convert(value, shape, "float32", layout, made.inputs[0])
        (value,) = run_kernel(made.kernel, [value])
        layout, shape = made.output, made.kernel.shapes[0]
    kept = dnn.convolution(Input(shape, layout=layout, keep=True), array(normal(8, 40, 1, 1)))
    assert kept.inputs[0] == layout
    pooled = dnn.pooling(Input(shape, layout=layout), "avg")
    assert pooled.inputs[0] == layout
    (value,) = run_kernel(pooled.kernel, [value])
    weight = normal(5, 40)
    head = dnn.inner_product(Input((1, 40, 1, 1), layout=pooled.output), array(weight))
    value = convert(value, (1, 40, 1, 1), "float32", pooled.output, head.inputs[0])
    (value,) = run_kernel(head.kernel, [value])
    np.testing.assert_allclose(
        value.asnumpy(), expected.mean(axis=(2, 3)) @ weight.T, rtol=0, atol=2e-3
    )
