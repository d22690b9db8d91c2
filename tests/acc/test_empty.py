"""Arrays without elements: on an accelerator operators reject what they reject on the CPU."""

import gc

import numpy as np
import pytest

import mx

SHAPES = [(0,), (0, 3), (3, 0)]
DTYPES = ["bool", "uint8", "int32", "float32", "complex64"]

# Each is called with mx.np, an array, and the keyword that makes new ones where the array is.
CALLS = {
    "scalar below": lambda m, a, at: a * -1,
    "scalar above": lambda m, a, at: m.add(a, 300),
    "scalar far above": lambda m, a, at: m.maximum(2**40, a),
    "complex scalar": lambda m, a, at: m.subtract(a, 1j),
    "power": lambda m, a, at: a**-1,
    "negative": lambda m, a, at: -a,
    "bitwise": lambda m, a, at: a & 1,
    "broadcast": lambda m, a, at: a + m.zeros((5,), dtype=a.dtype, **at),
    "full": lambda m, a, at: m.full(a.shape, 300, a.dtype, **at),
    "full, of an array": lambda m, a, at: m.full(a.shape, m.zeros((2,), **at), **at),
    "full_like": lambda m, a, at: m.full_like(a, -1),
    "clip": lambda m, a, at: m.clip(a, -1, 300),
    "where": lambda m, a, at: m.where(a, a, 300),
    **{
        f"{name}, axis {axis}": lambda m, a, at, name=name, axis=axis: getattr(m, name)(a, axis)
        for name in ("cumsum", "cumprod", "sum", "max", "any", "argmax", "mean", "sort", "squeeze")
        for axis in (0, -1, 1, 2, -4)
    },
    "sum, twice": lambda m, a, at: m.sum(a, (0, 0)),
    "roll": lambda m, a, at: m.roll(a, 1, 2),
    "repeat": lambda m, a, at: m.repeat(a, -1, 0),
    "tile": lambda m, a, at: m.tile(a, -1),
    "take": lambda m, a, at: m.take(a, [5], 0),
    "concatenate": lambda m, a, at: m.concatenate([a, m.zeros((0, 7), dtype=a.dtype, **at)]),
    "stack": lambda m, a, at: m.stack([a, a], 7),
    "reshape": lambda m, a, at: m.reshape(a, (4, 0, -1)),
    "matmul": lambda m, a, at: m.matmul(a, a),
    "dot": lambda m, a, at: m.dot(a, a),
    "tensordot": lambda m, a, at: m.tensordot(a, a, 3),
    "outer": lambda m, a, at: m.outer(a, a),
    "trace": lambda m, a, at: m.trace(a),
    "tril": lambda m, a, at: m.tril(a),
    "diag": lambda m, a, at: m.diag(a),
    "round": lambda m, a, at: m.round(a, 2),
    "exp": lambda m, a, at: m.exp(a),
    "arctan2": lambda m, a, at: m.arctan2(a, a),
    "out": lambda m, a, at: m.add(a, a, out=m.zeros(a.shape, dtype="int8", **at)),
    "out of another shape": lambda m, a, at: m.exp(a, out=m.zeros((1, 1, 1), **at)),
    "astype": lambda m, a, at: a.astype("nothing"),
    "softmax": lambda m, a, at: mx.npx.softmax(a, 2),
    "softmax, cold": lambda m, a, at: mx.npx.softmax(a, -1, 0.0),
}


@pytest.fixture(scope="module")
def acc(accelerators):
    yield mx.load_acc(accelerators / "librefacc.so")
    gc.collect()  # the arrays in the frames of exceptions
    mx.unload_acc("refacc")


def outcome(call, array, at):
    """What a call gives but for where it is, or the class and the text of what it raises."""
    try:
        result = call(mx.np, array, at)
    except Exception as error:
        return type(error), str(error)
    return result.shape, result.dtype, repr(result.asnumpy())


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("name", CALLS)
def test_as_on_the_cpu(acc, name, shape, dtype):
    array = np.zeros(shape, dtype)
    expected = outcome(CALLS[name], mx.np.array(array, ctx=mx.cpu()), {"ctx": mx.cpu()})
    found = outcome(CALLS[name], mx.np.array(array, ctx=acc), {"ctx": acc})
    assert found == expected
