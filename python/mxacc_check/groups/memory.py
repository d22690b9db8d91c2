"""Allocating and freeing memory."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np

from .. import abi
from ..plugin import AccError, Array, Memory, Plugin
from ..resources import is_sanitized, resident
from ..suite import Group, Run

group = Group("memory", "allocating and freeing memory", on_devices=True)

ALLOC = (
    "size > 0 bytes on a device, of a kind of memory (kMXAccDeviceMemory, or another that "
    "MXAccDeviceInfo::memories has, of which *out is an address of the host), aligned to "
    "alignment, a power of two; *out may be any handle that is not NULL and that no other living "
    "memory of the device has."
)
ZERO = (
    "Sets size > 0 bytes of what mx_alloc gave, from byte_offset on, to 0. Without a stream it is "
    "done when it returns"
)
SMALL = [1, 2, 3, 8, 63, 64, 65, 255, 4095, 4096, 4097, 65536 + 1]
LARGE = [(1 << 20) + 1, (64 << 20) + 3]
ALIGNMENTS = [1, 2, 4, 8, 16, 32, 64, 128, 256, 1024, 4096]
# More than any machine has, and what overflows when something is added to it.
ABSURD = [1 << 50, 1 << 62, (1 << 64) - 4096, (1 << 64) - 1]
MANY = 1000


def pattern(size: int, seed: int) -> Array:
    return np.random.default_rng(seed).integers(0, 256, size, "uint8")


def bytes_at(plugin: Plugin, device: int, handle: int, size: int) -> Memory:
    """Memory seen as bytes."""
    return Memory(plugin, device, handle, np.empty(size, "uint8"))


def _alloc(run: Run, size: int, alignment: int = 64) -> int | None:
    """Memory, if what came is a handle at all."""
    handle = run.plugin.alloc(size, alignment, run.device)
    run.expect(handle is not None, "a handle", "NULL")
    return handle


@contextmanager
def _stream_or_none(run: Run) -> Iterator[int | None]:
    """A stream, where there are such, whose work is done in the end."""
    stream = None
    if run.plugin.has("createStream"):
        stream = run.plugin.create("Stream", run.device)
    yield stream
    if stream is not None:
        run.plugin.call("syncStream", run.device, stream)
        run.plugin.destroy("Stream", stream, run.device)


@group.check("sizes", ALLOC)
def sizes(run: Run) -> None:
    """Memory of any size keeps what is written there, and none is shared"""
    run.need_memory()
    living: list[tuple[Memory, Array]] = []
    for number, size in enumerate(2 * SMALL + LARGE[: 1 if run.quick else 2]):
        with run.step(f"size = {size}"):
            handle = _alloc(run, size)
            if handle is None:
                continue
            others = [memory.handle for memory, _ in living]
            if not run.expect(handle not in others, "a handle of its own", hex(handle)):
                continue
            memory, values = bytes_at(run.plugin, run.device, handle, size), pattern(size, number)
            run.plugin.copy("copyToAcc", memory, values)
            living.append((memory, values))
    for memory, values in living:
        with run.step(f"what was written to {len(values)} bytes"):
            wrong = int((run.plugin.to_host(memory) != values).sum())
            run.expect(wrong == 0, "what was written there", f"{wrong} other bytes")
        memory.free()


@group.check("alignment", ALLOC)
def alignment(run: Run) -> None:
    """Memory is aligned as it was asked for"""
    run.need_memory()
    visible = run.plugin.info(run.device).flags & abi.HOST_VISIBLE
    for align in ALIGNMENTS:
        for size in (1, 100, 4096):
            with run.step(f"size = {size}, alignment = {align}"):
                handle = _alloc(run, size, align)
                if handle is None:
                    continue
                if visible:
                    run.expect(handle % align == 0, f"a multiple of {align}", hex(handle))
                run.plugin.free(run.device, handle)
    if not visible:
        run.note("what mx_alloc gives is no address: its alignment cannot be seen")


@group.check("visible", "what mx_alloc gives is an address the CPU may read and write")
def visible(run: Run) -> None:
    """Host-visible memory can be read and written, as copies read and write it"""
    run.need_memory()
    if not run.plugin.info(run.device).flags & abi.HOST_VISIBLE:
        run.skip("the device's memory is not host-visible")
    for size in SMALL:
        with run.step(f"size = {size}"):
            handle = _alloc(run, size)
            if handle is None:
                continue
            values = pattern(size, size)
            ctypes.memmove(handle, values.ctypes.data, size)
            came = run.plugin.to_host(bytes_at(run.plugin, run.device, handle, size))
            wrong = int((came != values).sum())
            run.expect(not wrong, "the bytes that the CPU wrote", f"{wrong} others")
            memory, values = bytes_at(run.plugin, run.device, handle, size), pattern(size, size + 1)
            with _stream_or_none(run) as stream:
                run.plugin.copy("copyToAcc", memory, values, stream)
            seen: Array = np.frombuffer(ctypes.string_at(handle, size), "uint8")
            wrong = int((seen != values).sum())
            run.expect(not wrong, "the bytes that the copy wrote", f"{wrong} others")
            run.plugin.free(run.device, handle)


@group.check("distinct", ALLOC)
def distinct(run: Run) -> None:
    """Many living pieces of memory have handles of their own"""
    run.need_memory()
    with run.step(f"{MANY} pieces"):
        handles = [run.plugin.alloc(1 + number % 300, 64, run.device) for number in range(MANY)]
        different = len(set(handles))
        run.expect(different == MANY, f"{MANY} different handles", different)
        for handle in set(handles):
            run.plugin.free(run.device, handle)


@group.check("again", "Frees what mx_alloc gave.")
def again(run: Run) -> None:
    """Memory that was freed can be had again, any number of times"""
    run.need_memory()
    values = pattern(1 << 16, 0)
    total = MANY * len(values)
    with run.step(f"{MANY} times {len(values)} bytes, each freed before the next"):
        before = run.plugin.info(run.device).memory_free, resident()
        for _ in range(MANY):
            run.plugin.to_device(values, run.device).free()
        after = run.plugin.info(run.device).memory_free, resident()
        # Others may use the device, too, and libraries keep some memory for later.
        lost = max(before[0] - after[0], 0 if is_sanitized() else after[1] - before[1])
        run.expect(lost < total // 2, "as much free memory as before", f"{lost} bytes less")


@group.check("zero", ZERO)
def zero(run: Run) -> None:
    """Bytes are set to 0, and none beside them"""
    run.need_memory()
    run.need("mx_zero")
    for size, begin, end in (
        (1, 0, 1),
        (64, 0, 64),
        (4097, 1, 4096),
        ((1 << 20) + 9, 4096, 1 << 20),
    ):
        with run.step(f"bytes {begin} to {end} of {size}"):
            values = pattern(size, size) | 1
            memory = run.plugin.to_device(values, run.device)
            try:
                run.plugin.call("mx_zero", run.device, memory.handle, begin, end - begin, None, 0)
            except AccError as error:
                run.expect(error.code == "unsupported", "zeros, or unsupported", error.code)
                run.note(f"does not zero {end - begin} bytes: {error.message}")
            else:
                values[begin:end] = 0
            wrong = int((run.plugin.to_host(memory) != values).sum())
            run.expect(wrong == 0, "zeros there and nowhere else", f"{wrong} other bytes")
            memory.free()


@group.check("absurd", "of the device; MXNet frees what it keeps and tries once more")
def absurd(run: Run) -> None:
    """More memory than there is is kMXAccOutOfMemory"""
    run.need_memory()
    for size in ABSURD:
        with run.step(f"size = {size:#x}"):
            try:
                handle = run.plugin.alloc(size, 64, run.device)
            except AccError as error:
                told = error.code == "memory"
                run.expect(told, "kMXAccOutOfMemory", f"{error.code}: {error.message}")
            else:
                run.finding("kMXAccOutOfMemory", f"success, with {handle}")
    with run.step("a piece of 64 bytes after that"):
        run.plugin.free(run.device, run.plugin.alloc(64, 64, run.device))


# The most of a device's memory that is tried: more would take long, or starve others.
MOST_MEMORY = 4 << 30
PIECES = 8


def _is_given(run: Run, size: int) -> int | None:
    """Allocates, unless there is no room; success with NULL is neither."""
    try:
        handle = run.plugin.alloc(size, 64, run.device)
    except AccError as error:
        told = error.code == "memory"
        run.expect(told, "memory, or kMXAccOutOfMemory", f"{error.code}: {error.message}")
        return None
    run.expect(handle is not None, "memory, or kMXAccOutOfMemory", "success, with NULL")
    return handle


@group.check("limit", ALLOC)
def limit(run: Run) -> None:
    """Where memory becomes short there is memory, or kMXAccOutOfMemory"""
    run.need_memory()
    info = run.plugin.info(run.device)
    free, total = info.memory_free, info.memory_total
    if not total or total > MOST_MEMORY:
        run.skip("the device has much memory, or does not say how much")
    for size in (free // 2, free - 4096, free, free + 1, total, total + 1, 2 * total):
        with run.step(f"size = {size}, where {free} bytes of {total} are free"):
            handle = _is_given(run, size)
            if handle is not None:
                run.plugin.free(run.device, handle)
    with run.step(f"pieces of {free // PIECES} bytes until there are no more"):
        handles = [_is_given(run, free // PIECES) for _ in range(2 * PIECES)]
        living = [handle for handle in handles if handle is not None]
        run.expect(len(set(living)) == len(living), f"{len(living)} handles", len(set(living)))
        for handle in set(living):
            run.plugin.free(run.device, handle)
    with run.step(f"{free // 2} bytes when all is free again"):
        run.plugin.free(run.device, run.plugin.alloc(free // 2, 64, run.device))


@group.check(
    "release_all",
    "Frees all that is allocated, before finalize; *live is how many there were.",
    fresh=True,
)
def release_all(run: Run) -> None:
    """mx_releaseAll counts what is alive"""
    for pieces in (0, 3):
        with run.loaded() as plugin, run.step(f"{pieces} pieces of memory alive, one freed"):
            if not plugin.has("mx_alloc") or not plugin.has("mx_releaseAll"):
                run.skip("the library has no mx_releaseAll")
            handles = [plugin.alloc(100, 64, run.device) for _ in range(pieces + 1)]
            plugin.free(run.device, handles[-1])
            live = ctypes.c_size_t(MANY)
            plugin.call("mx_releaseAll", run.device, ctypes.byref(live))
            run.expect(live.value == pieces, str(pieces), live.value)
