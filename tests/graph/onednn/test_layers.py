"""Pools, normalizations, reductions and recurrent layers of oneDNN against NumPy."""

import numpy as np
import pytest

from .. import layers
from .kernels import Input, PostOp, array, blocked, check, dnn, normal, run

POOLINGS = {
    "even": ((2, 16, 8, 8), {"kernel": (2, 2), "strides": (2, 2)}),
    "pads": ((1, 5, 9, 10), {"kernel": (3, 3), "strides": (2, 2), "pads": (1, 1, 1, 1)}),
    "uneven pads": ((1, 5, 9, 10), {"kernel": (3, 2), "pads": (0, 1, 2, 0)}),
    "ceil": ((1, 5, 8, 9), {"kernel": (3, 3), "strides": (2, 3), "ceil_mode": True}),
    "global": ((2, 17, 7, 6), {}),
    "dilations": ((1, 4, 9, 9), {"kernel": (2, 3), "dilations": (2, 2)}),
    "one axis": ((2, 3, 17), {"kernel": (3,), "strides": (2,)}),
    "three axes": ((1, 3, 5, 6, 7), {"kernel": (2, 3, 2)}),
}


@pytest.mark.parametrize("is_blocked", [False, True])
@pytest.mark.parametrize("kind", ["max", "avg", "avg with padding"])
@pytest.mark.parametrize(("shape", "attributes"), POOLINGS.values(), ids=POOLINGS)
def test_pooling(shape, attributes, kind, is_blocked):
    data = normal(*shape)
    count = kind == "avg with padding"
    if count and "ceil_mode" in attributes:
        return  # rejected: the table of wrong arguments has it
    layout = blocked(shape) if is_blocked else None
    kind = kind[:3]
    made = dnn.pooling(Input(shape, layout=layout), kind, count_include_pad=count, **attributes)
    expected = layers.pooling(data, kind, count_include_pad=count, **attributes)
    check(made, [data], expected)


@pytest.mark.parametrize("is_blocked", [False, True])
@pytest.mark.parametrize("shape", [(2, 16, 5, 6), (1, 7, 4, 4), (2, 3, 4, 5, 6)])
def test_batch_normalization(shape, is_blocked):
    data = normal(*shape)
    scale, shift, mean, variance = (np.abs(normal(shape[1])) + 0.5 for _ in range(4))
    layout = blocked(shape) if is_blocked else None
    made = dnn.batch_normalization(
        Input(shape, layout=layout),
        *map(array, (scale, shift, mean, variance)),
        epsilon=1e-3,
        post_ops=[PostOp("relu")],
    )
    assert made.output == layout and not made.is_reference
    by_channel = (x.reshape(-1, *[1] * (len(shape) - 2)) for x in (scale, shift, mean, variance))
    check(made, [data], np.maximum(layers.normalized(np.float64(data), *by_channel, 1e-3), 0))


@pytest.mark.parametrize("has_scale", [False, True])
@pytest.mark.parametrize(
    ("shape", "axis"), [((5, 64), -1), ((2, 3, 17), -1), ((2, 3, 4, 5), 2), ((7,), 0), ((2, 3), -2)]
)
def test_layer_normalization(shape, axis, has_scale):
    data = normal(*shape)
    inner = shape[axis:] if axis >= 0 else shape[len(shape) + axis :]
    axes = tuple(range(len(shape) - len(inner), len(shape)))
    scale, shift = normal(*inner), normal(*inner)
    mean, variance = data.mean(axes, np.float64, keepdims=True), data.var(axes, keepdims=True)
    given = (array(scale), array(shift)) if has_scale else ()
    made = dnn.layer_normalization(Input(shape), *given, axis=axis)
    assert not made.is_reference
    if not has_scale:
        scale, shift = 1, 0
    check(
        made,
        [data],
        layers.normalized(np.float64(data), scale, shift, mean, variance),
        "float32",
        1e-5,
    )


@pytest.mark.parametrize("is_log", [False, True])
@pytest.mark.parametrize(
    ("shape", "axis"), [((5, 64), -1), ((2, 12, 7, 33), 3), ((2, 16, 5, 6), 1), ((9,), 0)]
)
def test_softmax(shape, axis, is_log):
    data = normal(*shape) * 5
    expected = layers.softmax(data, axis, is_log)
    check(dnn.softmax(Input(shape), axis, is_log), [data], expected, tolerance=5e-6)
    if len(shape) > 3:
        made = dnn.softmax(Input(shape, layout=blocked(shape)), axis, is_log)
        check(made, [data], expected, tolerance=5e-6)


@pytest.mark.parametrize("is_blocked", [False, True])
def test_lrn(is_blocked):
    data = normal(2, 16, 5, 6)
    layout = blocked(data.shape) if is_blocked else None
    made = dnn.lrn(Input(data.shape, layout=layout), 5, 0.2, 0.6, 1.5)
    check(made, [data], layers.lrn(data, 5, 0.2, 0.6, 1.5), tolerance=1e-5)


