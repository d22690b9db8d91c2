"""Convolutions of any type of floats and any number of axes against torch's."""

from __future__ import annotations

from typing import Any

import numpy
import pytest
import torch
from torch.nn import functional as F

from mx.sol.backends.gen import PLAIN_CONVOLUTION, PLAIN_TRANSPOSED, Declined, Target, emit

from .running import Job, run, spec_of

random = numpy.random.default_rng(0)
# Shapes of the input and the weights, and the arguments of torch's function.
CONVOLUTIONS: dict[str, tuple[Any, Any, dict[str, Any]]] = {
    "line": ((2, 3, 17), (4, 3, 4), {"stride": 2, "padding": 1}),
    "image": ((2, 6, 7, 9), (4, 3, 3, 2), {"stride": (2, 3), "padding": (1, 0), "groups": 2}),
    "dilations": ((1, 3, 9, 8), (5, 3, 3, 3), {"dilation": (2, 3), "padding": (2, 4)}),
    "depthwise": ((1, 6, 5, 6), (12, 1, 3, 3), {"padding": 1, "groups": 6}),
    "wide pads": ((1, 2, 3, 3), (2, 2, 2, 2), {"padding": 5, "stride": 3}),
    "volume": ((2, 3, 5, 4, 6), (2, 3, 2, 3, 2), {"stride": (1, 2, 1), "padding": (1, 1, 0)}),
    "pointwise": ((1, 8, 3, 3), (4, 8, 1, 1), {}),
}
TRANSPOSED: dict[str, tuple[Any, Any, dict[str, Any]]] = {
    "usual": ((2, 6, 5, 7), (6, 4, 3, 3), {"stride": 2, "padding": 1, "output_padding": 1}),
    "groups": ((1, 6, 5, 4), (6, 3, 2, 3), {"stride": 3, "groups": 2}),
    "dilations": ((1, 3, 9, 8), (3, 5, 3, 3), {"dilation": 2, "padding": (2, 1)}),
    "line": ((2, 3, 17), (3, 4, 4), {"stride": 2, "padding": 1}),
    "volume": ((1, 4, 3, 2, 3), (4, 2, 2, 3, 2), {"stride": (2, 1, 3), "groups": 2}),
    "depthwise": ((1, 3, 4, 4), (3, 1, 2, 2), {"stride": 2, "groups": 3}),
}


def attributes_of(count: int, given: dict[str, Any]) -> dict[str, Any]:
    made: dict[str, Any] = {}
    for name, value in given.items():
        items = [value] * count if isinstance(value, int) else list(value)
        if name == "groups":
            made["group"] = value
        elif name == "padding":
            made["pads"] = items * 2
        else:
            made[{"stride": "strides", "dilation": "dilations"}.get(name, name)] = items
    return made


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_against_torch(dtype: str) -> None:
    jobs, wanted = [], []
    kinds = (
        (PLAIN_CONVOLUTION, "conv", CONVOLUTIONS),
        (PLAIN_TRANSPOSED, "conv_transpose", TRANSPOSED),
    )
    for operator, function, cases in kinds:
        for x_shape, w_shape, given in cases.values():
            count = len(x_shape) - 2
            groups = given.get("groups", 1)
            filters = w_shape[0] if function == "conv" else w_shape[1] * groups
            for shapes in ((x_shape, w_shape), (x_shape, w_shape, (filters,))):
                arrays = [random.standard_normal(shape).astype(dtype) for shape in shapes]
                specs = [spec_of(array) for array in arrays]
                kernel = emit(Target.host(), operator, specs, attributes_of(count, given))
                jobs.append(Job(kernel, arrays))
                by_torch = getattr(F, f"{function}{count}d")
                exact = [torch.tensor(array, dtype=torch.float64) for array in arrays]
                wanted.append(by_torch(*exact, **given).numpy())
    tolerance = 1e-12 if dtype == "float64" else 1e-5
    for (found,), expected in zip(run(jobs), wanted, strict=True):
        assert found.dtype == dtype
        numpy.testing.assert_allclose(found, expected, rtol=tolerance, atol=tolerance)


REJECTED = {
    "halves": ([(1, 2, 4), (2, 2, 2)], "float16", {}, "a convolution of float16"),
    "channels": ([(1, 2, 4), (2, 3, 2)], "float64", {}, "for 2 channels"),
    "ranks": ([(1, 2, 4, 4), (2, 2, 2)], "float64", {}, "for an input of shape"),
    "a window": ([(1, 2, 4), (2, 2, 5)], "float64", {}, r"windows of \(5,\) in \(4,\)"),
    "a kernel": ([(1, 2, 4), (2, 2, 2)], "float64", {"kernel_shape": [3]}, "kernel_shape"),
    "groups": ([(1, 2, 4), (2, 2, 2)], "float64", {"group": 0}, "for 2 channels"),
}


@pytest.mark.parametrize("name", REJECTED)
def test_what_is_rejected(name: str) -> None:
    shapes, dtype, attributes, text = REJECTED[name]
    specs = [spec_of(numpy.zeros(shape, dtype)) for shape in shapes]
    with pytest.raises(Declined, match=text):
        emit(Target.host(), PLAIN_CONVOLUTION, specs, attributes)
