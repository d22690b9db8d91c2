"""Dropout by a counter-based generator: the same elements fall, whatever computes them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy

from ._describe import Array, operator
from ._inference import BOOL, Call, Spec, like

_MULTIPLIERS = (0xD2511F53, 0xCD9E8D57)
_INCREMENTS = (0x9E3779B9, 0xBB67AE85)
_LOW = numpy.uint64(0xFFFFFFFF)


def philox(seed: Array, count: int) -> Array:
    """`count` random integers of 32 bits: Philox 4x32 with 10 rounds.

    The key is `seed`, low half first, or with two elements the first of them; the second one then
    is the upper half of the counter. Element i is word i % 4 of the block with the number i // 4,
    which is the lower half of the counter.
    """
    numbers = [int(item) & (2**64 - 1) for item in numpy.asarray(seed).reshape(-1)]
    key, upper = numbers[0], numbers[1] if len(numbers) > 1 else 0
    blocks = numpy.arange((count + 3) // 4, dtype="uint64")
    words = [
        blocks & _LOW,
        blocks >> numpy.uint64(32),
        numpy.full_like(blocks, upper & 0xFFFFFFFF),
        numpy.full_like(blocks, upper >> 32),
    ]
    keys = [key & 0xFFFFFFFF, key >> 32]
    for _ in range(10):
        products = [words[0] * numpy.uint64(_MULTIPLIERS[0])]
        products.append(words[2] * numpy.uint64(_MULTIPLIERS[1]))
        high = [product >> numpy.uint64(32) for product in products]
        words = [
            high[1] ^ words[1] ^ numpy.uint64(keys[0]),
            products[1] & _LOW,
            high[0] ^ words[3] ^ numpy.uint64(keys[1]),
            products[0] & _LOW,
        ]
        keys = [(one + more) & 0xFFFFFFFF for one, more in zip(keys, _INCREMENTS, strict=True)]
    return numpy.stack(words, 1).reshape(-1)[:count].astype("uint32")


def uniform(seed: Array, count: int) -> Array:
    """`count` numbers from 0 to below 1, of the upper 24 bits of philox's."""
    found: Array = (philox(seed, count) >> numpy.uint32(8)).astype("float32")
    return found * numpy.float32(2.0**-24)


def _training(call: Call) -> Sequence[Spec]:
    return [call.spec(0), Spec(BOOL, call.spec(0).shape)]


@operator("DropoutTraining", "Y mask", _training)
def dropout_training(X: Array, seed: Array, *, ratio: float = 0.5) -> tuple[Array, ...]:
    """Sets a share of the elements to 0, divides the others by 1 - ratio; mask is true for those.

    An element stays where its random number of 24 bits is not below ratio, compared in float32. The
    number of an element depends on `seed`, one int64 or two, and on its position alone, counted in
    row-major order: Philox 4x32-10, key = seed[0], counter = (position // 4, seed[1] or 0), word
    position % 4.
    """
    mask = (uniform(seed, X.size) >= numpy.float32(ratio)).reshape(X.shape)
    return _scaled(X, mask, ratio), mask


@operator("DropoutGrad", "dX", like(0))
def dropout_grad(dY: Array, mask: Array, *, ratio: float = 0.5) -> Array:
    """The gradient of DropoutTraining: dY / (1 - ratio) where mask is true, 0 elsewhere."""
    return _scaled(dY, mask, ratio)


def _scaled(array: Array, mask: Array, ratio: float) -> Array:
    scale = 1 / (1 - float(numpy.float32(ratio))) if ratio < 1 else 0.0
    return numpy.where(mask, array * array.dtype.type(scale), array.dtype.type(0))
