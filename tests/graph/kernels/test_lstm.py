"""The kernel of LSTM with constant weights, against float64."""

from __future__ import annotations

from typing import Any

import numpy
import pytest

import ffi
import mx
from mx.graph.lowering._lowering import Lowering
from tests.graph import layers

maker = ffi.get_global_func("mx.graph.lstm")
RANDOM = numpy.random.default_rng(11)


def drawn(*shape: int) -> Any:
    return RANDOM.standard_normal(shape).astype("float32")


# Steps, batch, inputs and hidden: columns that fill no register, several chunks of steps with a
# rest, rows of the batch in groups, one of all.
CASES = {
    "one of all": (1, 1, 1, 1),
    "fewer columns than a register": (5, 3, 7, 6),
    "columns behind whole registers": (9, 2, 20, 70),
    "one row": (40, 1, 32, 128),
    "one row of many terms": (4, 1, 9, 520),
    "several chunks": (19, 16, 24, 200),
    "rows in groups": (3, 130, 9, 40),
    "rows in groups, several chunks": (7, 200, 5, 300),
}


@pytest.mark.parametrize("direction", ["forward", "reverse", "bidirectional"])
@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("threads", [1, 3])
def test_against_float64(name: str, direction: str, threads: int) -> None:
    steps, batch, inputs, hidden = CASES[name]
    directions = 2 if direction == "bidirectional" else 1
    x, weight = drawn(steps, batch, inputs), drawn(directions, 4 * hidden, inputs) / 3
    again = drawn(directions, 4 * hidden, hidden) / hidden**0.5
    state = (directions, batch, hidden)
    before = mx.get_num_threads()
    mx.set_num_threads(threads)
    try:
        for has_bias, has_h, has_c in (
            (True, True, True), (False, False, False), (True, True, False), (False, False, True),
        ):  # fmt: skip
            bias = drawn(directions, 8 * hidden) * has_bias
            h, c = drawn(*state) * has_h, drawn(*state) * has_c
            arrays = [x, *([h] if has_h else []), *([c] if has_c else [])]
            kernel = maker(
                CASES[name],
                mx.np.array(weight),
                mx.np.array(again),
                mx.np.array(bias) if has_bias else None,
                direction,
                has_h,
                has_c,
            )
            to = Lowering()
            plan = to.build(to.step(kernel, [to.input(one.shape, "float32") for one in arrays]))
            given = [mx.np.array(one) for one in arrays]
            found, same = ([out.asnumpy() for out in plan.run(given)] for _ in range(2))
            wide = (numpy.float64(one) for one in (x, weight, again, bias, h, c))
            peephole = numpy.zeros((directions, 3 * hidden))
            wanted = layers.recurrent("lstm", direction, *wide, peephole)
            for one, twice, expected in zip(found, same, wanted, strict=True):
                numpy.testing.assert_array_equal(one, twice)
                numpy.testing.assert_allclose(one, expected, rtol=2e-6, atol=3e-6)
    finally:
        mx.set_num_threads(before)


def test_nan_and_infinities() -> None:
    x = numpy.zeros((2, 3, 1), "float32")
    x[0, 1], x[0, 2] = numpy.nan, numpy.inf
    weight, again = mx.np.ones((1, 8, 1)), mx.np.zeros((1, 8, 2))
    to = Lowering()
    kernel = maker((2, 3, 1, 2), weight, again, None, "forward", False, False)
    plan = to.build(to.step(kernel, [to.input(x.shape, "float32")]))
    y, _, c = (out.asnumpy() for out in plan.run([mx.np.array(x)]))
    assert numpy.isnan(y[:, 0, 1]).all() and numpy.isnan(c[0, 1]).all()
    numpy.testing.assert_allclose(y[0, 0, 2], numpy.tanh(1.0), rtol=1e-6)
    numpy.testing.assert_array_equal(y[:, 0, 0], 0)


SIZES = (2, 3, 4, 5)


@pytest.mark.parametrize(
    ("changes", "error", "message"),
    [
        ({0: (2, 3, 4)}, ValueError, "extents: expected steps, batch, inputs and hidden, got 3"),
        ({0: (2, 3, 4, 0)}, ValueError, "extents: expected 1 to .*, got 0"),
        ({0: (2**31 - 1, 2**31 - 1, 4, 5)}, ValueError, r"extents, .*: expected 2 \*\* 48"),
        ({1: (1, 20, 5)}, ValueError, r"weight: expected the shape \(1, 20, 4\), got \(1, 20, 5\)"),
        ({2: (1, 20)}, ValueError, r"recurrent: expected the shape \(1, 20, 5\), got \(1, 20\)"),
        ({3: (1, 20)}, ValueError, r"bias: expected the shape \(1, 40\), got \(1, 20\)"),
        ({4: "both"}, ValueError, "direction: expected 'forward', 'reverse' or 'bidirectional'"),
        ({4: "bidirectional"}, ValueError, r"weight: expected the shape \(2, 20, 4\)"),
    ],
)
def test_rejections(changes: dict[int, Any], error: type[Exception], message: str) -> None:
    arguments: list[Any] = [SIZES, (1, 20, 4), (1, 20, 5), (1, 40), "forward", False, False]
    for index, changed in changes.items():
        arguments[index] = changed
    given = [mx.np.zeros(one) if 0 < n < 4 else one for n, one in enumerate(arguments)]
    with pytest.raises(error, match=rf"^mx\.graph\.lstm: {message}"):
        maker(*given)


def test_other_types_are_rejected() -> None:
    weight = mx.np.zeros((1, 20, 4), dtype="float64")
    with pytest.raises(TypeError, match="weight: expected float32, got float64"):
        maker(SIZES, weight, mx.np.zeros((1, 20, 5)), None, "forward", False, False)
