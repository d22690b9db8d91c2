"""Sizes that 64 bits or no memory can hold: a clear error, at once, from every operator."""

import subprocess
import sys

import pytest

import mx

BYTE = mx.np.ones(1, dtype="int8")
HUGE = mx.np.broadcast_to(BYTE, (2**62,))
ROWS = mx.np.broadcast_to(mx.np.ones((1, 1), dtype="int8"), (2**40, 2**20))
KEPT = [mx.np.ones(10, dtype="int8") for _ in range(100)]
NONE = mx.np.zeros((0, 4))
X = mx.np

# More elements than 64 bits count, or bytes than there is memory for.
TOO_LARGE = {
    "concatenate": lambda: X.concatenate([HUGE, HUGE, HUGE, HUGE, KEPT[0]]),
    "concatenate, negative": lambda: X.concatenate([HUGE, HUGE]),
    "concatenate, flattened": lambda: X.concatenate([ROWS] * 5, axis=None),
    "hstack": lambda: X.hstack([HUGE, HUGE, HUGE, HUGE, KEPT[0]]),
    "vstack": lambda: X.vstack([HUGE, HUGE]),
    "vstack, rows": lambda: X.vstack([ROWS] * 16),
    "stack": lambda: X.stack([HUGE] * 4),
    "repeat": lambda: X.repeat(KEPT[0], 2**62),
    "repeat, of floats": lambda: X.repeat(X.ones(4), 2**62),
    "repeat, of each": lambda: X.repeat(X.ones(3), [2**62, 2**62, 1]),
    "repeat, of each, wrapping to 1": lambda: X.repeat(X.ones(3), [2**63 - 1, 2**63 - 1, 3]),
    "repeat, along an axis": lambda: X.repeat(X.ones((2, 2)), 2**61, axis=1),
    "repeat, of nothing": lambda: X.repeat(NONE, 2**62, axis=1),
    "tile": lambda: X.tile(KEPT[0], 2**62),
    "tile, of nothing": lambda: X.tile(NONE, (1, 2**62)),
    "tile, in several": lambda: X.tile(BYTE, (2**31, 2**31, 2**31)),
    "reshape": lambda: X.reshape(HUGE, (2**33, 2**30)),
    "reshape, wrapping": lambda: X.reshape(BYTE, (2**32, 2**32, 1)),
    "reshape, wrapping to its size": lambda: X.reshape(X.ones(4), (2**62 + 1, 4)),
    "reshape, of nothing": lambda: X.reshape(NONE, (0, 2**40, 2**40)),
    "broadcast_to": lambda: X.broadcast_to(BYTE, (2**62, 2**62)),
    "add": lambda: HUGE + HUGE,
    "add, of two axes": lambda: X.broadcast_to(BYTE, (2**40, 1)) + X.broadcast_to(BYTE, (2**40,)),
    "astype": lambda: HUGE.astype("float64"),
    "flatten": lambda: HUGE.flatten(),
    "sort": lambda: X.sort(HUGE),
    "take": lambda: X.take(BYTE, X.broadcast_to(X.zeros(1, dtype="int64"), (2**59,))),
    "roll": lambda: X.roll(HUGE, [2**62 - 1, 2**62 - 1, 2**62 - 1]),
    "cumsum": lambda: X.cumsum(HUGE),
    "where": lambda: X.where(HUGE, HUGE, HUGE),
    "outer": lambda: X.outer(HUGE, HUGE),
    "tensordot": lambda: X.tensordot(HUGE, HUGE, 0),
    "matmul": lambda: X.matmul(X.broadcast_to(BYTE, (2**40, 1)), X.broadcast_to(BYTE, (1, 2**40))),
    "diag": lambda: X.diag(HUGE),
    "diag, far out": lambda: X.diag(BYTE, 2**62),
    "tril": lambda: X.tril(HUGE),
    "eye": lambda: X.eye(2**40, 2**40),
    "tri": lambda: X.tri(2**40, 2**40),
    "zeros": lambda: X.zeros((2**40, 2**40)),
    "full": lambda: X.full((2**62,), 1, dtype="int8"),
    "full_like": lambda: X.full_like(HUGE, 1),
    "arange": lambda: X.arange(2**62),
    "arange, from below": lambda: X.arange(-(2**63), 2**63 - 1),
    "linspace": lambda: X.linspace(0, 1, 2**62),
    "expand_dims": lambda: X.expand_dims(X.zeros((1,) * 64), 0),
    "stack, of 64 axes": lambda: X.stack([X.zeros((1,) * 64)]),
    "take, of 64 axes": lambda: X.take(
        X.zeros((1,) * 60), X.zeros((1,) * 10, dtype="int64"), axis=0
    ),
    "tensordot, of 64 axes": lambda: X.tensordot(X.zeros((1,) * 40), X.zeros((1,) * 40), 0),
    "tile, of 64 axes": lambda: X.tile(X.zeros((1,) * 10), (1,) * 60),
    "array_split": lambda: X.array_split(KEPT[0], 10**9),
}


@pytest.mark.parametrize("name", TOO_LARGE)
def test_too_large(name):
    with pytest.raises((ValueError, MemoryError)) as caught:
        TOO_LARGE[name]()
    assert str(caught.value)


PIECES = """
import mx, signal, sys
array = mx.np.ones(10)
def stop(*_): raise TimeoutError("in time")
signal.signal(signal.SIGALRM, stop)
signal.setitimer(signal.ITIMER_REAL, 0.2)
try:
    {}
except TimeoutError as error:
    print(error)
"""
LONG = ["mx.np.array_split(array, 10**7)", "mx.np.concatenate(mx.np.zeros((10**7, 1)))"]


@pytest.mark.parametrize("call", LONG)
def test_many_views_look_at_signals(call):
    done = subprocess.run([sys.executable, "-c", PIECES.format(call)], capture_output=True)
    assert done.stdout == b"in time\n", done.stderr.decode()
