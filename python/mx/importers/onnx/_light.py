"""Models without the elements of their big weights, which are read once, to where they stay.

protobuf would hold the whole file, and what it makes of it, at once.
"""

from __future__ import annotations

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


class _Unusual(Exception):
    """What only protobuf has an error for, or a meaning."""


@dataclass
class Aside:
    """The elements of big weights, by what stands in the model in their stead."""

    elements: dict[bytes, Bytes] = field(default_factory=dict)
    # Nobody who writes a file knows it.
    _secret: bytes = field(default_factory=lambda: secrets.token_bytes(16))

    def add(self, elements: Bytes) -> bytes:
        """Keeps elements; returns what stands for them."""
        token = self._secret + len(self.elements).to_bytes(8, "little")
        self.elements[token] = elements
        return token


def read(file: BufferedIOBase) -> tuple[bytes, Aside]:
    """The bytes of a model as protobuf takes them, and what is not in them."""
    aside = Aside()
    begin = file.tell()
    end = file.seek(0, os.SEEK_END)
    file.seek(begin)
    if end - begin < _FEW:
        return file.read(), aside
    try:
        return b"".join(_message(file, end, (_GRAPH, _INITIALIZER, _RAW_DATA), aside)), aside
    except _Unusual:
        file.seek(begin)
        return file.read(), Aside()


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
            elements = numpy.empty(length, "uint8")
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
