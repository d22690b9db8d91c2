"""Operands of NumPy's for arrays of accelerators: they go to the array, not the array to them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy
import pytest

import ffi
import mx
from tests import library

HERE = numpy.arange(6, dtype="float32").reshape(2, 3)
OTHER = HERE[::-1] + 1
READ_ONLY = OTHER.copy()
READ_ONLY.flags.writeable = False
# Each with the bytes of operands that were copied.
CALLS: dict[str, tuple[Callable[[Any, Any, Any], Any], str, int]] = {
    "right": (lambda np, a, b: a + b, "add", 24),
    "left": (lambda np, a, b: b - a, "subtract", 24),
    "strided": (lambda np, a, b: a * b[:, ::2].repeat(2, 1)[:, ::-1][:, :3], "multiply", 24),
    "column": (lambda np, a, b: a + b[:, :1], "add", 8),
    "read-only": (lambda np, a, b: a + READ_ONLY, "add", 24),
    "another type": (lambda np, a, b: a + b.astype("float64"), "add", 48),
    "comparison": (lambda np, a, b: a > b, "greater", 24),
    "in place": (lambda np, a, b: a.__iadd__(b), "add", 24),
    "function": (lambda np, a, b: np.where(b > 2, b, a), "where", 30),
    "out": (lambda np, a, b: np.add(a, b, out=a), "add", 24),
    "sequence": (lambda np, a, b: np.concatenate([a, b, a]), "concatenate", 24),
    "product": (lambda np, a, b: np.matmul(a, b.T), "matmul", 24),
    "empty": (lambda np, a, b: np.concatenate([a, b[:0]]), "concatenate", 0),
}


@pytest.fixture(params=[{}, {"STREAMS": "1", "SLOW": "200"}], ids=["", "streams"])
def there(request, load_refacc) -> mx.Context:
    return load_refacc("operands", **request.param)


@pytest.mark.parametrize(("call", "operator", "size"), CALLS.values(), ids=CALLS)
def test_they_are_moved(there: mx.Context, call, operator: str, size: int) -> None:
    a = mx.np.array(HERE, ctx=there)
    mx.acc_stats(reset=True)
    with mx.acc_fallback("error"):
        found = call(mx.np, a, OTHER.copy())
    (row,) = mx.acc_stats(reset=True)
    assert (row.operator, row.on_accelerator, row.on_cpu) == (operator, 1, 0)
    assert row.bytes == size and row.copy_seconds > 0 and not row.reasons
    expected = call(numpy, HERE.copy(), OTHER.copy())
    assert found.ctx == there and found.dtype == expected.dtype
    numpy.testing.assert_allclose(found.asnumpy(), expected)


@pytest.mark.parametrize(("call", "operator", "size"), CALLS.values(), ids=CALLS)
def test_they_stay_where_the_operator_runs_on_the_cpu(
    load_refacc, call, operator: str, size: int
) -> None:
    ctx = load_refacc("rejecting", OPERATORS=f"!{operator}")
    a = mx.np.array(HERE, ctx=ctx)
    mx.acc_stats(reset=True)
    found = call(mx.np, a, OTHER.copy())
    (row,) = mx.acc_stats(reset=True)
    assert (row.operator, row.on_accelerator, row.on_cpu) == (operator, 0, 1)
    # The arrays came, each once, and the result, or what was written, went back.
    assert row.bytes <= 2 * a.nbytes + found.nbytes and row.cpu_seconds > 0
    numpy.testing.assert_allclose(found.asnumpy(), call(numpy, HERE.copy(), OTHER.copy()))


def test_on_every_accelerator(ctx: mx.Context) -> None:
    a = mx.np.array(HERE, ctx=ctx)
    for call, _, _ in CALLS.values():
        found = call(mx.np, a.copy(), OTHER.copy())
        numpy.testing.assert_allclose(found.asnumpy(), call(numpy, HERE.copy(), OTHER.copy()))


def test_arrays_of_ours_have_a_context_of_their_own(there: mx.Context) -> None:
    a, b = mx.np.array(HERE, ctx=there), mx.np.array(OTHER, ctx=mx.cpu())
    with pytest.raises(ValueError, match=r"arrays on operands\(0\) and on the CPU; bring them"):
        a + b


def test_operands_that_do_not_fit(there: mx.Context) -> None:
    a = mx.np.array(HERE, ctx=there)
    mx.acc_stats(reset=True)
    with pytest.raises(ValueError, match="could not be broadcast together"):
        a + numpy.ones(7)
    with mx.acc_fallback("error"), pytest.raises(ValueError, match="could not broadcast"):
        mx.np.full_like(a, numpy.ones((4, 3), "float32"))
    with pytest.raises((TypeError, ValueError), match="unsupported|data type"):
        a + numpy.array(["a", "b", "c"])
    assert not [row for row in mx.acc_stats(reset=True) if row.on_accelerator]


def test_operands_that_have_no_room_there(load_refacc) -> None:
    ctx = load_refacc("small", MEMORY="1000000")
    indices = mx.np.array([1, 2, 3], "int64", ctx=ctx)
    found = mx.np.take(numpy.arange(1_000_000.0), indices)
    assert found.ctx == ctx and found.tolist() == [1, 2, 3]


def test_waiting_is_told_apart(load_refacc) -> None:
    ctx = load_refacc("slow", STREAMS="1", SLOW="20000")
    a = mx.np.array(HERE, ctx=ctx)
    ctx.configure(operators="!exp")
    mx.acc_stats(reset=True)
    b = a
    for _ in range(10):
        b = b + 1  # each takes 20 ms there
    mx.np.exp(b)
    exp = next(row for row in mx.acc_stats(reset=True) if row.operator == "exp")
    # Ten times the work of others; two copies of its own, each of which takes as long as one.
    assert exp.wait_seconds > exp.copy_seconds > exp.cpu_seconds > 0


# What takes elements of the device to know what it gives, which is the CPU's then.
NESTED: dict[str, Callable[[Any, Any, Any], Any]] = {
    "list": lambda np, a, z: np.sum([z, z]),
    "beside an array": lambda np, a, z: np.add(a, [z, z, z]),
    "axis": lambda np, a, z: np.sum(a, axis=z),
    "axis of a scan": lambda np, a, z: np.cumsum(a, axis=z),
    "decimals": lambda np, a, z: np.round(a, z),
}


@pytest.mark.parametrize("name", NESTED)
def test_elements_that_decide(there, name):
    call = NESTED[name]
    a, z = mx.np.array(HERE, ctx=there), mx.np.array(1, ctx=there)
    expected = call(mx.np, mx.np.array(HERE), mx.np.array(1))
    with mx.acc_fallback("auto"):
        made = call(mx.np, a, z)
    numpy.testing.assert_array_equal(made.asnumpy(), expected.asnumpy())


@pytest.mark.parametrize("name", ["nonzero", "unique"])
def test_a_call_of_c_fails_with_the_status_that_all_do(there: mx.Context, name: str) -> None:
    library.load()
    call = ffi.get_global_func("testing.call_operator")
    a = mx.np.array(HERE, ctx=there).T
    status, message, told = call(ffi.get_global_func(f"_npi.{name}"), a)
    assert (status, told) == (-1, 0) and "elements, which are on" in message
