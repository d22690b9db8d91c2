"""Models without the elements of their big weights, which are read once, to where they stay.

protobuf would hold the whole file, and what it makes of it, at once.
"""

from __future__ import annotations

import hashlib
import os
import secrets
from collections.abc import Iterator
from dataclasses import dataclass, field
from io import BufferedIOBase
from typing import Any, TypeAlias

import numpy

Bytes: TypeAlias = numpy.ndarray[Any, Any]

# Of fewer bytes elements stay in the model.
_FEW = 1 << 16
# Fields by their numbers in onnx.proto.
_GRAPH, _INITIALIZER, _RAW_DATA = 7, 5, 9
_LENGTH_DELIMITED = 2
# Bytes of the other wire types, and varints by 0.
_FIXED = {0: 0, 1: 8, 5: 4}


# Several weights share one piece of memory of this size: NumPy asks for huge pages for large ones
# alone, without which a new page for each 4 KB takes longer than reading them.
_ROOM = 1 << 25
_ALIGNMENT = 64


class _Unusual(Exception):
    """What only protobuf has an error for, or a meaning."""


@dataclass
class Aside:
    """The elements of big weights, by what stands in the model in their stead."""

    elements: dict[bytes, Bytes] = field(default_factory=dict)
    left: int = 0  # bytes of the file, of which elements may come
    _room: Bytes = field(default_factory=lambda: numpy.empty(0, "uint8"))
    # Nobody who writes a file knows it.
    _secret: bytes = field(default_factory=lambda: secrets.token_bytes(16))

    def digest(self, light: bytes) -> str:
        """A checksum of a model without these elements, of which it has their sizes."""
        sizes = [elements.nbytes for elements in self.elements.values()]
        digest = hashlib.sha256(repr(sizes).encode())
        digest.update(light.replace(self._secret, bytes(len(self._secret))))
        return digest.hexdigest()

    def room(self, size: int) -> Bytes:
        """Memory for elements."""
        taken = -(-size // _ALIGNMENT) * _ALIGNMENT
        if taken > self._room.size:
            self._room = _aligned(max(taken, min(_ROOM, self.left)))
        self.left -= size
        room, self._room = self._room[:size], self._room[taken:]
        return room

    def add(self, elements: Bytes) -> bytes:
        """Keeps elements; returns what stands for them."""
        token = self._secret + len(self.elements).to_bytes(8, "little")
        self.elements[token] = elements
        return token


def read(file: BufferedIOBase) -> tuple[bytes, Aside]:
    """The bytes of a model as protobuf takes them, and what is not in them."""
    begin = file.tell()
    end = file.seek(0, os.SEEK_END)
    aside = Aside(left=end - begin)
    file.seek(begin)
    if end - begin < _FEW:
        return file.read(), aside
    try:
        return b"".join(_message(file, end, (_GRAPH, _INITIALIZER, _RAW_DATA), aside)), aside
    except _Unusual:
        file.seek(begin)
        return file.read(), Aside()


def _aligned(size: int) -> Bytes:
    memory = numpy.empty(size + _ALIGNMENT, "uint8")
    first = -memory.ctypes.data % _ALIGNMENT
    return memory[first : first + size]


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
            elements = aside.room(length)
            if file.readinto(elements.data) != length:
                raise _Unusual
            inside = aside.add(elements)
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
