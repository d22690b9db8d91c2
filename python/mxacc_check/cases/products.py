"""Products of matrices and tensors."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from .case import Case
from .elements import BFLOAT16, REAL, UNIT

PRODUCTS: list[tuple[str, tuple[int, ...], tuple[int, ...]]] = [
    *(("matmul", (2, 3), (3, 4)), ("matmul", (5, 2, 3), (5, 3, 4)), ("matmul", (2, 3), (4, 3, 5))),
    *(("matmul", (3,), (3, 4)), ("matmul", (2, 3), (3,)), ("matmul", (3,), (3,))),
    *(("matmul", (64, 65), (65, 66)), ("matmul", (2, 0), (0, 3)), ("matmul", (0, 3), (3, 4))),
    *(
        ("matmul", (1, 7), (7, 1)),
        ("dot", (2, 3), (3, 4)),
        ("dot", (3,), (3,)),
        ("dot", (), (2, 3)),
    ),
    *(("inner", (2, 3), (4, 3)), ("outer", (3,), (4,)), ("vdot", (2, 3), (2, 3))),
]


def products(thorough: bool) -> Iterator[Case]:
    for name, shape, other_shape in PRODUCTS:
        for dtype in ("float32", "float64", "float16", *BFLOAT16, "int32", "complex64"):
            pair = (UNIT(shape, dtype), REAL(other_shape, dtype))
            yield Case(name, f"{shape} and {other_shape}", pair, is_sum=True)
    for dtype in ("float32", "float64"):
        a, b = REAL((6, 5), dtype), UNIT((7, 5), dtype)
        yield Case("matmul", "(6, 5) and (7, 5).T", (a, b.T), is_sum=True)
        yield Case("matmul", "(5, 6).T and (7, 5).T", (np.array(a.T).T, b.T), is_sum=True)
        yield Case("matmul", "(6, 5)[::-1] and (7, 5).T", (a[::-1], b.T), is_sum=True)
        yield Case("matmul", "(6, 5)[::2] and (7, 5)[::3].T", (a[::2], b[::3].T), is_sum=True)
    a, b = REAL((2, 3, 4), "float32"), REAL((3, 4, 5), "float32")
    for axes in (2, 1, 0, ((1, 2), (0, 1))):
        other = b if axes in (2, 0) or isinstance(axes, tuple) else REAL((4, 5), "float32")
        yield Case(
            "tensordot", f"{a.shape} and {other.shape}", (a, other), {"axes": axes}, is_sum=True
        )
