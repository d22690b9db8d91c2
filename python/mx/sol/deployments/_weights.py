"""Weights as bytes: of a file beside the library, and inside it."""

from __future__ import annotations

import hashlib
import struct
import zlib

import numpy

from ._program import ALIGNMENT, Call, Program, aligned

MAGIC = b"mxsolwts"
VERSION = 1
# What a file of weights begins with: magic, version, a number that tells the order of bytes, whose
# weights they are, how many bytes follow, their CRC-32, and zeros up to the alignment.
HEADER = struct.Struct("<8sIIQQQ24x")
ORDER = 0x01020304


def content(program: Program) -> bytes:
    """All constants of a program, each where `weight_offsets` says."""
    parts = []
    for value in program.weights:
        assert value.constant is not None
        data = numpy.ascontiguousarray(value.constant).tobytes()
        parts.append(data.ljust(aligned(len(data)), b"\0"))
    return b"".join(parts)


def identity(program: Program) -> int:
    """A number that differs between programs whose weights may not be exchanged."""
    digest = hashlib.sha256()
    for step in program.steps:
        text = step.kernel.source if isinstance(step, Call) else getattr(step, "text", "")
        digest.update(text.encode())
    for value in program.weights:
        digest.update(f"{value.dtype} {value.shape}".encode())
    return int.from_bytes(digest.digest()[:8], "little")


def file_bytes(program: Program) -> bytes:
    """A whole file: the header, then the weights."""
    data = content(program)
    begin = HEADER.pack(MAGIC, VERSION, ORDER, identity(program), len(data), zlib.crc32(data))
    return begin + data


def assembler(symbol: str, file: str) -> str:
    """A source that makes the bytes of a file a constant; compilers take hours for large arrays."""
    return f"""\
  .section .rodata
  .hidden {symbol}
  .global {symbol}
  .type {symbol}, %object
  .balign {ALIGNMENT}
{symbol}:
  .incbin "{file}"
  .size {symbol}, . - {symbol}
  .section .note.GNU-stack, "", %progbits
"""
