"""The table of functions."""

from __future__ import annotations

import ctypes
from pathlib import Path

from ffi import elf

from .. import abi
from ..plugin import OPERATOR_SET
from ..suite import Group, Run

group = Group("contract", "the table of functions, and what the library exports")

FUNCTIONS = [field[0] for field in abi.MXAccApi._fields_ if hasattr(field[1], "argtypes")]
STREAMS = [
    *("createStream", "destroyStream", "syncStream"),
    *("createEvent", "destroyEvent", "recordEvent", "waitEvent"),
]
NULL_OR_REQUIRED = 'What is marked "required" must be there.'


def _symbols(run: Run) -> elf.Symbols:
    """The symbols of the library; skips the check where it does not list them."""
    symbols = elf.read(Path(run.options.path))
    if symbols is None:
        run.skip("the file does not list its symbols")
    return symbols


@group.check("exports", "It exports one function, mxacc_get_api, which fills a table of functions.")
def exports(run: Run) -> None:
    """What the library exports"""
    symbols = _symbols(run)
    # What linkers add of their own does not count.
    others = [name for name in symbols.defined if name != "mxacc_get_api" and name[0] != "_"]
    if others:
        shown = ", ".join(others[:3]) + (", ..." if len(others) > 3 else "")
        run.note(f"exports {len(others)} other symbols: {shown}")


@group.check("needs", "built from this header alone and linked to nothing of MXNet")
def needs(run: Run) -> None:
    """The library is linked to nothing of MXNet"""
    symbols = _symbols(run)
    wrong = [name for name in symbols.undefined if name.startswith("MXNet")]
    wrong += [name for name in symbols.needed if name.startswith("libmxnet")]
    run.expect(not wrong, "nothing of MXNet's to be linked", ", ".join(wrong))


@group.check("struct_size", "the library lowers it to its own sizeof(MXAccApi), if that is less")
def struct_size(run: Run) -> None:
    """The table's own size is plausible"""
    size = run.plugin.api.struct_size
    least, most = abi.MXAccApi.initialize.offset, ctypes.sizeof(abi.MXAccApi)
    run.expect(least <= size <= most, f"a struct_size from {least} to {most}", size)


@group.check(
    "version", "Version of this interface; another MAJOR is rejected, a larger MINOR only adds."
)
def version(run: Run) -> None:
    """The version of the interface"""
    api = run.plugin.api
    run.expect(api.abi_major == abi.ABI_MAJOR, f"abi_major {abi.ABI_MAJOR}", api.abi_major)
    run.expect(api.abi_minor >= 0, "abi_minor of at least 0", api.abi_minor)


@group.check("strings", "strings are UTF-8 and end with NUL")
def strings(run: Run) -> None:
    """The release is text"""
    release = run.plugin.api.release
    if release is None:
        return
    try:
        release.decode()
    except UnicodeDecodeError:
        run.finding("a release in UTF-8", repr(release))


@group.check("required", NULL_OR_REQUIRED)
def required(run: Run) -> None:
    """Functions that must be there"""
    plugin = run.plugin
    reasons = {"getAccName": "in any case", "getNumAcc": "in any case"}
    if plugin.has("mx_alloc"):
        reasons |= dict.fromkeys(("mx_free", "copyToAcc", "copyFromAcc"), "with mx_alloc")
    if plugin.imperative():
        reasons |= dict.fromkeys(("mx_alloc", "accGetExecutor"), "with supportsImperative")
    if plugin.has("supportedOps"):
        reasons["loadModel"] = "with supportedOps"
    if plugin.has("importModel"):
        reasons |= dict.fromkeys(("modelKey", "checkModel"), "with importModel")
    for name, reason in reasons.items():
        run.expect(plugin.has(name), f"{name}, required {reason}", "NULL")


@group.check("operator_set", "The versions of the operators' meaning that the library knows")
def operator_set(run: Run) -> None:
    """The versions of operators are a range that has this one's"""
    least, most = run.plugin.api.operator_set_min, run.plugin.api.operator_set_max
    if least == most == 0:
        return
    fits = 0 < least <= OPERATOR_SET <= most
    run.expect(fits, f"a range with {OPERATOR_SET} in it, or 0 and 0", f"{least} to {most}")


@group.check("streams", "Streams and events: all of them, or none.")
def streams(run: Run) -> None:
    """Functions of streams and events are there together"""
    lacking = [name for name in STREAMS if not run.plugin.has(name)]
    none = len(lacking) == len(STREAMS)
    run.expect(not lacking or none, "all of them, or none", f"no {', '.join(lacking)}")


def _code() -> list[tuple[int, int]]:
    """Where there is code in this process."""
    with open("/proc/self/maps") as maps:
        rows = [line.split() for line in maps]
    ranges = [row[0].split("-") for row in rows if "x" in row[1]]
    return [(int(first, 16), int(last, 16)) for first, last in ranges]


@group.check(
    "functions",
    "A member of MXAccApi that is NULL, or that lies beyond struct_size, is something the library "
    "does not do.",
)
def functions(run: Run) -> None:
    """Each member is NULL or the address of a function"""
    api = run.plugin.api
    ranges = _code()
    for name in FUNCTIONS:
        address = ctypes.cast(getattr(api, name), ctypes.c_void_p).value
        fits = address is None or any(first <= address < last for first, last in ranges)
        run.expect(fits, f"{name} NULL or a function", hex(address or 0))
