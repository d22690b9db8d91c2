"""Several tables of one library file: each has the state that its self points to."""

import ctypes

import numpy as np
import pytest

import mx
from mxacc_check.plugin import AccError, Plugin

# Of the SDK's libraries, those that this machine can have devices for.
NAMES = ["onednn", "opencl", "refacc"]


@pytest.fixture(params=NAMES)
def pair(request, load) -> tuple[Plugin, Plugin]:
    first, second = load(request.param), load(request.param)
    assert first.api.self and first.api.self != second.api.self
    return first, second


def live(plugin: Plugin) -> int:
    """Frees all memory of the first device; how many pieces there were."""
    count = ctypes.c_size_t(0)
    plugin.call("mx_releaseAll", 0, ctypes.byref(count))
    return count.value


def test_memory_belongs_to_one_table(pair):
    first, second = pair
    values = np.arange(8, dtype="float32")
    kept = first.to_device(values)
    for _ in range(3):
        second.to_device(values)
    assert live(second) == 3
    assert (first.to_host(kept) == values).all()
    assert (live(first), live(second)) == (1, 0)


def test_one_ends_and_the_other_goes_on(pair):
    first, second = pair
    values = np.arange(8, dtype="float32")
    memory = second.to_device(values)
    executor = second.executor("add", {"x1": memory, "x2": memory}, [memory])
    first.api.finalize(first.api.self)
    first.initialized = False
    with pytest.raises(AccError, match="initialize was not called"):
        first.num_devices()
    executor.run([memory, memory], [memory])
    assert (second.to_host(memory) == 2 * values).all()
    executor.close()
    first.initialize()
    assert first.num_devices() == second.num_devices()


def test_initialize_twice(pair):
    for plugin in pair:
        with pytest.raises(AccError, match="initialize was called twice"):
            plugin.initialize()


def test_settings_belong_to_one_table(load):
    first, second = load("refacc", devices=1, memory=1000), load("refacc", devices=3)
    assert (first.num_devices(), second.num_devices()) == (1, 3)
    first.configure(memory=2000)
    assert (first.configure()["memory"], second.configure()["memory"]) == ("2000", "1000")
    first, second = load("onednn"), load("onednn")
    first.configure(threads=1)
    second.configure(threads=2)
    assert (first.configure()["threads"], second.configure()["threads"]) == ("1", "2")


@pytest.mark.parametrize("name", NAMES)
def test_tables_that_are_taken_before_either_is_initialized(load, name):
    first, second = load(name, False), load(name, False)
    assert first.api.self != second.api.self
    for plugin in (first, second):
        plugin.initialize()
        memory = plugin.to_device(np.arange(8, dtype="float32"))
        assert (plugin.to_host(memory) == np.arange(8)).all()
    assert (live(first), live(second)) == (1, 1)


def test_tables_that_are_never_initialized_take_no_room(load):
    kept = load("refacc")
    for _ in range(40):
        assert load("refacc", False).api.self != kept.api.self


def test_more_tables_than_a_library_has(load):
    for _ in range(16):
        load("refacc")
    with pytest.raises(AccError, match="the library is initialized 16 times already"):
        load("refacc")


def test_beside_one_that_mxnet_has_loaded(load, load_refacc):
    ctx = load_refacc("beside")
    array = mx.np.ones(3, ctx=ctx)
    plugin = load("refacc")
    assert (plugin.to_host(plugin.to_device(np.ones(3))) == 1).all()
    plugin.close()
    plugin.close = lambda: None
    assert (array + array).asnumpy().tolist() == [2, 2, 2]
    del array
