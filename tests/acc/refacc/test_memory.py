"""refacc notices what a host does wrong with memory."""

import ctypes
import os
import re
import signal
import subprocess
import sys

import numpy as np
import pytest

import mx
from mxacc_check import abi
from mxacc_check.plugin import AccError, Memory, Plugin, tensors

from ..conftest import ROOT

HANDLES = ["opaque", "address"]


def state(plugin: Plugin, dev_id: int = 0, *names: str) -> tuple[str, ...]:
    emitted = plugin.configure(dev_id)
    return tuple(emitted[name] for name in names or ("live", "bytes", "violations"))


def displaced(memory: Memory, byte_offset: int) -> Memory:
    moved = memory.view(...)
    moved.byte_offset = byte_offset
    return moved


def larger(memory: Memory, shape: tuple[int, ...]) -> Memory:
    return Memory(memory.plugin, memory.dev_id, memory.handle, np.empty(shape, "float32"))


def reversed_from(memory: Memory) -> Memory:
    view = memory.view(slice(None, None, -1))
    view.byte_offset = 4 * (len(memory.array) - 2)
    return view


def other_handle(memory: Memory) -> Memory:
    return Memory(memory.plugin, memory.dev_id, memory.handle + 4, memory.array)


# What is done with memory of 8 float32, and what refacc says of it.
WRONG = [
    ("one element too many", lambda memory: larger(memory, (9,)), "byte 0 to 36 .* has 32"),
    ("two axes", lambda memory: larger(memory, (4, 3)), "byte 0 to 48 .* has 32"),
    ("begins late", lambda memory: displaced(memory, 4), "byte 4 to 36 .* has 32"),
    ("begins far away", lambda memory: displaced(memory, 2**62), "has 32"),
    ("begins beyond 63 bits", lambda memory: displaced(memory, 2**64 - 4), "above 2\\^63"),
    ("reaches before", reversed_from, "byte -4 to 28 .* has 32"),
    ("a handle was computed with", other_handle, "was never given by mx_alloc"),
]


@pytest.mark.parametrize("handles", HANDLES)
@pytest.mark.parametrize(
    ("wrong", "message"), [case[1:] for case in WRONG], ids=[c[0] for c in WRONG]
)
def test_tensors_that_do_not_lie_in_memory(load, wrong, message, handles):
    plugin = load(handles=handles)
    memory = wrong(plugin.empty((8,)))
    host = np.zeros(memory.array.shape, "float32")
    right = plugin.to_device(host)
    for copy in (
        lambda: plugin.copy("copyToAcc", memory, host),
        lambda: plugin.copy("copyFromAcc", host, memory),
        lambda: plugin.copy("copyWithinAcc", right, memory),
    ):
        with pytest.raises(AccError, match=message) as caught:
            copy()
        assert caught.value.code == "bad_argument"
    executor = plugin.executor("negative", {"x": memory}, [memory])
    with pytest.raises(AccError, match=message):
        executor.run([memory], [memory])
    executor.close()


# Bytes of memory of 32 that are set to 0, and what refacc says of it.
ZEROED = [((0, 32), None), ((8, 4), None), ((31, 1), None), ((0, 33), "33 bytes from byte 0 on")]
ZEROED += [((32, 1), "1 bytes from byte 32"), ((2**64 - 1, 2), "2 bytes from byte"), ((0, 0), "0 ")]


@pytest.mark.parametrize(("where", "message"), ZEROED, ids=str)
@pytest.mark.parametrize("streams", [0, 1])
def test_zeroing(load, where, message, streams):
    plugin = load(streams=streams)
    values = np.arange(1, 33, dtype="uint8")
    memory = plugin.to_device(values)
    stream = plugin.create("Stream") if streams else None

    def zero(handle):
        plugin.call("mx_zero", 0, handle, *where, stream, 0)
        if streams:
            plugin.call("syncStream", 0, stream)

    if message is None:
        zero(memory.handle)
        values[where[0] : sum(where)] = 0
    else:
        with pytest.raises(AccError, match=f"mx_zero: {message}"):
            zero(memory.handle)
    assert (plugin.to_host(memory) == values).all()
    with pytest.raises(AccError, match="mx_zero: 0x.* was never given"):
        zero(memory.handle + 4)
    if streams:
        plugin.destroy("Stream", stream)


@pytest.mark.parametrize(
    ("handles", "message"), [("opaque", "was freed before"), ("address", "was never given")]
)
def test_memory_that_was_freed(load, handles, message):
    plugin = load(handles=handles)
    memory = plugin.empty((8,))
    executor = plugin.executor("negative", {"x": memory}, [memory])
    memory.free()
    with pytest.raises(AccError, match=message):
        plugin.to_host(memory)
    with pytest.raises(AccError, match=message):
        executor.run([memory], [memory])
    executor.close()


def test_memory_of_another_device(load):
    plugin = load()
    here, there = plugin.empty((8,), dev_id=0), plugin.empty((8,), dev_id=1)
    astray = Memory(plugin, 0, there.handle, there.array)
    with pytest.raises(AccError, match="was never given by mx_alloc, on device 0"):
        plugin.to_host(astray)
    executor = plugin.executor("negative", {"x": here}, [here])
    with pytest.raises(AccError, match="says that it is on device 1"):
        executor.run([there], [here])
    executor.close()


