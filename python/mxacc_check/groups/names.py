"""The accelerator's name."""

from __future__ import annotations

import ctypes
import re

from .. import abi
from ..plugin import UNTOUCHED, AccError, Plugin
from ..suite import Group, Run

group = Group("names", "the accelerator's name")

SAYS = (
    "Writes the accelerator's name, [a-z][a-z0-9_]*, of at most size - 1 characters: "
    '"foo" makes mx.foo(0).'
)
BEHIND = 64


def _ask(plugin: Plugin, size: int) -> tuple[bytes | None, int]:
    """What is written into a buffer of that size, None for an error; and bytes behind it."""
    room = ctypes.create_string_buffer(bytes([UNTOUCHED]) * (size + BEHIND), size + BEHIND)
    written: bytes | None
    try:
        plugin.call("getAccName", room, size)
        written = room.raw[:size]
    except AccError:
        written = None
    return written, BEHIND - room.raw[size:].count(UNTOUCHED)


def _name(run: Run, plugin: Plugin) -> str:
    room, _ = _ask(plugin, abi.NAME_SIZE)
    text, nul, _ = (room or b"").partition(b"\0")
    if not nul:
        run.skip("the name itself is wrong")
    return text.decode(errors="replace")


@group.check("name", SAYS, fresh=True)
def name(run: Run) -> None:
    """The name follows the rules, before initialize"""
    with run.loaded(initialize=False) as plugin, run.step(f"size = {abi.NAME_SIZE}"):
        room, behind = _ask(plugin, abi.NAME_SIZE)
        run.expect(room is not None, "a name", "an error")
        run.expect(not behind, "nothing written behind the buffer", f"{behind} bytes")
        text, nul, _ = (room or b"").partition(b"\0")
        if run.expect(bool(nul), "a NUL at its end", repr(room)):
            shown = text.decode(errors="replace")
            right = re.fullmatch("[a-z][a-z0-9_]*", shown) is not None
            run.expect(right, "[a-z][a-z0-9_]*", repr(shown))
        if text == b"cpu":
            run.note("MXNet has a context cpu already: users will need acc_name")


@group.check("exact", SAYS, fresh=True)
def exact(run: Run) -> None:
    """A buffer that the name just fits into is enough"""
    with run.loaded(initialize=False) as plugin:
        expected = _name(run, plugin).encode() + b"\0"
        with run.step(f"size = {len(expected)}"):
            room, behind = _ask(plugin, len(expected))
            run.expect(room == expected, repr(expected), "an error" if room is None else repr(room))
            run.expect(not behind, "nothing written behind the buffer", f"{behind} bytes")


@group.check("short", SAYS, fresh=True)
def short(run: Run) -> None:
    """A buffer that is too small is an error, and nothing is written behind it"""
    with run.loaded(initialize=False) as plugin:
        for size in range(len(_name(run, plugin)) + 1):
            with run.step(f"size = {size}"):
                room, behind = _ask(plugin, size)
                run.expect(room is None, "an error", f"success, with {room!r}")
                run.expect(not behind, "nothing written behind the buffer", f"{behind} bytes")


@group.check(
    "again", "Strings that the library gives out belong to it and stay until finalize", fresh=True
)
def again(run: Run) -> None:
    """The name stays what it is"""
    with run.loaded(initialize=False) as plugin:
        first = _name(run, plugin)
    with run.loaded(initialize=False) as plugin:
        second = _name(run, plugin)
    run.expect(first == second, repr(first), repr(second))
