"""softmax and log_softmax, as lines are shared out among work items."""

import numpy as np
import pytest

from mxacc_check import abi

from ..kernels.cases import run
from ..kernels.test_softmax import NAMES, SPECIAL_ROWS, formula, near

# How many lines there are, and their length, as the axis is the last one or the one before.
SHARES = [(1, 1), (3, 7), (2000, 7), (2000, 32), (40, 33), (3, 1029), (1, 70_001), (1500, 300)]
SHARES += [(1024, 9), (1029, 2), (1031, 600)]


@pytest.mark.parametrize("dtype", ["float32", "float16", "float64"])
@pytest.mark.parametrize("axis", [-1, -2])
@pytest.mark.parametrize(("lines", "length"), SHARES)
def test_shares(plugin, lines, length, axis, dtype):
    x = (np.random.default_rng(length).normal(size=(lines, length)) * 4).astype(dtype)
    x = np.ascontiguousarray(x if axis == -1 else x.T)
    for name in NAMES:
        near(run(plugin, name, {"data": x}, x, axis=axis), formula(name, x, axis))


@pytest.mark.parametrize("temperature", [None, 0.5, -3])
@pytest.mark.parametrize("name", NAMES)
def test_no_number_spoils_the_lines_beside(plugin, name, temperature):
    with np.errstate(all="ignore"):
        rows = np.tile(SPECIAL_ROWS * np.float32(0.5), (150, 9))
    for x, axis in ((rows, 1), (np.ascontiguousarray(rows.T), 0)):
        expected = formula(name, x, axis, temperature)
        near(run(plugin, name, {"data": x}, x, axis=axis, temperature=temperature), expected)


CUBE = np.random.default_rng(3).normal(size=(3, 700, 500)).astype("float32")
VIEWS = {
    "as it is": (),
    "backwards, every second": (slice(None, None, -1), slice(1, 600), slice(None, None, 2)),
    "every third row backwards": (slice(None), slice(None, None, -3)),
    "one layer backwards": (1, slice(None, None, -1), slice(None, None, -1)),
    "columns left over": (slice(None), slice(9), slice(3, 494)),
}


@pytest.mark.parametrize("view", VIEWS)
@pytest.mark.parametrize("axis", [0, 1, -1])
def test_views_of_many_lines(plugin, view, axis):
    key = VIEWS[view]
    values, memory, target = CUBE[key], plugin.to_device(CUBE), plugin.to_device(CUBE * 0)
    expected = formula("softmax", values, axis)
    data = memory.view(key)
    for out in (target.view(key), plugin.empty(values.shape, "float32")):
        executor = plugin.executor("softmax", {"data": data}, [out], axis=f"{axis}")
        executor.run([data], [out])
        near(plugin.to_host(out), expected)
        executor.close()
    around = plugin.to_host(target)
    around[key] = 0
    assert (around == 0).all()


@pytest.mark.parametrize("axis", [0, 1, 2])
def test_the_output_may_be_the_input_where_no_column_is_done_twice(plugin, axis):
    for columns in (500, 496):
        x = np.ascontiguousarray(CUBE[..., :columns])
        memory = plugin.to_device(x)
        executor = plugin.executor("softmax", {"data": memory}, [memory], axis=f"{axis}")
        # Along the first axis all of a plane are columns side by side.
        whole = axis == 2 or (700 * columns if axis == 0 else columns) % 8 == 0
        assert bool(executor.executor.flags & abi.IN_PLACE) == whole
        if whole:
            executor.run([memory], [memory])
            near(plugin.to_host(memory), formula("softmax", x, axis))
        executor.close()
        memory.free()
