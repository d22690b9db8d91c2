"""Whether the library can be loaded at all, and what it is."""

from __future__ import annotations

import ctypes
from pathlib import Path
from typing import Any

from ffi import elf

from .. import abi
from ..plugin import AccError, Plugin
from ..suite import Group, Run

group = Group("load", "the library can be loaded and initialized")

FLAGS = {
    abi.HOST_VISIBLE: "host-visible",
    abi.ONE_THREAD: "one thread",
    abi.STRIDES: "strides",
    abi.UNUSABLE: "unusable",
}


def _text(value: bytes | None) -> str:
    return "" if value is None else value.decode(errors="replace")


def _name(plugin: Plugin) -> str:
    room = ctypes.create_string_buffer(ctypes.sizeof(ctypes.c_void_p) * abi.NAME_SIZE)
    if plugin.api.getAccName(plugin.api.self, room, abi.NAME_SIZE):
        return ""
    return room.value.decode(errors="replace")


def _device(plugin: Plugin, number: int) -> dict[str, Any]:
    info = plugin.info(number)
    return {
        "name": _text(info.name),
        "vendor": _text(info.vendor),
        "driver": _text(info.driver),
        "reason": _text(info.reason),
        "memory_total": info.memory_total,
        "flags": [text for bit, text in FLAGS.items() if info.flags & bit],
    }


def _why_not(run: Run, devices: list[dict[str, Any]]) -> str:
    """Why the device cannot be checked; empty if it can."""
    if not devices:
        return "the library has no device here"
    if not 0 <= run.device < len(devices):
        return f"there is no device {run.device}, only {len(devices)}"
    if "unusable" in devices[run.device]["flags"]:
        return f"device {run.device} is unusable: {devices[run.device]['reason']}"
    return ""


@group.check(
    "initialize",
    "It exports one function, mxacc_get_api, which fills a table of functions.",
    fresh=True,
)
def initialize(run: Run) -> None:
    """The library is loaded, fills its table, and is initialized."""
    run.library["usable"] = False
    symbols = elf.read(Path(run.options.path))
    if symbols is not None and "mxacc_get_api" not in symbols.defined:
        if "getAccName" in symbols.defined:
            run.library["failure"] = (
                "it exports functions by their names, as mxnet_acc_functions.h has it"
            )
            return
        run.library["failure"] = "it does not export mxacc_get_api"
        run.finding("the exported function mxacc_get_api", "no such symbol")
        return
    plugin = None
    try:
        plugin = run.load(initialize=False)
        run.library["name"] = _name(plugin)
        version = f"{plugin.api.abi_major}.{plugin.api.abi_minor}"
        run.library |= {"release": _text(plugin.api.release), "abi": version}
        missing = [name for name in ("getAccName", "getNumAcc") if not plugin.has(name)]
        if missing:
            run.library["failure"] = f"its table lacks {missing[0]}"
            run.finding(
                f"a function {missing[0]}", "NULL", 'What is marked "required" must be there.'
            )
            return
        plugin.initialize()
        count = plugin.num_devices()
        devices = [_device(plugin, number) for number in range(min(max(count, 0), 64))]
    except OSError as error:
        run.library["failure"] = str(error)
        return
    except AccError as error:
        run.library["failure"] = str(error)
        return
    finally:
        if plugin is not None:
            plugin.close()
    run.library |= {"num_devices": count, "devices": devices}
    run.library["failure"] = _why_not(run, devices)
    run.library["usable"] = not run.library["failure"]
