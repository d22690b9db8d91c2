"""Models without the elements of their big weights, which are read when they are needed.

protobuf would hold the whole file, and what it makes of it, at once.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from io import BufferedIOBase

from ...cache._sha import sha256
from ...graph._elements import Bytes, Elements

# Of fewer bytes elements stay in the model.
_FEW = 1 << 16
# Fields by their numbers in onnx.proto.
_GRAPH, _INITIALIZER, _RAW_DATA = 7, 5, 9
# Wire types, and bytes of those that are always as many.
_NUMBER, _LENGTH_DELIMITED = 0, 2
_FIXED = {1: 8, 5: 4}
# Bytes of the two numbers that a field begins with, and those that are read to look at fields.
_MOST_HEAD = 20
_SEEN = 1 << 13


class _Unusual(Exception):
    """What only protobuf has an error for, or a meaning."""


@dataclass
class Aside:
    """The elements of big weights, by what stands in the model in their stead."""

    elements: Elements
    _numbers: dict[bytes, int] = field(default_factory=dict)
    # Nobody who writes a file knows it.
    _secret: bytes = field(default_factory=lambda: os.urandom(16))

    def digest(self, light: bytes) -> str:
        """A checksum of a model without these elements, of which it has their sizes."""
        digest = sha256(repr(self.elements.sizes()).encode(), len(light))
        digest.update(light.replace(self._secret, bytes(len(self._secret))))
        return digest.hexdigest()

    def add(self, file: BufferedIOBase, offset: int, size: int) -> bytes:
        """Elements that are a span of the file; returns what stands for them."""
        token = self._secret + len(self._numbers).to_bytes(8, "little")
        self._numbers[token] = self.elements.add(file, offset, size)
        return token

    def size_of(self, data: bytes) -> int:
        """How many bytes of elements a tensor has that has these in the model."""
        number = self._numbers.get(data)
        return len(data) if number is None else self.elements.size(number)

    def find(self, data: bytes) -> Bytes | None:
        """The elements that these bytes stand for; None where they are elements themselves."""
        number = self._numbers.get(data)
        return None if number is None else self.elements.arrays()[number]


def read(file: BufferedIOBase, name: str) -> tuple[bytes, Aside]:
    """The bytes of a model as protobuf takes them, and what is not in them."""
    begin = file.tell()
    end = file.seek(0, os.SEEK_END)
    aside = Aside(Elements(name, end - begin))
    file.seek(begin)
    if end - begin < _FEW:
        return file.read(), aside
    try:
        path = (_GRAPH, _INITIALIZER, _RAW_DATA)
        return b"".join(_message(file, begin, end, path, aside)), aside
    except _Unusual:
        file.seek(begin)
        return file.read(), Aside(Elements(name, end - begin))


def _message(
    file: BufferedIOBase, begin: int, end: int, path: tuple[int, ...], aside: Aside
) -> Iterator[bytes]:
    """The bytes of a message from `begin` to `end`, in which the field at the end of the path is
    replaced."""
    at = same = begin  # from `same` on nothing is replaced
    seen, known = b"", begin  # a part of the file, and where in it that begins
    while at < end:
        if at + _MOST_HEAD > known + len(seen):
            seen, known = _read(file, at, at + _SEEN), at
        tag, here = _varint(seen, at - known)
        number, kind = tag >> 3, tag & 7
        length = _FIXED.get(kind, 0)
        if kind == _LENGTH_DELIMITED:
            length, here = _varint(seen, here)
        elif kind == _NUMBER:
            _, here = _varint(seen, here)
        elif kind not in _FIXED:
            raise _Unusual
        first = known + here
        behind = first + length
        if behind > end:
            raise _Unusual
        if number == path[0] and kind == _LENGTH_DELIMITED and length >= _FEW:
            yield _read(file, same, at)
            if len(path) > 1:
                inside = b"".join(_message(file, first, behind, path[1:], aside))
            else:
                inside = aside.add(file, first, length)
            yield _as_varint(tag) + _as_varint(len(inside)) + inside
            same = behind
        at = behind
    yield _read(file, same, end)


def _read(file: BufferedIOBase, begin: int, end: int) -> bytes:
    file.seek(begin)
    return file.read(end - begin)


def _varint(data: bytes, at: int) -> tuple[int, int]:
    """A number, and where what follows it begins."""
    value = shift = 0
    while at < len(data) and shift < 64:
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, at
        shift += 7
    raise _Unusual


def _as_varint(value: int) -> bytes:
    encoded = bytearray()
    while value >= 0x80:
        encoded.append(value & 0x7F | 0x80)
        value >>= 7
    encoded.append(value)
    return bytes(encoded)
