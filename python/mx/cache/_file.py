"""Files of pieces, each with a checksum: an entry of the cache, and what save_compiled writes.

A head, the pieces, each at a multiple of 64, an index in JSON, and a tail that says where the index
is, so that a file can be written in one go and one that was cut is known at once.
"""

from __future__ import annotations

import contextlib
import json
import mmap
import os
import struct
import weakref
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, BinaryIO

import numpy

import ffi

from ._sha import sha256

VERSION = 2

_checksum: Callable[[int, int, int], int] = ffi.get_global_func("mx.acc.models.checksum")

_ALIGNMENT = 64
# A piece has a checksum for each of so many bytes, which threads compute side by side.
_BLOCK = 1 << 22
_MOST_THREADS = 8  # more do not read memory faster
_HEAD = struct.Struct("<8sI52x")
_MAGIC = b"mxpieces"
_TAIL = struct.Struct("<QQ32s8s")  # offset, size and checksum of the index
_END = b"mxpieend"
_MOST_INDEX = 1 << 28


class FileError(ValueError):
    """A file that is not one of compiled models, of another version, or damaged; the text says."""


@dataclass(frozen=True)
class Row:
    """Where a piece is in its file."""

    name: str
    offset: int
    size: int
    checksums: list[int]  # of its blocks


class PieceWriter:
    """Writes a file of pieces."""

    def __init__(self, file: BinaryIO) -> None:
        """`file` is empty, without a buffer, and can be read, too."""
        self._file = file
        self._rows: list[Row] = []
        _write(file, _HEAD.pack(_MAGIC, VERSION))

    def add(self, name: str, data: bytes | memoryview) -> Row:
        """Writes one piece."""
        offset = self._next_offset()
        _write(self._file, data)
        return self._add_row(name, offset, len(data))

    def add_parts(self, name: str, parts: Iterable[bytes | memoryview]) -> Row:
        """Writes one piece, part after part."""
        offset, size = self._next_offset(), 0
        for part in parts:
            _write(self._file, part)
            size += len(part)
        return self._add_row(name, offset, size)

    def add_all(self, prefix: str, write: Callable[[int, int], Iterable[Any]]) -> list[str]:
        """Has `write(descriptor, offset)` write pieces, whose names get a prefix; these names.

        It gives the name, the offset and the size of each, as `Model.export` does.
        """
        found = list(write(self._file.fileno(), self._next_offset()))
        self._file.seek(0, os.SEEK_END)
        self._next_offset()  # where a last piece without bytes is
        return [self._add_row(prefix + name, offset, size).name for name, offset, size in found]

    def finish(self, about: dict[str, Any]) -> int:
        """Writes what the file is about and the index; the size of the file."""
        rows = [[row.name, row.offset, row.size, row.checksums] for row in self._rows]
        index = json.dumps({"about": about, "pieces": rows}).encode()
        offset = self._next_offset()
        _write(self._file, index)
        _write(self._file, _TAIL.pack(offset, len(index), sha256(index).digest(), _END))
        return self._file.tell()

    def _add_row(self, name: str, offset: int, size: int) -> Row:
        row = Row(name, offset, size, _checksums(self._file.fileno(), offset, size))
        self._rows.append(row)
        return row

    def _next_offset(self) -> int:
        rest = -self._file.tell() % _ALIGNMENT
        _write(self._file, bytes(rest))
        return self._file.tell()


