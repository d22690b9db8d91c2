"""Convolutions in plans whose images have their channels last: nothing is reordered around them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy
import pytest

import mx
from mx.graph.lowering import ONEDNN, OPERATORS
from mx.graph.lowering._lowering import Lowering
from mx.graph.lowering._value import Declined, Follower, Followers, Value
from mx.graph.lowering.onednn._backend import Blocked, api
from mx.sol.backends.gen import GEN
from tests.sol.gen.reference import evaluate

random = numpy.random.default_rng(0)
SAME = {"pads": [1, 1, 1, 1]}


def _of(*shape: int) -> numpy.ndarray:
    return random.standard_normal(shape).astype("float32")


X, OTHER, SCALE = _of(2, 24, 9, 12), _of(2, 32, 9, 12), _of(32, 1, 1)
W, BIAS = _of(32, 24, 3, 3), _of(32)


class Planned:
    """A plan whose inputs have been brought to a layout before."""

    def __init__(self) -> None:
        self.to, self.arrays = Lowering(), list[Any]()

    def last(self, array: numpy.ndarray) -> Value:
        """An input whose channels are last."""
        given = self.plain(array)
        return (
            Blocked(api().Layout.plain(array.shape)).channels_last(array.shape).of(self.to, given)
        )

    def plain(self, array: numpy.ndarray) -> Value:
        """An input in rows."""
        self.arrays.append(mx.np.array(array))
        return self.to.input(array.shape, str(array.dtype))

    def run(self, outputs: Sequence[Value]) -> tuple[list[str], numpy.ndarray]:
        """The names of the steps, and the output."""
        plan = self.to.build(outputs)
        (made,), _ = plan.profile(self.arrays)
        return [step[1] for step in plan.steps], made.asnumpy()


def _convolved() -> numpy.ndarray:
    wide = [one.astype("float64") for one in (X, W, BIAS)]
    return evaluate("Conv", wide, SAME)[0]


# Followers as functions of a plan, what is expected of y, and how many the kernel takes.
FOLLOWERS = {
    "relu": ([("Relu", lambda p: (None,))], lambda y: numpy.maximum(y, 0), 1),
    "residual": (
        [("Add", lambda p: (None, p.last(OTHER))), ("Relu", lambda p: (None,))],
        lambda y: numpy.maximum(y + OTHER, 0),
        2,
    ),
    "scale": (
        [("Mul", lambda p: (p.to.constant(SCALE), None))],
        lambda y: y * SCALE,
        1,
    ),
    "number": (
        [("Sub", lambda p: (None, p.to.constant(numpy.float32(3))))],
        lambda y: y - 3,
        1,
    ),
    "in_rows": ([("Add", lambda p: (None, p.plain(OTHER)))], lambda y: y, 0),
    "not_elementwise": ([("Softmax", lambda p: (None,))], lambda y: y, 0),
    "nothing": ([], lambda y: y, 0),
}


@pytest.mark.parametrize("name", FOLLOWERS)
def test_followers(name: str) -> None:
    rest, expected, taken = FOLLOWERS[name]
    planned = Planned()
    x = planned.last(X)
    followers = []
    for operator, make in rest:
        inputs = make(planned)
        followers.append(Follower(operator, 14, inputs, inputs.index(None), {}))
    to = planned.to
    to.followers = Followers(followers)
    constants = [to.constant(W), to.constant(BIAS)]
    made = GEN.lower(to, "Conv", 11, [x, *constants], SAME)
    assert to.taken == taken
    assert made[0].layout.is_channels_last
    names, got = planned.run(made)
    operators = "+".join(["gen:winograd", *(operator.lower() for operator, _ in rest[:taken])])
    # What is reordered are the inputs of this test, and its output.
    kernels = [one for one in names if not one.startswith("onednn.reorder")]
    assert kernels == [operators]
    numpy.testing.assert_allclose(got, expected(_convolved()), rtol=1e-5, atol=1e-4)


def test_other_layouts_are_copied_once() -> None:
    planned = Planned()
    to, given = planned.to, planned.plain(X)
    turned = Blocked(api().Layout.plain(X.shape[::-1]).permuted([3, 2, 1, 0])).of(to, given)
    made = GEN.lower(to, "Conv", 11, [turned, to.constant(W), to.constant(BIAS)], SAME)
    names, got = planned.run(made)
    assert [one.split()[0] for one in names[:3]] == ["onednn.reorder"] * 2 + ["gen:winograd"]
    numpy.testing.assert_allclose(got, _convolved(), rtol=1e-5, atol=1e-4)


@pytest.mark.skipif(GEN.target.name not in ("avx2", "avx512"), reason="needs AVX2 or AVX-512")
@pytest.mark.parametrize(
    ("count", "window", "attributes"),
    [
        (3, 3, {"strides": [2, 2], "pads": [1, 1, 1, 1]}),
        (1, 5, {"pads": [0, 2, 1, 0]}),
        (4, 1, {}),
        (3, 7, {"strides": [2, 3], "pads": [3, 3, 3, 3]}),
    ],
)
def test_images_that_models_are_given(count, window, attributes) -> None:
    """Rows of few channels are read as they are, and results have their channels last."""
    planned = Planned()
    to, images = planned.to, _of(2, count, 17, 19)
    w, bias = _of(32, count, window, window), _of(32)
    given = planned.plain(images)
    to.followers = Followers([Follower("Relu", 14, (None,), 0, {})])
    made = GEN.lower(to, "Conv", 11, [given, to.constant(w), to.constant(bias)], attributes)
    assert made[0].layout.is_channels_last and to.taken == 1
    names, got = planned.run(made)
    assert "gen:conv+relu" in names
    expected = evaluate("Conv", [one.astype("float64") for one in (images, w, bias)], attributes)[0]
    numpy.testing.assert_allclose(got, numpy.maximum(expected, 0), rtol=1e-5, atol=1e-4)


@pytest.mark.skipif(GEN.target.name not in ("avx2", "avx512"), reason="needs AVX2 or AVX-512")
def test_images_with_strides_are_left_to_others() -> None:
    planned = Planned()
    to = planned.to
    around, w = planned.plain(_of(2, 3, 20, 20)), to.constant(_of(32, 3, 3, 3))
    given = to.slices(around, [slice(0, 2), slice(0, 3), slice(1, 18), slice(3, 20)])
    with pytest.raises(Declined, match="an input with strides"):
        GEN.lower(to, "Conv", 11, [given, w], {})


def test_without_layouts_results_are_in_rows(monkeypatch) -> None:
    def missing(shape: Sequence[int]) -> None:
        raise Declined("no oneDNN")

    monkeypatch.setattr("mx.sol.backends.gen._images.images_last", missing)
    planned = Planned()
    to, w = planned.to, _of(32, 3, 3, 3)
    images = _of(2, 3, 9, 9)
    made = GEN.lower(to, "Conv", 11, [planned.plain(images), to.constant(w)], {})
    assert made[0].layout is None
    expected = evaluate("Conv", [one.astype("float64") for one in (images, w)], {})[0]
    numpy.testing.assert_allclose(planned.run(made)[1], expected, rtol=1e-5, atol=1e-4)


def test_chain_of_two() -> None:
    planned = Planned()
    to, w = planned.to, _of(24, 32, 3, 3)
    first = GEN.lower(to, "Conv", 11, [planned.last(X), to.constant(W)], SAME)
    second = GEN.lower(to, "Conv", 11, [*first, to.constant(w)], {**SAME, "strides": [2, 2]})
    last = ONEDNN.lower(to, "Relu", 14, second, {})
    names, got = planned.run(last)
    assert names[1:3] == ["gen:winograd", "gen:conv"]
    middle = evaluate("Conv", [X.astype("float64"), W.astype("float64")], SAME)[0]
    expected = evaluate("Conv", [middle, w.astype("float64")], {**SAME, "strides": [2, 2]})[0]
    numpy.testing.assert_allclose(got, numpy.maximum(expected, 0), rtol=1e-5, atol=1e-3)


@pytest.mark.parametrize("axis", [0, 1, 2, -1, -3])
def test_concat_stays_in_its_layout(axis: int) -> None:
    planned = Planned()
    to = planned.to
    parts = [planned.last(X), planned.last(X[:, ::-1].copy())]
    made = OPERATORS.lower(to, "Concat", 13, parts, {"axis": axis})
    assert made[0].layout.is_channels_last
    _, got = planned.run(made)
    numpy.testing.assert_array_equal(got, numpy.concatenate([X, X[:, ::-1]], axis))


def test_concat_with_rows_is_in_rows() -> None:
    planned = Planned()
    parts = [planned.last(X), planned.plain(X)]
    made = OPERATORS.lower(planned.to, "Concat", 13, parts, {"axis": 1})
    assert made[0].layout is None
    numpy.testing.assert_array_equal(planned.run(made)[1], numpy.concatenate([X, X], 1))


def test_declines() -> None:
    planned = Planned()
    to = planned.to
    x = planned.last(X)
    with pytest.raises(Declined, match="groups"):
        GEN.lower(to, "Conv", 11, [x, to.constant(_of(32, 12, 3, 3))], {**SAME, "group": 2})
    with pytest.raises(Declined, match="no constant"):
        GEN.lower(to, "Conv", 11, [x, planned.plain(W)], SAME)
    with pytest.raises(Declined, match="blocks"):
        GEN.lower(to, "Relu", 14, [x], {})
