"""Weights in Winograd's basis against the definition, in float64."""

from __future__ import annotations

import numpy
import pytest

import ffi
from mx import np

_pack = ffi.get_global_func("mx.graph.pack_winograd_weights")
BASIS = numpy.array([[1, 0, 0], [0.5, 0.5, 0.5], [0.5, -0.5, 0.5], [0, 0, 1]])
random = numpy.random.default_rng(0)


def _weights(results: int, channels: int) -> numpy.ndarray:
    return random.standard_normal((results, channels, 3, 3)).astype(numpy.float32)


@pytest.mark.parametrize("is_view", [False, True])
@pytest.mark.parametrize(
    ("results", "channels", "widths"),
    [
        (24, 5, [24]),
        (20, 33, [16, 8]),
        (37, 70, [24, 16]),
        (33, 3, [16, 16, 16]),
        (1, 1, [4]),
        (3, 0, [4]),
        (0, 3, []),
    ],
)
def test_packed(results: int, channels: int, widths: list[int], is_view: bool) -> None:
    weights = _weights(results, channels)
    given = np.asarray(weights)
    if is_view:
        given = np.asarray(weights.transpose(1, 0, 2, 3)).transpose(1, 0, 2, 3)
    wanted = numpy.einsum("ia,rcab,jb->ijcr", BASIS, weights.astype(numpy.float64), BASIS)
    wanted = wanted.reshape(16, channels, results).astype(numpy.float32)
    panels, first = [numpy.zeros(0, numpy.float32)], 0
    for width in widths:
        panel = numpy.zeros((16, channels, width), numpy.float32)
        some = wanted[:, :, first : first + width]
        panel[:, :, : some.shape[2]] = some
        panels.append(panel.reshape(-1))
        first += width
    numpy.testing.assert_array_equal(_pack(given, widths), numpy.concatenate(panels))


@pytest.mark.parametrize(
    ("weights", "widths", "error", "text"),
    [
        (_weights(8, 2)[0], [8], ValueError, r"weights: expected the shape \(results, channels"),
        (_weights(8, 2).astype("float64"), [8], TypeError, "weights: expected float32, got float6"),
        (_weights(8, 2), [4], ValueError, "widths: expected 8 columns, .* got 4"),
        (_weights(8, 2), [8, 16], ValueError, "widths: expected 8 columns, .* got 24"),
        (_weights(8, 2), [], ValueError, "widths: expected 8 columns, .* got 0"),
        (_weights(8, 2), [0, 8], ValueError, "widths: expected 1 to 2147483647, got 0"),
        (_weights(8, 2), [-8, 16], ValueError, "widths: expected 1 to 2147483647, got -8"),
    ],
)
def test_errors(
    weights: numpy.ndarray, widths: list[int], error: type[Exception], text: str
) -> None:
    with pytest.raises(error, match=f"mx.graph.pack_winograd_weights: {text}"):
        _pack(np.asarray(weights), widths)
