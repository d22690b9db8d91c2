"""What mxnet_acc.h promises of every library, straight on its table."""

import ctypes
import re

import numpy as np
import pytest

from mxacc_check import abi
from mxacc_check.plugin import AccError, Plugin

REQUIRED = ["getAccName", "getNumAcc"]
WITH_IMPERATIVE = ["mx_alloc", "mx_free", "copyToAcc", "copyFromAcc", "accGetExecutor"]
STREAMS = ["createStream", "destroyStream", "syncStream", "createEvent", "destroyEvent"]
STREAMS += ["recordEvent", "waitEvent"]
SHAPES = [(), (1,), (7,), (2, 3), (4, 1, 5), (0,), (3, 0), (1000, 33)]
DTYPES = ["float32", "float64", "float16", "int8", "int64", "uint16", "bool", "complex128"]


NAMES = ["myacc", "onednn", "opencl", "refacc"]


@pytest.fixture(params=NAMES)
def plugin(request, load) -> Plugin:
    return load(request.param)


def test_the_table(plugin):
    assert plugin.api.abi_major == abi.ABI_MAJOR
    assert all(plugin.has(function) for function in REQUIRED)
    assert all(plugin.has(function) == plugin.imperative() for function in WITH_IMPERATIVE)
    assert len({plugin.has(function) for function in STREAMS}) == 1


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("cut", ["release", "finalize", "copyWithinAcc", "configure"])
def test_writes_nothing_beyond_an_older_table(load, name, cut):
    size = getattr(abi.MXAccApi, cut).offset
    plugin = load(name, initialize=False, sizes={"api_size": size})
    assert plugin.api.struct_size == size
    assert bytes(plugin.room[size:]) == b"\xee" * (len(plugin.room) - size)


@pytest.mark.parametrize("name", NAMES)
def test_takes_a_newer_table_and_a_newer_runtime(load, name):
    size = ctypes.sizeof(abi.MXAccApi) + 64
    plugin = load(
        name, sizes={"api_size": size, "runtime_size": ctypes.sizeof(abi.MXAccRuntime) + 64}
    )
    assert plugin.api.struct_size == ctypes.sizeof(abi.MXAccApi)


def test_the_name(plugin):
    name = plugin.name()
    assert re.fullmatch("[a-z][a-z0-9_]*", name)
    assert plugin.name(len(name) + 1) == name
    with pytest.raises(AccError, match="bad_argument"):
        plugin.name(len(name))


def test_the_devices(plugin):
    assert plugin.num_devices() > 0
    for device in range(plugin.num_devices()):
        info = plugin.info(device)
        assert info.struct_size == ctypes.sizeof(abi.MXAccDeviceInfo)
        assert info.alignment & (info.alignment - 1) == 0
        assert info.memory_free <= info.memory_total
        assert info.name


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", SHAPES)
def test_what_is_copied_there_comes_back(plugin, shape, dtype):
    values = np.random.default_rng(0).integers(0, 2, shape).astype(dtype)
    memory = plugin.to_device(values)
    assert (plugin.to_host(memory) == values).all()
    if values.size:
        memory.free()


@pytest.mark.parametrize("alignment", [1, 2, 8, 64, 4096])
@pytest.mark.parametrize("size", [1, 63, 64, 4097])
def test_allocations_differ(plugin, size, alignment):
    handles = [plugin.alloc(size, alignment) for _ in range(5)]
    assert len(set(handles)) == len(handles) and None not in handles
    if plugin.info().flags & abi.HOST_VISIBLE:
        assert all(handle % alignment == 0 for handle in handles)
    for handle in handles:
        plugin.api.mx_free(plugin.api.self, 0, handle)


def test_byte_offset_counts_in_copies(plugin):
    values = np.arange(10, dtype="float32")
    memory = plugin.to_device(values)
    assert (plugin.to_host(memory.view(slice(3, 7))) == values[3:7]).all()
    plugin.copy("copyToAcc", memory.view(slice(8, 10)), -values[8:10])
    assert list(plugin.to_host(memory)[6:]) == [6, 7, -8, -9]
    memory.free()


@pytest.mark.parametrize("count", [0, 1, 3])
def test_many_copies_in_one_call(plugin, count):
    from mxacc_check.plugin import tensors

    values = [np.full(2 + i, i, "int32") for i in range(count)]
    memory = [plugin.empty(value.shape, "int32") for value in values]
    plugin.call("copyToAcc", 0, tensors(memory), tensors(values), count, None)
    assert [list(plugin.to_host(item)) for item in memory] == [list(item) for item in values]
    for item in memory:
        item.free()


@pytest.mark.parametrize(
    ("name", "numbers"), [("add", [(1.5, -2), (0.5, 4)]), ("negative", [(3, -1)])]
)
def test_an_operator(plugin, name, numbers):
    arrays = [np.array(item, "float32") for item in numbers]
    expected = getattr(np, name)(*arrays)
    params = ["x1", "x2"] if len(arrays) == 2 else ["x"]
    inputs = dict(zip(params, map(plugin.to_device, arrays), strict=True))
    output = plugin.empty(expected.shape)
    executor = plugin.executor(name, inputs, [output])
    for _ in range(2):
        executor.run(list(inputs.values()), [output])
        assert (plugin.to_host(output) == expected).all()
    # The same executor serves views of the layout that was asked for.
    if executor.executor.flags & abi.IN_PLACE:
        first = next(iter(inputs.values()))
        executor.run(list(inputs.values()), [first])
        assert (plugin.to_host(first) == expected).all()
    executor.close()
    for memory in [*inputs.values(), output]:
        memory.free()


@pytest.mark.parametrize(
    ("name", "dtype"), [("no_such_operator", "float32"), ("add", "complex64")], ids=str
)
def test_what_is_unsupported_says_so(plugin, name, dtype):
    arrays = [plugin.empty((2,), dtype), plugin.empty((2,), "float32")]
    output = plugin.empty((2,), "int8")
    try:
        executor = plugin.executor(name, dict(zip(["x1", "x2"], arrays, strict=True)), [output])
    except AccError as error:
        assert error.code == "unsupported" and error.message
    else:
        # It may find out from the data, too.
        with pytest.raises(AccError):
            executor.run(arrays, [output])
        executor.close()
    for memory in [*arrays, output]:
        memory.free()
