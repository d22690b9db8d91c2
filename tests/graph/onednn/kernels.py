"""What tests of oneDNN's kernels share: makers of arrays, and a run between any layouts."""

import numpy as np
import pytest

import ffi
import mx
from mx import _onednn
from tests import library

try:
    dnn = _onednn.load()
except ImportError as error:
    pytest.skip(str(error), allow_module_level=True)

RANDOM = np.random.default_rng(7)
library.load()
run_kernel = ffi.get_global_func("testing.run_kernel")
Input, PostOp, Layout = dnn.Input, dnn.PostOp, dnn.Layout

# Of results relative to the largest of them.
TOLERANCE = {"float32": 2e-6, "bfloat16": 2e-2, "float16": 3e-3}


def normal(*shape, dtype="float32"):
    return RANDOM.standard_normal(shape).astype(dtype)


def array(x, dtype=None):
    return mx.np.array(x, dtype=dtype or str(x.dtype))


def convert(x, shape, dtype, before, after):
    """An array as run_kernel has it, brought from one layout to another."""
    if before == after:
        return x
    step = dnn.reorder(Input(shape, dtype, before), after, None if after else dtype)
    return run_kernel(step.kernel, [x])[0]


def run(primitive, *inputs, offered=()):
    """Runs a kernel on row-major arrays, whatever layouts it wants, and makes its results so."""
    offered = (*offered, *[None] * (len(inputs) - len(offered)))
    arrays = [
        convert(x, x.shape, str(x.dtype), before, after)
        for x, before, after in zip(inputs, offered, primitive.inputs, strict=True)
    ]
    results = run_kernel(primitive.kernel, arrays)
    specs = zip(
        results, primitive.kernel.shapes, primitive.kernel.dtypes, primitive.outputs, strict=True
    )
    return [convert(y, shape, dtype, layout, None) for y, shape, dtype, layout in specs]


def check(primitive, inputs, expected, dtype="float32", tolerance=None):
    (result,) = run(primitive, *[array(x, dtype) for x in inputs])
    assert tuple(primitive.kernel.shapes[0]) == expected.shape
    given = np.asarray(result.astype("float64").asnumpy()).reshape(expected.shape)
    allowed = (tolerance or TOLERANCE[dtype]) * max(1, np.abs(expected).max())
    np.testing.assert_allclose(given, expected, rtol=0, atol=allowed)


def blocked(shape, dtype="float32"):
    """The layout that a convolution gives its result of that shape."""
    weight = mx.np.zeros((shape[1], shape[1], *[1] * (len(shape) - 2)))
    layout = dnn.convolution(Input(shape, dtype), weight).output
    assert layout is not None and not layout.is_plain
    return layout
