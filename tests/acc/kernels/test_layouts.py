"""Views, broadcasting, and copies with strides."""

import numpy as np
import pytest

from mxacc_check import abi
from mxacc_check.plugin import AccError

from .cases import SQUARE, check, run

KEYS = [
    (),
    (slice(None, None, -1),),
    (slice(None), slice(1, 6, 2)),
    (slice(4, None, -2), slice(None, None, -3)),
    (2,),
    (3, 4, ...),
    (slice(0), 1),
]


@pytest.mark.parametrize("key", KEYS, ids=str)
@pytest.mark.parametrize("transposed", [False, True])
def test_operators_on_views(plugin, key, transposed):
    whole = [plugin.to_device(item) for item in (SQUARE, -SQUARE, SQUARE)]
    a, b, out = (memory.view(key) for memory in whole)
    expected = SQUARE[key] - -SQUARE[key]
    if transposed:
        a, b, out = (memory.like(memory.array.T) for memory in (a, b, out))
        expected = expected.T
    executor = plugin.executor("subtract", {"x1": a, "x2": b}, [out])
    executor.run([a, b], [out])
    executor.close()
    np.testing.assert_array_equal(plugin.to_host(out), expected)
    changed = SQUARE.copy()
    changed[key] = SQUARE[key] * 2
    np.testing.assert_array_equal(plugin.to_host(whole[2]), changed)
    for memory in whole:
        memory.free()


@pytest.mark.parametrize(
    ("a", "b"),
    [((5, 6), (6,)), ((5, 1), (1, 6)), ((), (5, 6)), ((2, 1, 6), (5, 1)), ((0, 6), 6)],
)
def test_broadcasting(plugin, a, b):
    x, y = (np.arange(np.prod(shape), dtype="int32").reshape(shape) for shape in (a, b))
    check(run(plugin, "add", {"x1": x, "x2": y}, x + y), x + y)


def test_the_output_may_be_an_input(plugin):
    memory = plugin.to_device(SQUARE)
    executor = plugin.executor("add", {"x1": memory, "x2": memory}, [memory])
    assert executor.executor.flags & abi.IN_PLACE
    executor.run([memory, memory], [memory])
    assert (plugin.to_host(memory) == 2 * SQUARE).all()
    executor.close()
    memory.free()


@pytest.mark.parametrize("dtype", ["uint8", "float16", "int32", "float64", "complex128"])
@pytest.mark.parametrize("key", KEYS, ids=str)
def test_copies_with_strides(plugin, dtype, key):
    values = SQUARE.astype(dtype)
    device, other = plugin.to_device(values), plugin.to_device(values * 0)
    np.testing.assert_array_equal(plugin.to_host(device.view(key)), values[key])
    spread = np.zeros((5, 12), dtype)[:, ::2]
    plugin.copy("copyFromAcc", spread[key], device.view(key))
    np.testing.assert_array_equal(spread[key], values[key])
    plugin.copy("copyWithinAcc", other.view(key), device.view(key))
    plugin.copy("copyToAcc", device.view(key), (values + 1)[key])
    changed, zeros = values.copy(), values * 0
    changed[key] = (values + 1)[key]
    zeros[key] = values[key]
    np.testing.assert_array_equal(plugin.to_host(device), changed)
    np.testing.assert_array_equal(plugin.to_host(other), zeros)
    device.free()
    other.free()


def test_more_axes_than_a_kernel_takes(plugin):
    shape = (2,) * 20
    memory = plugin.to_device(np.zeros(shape, "int8"))
    key = (slice(None, None, -1), slice(None)) * 10
    with pytest.raises(AccError, match="axes that cannot be joined") as caught:
        plugin.executor("negative", {"x": memory.view(key)}, [memory])
    assert caught.value.code == "unsupported"
    memory.free()