def test_copies_between_devices(load):
    plugin = load()
    values = np.arange(6, dtype="float32")
    source, target = plugin.to_device(values, dev_id=1), plugin.empty((6,), dev_id=0)
    plugin.copy("copyWithinAcc", target, source)
    assert (plugin.to_host(target) == values).all()


def test_the_host_where_the_device_belongs(load):
    plugin = load()
    host, memory = np.zeros(8, "float32"), plugin.empty((8,))
    for function, target, source in (
        ("copyToAcc", memory, memory),
        ("copyFromAcc", memory, memory),
        ("copyToAcc", host, host),
    ):
        with pytest.raises(AccError, match="bad_argument"):
            plugin.call(function, 0, tensors([target]), tensors([source]), 1, None)


@pytest.mark.parametrize(
    ("target", "source"), [((2, 3), (3, 2)), ((4,), (2, 2)), ((3,), (4,))], ids=str
)
def test_copies_of_another_spec(load, target, source):
    plugin = load()
    with pytest.raises(AccError, match="a copy of float32"):
        plugin.copy("copyToAcc", plugin.empty(target), np.zeros(source, "float32"))
    with pytest.raises(AccError, match="a copy of int32 .* to float32"):
        plugin.copy("copyToAcc", plugin.empty(source), np.zeros(source, "int32"))


KEYS = [slice(None, None, -1), slice(1, None, 2), (slice(None), slice(2, 0, -1)), (0, 1), (..., 0)]


@pytest.mark.parametrize("key", KEYS, ids=str)
@pytest.mark.parametrize("dtype", ["int8", "float16", "float32", "int64", "complex128"])
def test_copies_with_strides(load, key, dtype):
    plugin = load()
    values = np.arange(24).reshape(2, 3, 4).astype(dtype)
    memory = plugin.to_device(values)
    assert (plugin.to_host(memory.view(key)) == values[key]).all()
    plugin.copy("copyToAcc", memory.view(key), values[key].copy() * 0)
    values[key] = 0
    assert (plugin.to_host(memory) == values).all()
    plugin.copy("copyFromAcc", values[key], plugin.to_device(np.ones_like(values[key])))
    assert (values[key] == 1).all()


def test_strides_are_rejected_where_they_are_not_promised(load):
    plugin = load(strides=0)
    assert not plugin.info().flags & abi.STRIDES
    memory = plugin.to_device(np.zeros((3, 4), "float32"))
    plugin.to_host(memory.view(slice(1, 3)))
    with pytest.raises(AccError, match="no kMXAccStrides"):
        plugin.to_host(memory.view((slice(None), slice(2))))


@pytest.mark.parametrize(
    ("size", "alignment"), [(0, 64), (8, 0), (8, 3), (8, 96)], ids=lambda value: str(value)
)
def test_allocations_that_the_contract_rules_out(load, size, alignment):
    plugin = load()
    with pytest.raises(AccError, match="bad_argument"):
        plugin.alloc(size, alignment)
    assert state(plugin) == ("0", "0", "1")


def test_no_handle_is_given_twice(load):
    plugin = load(guard="none", poison=0)
    given = set()
    for _ in range(70_000):
        handle = plugin.alloc(1)
        assert handle not in given
        given.add(handle)
        plugin.api.mx_free(plugin.api.self, 0, handle)


@pytest.mark.parametrize("step", [1, 16, 1 << 10, 1 << 20])
def test_no_handle_lies_near_another(load, step):
    """A host gets there that computes with handles."""
    plugin = load()
    memory = [plugin.to_device(np.zeros(1, "float32")) for _ in range(3)]
    astray = Memory(plugin, 0, memory[0].handle + step, memory[0].array)
    with pytest.raises(AccError, match="was never given by mx_alloc"):
        plugin.to_host(astray)


@pytest.mark.parametrize("handles", HANDLES)
@pytest.mark.parametrize("what", ["twice", "never"])
def test_freeing_wrongly_is_told_to_the_log(load, handles, what):
    plugin = load(handles=handles)
    memory = plugin.empty((8,))
    if what == "twice":
        memory.free()
    else:
        memory = other_handle(memory)
    memory.free()
    assert len(plugin.messages) == 1
    assert state(plugin, 0, "violations", "violation") == (
        "1",
        plugin.messages[0][len("refacc: ") :],
    )


def test_what_is_live_is_counted_by_device(load):
    plugin = load(devices=3)
    memory = [plugin.empty((size,), dev_id=1) for size in (1, 2, 3)]
    memory[1].free()
    names = ("live", "bytes", "peak_bytes")
    assert state(plugin, 1, *names) == ("2", "16", "24")
    assert state(plugin, 2, *names) == ("0", "0", "0")
    live = ctypes.c_size_t()
    plugin.call("mx_releaseAll", 1, ctypes.byref(live))
    assert (live.value, state(plugin, 1, *names)) == (2, ("0", "0", "24"))


