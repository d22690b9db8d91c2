"""Where arrays live."""

import threading

import numpy as np
import pytest

import mx


@pytest.mark.parametrize("ctx", [mx.cpu(1), "cpu(1)", mx.Context("cpu", 1)])
def test_creation_in_a_context(ctx):
    for array in (
        mx.np.zeros((2,), ctx=ctx),
        mx.np.array([1, 2], ctx=ctx),
        mx.np.array(np.ones(2), ctx=ctx),
        mx.np.arange(3, ctx=ctx),
    ):
        assert array.ctx == mx.cpu(1)
        assert isinstance(array.ctx, mx.Context)


def test_results_stay_in_the_context_of_their_operands():
    array = mx.np.ones((2, 3), ctx=mx.cpu(1))
    for result in (array + 1, array.sum(), array[0], array.T, array.copy(), array @ array.T):
        assert result.ctx == mx.cpu(1)


@pytest.mark.host_memory
def test_current_context_nests_and_is_restored():
    assert mx.current_context() == mx.cpu(0)
    with mx.cpu(1):
        assert mx.np.zeros(1).ctx == mx.cpu(1)
        with mx.cpu(2):
            assert mx.current_context() == mx.cpu(2)
            assert mx.np.zeros(1, ctx=mx.cpu(0)).ctx == mx.cpu(0)
        assert mx.current_context() == mx.cpu(1)
    with pytest.raises(ZeroDivisionError), mx.cpu(3):
        _ = 1 / 0
    assert mx.current_context() == mx.cpu(0)


def test_current_context_belongs_to_a_thread():
    seen = []
    with mx.cpu(1):
        thread = threading.Thread(target=lambda: seen.append(mx.current_context()))
        thread.start()
        thread.join()
    assert seen == [mx.cpu(0)]


@pytest.mark.host_memory
def test_moving_between_contexts():
    array = mx.np.array([1, 2, 3])
    assert array.as_in_ctx(mx.cpu(0)) is array
    moved = array.as_in_ctx("cpu(1)")
    assert moved.ctx == mx.cpu(1)
    moved[0] = 9
    assert array.tolist() == [1, 2, 3]
    assert moved.copyto(array) is array
    assert array.tolist() == [9, 2, 3]
    assert array.copyto(mx.cpu(2)).ctx == mx.cpu(2)


@pytest.mark.parametrize("ctx", ["gpu(0)", "cpu", "cpu(x)", "", "cpu(0", "tpu"])
def test_unknown_contexts(ctx):
    if ctx == "cpu":
        assert mx.np.zeros(1, ctx=ctx).ctx == mx.cpu(0)
    else:
        with pytest.raises(ValueError, match="'ctx'"):
            mx.np.zeros(1, ctx=ctx)