@pytest.mark.parametrize("are_blocked", [False, True])
@pytest.mark.parametrize(
    ("shapes", "axis"),
    [
        ([(2, 16, 5, 6), (2, 32, 5, 6)], 1),
        ([(2, 7, 5, 6), (2, 16, 5, 6), (2, 3, 5, 6)], -3),
        ([(2, 16, 5, 6), (2, 16, 4, 6)], 2),
        ([(2, 16, 5, 6)], 0),
    ],
)
def test_concat(shapes, axis, are_blocked):
    inputs = [normal(*shape) for shape in shapes]
    layouts = [blocked(shape) if are_blocked else None for shape in shapes]
    given = [Input(shape, layout=layout) for shape, layout in zip(shapes, layouts, strict=True)]
    check(dnn.concat(given, axis), inputs, np.concatenate(inputs, axis))
    with_constant = dnn.concat([*given, array(inputs[0])], axis)
    check(with_constant, inputs, np.concatenate([*inputs, inputs[0]], axis))


@pytest.mark.parametrize("kind", ["sum", "mean", "max", "min", "prod"])
@pytest.mark.parametrize(
    ("shape", "axes"),
    [
        ((5, 64), (1,)),
        ((2, 16, 5, 6), (2, 3)),
        ((2, 7, 5), (0,)),
        ((3, 4, 5), None),
        ((3, 4), (-1,)),
    ],
)
def test_reduction(shape, axes, kind):
    data = normal(*shape)
    expected = getattr(np, kind)(np.float64(data), axis=axes, keepdims=True)
    check(dnn.reduction(Input(shape), kind, axes), [data], expected, tolerance=1e-5)


@pytest.mark.parametrize("is_blocked", [False, True])
@pytest.mark.parametrize("kind", ["nearest", "linear"])
@pytest.mark.parametrize(
    ("shape", "extents"),
    [
        ((2, 16, 5, 6), (10, 12)),
        ((1, 3, 8, 9), (5, 20)),
        ((2, 3, 7), (20,)),
        ((1, 2, 3, 4, 5), (6, 4, 9)),
    ],
)
def test_resampling(shape, extents, kind, is_blocked):
    data = normal(*shape)
    layout = blocked(shape) if is_blocked else None
    made = dnn.resampling(Input(shape, layout=layout), extents, kind)
    check(made, [data], layers.resized(data, extents, kind))


@pytest.mark.parametrize(("shape", "axis"), [((2, 12, 5, 6), 1), ((3, 12), -1)])
def test_shuffle(shape, axis):
    data = normal(*shape)
    groups = (*shape[:1], 3, 4, *shape[2:])
    expected = data.reshape(groups).swapaxes(1, 2).reshape(shape)
    check(dnn.shuffle(Input(shape), 3, axis), [data], expected)


@pytest.mark.parametrize("direction", ["forward", "reverse", "bidirectional"])
@pytest.mark.parametrize("kind", ["lstm", "gru", "lbr_gru", "tanh", "relu", "lstm with peepholes"])
@pytest.mark.parametrize("are_given", [False, True])
def test_recurrent(kind, direction, are_given):
    kind, _, has_peepholes = kind.partition(" ")
    directions = 2 if direction == "bidirectional" else 1
    gates = {"lstm": 4, "gru": 3, "lbr_gru": 3}.get(kind, 1)
    length, batch, inputs, hidden = 5, 3, 7, 6
    data = normal(length, batch, inputs)
    weight = normal(directions, gates * hidden, inputs) / 3
    again = normal(directions, gates * hidden, hidden) / 3
    given = {
        "bias": normal(directions, 2 * gates * hidden),
        "initial_h": normal(directions, batch, hidden),
        "initial_c": normal(directions, batch, hidden),
        "peephole": normal(directions, 3 * hidden),
    }
    if not are_given:
        given = {name: x * 0 for name, x in given.items()}
    if not has_peepholes:
        given["peephole"] *= 0
    expected = layers.recurrent(kind, direction, *map(np.float64, (data, weight, again)), **given)
    options, arrays = {}, [array(data)]
    if are_given:
        options = {"bias": array(given["bias"]), "initial_h": Input((directions, batch, hidden))}
        arrays.append(array(given["initial_h"]))
    if are_given and kind == "lstm":
        options["initial_c"] = Input((directions, batch, hidden))
        arrays.append(array(given["initial_c"]))
    if has_peepholes:
        options["peephole"] = array(given["peephole"])
    made = dnn.recurrent(
        Input(data.shape), array(weight), array(again), kind=kind, direction=direction, **options
    )
    results = run(made, *arrays)
    assert len(results) == (3 if kind == "lstm" else 2)
    for result, wanted in zip(results, expected, strict=False):
        np.testing.assert_allclose(result.asnumpy(), wanted, rtol=0, atol=1e-5)
