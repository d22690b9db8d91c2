"""Deployed libraries, called by ctypes."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy

Array = numpy.ndarray[Any, Any]
BODY = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_int, ctypes.c_int64, ctypes.c_int64)
RUN = ctypes.CFUNCTYPE(None, ctypes.c_void_p, BODY, ctypes.c_void_p, ctypes.c_int64)


class Pool(ctypes.Structure):
    """What a header calls predict_pool."""

    _fields_ = [("threads", ctypes.c_int), ("run", RUN), ("context", ctypes.c_void_p)]


def pointer(array: Array | None) -> ctypes.c_void_p:
    """The address of the elements."""
    return ctypes.c_void_p(None if array is None else array.ctypes.data)


def aligned(data: bytes) -> Array:
    """Bytes at an address that 64 divides."""
    room = numpy.empty(len(data) + 64, "uint8")
    begin = -room.ctypes.data % 64
    found = room[begin : begin + len(data)]
    found[:] = numpy.frombuffer(data, "uint8")
    return found


class Library:
    """A shared library whose function is called predict."""

    def __init__(self, path: Path, weights: Array | None = None) -> None:
        self.library = ctypes.CDLL(str(path))
        self.library.predict_arena_bytes.restype = ctypes.c_size_t
        self.library.predict_message.restype = ctypes.c_char_p
        self.weights: tuple[Any, ...] = ()
        if weights is not None:
            self.weights = (pointer(weights), ctypes.c_size_t(weights.nbytes))
            self.kept = weights

    def arena(self, threads: int = 1) -> Array:
        """A new one, full of ones."""
        return numpy.full(self.library.predict_arena_bytes(threads), 0xFF, "uint8")

    def call(
        self,
        arrays: Sequence[Array | None],
        arena: Array | None = None,
        pool: Pool | None = None,
        bytes: int | None = None,
    ) -> int:
        """The status of a call; `arrays` are inputs and outputs."""
        arena = self.arena(1 if pool is None else pool.threads) if arena is None else arena
        size = ctypes.c_size_t(arena.nbytes if bytes is None else bytes)
        given = None if pool is None else ctypes.byref(pool)
        status: int = self.library.predict(
            *map(pointer, arrays), pointer(arena), size, *self.weights, given
        )
        return status

    def check(self) -> int:
        """What the check of processor and weights says."""
        status: int = self.library.predict_check(*self.weights)
        return status
