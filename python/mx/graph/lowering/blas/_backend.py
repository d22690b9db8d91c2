"""The backend that the rules of this folder are of, and the kernel that they make."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

import ffi

from .._lowering import Lowering
from .._table import Backend
from .._value import Declined, Follower, Value

_kernel = ffi.get_global_func("mx.graph.blas_product")

BLAS = Backend("blas", is_narrow=True)
rule = BLAS.rule


@dataclass(frozen=True)
class Product:
    """alpha a b + beta c, over the last two axes, of which a and b may have the other order."""

    a: Value
    b: Value
    c: Value | None = None
    flips_a: bool = False
    flips_b: bool = False
    alpha: float = 1.0
    beta: float = 1.0
    by_mkl: bool = False

    def lower(self, to: Lowering, takes: Collection[str] = ("Add", "Relu")) -> Value:
        """Adds the step, with the nodes behind it that it `takes`: an Add, then a Relu."""
        shape = self._shape()
        c, beta = (None, 1.0) if self.beta == 0 else (self.c, self.beta)
        taken = 0
        if c is None and "Add" in takes:
            c = _added(to.followers.get(0), self.a.dtype, shape)
            taken += c is not None
        follower = to.followers.get(taken)
        relu = "Relu" in takes and follower is not None and follower.operator == "Relu"
        kernel = to.kernel(
            _kernel,
            self.a.dtype,
            self.a.shape,
            self.b.shape,
            None if c is None else c.shape,
            self.flips_a,
            self.flips_b,
            self.alpha,
            beta,
            relu,
            self.by_mkl,
        )
        read = [_readable(to, self.a), _readable(to, self.b)]
        (made,) = to.step(kernel, read if c is None else [*read, to.plain(c)])
        to.taken = taken + relu
        return made

    def _shape(self) -> tuple[int, ...]:
        """That of the result. Declined for what is no product of BLAS."""
        values = [value for value in (self.a, self.b, self.c) if value is not None]
        dtypes = {value.dtype for value in values}
        if not dtypes <= {"float32", "float64"} or len(dtypes) != 1:
            raise Declined("BLAS has float32 and float64: " + ", ".join(sorted(dtypes)))
        if len(self.a.shape) < 2 or len(self.b.shape) < 2:
            raise Declined("vectors")
        if self.alpha == 0:
            raise Declined("a factor of 0, for which BLAS looks at no NaN")
        rows = self.a.shape[-1 if self.flips_a else -2]
        columns = self.b.shape[-2 if self.flips_b else -1]
        return (*_broadcast(self.a.shape[:-2], self.b.shape[:-2]), rows, columns)


def _broadcast(one: Sequence[int], other: Sequence[int]) -> tuple[int, ...]:
    """The shape that axes in front of matrices have together."""
    rank = max(len(one), len(other))
    whole = [1] * rank
    for shape in (one, other):
        for axis, extent in enumerate(shape, rank - len(shape)):
            if extent != 1 and whole[axis] not in (1, extent):
                raise Declined("shapes that do not broadcast")
            whole[axis] = extent if extent != 1 else whole[axis]
    return tuple(whole)


def _added(follower: Follower | None, dtype: str, shape: tuple[int, ...]) -> Value | None:
    """What an Add behind a product adds to it, where that leaves its shape as it is."""
    if follower is None or follower.operator != "Add" or follower.version < 7:
        return None
    other = follower.inputs[1 - follower.position]
    if other is None or other.dtype != dtype or len(other.shape) > len(shape):
        return None
    seen = (1,) * (len(shape) - len(other.shape)) + other.shape
    fits = all(extent in (1, whole) for extent, whole in zip(seen, shape, strict=True))
    return other if fits else None


def _readable(to: Lowering, value: Value) -> Value:
    """A value whose rows or columns are dense, as BLAS reads them: itself, or a copy."""
    value = to.plain(value)
    rows, columns = value.shape[-2:]
    row, column = to.strides(value)[-2:]
    is_dense = (column == 1 and row >= columns) or (row == 1 and column >= rows)
    return value if is_dense or 1 in (rows, columns) else to.row_major(value)
