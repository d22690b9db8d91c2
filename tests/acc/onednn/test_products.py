"""Sums of products, against NumPy."""

import numpy as np
import pytest

from .cases import FLOATS, check, floats, rounded, run

MATMUL = {
    "square": lambda a: (a(4, 4), a(4, 4)),
    "large": lambda a: (a(130, 70), a(70, 190)),
    "inner product": lambda a: (a(40), a(40)),
    "row": lambda a: (a(40), a(40, 30)),
    "column": lambda a: (a(30, 40), a(40)),
    "transposed": lambda a: (a(30, 20).T, a(40, 30).T),
    "large transposed": lambda a: (a(300, 200).T, a(400, 300).T),
    "slices": lambda a: (a(50, 60)[3:33, 5:45], a(90, 70)[10:50, 1:31]),
    "steps": lambda a: (a(60, 60)[::2, ::2], a(30, 20)),
    "reversed": lambda a: (a(20, 30)[:, ::-1], a(30, 20)[::-1]),
    "batch": lambda a: (a(5, 3, 4), a(5, 4, 6)),
    "one matrix": lambda a: (a(5, 3, 4), a(4, 6)),
    "one matrix first": lambda a: (a(3, 4), a(5, 4, 6)),
    "one column": lambda a: (a(5, 3, 4), a(4)),
    "one row": lambda a: (a(4), a(5, 4, 6)),
    "batches that broadcast": lambda a: (a(2, 1, 3, 4), a(3, 4, 5)),
    "batch last": lambda a: (np.moveaxis(a(3, 4, 5), 2, 0), np.moveaxis(a(4, 6, 5), 2, 0)),
    "many axes": lambda a: (a(2, 1, 2, 1, 2, 3, 4), a(1, 2, 1, 2, 2, 4, 3)),
    "broadcast matrix": lambda a: (np.broadcast_to(a(4), (3, 4)), a(4, 5)),
    "broadcast batches": lambda a: (np.broadcast_to(a(3, 4), (2, 3, 4)), a(1, 4, 5)),
    "nothing to sum": lambda a: (a(3, 0), a(0, 4)),
    "empty": lambda a: (a(0, 3), a(3, 4)),
    "outer": lambda a: (a(7, 1), a(1, 9)),
    "one": lambda a: (a(1, 1), a(1, 1)),
}


@pytest.mark.parametrize("layout", MATMUL)
def test_matmul(plugin, layout, dtype):
    def integers(*shape):  # of which all types hold the results
        return floats(*shape).round().astype(dtype)

    for make, exact in ((floats, False), (integers, True)):
        x1, x2 = MATMUL[layout](make)
        if not exact and dtype != FLOATS[0]:
            continue
        expected = rounded(np.matmul, x1, x2)
        check(run(plugin, "matmul", {"x1": x1, "x2": x2}, expected), expected)


# Operator, shapes (as strings: transposed), attributes.
PRODUCTS = [
    ("dot", (40,), (40,), {}),
    ("dot", (3, 40), (40,), {}),
    ("dot", (2, 3, 4), (5, 4, 6), {}),
    ("dot", (), (3, 4), {}),
    ("dot", (3, 4), (), {}),
    ("dot", (0,), (0,), {}),
    ("inner", (3, 4), (5, 4), {}),
    ("inner", (2, 3, 4), (4,), {}),
    ("inner", (), (3,), {}),
    ("outer", (3, 4), (5,), {}),
    ("vdot", (3, 4), (2, 6), {}),
    ("tensordot", (3, 4, 5), (4, 5, 6), {}),
    ("tensordot", (3, 4), (4, 5), {"axes": 1}),
    ("tensordot", (3, 4), (5,), {"axes": 0}),
    ("tensordot", (3, 4, 5), (5, 3, 2), {"axes": [[0, 2], [1, 0]]}),
    ("tensordot", (3, 4, 5), (5, 3, 2), {"axes": [[-1, 0], [0, -2]]}),
    ("tensordot", (3, 4, 5), (4, 2), {"axes": [1, 0]}),
    ("tensordot", (3, 4), (3, 4), {"axes": [[0, 1], [0, 1]]}),
    ("tensordot", (3, 0), (0, 4), {"axes": 1}),
    ("tensordot", (30, 40, 50), (50, 40, 20), {"axes": [[2, 1], [0, 1]]}),
]


@pytest.mark.parametrize("turned", [False, True])
@pytest.mark.parametrize(("name", "a_shape", "b_shape", "attributes"), PRODUCTS)
def test_products(plugin, name, a_shape, b_shape, attributes, turned):
    a, b = floats(*a_shape), floats(*b_shape)
    if turned:  # the same shapes, other strides
        a, b = (np.asarray(item, order="F")[..., ::-1] if item.ndim else item for item in (a, b))
    expected = np.asarray(getattr(np, name)(a, b, **attributes))
    check(run(plugin, name, {"a": a, "b": b}, expected, **attributes), expected)
