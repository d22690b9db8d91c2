"""Products of a few rows with a small constant matrix: mx has a kernel that does a Relu, too."""

from __future__ import annotations

from dataclasses import dataclass

import ffi

from ... import numpy as np
from ._lowering import Lowering
from ._value import Value

_kernel = ffi.get_global_func("mx.graph.small_product")
_suits = ffi.get_global_func("mx.graph.suits_small_product")


@dataclass(frozen=True)
class SmallProduct:
    """One that mx is faster at than other backends."""

    a: Value
    b: Value
    bias: Value | None
    transposed: bool
    relu: bool

    @property
    def taken(self) -> int:
        """How many followers its kernel does."""
        return int(self.relu)

    def lower(self, to: Lowering) -> Value:
        """Adds the step, and takes the follower that it does."""
        assert self.b.known is not None
        bias = None
        if self.bias is not None and self.bias.known is not None:
            bias = np.reshape(self.bias.known.array, (self.bias.size,))
        given = self.a.shape[0], self.b.known.array, bias, self.transposed, self.relu
        kernel = to.kernel(_kernel, *given)
        (made,) = to.step(kernel, [to.row_major(self.a)])
        to.taken = self.taken
        return made


def small_product(
    to: Lowering,
    a: Value,
    b: Value,
    c: Value | None,
    alpha: float,
    beta: float,
    flip_a: bool,
    flip_b: bool,
) -> SmallProduct | None:
    """What mx does for a Gemm and a Relu behind it; None where others are asked."""
    if alpha != 1 or flip_a or to.precision or len(a.shape) != 2 or len(b.shape) != 2:
        return None
    bias = c if beta != 0 else None
    if any(value is not None and value.dtype != "float32" for value in (a, b, bias)):
        return None
    if a.known is not None or a.layout is not None or b.known is None:
        return None
    columns, terms = b.shape if flip_b else b.shape[::-1]
    if a.shape[1] != terms:
        return None
    if bias is not None:
        is_row = bias.known is not None and bias.shape in ((columns,), (1, columns))
        if not is_row or beta != 1:
            return None
    if not _suits(a.shape[0], columns, terms):
        return None
    follower = to.followers.get(0)
    relu = follower is not None and follower.operator == "Relu"
    return SmallProduct(a, b, bias, flip_b, relu)
