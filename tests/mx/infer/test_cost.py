"""What calls of operators cost, told without executing them."""

from __future__ import annotations

from operator import getitem, setitem
from typing import Any

import pytest

import mx
from mx.op import TensorSpec


@pytest.mark.parametrize(
    ("function", "args", "bytes_moved", "operations"),
    [
        (mx.np.matmul, (("n", 3), (3, 4)), "28*n + 48", "24*n"),
        (mx.np.matmul, ((2, 5, 3), (3, 4)), 4 * (30 + 12 + 40), 2 * 40 * 3),
        (mx.np.dot, ((5,), (5,)), 4 * 11, 10),
        (mx.np.tensordot, ((2, 3, 4), (3, 2, 5), ((1, 0), (0, 1))), 4 * (24 + 30 + 20), 2 * 6 * 20),
        (mx.np.inner, ((5, 3), (2, 3)), 4 * (15 + 6 + 10), 2 * 3 * 10),
        (mx.np.outer, ((5,), (3,)), 4 * (8 + 15), 15),
        (mx.np.vdot, ((5,), (5,)), 4 * 11, 10),
        (mx.np.add, ((5, 1), (3,)), 4 * (5 + 3 + 15), 15),
        (mx.np.sum, ((5, "m"),), "20*m + 4", "5*m"),
        (mx.np.reshape, ((6,), (2, 3)), 48, 0),
        (mx.np.split, ((6,), 3), 48, 0),
        (getitem, ((6, "n"), 0), "28*n", 0),
        (getitem, ((6, "n"), [0, 1]), "32*n", "2*n"),
        (setitem, ((6, "n"), 0, 1), "48*n + 4", "n"),
        (mx.np.array, ((6,),), 48, 6),
    ],
)
def test_cost(function: Any, args: Any, bytes_moved: Any, operations: Any) -> None:
    one = (mx.np.reshape, mx.np.split, mx.np.sum, mx.np.array, getitem, setitem)
    count = 1 if function in one else 2
    specs = [TensorSpec(shape, "float32") for shape in args[:count]]
    cost = mx.op.cost(function, *specs, *args[count:])
    assert (cost.bytes, cost.operations) == (bytes_moved, operations)


def test_a_call_that_is_wrong_has_no_cost() -> None:
    with pytest.raises(ValueError, match="mismatch in its core dimension"):
        mx.op.cost(mx.np.matmul, TensorSpec((2, 3), "int8"), TensorSpec((2, 3), "int8"))
    with pytest.raises(TypeError, match="cost: expected an operator, got int"):
        mx.op.cost(3)