def test_no_more_memory_than_the_limit(load):
    plugin = load(memory=1000)
    first = plugin.alloc(600)
    info = plugin.info()
    assert (info.memory_total, info.memory_free) == (1000, 400)
    with pytest.raises(AccError, match="401 bytes were asked for, 400 of 1000 are free") as caught:
        plugin.alloc(401)
    assert caught.value.code == "memory"
    plugin.alloc(400)
    plugin.alloc(1000, dev_id=1)
    plugin.api.mx_free(plugin.api.self, 0, first)
    plugin.alloc(600)
    plugin.configure(memory=0)
    plugin.alloc(1 << 20)


@pytest.mark.parametrize("guard", ["zones", "pages", "none"])
@pytest.mark.parametrize("size", [2**62, 2**64 - 64, 2**64 - 1])
def test_more_memory_than_there_is(load, guard, size):
    plugin = load(guard=guard)
    with pytest.raises(AccError) as caught:
        plugin.alloc(size)
    assert caught.value.code == "memory"
    assert state(plugin) == ("0", "0", "0")


@pytest.mark.parametrize("guard", ["zones", "pages", "none"])
@pytest.mark.parametrize("poison", [0, 1])
def test_new_memory_is_nan(load, guard, poison):
    plugin = load(guard=guard, poison=poison)
    memory = plugin.empty((1000,))
    if poison:
        assert np.isnan(plugin.to_host(memory)).all()
    plugin.copy("copyToAcc", memory, np.ones(1000, "float32"))
    assert (plugin.to_host(memory) == 1).all()


def write(handle: int, offset: int) -> None:
    ctypes.c_char.from_address(handle + offset).value = b"!"


@pytest.mark.parametrize("guard", ["zones", "pages"])
@pytest.mark.parametrize(
    ("offset", "words"), [(-1, "1 bytes before memory of 20"), (20, "1 bytes behind memory of 20")]
)
@pytest.mark.parametrize("how", ["check", "copy", "run", "free"])
def test_what_is_written_beside_memory_is_noticed(load, guard, offset, words, how):
    plugin = load(guard=guard, handles="address")
    memory = plugin.to_device(np.zeros(5, "float32"))
    executor = plugin.executor("negative", {"x": memory}, [memory])
    write(memory.handle, offset)
    if how == "free":
        memory.free()
        assert [words in message for message in plugin.messages] == [True]
    else:
        with pytest.raises(AccError, match=words):
            if how == "check":
                plugin.configure(check=1)
            elif how == "copy":
                plugin.copy("copyToAcc", memory, np.zeros(5, "float32"))
            else:
                executor.run([memory], [memory])
    executor.close()
    assert state(plugin, 0, "violations") == ("1",)


# What a host does with a handle, and whether it lives on.
TOUCHES = [
    ("handles=address", "memory.handle", True),
    ("handles=opaque", "memory.handle", False),
    ("handles=address,guard=pages", "memory.handle + 63", True),
    ("handles=address,guard=pages", "memory.handle + 64", False),
    ("handles=address,guard=pages", "memory.handle - 4096", False),
    ("handles=address,guard=pages", "(memory.free(), memory.handle)[1]", False),
]


@pytest.mark.parametrize(("settings", "address", "lives"), TOUCHES)
def test_where_a_host_dies_that_touches_memory(accelerators, settings, address, lives):
    script = f"""
import ctypes, pathlib
from mxacc_check.plugin import Plugin
plugin = Plugin(pathlib.Path({str(accelerators / "librefacc.so")!r}))
memory = plugin.empty((16,))
ctypes.c_char.from_address({address}).value
"""
    environment = dict(item.split("=") for item in settings.split(","))
    done = subprocess.run(
        [sys.executable, "-c", script],
        cwd=ROOT,
        env=os.environ | {"REFACC_" + key.upper(): value for key, value in environment.items()},
        capture_output=True,
    )
    assert done.returncode == (0 if lives else -signal.SIGSEGV), done.stderr


def flags_of(address: int) -> list[str]:
    """VmFlags of the mapping that an address is in."""
    inside = False
    with open("/proc/self/smaps") as lines:
        for line in lines:
            if found := re.match("([0-9a-f]+)-([0-9a-f]+) ", line):
                inside = int(found[1], 16) <= address < int(found[2], 16)
            elif inside and line.startswith("VmFlags:"):
                return line.split()[1:]
    return []


@pytest.mark.skipif(
    not os.path.exists("/sys/kernel/mm/transparent_hugepage"), reason="there are no huge pages"
)
def test_much_memory_is_asked_for_in_huge_pages(load_refacc) -> None:
    """The zone before its first element begins one."""
    context = load_refacc("huge", HANDLES="address")
    view = np.asarray(mx.np.zeros(4 << 20, "uint8", ctx=context))
    address = view.__array_interface__["data"][0]
    assert address % (2 << 20) == 64
    assert "hg" in flags_of(address) and "hg" in flags_of(address + (4 << 20) - 65)
