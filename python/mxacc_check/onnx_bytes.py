"""The ONNX model that goes with a graph's JSON, for libraries that read that instead."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

_IR_VERSION = 10
# TensorProto.DataType
_FLOAT32 = 1


def model_of(document: dict[str, Any]) -> bytes:
    """The bytes of a ModelProto; weights are without data. All tensors are of float32, and no node
    has attributes, domains or outputs that are left out."""
    entries = document["entries"]
    names = [entry["name"] for entry in entries]

    def value(position: int) -> bytes:
        extents = b"".join(_message(1, _number(1, extent)) for extent in entries[position]["shape"])
        tensor = _number(1, _FLOAT32) + _message(2, extents)
        return _text(1, names[position]) + _message(2, _message(1, tensor))

    def weight(position: int) -> bytes:
        dims = b"".join(_number(1, extent) for extent in entries[position]["shape"])
        return dims + _number(2, _FLOAT32) + _text(8, names[position])

    def node(row: dict[str, Any]) -> bytes:
        inputs = b"".join(_text(1, names[entry]) for entry in row["inputs"])
        outputs = b"".join(_text(2, names[entry]) for entry in row["outputs"])
        return inputs + outputs + _text(4, row["operator"])

    graph = _messages(1, map(node, document["nodes"])) + _text(2, "graph")
    graph += _messages(5, map(weight, document["weights"]))
    graph += _messages(11, map(value, document["inputs"]))
    graph += _messages(12, map(value, document["outputs"]))
    operator_set = _text(1, "") + _number(2, document["operator_set"])
    return _number(1, _IR_VERSION) + _message(7, graph) + _message(8, operator_set)


def _varint(value: int) -> bytes:
    written = bytearray()
    while value >= 0x80:
        written.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*written, value])


def _number(field: int, value: int) -> bytes:
    return _varint(field << 3) + _varint(value)


def _message(field: int, content: bytes) -> bytes:
    return _varint(field << 3 | 2) + _varint(len(content)) + content


def _messages(field: int, contents: Iterable[bytes]) -> bytes:
    return b"".join(_message(field, content) for content in contents)


def _text(field: int, content: str) -> bytes:
    return _message(field, content.encode())
