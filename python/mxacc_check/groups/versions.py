"""Whether the library goes with older and newer versions of MXNet."""

from __future__ import annotations

import ctypes
from itertools import chain

from .. import abi
from ..plugin import ROOM, UNTOUCHED, AccError, Plugin
from ..suite import Group, Run, changes

group = Group("versions", "older and newer versions of MXNet")

BEYOND = "Who fills in a struct that another made writes nothing beyond its struct_size"
NEWER = 64
# Whatever the version, MXNet needs these.
LEAST = abi.MXAccApi.initialize.offset
CUTS = [getattr(abi.MXAccApi, name).offset for name, *_ in abi.MXAccApi._fields_]
HOST_CUTS = ["log", "alloc_output"]


def _untouched(plugin: Plugin, size: int) -> int:
    """How many bytes beyond the table were written."""
    beyond = plugin.room.raw[size:]
    return len(beyond) - beyond.count(UNTOUCHED)


@group.check("older_table", BEYOND, fresh=True)
def older_table(run: Run) -> None:
    """Nothing is written beyond a shorter table"""
    cuts = [cut for cut in CUTS if cut >= LEAST]
    for size in cuts[:: 4 if run.quick else 1]:
        with run.step(f"api->struct_size = {size}"):
            try:
                plugin = run.load(initialize=False, api_size=size)
            except AccError as error:
                run.note(f"rejects a table of {size} bytes: {error.message}")
                continue
            said, written = plugin.api.struct_size, _untouched(plugin, size)
            plugin.close()
            run.expect(said <= size, f"a struct_size of at most {size}", said)
            run.expect(not written, "nothing written beyond", f"{written} bytes")


@group.check(
    "newer_table", "the library lowers it to its own sizeof(MXAccApi), if that is less", fresh=True
)
def newer_table(run: Run) -> None:
    """A longer table is lowered to the library's own size, and nothing is written beyond it"""
    size = ctypes.sizeof(abi.MXAccApi) + NEWER
    with run.step(f"api->struct_size = {size}"), run.loaded(api_size=size) as plugin:
        said = plugin.api.struct_size
        run.expect(said < size, f"a struct_size below {size}, which no version has yet", said)
        beyond = plugin.room.raw[min(said, size) : ROOM]
        clean = bytes(size - min(said, size)) + bytes([UNTOUCHED]) * (ROOM - size)
        wrong = changes(beyond, clean)
        run.expect(not wrong, "nothing written beyond struct_size", wrong, BEYOND)


def _use(plugin: Plugin) -> None:
    """Whatever may ask MXNet for something."""
    plugin.initialize()
    for device in range(plugin.num_devices()):
        plugin.info(device)


@group.check(
    "older_runtime",
    "A reader uses no member that lies beyond it and ignores what follows the members that it "
    "knows itself",
    fresh=True,
)
def older_runtime(run: Run) -> None:
    """What an older MXNet does not have is not used"""
    for name in HOST_CUTS:
        size = getattr(abi.MXAccRuntime, name).offset
        with run.step(f"runtime->struct_size = {size}, which ends before {name}"):
            try:
                with run.loaded(initialize=False, runtime_size=size) as plugin:
                    _use(plugin)
            except AccError as error:
                if error.code != "rejected":
                    raise
                run.note(f"rejects an MXNet without {name}: {error.message}")


@group.check("newer_runtime", "a larger MINOR only adds", fresh=True)
def newer_runtime(run: Run) -> None:
    """An MXNet of a later minor version is as good"""
    size = ctypes.sizeof(abi.MXAccRuntime) + NEWER
    newer = {"runtime_size": size, "runtime_minor": abi.ABI_MINOR + 1}
    with run.step(f"runtime->struct_size = {size}, runtime->abi_minor = {abi.ABI_MINOR + 1}"):
        with run.loaded(initialize=False, **newer) as plugin:
            _use(plugin)


@group.check(
    "null_members",
    "A member of MXAccApi that is NULL, or that lies beyond struct_size, is something the library "
    "does not do.",
)
def null_members(run: Run) -> None:
    """Which parts the library leaves out"""
    plugin = run.plugin
    optional = chain(
        ["initialize", "finalize", "getDeviceInfo", "mx_releaseAll", "copyWithinAcc"],
        ["createStream", "supportedOps", "configure", "mx_zero"],
    )
    left_out = [name for name in optional if not plugin.has(name)]
    if left_out:
        run.note(f"does not do: {', '.join(left_out)}")
