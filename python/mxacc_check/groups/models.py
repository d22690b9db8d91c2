"""What is said of compiled models, without compiling one."""

from __future__ import annotations

import ctypes
import json
from typing import Any

from .. import abi
from ..suite import Group, Run

group = Group("models", "options and keys of compiled models")

ROOM = 1024
KINDS = {
    abi.BOOLEAN: "bool",
    abi.INTEGER: "int",
    abi.NUMBER: "float",
    abi.TEXT: "text",
    abi.TYPE: "type",
}


@group.check("options", "*options are those that loadModel takes, *count of them")
def options(run: Run) -> None:
    """Each option has a name, a value of a kind, and choices that are a JSON list"""
    run.need("listOptions")
    listed, count = ctypes.POINTER(abi.MXAccOption)(), ctypes.c_int32(-1)
    run.plugin.call("listOptions", ctypes.byref(listed), ctypes.byref(count))
    run.expect(count.value >= 0, "a count of at least 0", count.value)
    names: set[str] = set()
    for number in range(max(count.value, 0)):
        value = listed[number].value
        name = (value.name or b"").decode(errors="replace")
        with run.step(f"option {number}, {name!r}"):
            run.expect(bool(name) and name not in names, "a name of its own", repr(name))
            run.expect(value.kind in KINDS, f"a kind among {sorted(KINDS)}", value.kind)
            run.expect(_is_list(listed[number].choices), "choices that are a JSON list", "others")
        names.add(name)


def _is_list(text: bytes | None) -> bool:
    if text is None:
        return True
    try:
        return isinstance(json.loads(text), list)
    except ValueError:
        return False


@group.check("key", "Writes what decides whether compiled models of another time or machine fit")
def key(run: Run) -> None:
    """A key is text that is the same each time, and fits"""
    run.need("modelKey", "checkModel")
    first, second = key_of(run), key_of(run)
    run.expect(first == second != b"", "the same text each time", f"{first!r}, {second!r}")
    for text, verdicts in ((first, (abi.FITS,)), (b"no key", (abi.DOES_NOT_FIT, abi.RECOMPILE))):
        verdict = ctypes.c_int32(-1)
        run.plugin.call("checkModel", run.device, text, ctypes.byref(verdict))
        expected = " or ".join(map(str, verdicts))
        run.expect(verdict.value in verdicts, f"{expected} for {text!r}", verdict.value)


def key_of(run: Run) -> bytes:
    room: Any = ctypes.create_string_buffer(ROOM)
    run.plugin.call("modelKey", run.device, room, ROOM)
    text: bytes = room.value
    return text
