"""Models without the elements of their big weights, which are read when they are needed.

protobuf would hold the whole file, and what it makes of it, at once.
"""

from __future__ import annotations

import hashlib
import os
import secrets
from collections.abc import Iterator
from dataclasses import dataclass, field
from io import BufferedIOBase

from ...graph._elements import Bytes, Elements

# Of fewer bytes elements stay in the model.
_FEW = 1 << 16
# Fields by their numbers in onnx.proto.
_GRAPH, _INITIALIZER, _RAW_DATA = 7, 5, 9
_LENGTH_DELIMITED = 2
# Bytes of the other wire types, and varints by 0.
_FIXED = {0: 0, 1: 8, 5: 4}


class _Unusual(Exception):
    """What only protobuf has an error for, or a meaning."""


@dataclass
class Aside:
    """The elements of big weights, by what stands in the model in their stead."""

    elements: Elements
    _numbers: dict[bytes, int] = field(default_factory=dict)
    # Nobody who writes a file knows it.
    _secret: bytes = field(default_factory=lambda: secrets.token_bytes(16))

    def digest(self, light: bytes) -> str:
        """A checksum of a model without these elements, of which it has their sizes."""
        digest = hashlib.sha256(repr(self.elements.sizes()).encode())
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
        return b"".join(_message(file, end, (_GRAPH, _INITIALIZER, _RAW_DATA), aside)), aside
    except _Unusual:
        file.seek(begin)
        return file.read(), Aside(Elements(name, end - begin))


def _message(
    file: BufferedIOBase, end: int, path: tuple[int, ...], aside: Aside
) -> Iterator[bytes]:
    """The bytes of a message up to `end`, in which the field at the end of the path is replaced."""
    while (at := file.tell()) < end:
        tag = _varint(file)
        number, kind = tag >> 3, tag & 7
        if kind == _LENGTH_DELIMITED:
            length = _varint(file)
        elif kind in _FIXED:
            length = _FIXED[kind]
            if kind == 0:
                _varint(file)
        else:
            raise _Unusual
        behind = file.tell() + length
        if behind > end:
            raise _Unusual
        is_meant = number == path[0] and kind == _LENGTH_DELIMITED and length >= _FEW
        if not is_meant:
            file.seek(at)
            yield file.read(behind - at)
            continue
        if len(path) > 1:
            inside = b"".join(_message(file, behind, path[1:], aside))
        else:
            inside = aside.add(file, behind - length, length)
            file.seek(behind)
        yield _as_varint(tag) + _as_varint(len(inside)) + inside


def _varint(file: BufferedIOBase) -> int:
    value = shift = 0
    while shift < 64:
        byte = file.read(1)
        if not byte:
            break
        value |= (byte[0] & 0x7F) << shift
        if byte[0] < 0x80:
            return value
        shift += 7
    raise _Unusual


def _as_varint(value: int) -> bytes:
    encoded = bytearray()
    while value >= 0x80:
        encoded.append(value & 0x7F | 0x80)
        value >>= 7
    encoded.append(value)
    return bytes(encoded)
