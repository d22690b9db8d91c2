"""The devices and what is said of them."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from typing import Any

from .. import abi
from ..plugin import UNTOUCHED
from ..suite import Group, Run, changes

group = Group("devices", "the devices and what is said of them")

MOST = 4096
TEXTS = ("name", "vendor", "driver", "reason")
KNOWN = abi.HOST_VISIBLE | abi.ONE_THREAD | abi.STRIDES | abi.UNUSABLE
BEYOND = "Who fills in a struct that another made writes nothing beyond its struct_size"
FILLS = "A device; MXNet sets struct_size and zeroes the rest before the call."
STAY = "Strings that the library gives out belong to it and stay until finalize"


def _numbers(run: Run) -> Iterator[int]:
    run.need("getDeviceInfo")
    for number in range(run.plugin.num_devices()):
        with run.step(f"device {number}"):
            yield number


@group.check("count", "Required. How many devices there are, from 0 on; after initialize.")
def count(run: Run) -> None:
    """A plausible number of devices, each time the same"""
    counts = [run.plugin.num_devices() for _ in range(3)]
    run.expect(0 <= counts[0] <= MOST, f"0 to {MOST} devices", counts[0])
    run.expect(len(set(counts)) == 1, "the same number each time", counts)


@group.check("info", FILLS)
def info(run: Run) -> None:
    """What is said of each device is right"""
    for number in _numbers(run):
        told = run.plugin.info(number)
        size = ctypes.sizeof(abi.MXAccDeviceInfo)
        run.expect(told.struct_size <= size, f"struct_size {size}", told.struct_size, BEYOND)
        power = told.alignment & (told.alignment - 1) == 0
        says = "bytes that what mx_alloc gives is aligned to; a power of two, 0 for 64"
        run.expect(power, "a power of two as alignment", told.alignment, says)
        if told.memory_total:
            enough = told.memory_free <= told.memory_total
            run.expect(enough, f"memory_free of at most {told.memory_total}", told.memory_free)
        if run.plugin.api.abi_minor <= abi.ABI_MINOR:
            run.expect(not told.flags & ~KNOWN, f"flags of {KNOWN:#x}", hex(told.flags))
        if told.flags & abi.UNUSABLE:
            says = "listed only to say, in reason, why it cannot be used"
            run.expect(bool(told.reason), "a reason", told.reason, says)


@group.check("strings", "strings are UTF-8 and end with NUL")
def strings(run: Run) -> None:
    """Names and reasons are text"""
    for number in _numbers(run):
        told = run.plugin.info(number)
        for name in TEXTS:
            text = getattr(told, name)
            try:
                (text or b"").decode()
            except UnicodeDecodeError:
                run.finding(f"{name} in UTF-8", repr(text))


@group.check("beyond", BEYOND)
def beyond(run: Run) -> None:
    """Nothing is written beyond a shorter struct, or a longer one"""
    whole = ctypes.sizeof(abi.MXAccDeviceInfo)
    sizes = [getattr(abi.MXAccDeviceInfo, name).offset for name, *_ in abi.MXAccDeviceInfo._fields_]
    room = ctypes.create_string_buffer(2 * whole)
    run.need("getDeviceInfo")
    for size in [*sizes[1:], whole, whole + 8]:
        with run.step(f"info->struct_size = {size}"):
            ctypes.memset(room, UNTOUCHED, len(room))
            ctypes.memset(room, 0, size)
            told = abi.MXAccDeviceInfo.from_buffer(room)
            told.struct_size = size
            run.plugin.call("getDeviceInfo", run.device, ctypes.byref(told))
            rest = room.raw[min(size, whole) :]
            clean = bytes(size - min(size, whole)) + bytes([UNTOUCHED]) * (len(room) - size)
            wrong = changes(rest, clean)
            run.expect(not wrong, "nothing written beyond struct_size", wrong)


def _values(told: abi.MXAccDeviceInfo) -> dict[str, Any]:
    fields = ("flags", "alignment", "memory_total", *TEXTS)
    return {name: getattr(told, name) for name in fields}


@group.check("repeatable", FILLS)
def repeatable(run: Run) -> None:
    """The same is said each time"""
    for number in _numbers(run):
        first, second = (_values(run.plugin.info(number)) for _ in range(2))
        run.expect(first == second, repr(first), repr(second))


@group.check("strings_stay", STAY)
def strings_stay(run: Run) -> None:
    """Texts stay where they are while others are asked for"""
    told = [run.plugin.info(number) for number in _numbers(run)]
    before = [_values(one) for one in told]
    for _ in range(3):
        for number in range(len(told)):
            run.plugin.info(number)
    run.expect([_values(one) for one in told] == before, "the texts that were given", "others")
