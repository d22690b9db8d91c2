"""Keywords of configure."""

from __future__ import annotations

import ctypes

from .. import abi
from ..plugin import AccError
from ..suite import Group, Run

group = Group("configure", "keywords of configure")

TEXT = (
    "Whatever else the accelerator can do: takes keywords with values and emits others; both are "
    "text."
)
UNKNOWN = "An unknown keyword is kMXAccBadArgument, and then nothing has changed."
COUNT = "The number of devices does not change."
NO_SUCH = "mxacc_check_no_such_keyword"


def _emitted(run: Run) -> list[tuple[bytes | None, bytes]]:
    """What is emitted without keywords; the wrong context is a finding."""
    found: list[tuple[bytes | None, bytes]] = []
    contexts = set()

    def emit(context: int | None, key: bytes | None, value: ctypes.c_void_p, size: int) -> None:
        contexts.add(context)
        found.append((key, ctypes.string_at(value, size) if size else b""))

    context = 0xACC
    run.plugin.call("configure", run.device, None, None, 0, abi.MXAccEmit(emit), context)
    says = "Receives a piece of text or data; called any number of times."
    run.expect(contexts <= {context}, f"the context {context:#x}", contexts, says)
    return found


@group.check("emits", TEXT)
def emits(run: Run) -> None:
    """Without keywords it succeeds, and what it emits is text"""
    run.need("configure")
    with run.step("no keywords"):
        for key, value in _emitted(run):
            for name, text in (("keyword", key), ("value", value)):
                try:
                    (b"" if text is None else text).decode()
                except UnicodeDecodeError:
                    run.finding(f"a {name} in UTF-8", repr(text))
            run.expect(bool(key), "a keyword", repr(key))


def _try(run: Run, options: dict[str, str]) -> None:
    try:
        run.plugin.configure(run.device, **options)
    except AccError as error:
        run.expect(error.code == "bad_argument", "kMXAccBadArgument", error)
    else:
        run.finding("kMXAccBadArgument", "success")


@group.check("unknown", UNKNOWN)
def unknown(run: Run) -> None:
    """An unknown keyword is rejected"""
    run.need("configure")
    for value in ("1", "", "text"):
        with run.step(f"{NO_SUCH}={value!r}"):
            _try(run, {NO_SUCH: value})


def _others(value: str) -> list[str]:
    """Values that a keyword might take instead."""
    if value in ("0", "1"):
        return [str(1 - int(value))]
    if value.isdigit():
        return [str(int(value) + 1)]
    return [""] if value else ["1"]


@group.check("unchanged", UNKNOWN)
def unchanged(run: Run) -> None:
    """A known keyword beside an unknown one changes nothing"""
    run.need("configure")
    first, second = dict(_emitted(run)), dict(_emitted(run))
    stable = {key for key in first if first[key] == second.get(key)}
    for key in sorted(key for key in stable if key):
        name, value = key.decode(errors="replace"), first[key].decode(errors="replace")
        for other in _others(value):
            for options in ({name: other, NO_SUCH: "1"}, {NO_SUCH: "1", name: other}):
                with run.step(f"{options}"):
                    _try(run, options)
                    now = dict(_emitted(run))
                    changed = [one for one in stable if now.get(one) != first[one]]
                    run.expect(not changed, "the same settings as before", f"{changed} changed")


@group.check("devices", COUNT)
def devices(run: Run) -> None:
    """The number of devices stays"""
    run.need("configure")
    before = run.plugin.num_devices()
    _emitted(run)
    run.expect(run.plugin.num_devices() == before, str(before), run.plugin.num_devices())
