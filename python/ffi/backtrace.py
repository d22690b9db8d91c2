"""Names the C++ source lines that an exception passed through."""

from __future__ import annotations

import os

from . import handed_down

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    # File, function and line of a location in C++ code.
    SourceLocation = tuple[str, str, int]
    RawSourceLocation = tuple[bytes | str, bytes | str, int]

_TOOLS = (("llvm-symbolizer", "--output-style=GNU"), ("addr2line",))
_TIMEOUT = 20.0
# Code that an op author did not write: the function boundary's own, and the C++ library's.
_FOREIGN = ("/include/mxnet/runtime/", "/include/c++/")

# The source_locations of each address that was asked about: several where functions were inlined.
_known: dict[int, tuple[SourceLocation, ...]] = {}


def set_backtrace(enabled: bool | None) -> None:
    """Chooses which C++ exceptions show the source lines they passed in the Python traceback.

    None, the choice at first: those thrown in libraries that have debug information (compiled with
    -g). True: all; where there is no debug information, the entry names library and function.
    False: none. The environment variable MXNET_BACKTRACE=1 or 0 makes the choice before the start.

    A throw then takes a few microseconds longer, and the first from a line some ten milliseconds,
    in which llvm-symbolizer or addr2line reads the debug information. Without them, nothing is
    added. Raises TypeError for anything else.
    """
    if not isinstance(enabled, (bool, type(None))):
        raise TypeError(
            "set_backtrace: argument 0 ('enabled') expected bool or None, "
            f"got {type(enabled).__name__}"
        )
    mode = 1 if enabled is None else 2 if enabled else 0
    handed_down.find_function("ffi.backtrace.set_mode")(mode)


def source_locations(entries: Sequence[RawSourceLocation | int]) -> list[SourceLocation]:
    """The entries of a traceback, innermost first, addresses replaced by their source locations."""
    try:
        _look_up({entry for entry in entries if isinstance(entry, int) and entry not in _known})
    except Exception:
        # The error itself matters more than an entry of its traceback.
        pass
    found: list[SourceLocation] = []
    for entry in entries:
        if not isinstance(entry, int):
            file, function, line = entry
            found.append((_text(file), _text(function), line))
            continue
        for location in _known.get(entry, ()):
            if found and _same_line(found[-1], location):
                # MXNET_THROW gave the line without the function, which the debug information adds.
                found.pop()
            found.append(location)
    return found


def _text(text: bytes | str) -> str:
    return text.decode("utf-8", "replace") if isinstance(text, bytes) else text


def _same_line(a: SourceLocation, b: SourceLocation) -> bool:
    return a[2] == b[2] and os.path.basename(a[0]) == os.path.basename(b[0])


def _look_up(addresses: Iterable[int]) -> None:
    library_of = handed_down.find_function("ffi.backtrace.library")
    by_library: dict[str, dict[int, int]] = {}
    for address in addresses:
        _known[address] = ()
        # A stack holds the address after the call, which may belong to the next line already.
        library = library_of(address - 1)
        if library is not None:
            by_library.setdefault(library[0], {})[library[1]] = address
    for path, offsets in by_library.items():
        for offset, found in _symbolize(path, list(offsets)).items():
            _known[offsets[offset]] = tuple(
                location for location in found if _is_of_author(location)
            )


def _is_of_author(location: SourceLocation) -> bool:
    return not any(part in location[0] for part in _FOREIGN)


def _symbolize(path: str, offsets: list[int]) -> dict[int, list[SourceLocation]]:
    """The source locations of addresses in a library, innermost first, by the first tool found."""
    import shutil
    import subprocess

    for name, *options in _TOOLS:
        tool = shutil.which(name)
        if tool is None:
            continue
        command = [tool, *options, "-e", path, "-a", "-f", "-i", "-C", *map(hex, offsets)]
        done = subprocess.run(
            command, capture_output=True, timeout=_TIMEOUT, encoding="utf-8", errors="replace"
        )
        if done.returncode == 0:
            return _parse(done.stdout, path)
    return {}


def _parse(output: str, path: str) -> dict[int, list[SourceLocation]]:
    """An address, then function and file:line in turns, each on a line; then the next address."""
    found: dict[int, list[SourceLocation]] = {}
    lines = iter(output.splitlines())
    for line in lines:
        if line.startswith("0x"):
            offset = int(line, 16)
            continue
        file, _, number = next(lines, "").partition(" (discriminator")[0].rpartition(":")
        source_locations = found.setdefault(offset, [])
        if number.isdecimal() and int(number) > 0 and file != "??":
            source_locations.append((file, line, int(number)))
        elif line != "??" and not _is_of_system(path):
            source_locations.append((f"{path}+{offset:#x}", line, 1))
    return found


def _is_of_system(path: str) -> bool:
    return os.path.basename(path).startswith(("libstdc++", "libgcc_s", "libc.", "libc++"))