class PieceFile:
    """A file of pieces that is open for reading."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        """Raises OSError where it cannot be read, and FileError."""
        self.path = os.fspath(path)
        self._descriptor = os.open(path, os.O_RDONLY)
        # Who has it need not close it: files of models stay open as long as plans use them.
        self.close = weakref.finalize(self, os.close, self._descriptor)
        try:
            size = os.fstat(self._descriptor).st_size
            if size < _HEAD.size + _TAIL.size:
                raise FileError(f"{self.path} is no file of compiled models, or was cut")
            self._content = mmap.mmap(self._descriptor, 0, access=mmap.ACCESS_READ)
            self.about, self.rows = self._read(size)
        except BaseException:
            self.close()
            raise

    def fileno(self) -> int:
        """Its descriptor."""
        return self._descriptor

    def data(self, name: str) -> bytes:
        """A copy of one piece; FileError where there is none of that name."""
        row = self._row(name)
        return self._content[row.offset : row.offset + row.size]

    def mapped(self, name: str) -> numpy.ndarray[Any, Any]:
        """The bytes of one piece as the system maps them from the file: they are read when they are
        looked at, and stay when the file is removed. What is written to them is not in the file.
        FileError where there is none of that name."""
        row = self._row(name)
        begin = row.offset - row.offset % mmap.ALLOCATIONGRANULARITY
        if not row.size:
            return numpy.zeros(0, "uint8")
        length = row.offset - begin + row.size
        content = mmap.mmap(self._descriptor, length, access=mmap.ACCESS_COPY, offset=begin)
        return numpy.frombuffer(content, "uint8", row.size, row.offset - begin)

    def check(self) -> None:
        """Raises FileError where a piece is not what was written."""
        for row in self.rows.values():
            if _checksums(self._descriptor, row.offset, row.size) != row.checksums:
                raise FileError(f"{self.path} is damaged: the piece {row.name!r} has changed")

    def __enter__(self) -> PieceFile:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def _row(self, name: str) -> Row:
        if name not in self.rows:
            raise FileError(f"{self.path} has no piece {name!r}")
        return self.rows[name]

    def _read(self, size: int) -> tuple[dict[str, Any], dict[str, Row]]:
        content = self._content
        magic, version = _HEAD.unpack_from(content, 0)
        if magic != _MAGIC:
            raise FileError(f"{self.path} is no file of compiled models")
        if version != VERSION:
            raise FileError(f"{self.path} is of version {version}, expected {VERSION}")
        offset, length, checksum, end = _TAIL.unpack_from(content, size - _TAIL.size)
        if end != _END or length > _MOST_INDEX or offset + length != size - _TAIL.size:
            raise FileError(f"{self.path} was cut, or is damaged")
        text = content[offset : offset + length]
        if sha256(text).digest() != checksum:
            raise FileError(f"{self.path} is damaged: its index has changed")
        try:
            index = json.loads(text)
            rows = [Row(*row) for row in index["pieces"]]
            about = dict(index["about"])
            inside = all(
                isinstance(row.name, str)
                and isinstance(row.offset, int)
                and isinstance(row.size, int)
                and row.offset % _ALIGNMENT == 0
                and 0 <= row.offset <= row.offset + row.size <= offset
                for row in rows
            )
        except (ValueError, TypeError, KeyError, RecursionError):
            inside = False
        if not inside:
            raise FileError(f"{self.path} has an index that makes no sense")
        return about, {row.name: row for row in rows}


def write_whole(path: str, partial: str, write: Callable[[PieceWriter], dict[str, Any]]) -> int:
    """Writes a file of pieces that is whole or not there, also after a power failure; its size.

    `write` adds the pieces and returns what the file is about. Until all is on the disk it is
    `partial`, in the same folder.
    """
    try:
        with open(partial, "w+b", buffering=0) as file:
            writer = PieceWriter(file)
            size = writer.finish(write(writer))
            os.fsync(file.fileno())
        os.replace(partial, path)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(partial)
        raise
    folder = os.open(os.path.dirname(path) or ".", os.O_RDONLY)
    try:
        with contextlib.suppress(OSError):  # not all file systems can
            os.fsync(folder)
    finally:
        os.close(folder)
    return size


def _checksums(descriptor: int, offset: int, size: int) -> list[int]:
    """Of the blocks of a span of a file."""

    def of_block(begin: int) -> int:
        return _checksum(descriptor, offset + begin, min(_BLOCK, size - begin))

    begins = range(0, size, _BLOCK)
    count = min(os.cpu_count() or 1, len(begins), _MOST_THREADS)
    if count > 1:
        # Without so many threads more it only takes longer.
        with contextlib.suppress(RuntimeError), ThreadPoolExecutor(count) as threads:
            return list(threads.map(of_block, begins))
    return [of_block(begin) for begin in begins]


def _write(file: BinaryIO, data: bytes | memoryview) -> None:
    rest = memoryview(data)
    while len(rest):
        rest = rest[file.write(rest) or 0 :]
