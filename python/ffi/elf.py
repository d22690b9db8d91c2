"""Reads what a shared library of Linux exports and needs, without loading it."""

from __future__ import annotations

import mmap
import os
import stat
import struct
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

_MAGIC = b"\x7fELF"
_DYNSYM, _DYNAMIC = 11, 6
_NEEDED = 1
_LOCAL = 0


@dataclass
class Symbols:
    """Names of the dynamic symbols, and of the libraries that are needed."""

    defined: list[str] = field(default_factory=list)
    undefined: list[str] = field(default_factory=list)
    needed: list[str] = field(default_factory=list)


def _text(table: bytes, offset: int) -> str:
    return table[offset : table.index(b"\0", offset)].decode(errors="replace")


class _File:
    def __init__(self, data: mmap.mmap):
        self.data = data
        if data[:4] != _MAGIC or data[4] != 2:
            raise ValueError("no 64-bit ELF file")
        self._order = "<" if data[5] == 1 else ">"

    def unpack(self, form: str, offset: int) -> tuple[int, ...]:
        return struct.unpack_from(self._order + form, self.data, offset)

    def sections(self) -> Iterator[tuple[int, int, int, int]]:
        """Type, offset, size and linked section of each."""
        (start,) = self.unpack("Q", 0x28)
        entry, count = self.unpack("HH", 0x3A)
        for number in range(count):
            _, kind, _, _, offset, size, link = self.unpack("IIQQQQI", start + number * entry)
            yield kind, offset, size, link


def read(path: Path) -> Symbols | None:
    """The symbols of a library; None where it has no list of its sections, or is no ELF file.

    Of a large file only what lists them is read. Raises OSError where it cannot be read.
    """
    # Opening a pipe could wait for ever.
    if not stat.S_ISREG(os.stat(path).st_mode):
        return None
    with open(path, "rb") as opened:
        try:
            with mmap.mmap(opened.fileno(), 0, access=mmap.ACCESS_READ) as data:
                return _symbols(_File(data))
        except (ValueError, struct.error, IndexError):
            return None


def _symbols(file: _File) -> Symbols | None:
    sections = list(file.sections())
    symbols = Symbols()
    for kind, offset, size, link in sections:
        if kind not in (_DYNSYM, _DYNAMIC):
            continue
        _, start, length, _ = sections[link]
        names = file.data[start : start + length]
        if kind == _DYNAMIC:
            for at in range(offset, offset + size, 16):
                tag, value = file.unpack("qQ", at)
                if tag == _NEEDED:
                    symbols.needed.append(_text(names, value))
            continue
        for at in range(offset, offset + size, 24):
            name, info, _, section = file.unpack("IBBH", at)
            if name and info >> 4 != _LOCAL:
                (symbols.defined if section else symbols.undefined).append(_text(names, name))
    return symbols if sections else None
