"""Random numbers by the counter-based generator of dropout."""

from __future__ import annotations

import numpy

from ._describe import Array, operator
from ._inference import FLOAT, Call, Spec, shaped
from .dropout import philox, uniform


def _drawn(call: Call) -> list[Spec]:
    return [Spec(FLOAT, shaped(1)(call)[0].shape)]


@operator("RandomUniformTraining", "Y", _drawn, like={0: 1})
def random_uniform(seed: Array, shape: Array, *, low: float = 0.0, high: float = 1.0) -> Array:
    """Numbers of float32 from low to below high, or to high by rounding, in an array of that shape.

    Each follows from `seed` and its position, as the numbers that DropoutTraining compares do.
    """
    extents = tuple(int(extent) for extent in shape)
    numbers = uniform(seed, int(numpy.prod(extents, dtype="int64"))).reshape(extents)
    return numpy.float32(low) + numbers * numpy.float32(high - low)


@operator("RandomNormalTraining", "Y", _drawn, like={0: 1})
def random_normal(seed: Array, shape: Array, *, mean: float = 0.0, scale: float = 1.0) -> Array:
    """Normally distributed numbers of float32 in an array of that shape.

    Elements 2 i and 2 i + 1 are r cos(t) and r sin(t), with r = sqrt(-2 log((a + 1) / 2**32)) and
    t = 2 pi b / 2**24 (Box and Muller), where a and the upper 24 bits b are of the random integers
    at these positions, which follow from `seed` as those of DropoutTraining do.
    """
    extents = tuple(int(extent) for extent in shape)
    count = int(numpy.prod(extents, dtype="int64"))
    words = philox(seed, count + count % 2).reshape(-1, 2)
    share = (words[:, 0].astype("float32") + numpy.float32(1)) * numpy.float32(2.0**-32)
    radius = numpy.sqrt(numpy.float32(-2) * numpy.log(share))
    turn = (words[:, 1] >> numpy.uint32(8)).astype("float32") * numpy.float32(2.0**-24)
    angle = turn * numpy.float32(2 * numpy.pi)
    pairs = numpy.stack([radius * numpy.cos(angle), radius * numpy.sin(angle)], 1)
    numbers = pairs.reshape(-1)[:count].reshape(extents)
    return numpy.float32(mean) + numbers * numpy.float32(scale)
