"""What infer raises."""

from __future__ import annotations

from operator import getitem, setitem
from typing import Any

import pytest
from numpy.exceptions import AxisError

import ffi
import mx
from mx.op import TensorSpec, infer

BAD = (
    (
        lambda: infer(mx.np.add, TensorSpec((2,), "float32")),
        TypeError,
        "missing a required argument: 'x2'",
    ),
    (
        lambda: infer(mx.np.add, TensorSpec((2,), "int8"), TensorSpec(("n", 3), "int8")),
        ValueError,
        r"_npi.add: operands could not be broadcast together with shapes \(2,\) \(n,3\)",
    ),
    (lambda: infer(mx.np.invert, TensorSpec(("n",), "float32")), TypeError, "_npi.invert: not"),
    (lambda: infer(mx.np.add, "x", 1), TypeError, r"argument 0 \('x1'\) expected an array"),
    (lambda: infer(mx.np), TypeError, "infer: expected an operator, got module"),
    (
        lambda: infer(ffi.get_global_func("ffi.echo"), 1),
        NotImplementedError,
        "ffi.echo: it is no operator",
    ),
    (lambda: infer(getitem, 1), TypeError, "getitem: expected 2 arguments, got 1"),
    (lambda: infer(setitem, 1, 2), TypeError, "setitem: expected 3 arguments, got 2"),
    (
        lambda: infer(getitem, mx.np.ones(2), (TensorSpec((2,), "bool"), None)),
        NotImplementedError,
        r"_npi.getitem: argument 1 \('key'\) has a TensorSpec: what .* or a mask selects",
    ),
    (
        lambda: infer(getitem, TensorSpec(("n", 2), "int8"), (0, 2)),
        IndexError,
        "index 2 is out of bounds for axis 1 with size 2",
    ),
    (lambda: TensorSpec((-1,), "float32"), ValueError, "an extent is -1"),
    (lambda: TensorSpec(("",), "float32"), ValueError, "'' is no symbolic extent: expected a name"),
    (lambda: TensorSpec(("3",), "float32"), ValueError, "no digit first"),
    (lambda: TensorSpec(("a\0b",), "float32"), ValueError, "is no symbolic extent"),
    (lambda: infer(mx.np.sum, TensorSpec(("n",), "int8"), axis=1), AxisError, "axis 1 is out of"),
    (lambda: infer(mx.np.max, TensorSpec((0, 2), "int8")), ValueError, "zero-size array"),
    (
        lambda: infer(mx.np.full_like, TensorSpec((2, "n"), "int8"), TensorSpec((3, "n"), "int8")),
        ValueError,
        r"could not broadcast input array from shape \(3,n\) into shape \(2,n\)",
    ),
    (lambda: mx.np.zeros_like(TensorSpec((2,), "int8")), TypeError, "expected an array"),
    (lambda: TensorSpec((1,) * 65, "float32"), ValueError, "0 to 64 dimensions, got 65"),
    (lambda: TensorSpec((1,), "no_type"), TypeError, "no_type"),
    (
        lambda: infer(mx.np.matmul, TensorSpec(("n", 3), "int8"), TensorSpec((4, "n"), "int8")),
        ValueError,
        r"size 4 is different from 3",
    ),
    (
        lambda: infer(mx.np.concatenate, TensorSpec(("n", 3), "int8")),
        ValueError,
        r"argument 0 \('seq'\) has n items; how many arrays it is has to be known",
    ),
    (
        lambda: infer(mx.np.where, TensorSpec((), "bool")),
        ValueError,
        "_npi.where: Calling nonzero on 0d arrays is not allowed",
    ),
)


@pytest.mark.parametrize(("call", "kind", "text"), BAD)
def test_what_is_wrong(call: Any, kind: type[Exception], text: str) -> None:
    with pytest.raises(kind, match=text):
        call()
