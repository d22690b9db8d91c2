"""Runs generated kernels without a plan: many of them from one compiled file."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import ml_dtypes
import numpy

from mx.sol import jits
from mx.sol.backends.gen import FLAGS, GenKernel, Spec, Target, library_source

_CALL = ctypes.CFUNCTYPE(
    None,
    ctypes.c_void_p,
    ctypes.c_void_p,
    ctypes.c_void_p,
    ctypes.c_int64,
    ctypes.c_int64,
)
# In front of and behind each output, so that what is written outside is seen.
_GUARD = 64


def dtype_of(name: str) -> Any:
    """NumPy's element type of a name."""
    return ml_dtypes.bfloat16 if name == "bfloat16" else numpy.dtype(name)


def spec_of(array: Any) -> Spec:
    """The spec of an array."""
    return Spec(array.shape, str(array.dtype))


@dataclass
class Job:
    """A kernel with what it is given."""

    kernel: GenKernel
    inputs: Sequence[Any]


def aligned(size: int) -> Any:
    """Bytes that begin at a multiple of 64."""
    memory = numpy.zeros(size + 64, "uint8")
    begin = -memory.ctypes.data % 64
    return memory[begin : begin + size]


def pointers(arrays: Sequence[Any]) -> Any:
    """An array of addresses."""
    return (ctypes.c_void_p * max(1, len(arrays)))(*(array.ctypes.data for array in arrays))


def run(jobs: Sequence[Job], target: Target | None = None, flags: Sequence[str] = ()) -> list[Any]:
    """The outputs of each kernel, which are compiled at once; tiles backwards, one by one.

    To compile with few optimizations takes half as long.
    """
    target = target or Target.host()
    source = library_source([job.kernel for job in jobs])
    library = jits.compiled(source, target, (*FLAGS, "-O1", *flags), about="a test")
    return [_run(job, library) for job in jobs]


def _run(job: Job, library: jits.Library) -> list[Any]:
    kernel = job.kernel
    given = [numpy.ascontiguousarray(array) for array in (*job.inputs, *kernel.constants)]
    memory = []
    for spec in kernel.outputs:
        raw = aligned(spec.bytes + 2 * _GUARD)
        raw[:] = 0xA5
        memory.append(raw)
    outputs = [
        raw[_GUARD : _GUARD + spec.bytes] for raw, spec in zip(memory, kernel.outputs, strict=True)
    ]
    work = aligned(kernel.workspace + 2 * _GUARD)
    work[:] = 0xA5
    call = _CALL(library.address(kernel.symbol))
    for tile in reversed(range(kernel.tiles)):
        where = work[_GUARD:].ctypes.data
        call(pointers(given), pointers(outputs), where, tile, tile + 1)
    for raw in (*memory, work):
        assert (raw[:_GUARD] == 0xA5).all(), f"{kernel.symbol} writes in front of its memory"
        assert (raw[-_GUARD:] == 0xA5).all(), f"{kernel.symbol} writes behind its memory"
    return [
        raw.view(dtype_of(spec.dtype)).reshape(spec.shape)
        for raw, spec in zip(outputs, kernel.outputs, strict=True)
    ]
