"""Arrays on an accelerator: made there, copied in every direction, viewed, changed, printed."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from typing import Any

import numpy
import pytest

import mx

CPU = mx.cpu(0)

DTYPES = ("float32", "float64", "int8", "uint16", "int64", "bool", "complex64", "float16")
SHAPES = ((), (1,), (0,), (3, 4), (2, 0, 3), (2, 3, 4), (257, 65))


def sample(shape: tuple[int, ...], dtype: str) -> numpy.ndarray[Any, Any]:
    """Numbers that every data type can hold."""
    return (numpy.arange(numpy.prod(shape)) % 100).reshape(shape).astype(dtype)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_there_and_back(ctx: mx.Context, shape: tuple[int, ...], dtype: str) -> None:
    given = sample(shape, dtype)
    there = mx.np.array(given, dtype=dtype, ctx=ctx)
    assert (there.ctx, there.shape, there.dtype) == (ctx, shape, numpy.dtype(dtype))
    back = there.asnumpy()
    assert back.dtype == given.dtype and back.flags.owndata | back.flags.c_contiguous
    numpy.testing.assert_array_equal(back, given)
    numpy.testing.assert_array_equal(numpy.asarray(there), given)
    assert there.tolist() == given.tolist()


VIEWS: dict[str, Callable[[Any], Any]] = {
    "reversed": lambda a: a[::-1],
    "transposed": lambda a: a.T,
    "column": lambda a: a[:, 1],
    "row": lambda a: a[2],
    "window": lambda a: a[1:4, 1:3],
    "steps": lambda a: a[::2, ::-2],
    "reshaped": lambda a: a.reshape(10, 3),
    "new axis": lambda a: a[:, None],
    "element": lambda a: a[4, 5, ...],
}


@pytest.mark.parametrize("view", VIEWS.values(), ids=VIEWS)
def test_views_share_the_memory(ctx: mx.Context, view: Callable[[Any], Any]) -> None:
    given = sample((5, 6), "float32")
    there = mx.np.array(given, ctx=ctx)
    seen = view(there)
    assert seen.ctx == ctx
    numpy.testing.assert_array_equal(seen.asnumpy(), view(given))
    seen[...] = 7
    view(given)[...] = 7
    numpy.testing.assert_array_equal(there.asnumpy(), given)


MADE: dict[str, Callable[[mx.Context], Any]] = {
    "zeros": lambda ctx: mx.np.zeros((3, 4), ctx=ctx),
    "large zeros": lambda ctx: mx.np.zeros((1000, 999), "float64", ctx=ctx),
    "ones": lambda ctx: mx.np.ones((2, 3), "int32", ctx=ctx),
    "full": lambda ctx: mx.np.full((2, 2), 7, ctx=ctx),
    "arange": lambda ctx: mx.np.arange(5, ctx=ctx),
    "linspace": lambda ctx: mx.np.linspace(0, 1, 5, ctx=ctx),
    "eye": lambda ctx: mx.np.eye(3, ctx=ctx),
    "list": lambda ctx: mx.np.array([[1, 2], [3, 4]], ctx=ctx),
}


@pytest.mark.parametrize("make", MADE.values(), ids=MADE)
def test_is_made_in_a_context(ctx: mx.Context, make: Callable[[mx.Context], Any]) -> None:
    expected = make(CPU)
    assert expected.ctx == CPU
    for made in (make(ctx), make(str(ctx))):
        assert made.ctx == ctx
        numpy.testing.assert_array_equal(made.asnumpy(), expected.asnumpy())
    with ctx:
        assert mx.current_context() == ctx
        assert make(None).ctx == ctx
    assert mx.current_context() == CPU


@pytest.mark.parametrize("name", ["zeros_like", "ones_like", "empty_like"])
def test_is_made_where_the_prototype_is(ctx: mx.Context, name: str) -> None:
    function = getattr(mx.np, name)
    assert function(mx.np.zeros(3, ctx=ctx)).ctx == ctx
    with ctx:
        assert function(mx.np.zeros(3, ctx=CPU)).ctx == CPU
    assert function(mx.np.zeros(3), ctx=ctx).ctx == ctx


OPERATORS: dict[str, Callable[..., Any]] = {
    "a + b": lambda a, b: a + b,
    "a + 1": lambda a, b: a + 1,
    "a > b": lambda a, b: a > b,
    "exp": lambda a, b: mx.np.exp(a) if isinstance(a, mx.np.ndarray) else numpy.exp(a),
    "sum": lambda a, b: a.sum(axis=0),
    "mean": lambda a, b: a.mean(keepdims=True),
    "a @ b.T": lambda a, b: a @ b.T,
    "mask": lambda a, b: a[a > 5],
    "index list": lambda a, b: a[[0, 2]],
    "flatten": lambda a, b: a.T.flatten(),
    "astype": lambda a, b: a.astype("int32"),
    "concatenate": lambda a, b: (
        mx.np.concatenate([a, b]) if isinstance(a, mx.np.ndarray) else numpy.concatenate([a, b])
    ),
}


@pytest.mark.parametrize("operator", OPERATORS.values(), ids=OPERATORS)
def test_operators_compute(ctx: mx.Context, operator: Callable[..., Any]) -> None:
    a, b = sample((3, 4), "float32"), sample((3, 4), "float32")[::-1] + 1
    result = operator(mx.np.array(a, ctx=ctx), mx.np.array(b, ctx=ctx))
    assert result.ctx == ctx
    numpy.testing.assert_allclose(result.asnumpy(), operator(a, b), rtol=1e-5)


def test_several_results_and_none(ctx: mx.Context) -> None:
    a = mx.np.arange(6, ctx=ctx).reshape(2, 3)
    halves = mx.np.split(a, 3, axis=1)
    assert [half.ctx for half in halves] == [ctx] * 3
    rows, columns = (a > 1).nonzero()
    assert rows.ctx == columns.ctx == ctx
    assert columns.tolist() == [2, 0, 1, 2]


def test_out_and_in_place(ctx: mx.Context) -> None:
    a, out = mx.np.ones((2, 3), ctx=ctx), mx.np.zeros((2, 3), ctx=ctx)
    assert mx.np.add(a, 1, out=out) is out
    assert out.tolist() == [[2.0] * 3] * 2
    same = out
    out += a
    assert out is same and out.tolist() == [[3.0] * 3] * 2
    out[:, 1] = mx.np.zeros(2, ctx=ctx)
    out[out > 2] = 9
    assert out.tolist() == [[9.0, 0.0, 9.0]] * 2


def test_copies_between_devices(ctx: mx.Context) -> None:
    here = mx.np.arange(4)
    there = here.as_in_ctx(ctx)
    assert there.ctx == ctx and there.as_in_ctx(ctx) is there
    assert there.as_in_ctx("cpu(0)").tolist() == here.tolist()
    target = mx.np.zeros(4, ctx=ctx)
    assert here.copyto(target) is target
    assert target.tolist() == here.tolist()
    assert there.copyto(CPU).ctx == CPU
    assert copy.deepcopy(there).ctx == copy.copy(there).ctx == there.copy().ctx == ctx


def test_reads_as_text_and_numbers(ctx: mx.Context) -> None:
    a = mx.np.array([1.5, 2.0], ctx=ctx)
    assert repr(a) == f"array([1.5, 2. ], ctx={ctx})"
    assert (float(a[0]), bool(a[1] > 1), a[1].item(), list(a)[0].ctx) == (1.5, True, 2.0, ctx)


def test_pickles_with_its_context(ctx: mx.Context) -> None:
    again = pickle.loads(pickle.dumps(mx.np.array([1, 2], ctx=ctx)))
    assert again.ctx == ctx and again.tolist() == [1.0, 2.0]


REJECTED: dict[str, tuple[Callable[[Any], Any], type[Exception], str]] = {
    "mixed": (lambda a: a + mx.np.zeros(3), ValueError, "_npi.add: arrays on .* and on the CPU"),
    "context": (lambda a: mx.np.array(a, ctx="gpu(0)"), ValueError, "unknown context 'gpu\\(0\\)'"),
    "no context": (lambda a: mx.np.zeros(3, ctx=3), TypeError, "'ctx'"),
    "unknown context": (lambda a: mx.np.zeros(3, ctx="gpu"), ValueError, "unknown context 'gpu'"),
}


@pytest.mark.parametrize("call, error, message", REJECTED.values(), ids=REJECTED)
def test_rejects(
    ctx: mx.Context, call: Callable[[Any], Any], error: type[Exception], message: str
) -> None:
    array = mx.np.zeros(3, ctx=ctx)
    with pytest.raises(error, match=message):
        call(array)
    assert array.tolist() == [0.0] * 3


def test_memory_goes_back(ctx: mx.Context) -> None:
    before = mx.memory_info(ctx)
    array = mx.np.zeros((100, 100), ctx=ctx)
    during = mx.memory_info(ctx)
    assert during.in_use - before.in_use >= array.nbytes
    assert during.blocks == before.blocks + 1
    view = array[1:]
    del array
    assert mx.memory_info(ctx).blocks == during.blocks
    del view
    assert mx.memory_info(ctx).in_use == before.in_use
    mx.empty_cache(ctx)
    assert mx.memory_info(ctx).kept == 0
