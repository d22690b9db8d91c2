"""Copies between the host and the device, and on the device."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from .. import abi
from ..plugin import AccError, Array, Memory, tensors
from ..suite import Group, Run
from .memory import pattern

group = Group("copies", "copies to the device, from it, and within it", on_devices=True)

COPIES = (
    "Copies count tensors of the host, sources, into tensors on the device; shapes and dtypes "
    "agree pair by pair, and some may have no elements."
)
OFFSET = "byte_offset counts in any case"
STRIDED = (
    "Strides are row-major unless the device has kMXAccStrides; byte_offset counts in any case."
)
WITHIN = (
    "The same within a device, or between two devices of the library, of which dev_id is that of "
    "the targets; sources and targets do not overlap."
)
DTYPES = [
    *("bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"),
    *("float16", "float32", "float64", "complex64", "complex128"),
]
# Types that NumPy lacks: integers of the same size stand for their elements.
FOREIGN = {"bfloat16": (abi.MXAccDataType(4, 16, 1), "uint16")}
SHAPES = [(), (1,), (7,), (2, 3), (4, 1, 5), (0,), (3, 0), (0, 4, 2), (1000, 33), (2,) * 10]
SHAPES += [(1025, 3), (3, 1025), (70001,), (2, 3, 1, 2, 5)]
# More than 2^16 elements, and more than 1000 rows.
LARGE_SHAPES = [(1031, 5), (70001, 2), (2, 70001), (37, 41, 43)]
LARGE = (8 << 20) + 1
CANARY = 0xA5


def elements(shape: tuple[int, ...], dtype: str) -> Array:
    """Elements of which no two are alike, as far as the type allows it."""
    size = int(np.prod(shape))
    values: Array = np.arange(1, size + 1)
    if dtype == "bool":
        values = values % 3 // 2
    elif np.dtype(dtype).itemsize < 4:
        values = values % 127
    elif dtype.startswith("complex"):
        values = values * (1 - 2j)
    return values.astype(dtype).reshape(shape)


def same(came: Array, expected: Array) -> bool:
    return came.tobytes() == expected.tobytes()


def _difference(came: Array, expected: Array) -> str:
    """How many elements are wrong, and which is the first."""
    came, expected = np.atleast_1d(came), np.atleast_1d(expected)
    wrong = came != expected
    if not wrong.any():  # NaN, or bools of other bytes than 0 and 1
        return f"other bytes: {came.ravel()[:6]}..."
    first = tuple(int(axis[0]) for axis in np.nonzero(wrong))
    one = f"the first at {list(first)}: {came[first]} instead of {expected[first]}"
    return f"{int(wrong.sum())} of {expected.size} elements differ, {one}"


def expect_same(run: Run, came: Array, expected: Array, says: str = "") -> None:
    came = came.copy()  # as a library that is too early may still write it
    if not same(came, expected):
        run.finding(f"{expected.ravel()[:6]}...", _difference(came, expected), says)


@group.check("round_trip", COPIES)
def round_trip(run: Run) -> None:
    """What is copied to the device comes back, for each type and shape"""
    run.need_memory()
    for dtype in DTYPES:
        for shape in SHAPES:
            with run.step(f"{dtype} {shape}"):
                values = elements(shape, dtype)
                memory = run.plugin.to_device(values, run.device)
                expect_same(run, run.plugin.to_host(memory), values)
                if values.size:
                    memory.free()


@group.check("foreign_types", COPIES)
def foreign_types(run: Run) -> None:
    """Types that NumPy lacks are copied, too"""
    run.need_memory()
    for name, (dtype, as_bytes) in FOREIGN.items():
        with run.step(f"{name} (7,)"):
            values = pattern(14, 0).view(as_bytes)
            memory, came = run.plugin.empty((7,), as_bytes, run.device), np.zeros(7, as_bytes)
            run.plugin.copy_all("copyToAcc", [memory], [values], dtype=dtype)
            run.plugin.copy_all("copyFromAcc", [came], [memory], dtype=dtype)
            expect_same(run, came, values)
            memory.free()


def _expect_round_trip(run: Run, values: Array) -> None:
    """Copies an array to the device and back."""
    memory = run.plugin.to_device(values, run.device)
    expect_same(run, run.plugin.to_host(memory), values)
    memory.free()


@group.check("dimensions", "Largest number of dimensions of a tensor.")
def dimensions(run: Run) -> None:
    """Tensors have up to MXACC_MAX_DIMS dimensions"""
    run.need_memory()
    for ndim in (16, 32, abi.MAX_DIMS):
        with run.step(f"{ndim} dimensions"):
            _expect_round_trip(run, elements((2, *(1,) * (ndim - 2), 3), "float32"))


@group.check("large", COPIES)
def large(run: Run) -> None:
    """A large array of an odd number of bytes"""
    run.need_memory()
    with run.step(f"{LARGE} bytes"):
        _expect_round_trip(run, pattern(LARGE, 1))


@group.check("offsets", OFFSET)
def offsets(run: Run) -> None:
    """A copy begins at its byte_offset and touches nothing beside it, on either side"""
    run.need_memory()
    for dtype in ("uint8", "int16", "float32", "complex128"):
        for first, count in ((1, 1), (3, 5), (7, 64), (100, 1), (0, 0), (33, 31)):
            with run.step(f"{count} of {dtype} behind {first} others"):
                whole = np.frombuffer(bytes([CANARY]) * 2048, dtype).copy()
                values, part = elements((count,), dtype), slice(first, first + count)
                memory = run.plugin.to_device(whole, run.device)
                run.plugin.copy("copyToAcc", memory.view(part), values)
                expected = whole.copy()
                expected[part] = values
                expect_same(run, run.plugin.to_host(memory), expected)
                came = whole.copy()
                run.plugin.copy("copyFromAcc", came[part], memory.view(part))
                expect_same(run, came, expected)
                memory.free()


@group.check("host_offsets", OFFSET)
def host_offsets(run: Run) -> None:
    """A tensor of the host may have a byte_offset, too"""
    run.need_memory()
    with run.step("float32, 3 elements behind 5 others"):
        values = elements((8,), "float32")
        memory = run.plugin.empty((3,), "float32", run.device)
        came = np.zeros(8, "float32")
        for function, host in (("copyToAcc", values), ("copyFromAcc", came)):
            on_host, on_device = tensors([host[:3]]), tensors([memory])
            on_host[0].tensor.byte_offset = 5 * host.itemsize
            pair = (on_device, on_host) if function == "copyToAcc" else (on_host, on_device)
            run.plugin.call(function, run.device, *pair, 1, None)
        expected = np.zeros(8, "float32")
        expected[5:] = values[5:]
        expect_same(run, came, expected)
        memory.free()


@group.check("several", COPIES)
def several(run: Run) -> None:
    """Any number of pairs in one call, some of them without elements"""
    run.need_memory()
    for count in (0, 1, 3, 17):
        with run.step(f"count = {count}"):
            values = [elements((number % 5, 3), DTYPES[number % 14]) for number in range(count)]
            memory = [run.plugin.empty(one.shape, one.dtype, run.device) for one in values]
            run.plugin.copy_all("copyToAcc", memory, values, dev_id=run.device)
            came = [np.empty_like(one) for one in values]
            run.plugin.copy_all("copyFromAcc", came, memory, dev_id=run.device)
            for one, expected in zip(came, values, strict=True):
                expect_same(run, one, expected)
            for block in memory:
                if block.handle is not None:
                    block.free()


# Of an array of shape (4, 5, 6).
VIEWS: dict[str, Any] = {
    "[::2]": np.s_[::2],
    "[::-1]": np.s_[::-1],
    "[:, 1:4]": np.s_[:, 1:4],
    "[:, ::-2, 1:]": np.s_[:, ::-2, 1:],
    "[..., ::-1]": np.s_[..., ::-1],
    "[::-1, ::-1, ::-1]": np.s_[::-1, ::-1, ::-1],
    "[2, :, 3]": np.s_[2, :, 3],
    "[1:1]": np.s_[1:1],
}


def _views(array: Array) -> Iterator[tuple[str, Array]]:
    for name, key in VIEWS.items():
        yield name, array[key]
    yield ".T", array.T
    yield ".transpose(1, 2, 0)", array.transpose(1, 2, 0)
    yield ".T[::-1]", array.T[::-1]


def _strided(run: Run) -> None:
    run.need_memory()
    if not run.plugin.info(run.device).flags & abi.STRIDES:
        run.skip("the device has no kMXAccStrides")


@group.check("strides_to", STRIDED)
def strides_to(run: Run) -> None:
    """Copies into strided tensors of the device, from strided ones of the host"""
    _strided(run)
    for dtype in ("uint8", "float16", "float32", "complex128"):
        base = elements((4, 5, 6), dtype)
        for name, view in _views(base):
            with run.step(f"{dtype} (4, 5, 6){name}"):
                expected = np.zeros_like(base)
                (target,) = [one for text, one in _views(expected) if text == name]
                memory = run.plugin.to_device(expected, run.device)
                source = np.repeat(view[..., None], 3, -1)[..., 1]  # of other strides
                run.plugin.copy("copyToAcc", memory.like(target, expected), source)
                target[...] = view
                expect_same(run, run.plugin.to_host(memory), expected)
                memory.free()


@group.check("strides_from", STRIDED)
def strides_from(run: Run) -> None:
    """Copies out of strided tensors of the device, into strided ones of the host"""
    _strided(run)
    for dtype in ("uint8", "float16", "float32", "complex128"):
        base = elements((4, 5, 6), dtype)
        memory = run.plugin.to_device(base, run.device)
        for name, view in _views(base):
            with run.step(f"{dtype} (4, 5, 6){name}"):
                came = np.zeros((*view.shape, 2), dtype)
                run.plugin.copy("copyFromAcc", came[..., 1], memory.like(view, base))
                expected = np.zeros_like(came)
                expected[..., 1] = view
                expect_same(run, came, expected)
        memory.free()


@group.check("strides_of_large", STRIDED)
def strides_of_large(run: Run) -> None:
    """Copies between large tensors of other strides, in both directions"""
    _strided(run)
    for shape in LARGE_SHAPES:
        base = elements(shape, "float32")
        for name, order in (("[::-1]", np.s_[::-1]), ("[..., ::2]", np.s_[..., ::2])):
            with run.step(f"float32 {shape}{name}"):
                memory = run.plugin.to_device(np.zeros_like(base), run.device)
                target = memory.view(order)
                run.plugin.copy("copyToAcc", target, base[order])
                expected = np.zeros_like(base)
                expected[order] = base[order]
                expect_same(run, run.plugin.to_host(memory), expected)
                came = np.zeros_like(base[order].T)
                run.plugin.copy("copyFromAcc", came.T, target)
                expect_same(run, came.T, base[order])
                memory.free()


@group.check("broadcast", "in elements, any sign")
def broadcast(run: Run) -> None:
    """A source may have strides of 0"""
    _strided(run)
    with run.step("float32 (3,) as (4, 3)"):
        view = np.broadcast_to(elements((3,), "float32"), (4, 3))
        memory = run.plugin.to_device(view, run.device)
        expect_same(run, run.plugin.to_host(memory), np.ascontiguousarray(view))
        memory.free()


def _is_copied(run: Run, target: Memory, source: Memory) -> bool:
    """Copies, unless the library does not do that."""
    try:
        run.plugin.copy("copyWithinAcc", target, source)
    except AccError as error:
        if error.code != "unsupported":
            raise
        shape, devices = target.array.shape, f"from device {source.dev_id} to {target.dev_id}"
        run.note(f"does not copy {target.array.dtype} {shape} {devices}: {error.message}")
        return False
    return True


def _within(run: Run, target: int, source: int) -> None:
    """Copies between two devices, or on one."""
    for dtype, shape in (("float32", (5, 7)), ("uint8", (3,)), ("int64", ()), ("float64", (0, 2))):
        with run.step(f"{dtype} {shape} from device {source} to device {target}"):
            values = elements(shape, dtype)
            there = run.plugin.to_device(values, source)
            here = run.plugin.to_device(np.zeros_like(values), target)
            if _is_copied(run, here, there):
                expect_same(run, run.plugin.to_host(here), values)
            expect_same(run, run.plugin.to_host(there), values)
            for memory in (here, there):
                if memory.handle is not None:
                    memory.free()


@group.check("within", WITHIN)
def within(run: Run) -> None:
    """Copies from memory of a device to other memory of it"""
    run.need_memory()
    run.need("copyWithinAcc")
    _within(run, run.device, run.device)
    with run.step("two halves of one piece of memory"):
        values = elements((8,), "float32")
        memory = run.plugin.to_device(values, run.device)
        if _is_copied(run, memory.view(slice(4, 8)), memory.view(slice(0, 4))):
            expect_same(run, run.plugin.to_host(memory), np.concatenate([values[:4]] * 2))
        memory.free()


@group.check("between", WITHIN)
def between(run: Run) -> None:
    """Copies from one device to another"""
    run.need_memory()
    run.need("copyWithinAcc")
    others = [number for number in _usable(run) if number != run.device]
    if not others:
        run.skip("there is no other device")
    _within(run, run.device, others[0])
    _within(run, others[0], run.device)


def _usable(run: Run) -> list[int]:
    numbers = range(run.plugin.num_devices())
    return [one for one in numbers if not run.plugin.info(one).flags & abi.UNUSABLE]


@group.check("source", "The same from the device to the host. Required with mx_alloc.")
def source(run: Run) -> None:
    """A copy leaves its source as it is"""
    run.need_memory()
    with run.step("float32 (6,), there and back"):
        values = elements((6,), "float32")
        memory: Memory = run.plugin.to_device(values, run.device)
        for _ in range(2):
            expect_same(run, run.plugin.to_host(memory), elements((6,), "float32"))
        expect_same(run, values, elements((6,), "float32"))
        memory.free()
