"""Many deployed graphs as one library, which is compiled once."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence

import numpy

from mx.sol import jits
from mx.sol.backends.gen import Target
from mx.sol.deployments._arena import lay_out, lay_out_weights
from mx.sol.deployments._header import header
from mx.sol.deployments._interface import Interface, interface_of
from mx.sol.deployments._program import Program
from mx.sol.deployments._source import source
from mx.sol.deployments._weights import file_bytes

from .loaded import Array, Pool, aligned, pointer


def merged_source(programs: Sequence[Program], target: Target) -> tuple[Program, Interface, str]:
    """Several programs as one, with inputs and outputs of all, and its source."""
    whole = Program("merged", [], [])
    for number, one in enumerate(programs):
        for value in one.inputs:
            value.name = f"x{number}"
        for value in one.outputs:
            value.name = f"y{number}"
        whole.inputs += one.inputs
        whole.outputs += one.outputs
        whole.steps += one.steps
    lay_out(whole)
    lay_out_weights(whole)
    interface = interface_of(whole, "merged", "predict", False, "tests")
    text = source(whole, interface, target)
    return whole, interface, text.replace('#include "merged.h"', header(interface))


class Merged:
    """A function that does what several programs do, with inputs and outputs of all."""

    def __init__(self, programs: Sequence[Program], target: Target, optimized: str = "-O0") -> None:
        self.program, self._interface, text = merged_source(programs, target)
        # Nothing is optimized, unless it is asked for: to compile as much as this takes long.
        warnings = ("-Wall", "-Wextra", "-Wshadow", "-Wconversion", "-Werror")
        flags = ("-std=gnu11", optimized, *warnings)
        self._library = jits.compiled(text, target, flags, about="tests")

    def call(self, inputs: Sequence[Array], pool: Pool | None = None) -> list[Array]:
        """All outputs, for all inputs."""
        outputs = [numpy.full(one.shape, 77, one.dtype) for one in self.program.outputs]
        weights = aligned(file_bytes(self.program))
        more = 0 if pool is None else (pool.threads - 1) * self._interface.thread_bytes
        arena = numpy.full(self._interface.arena_bytes + more, 0xFF, "uint8")
        given = [numpy.array(one, order="C") for one in inputs]
        pointers = [pointer(one) for one in (*given, *outputs, arena)]
        sizes = [ctypes.c_size_t(arena.nbytes), pointer(weights), ctypes.c_size_t(weights.nbytes)]
        threads = ctypes.c_void_p(None if pool is None else ctypes.addressof(pool))
        arguments = [*pointers, *sizes, threads]
        function = ctypes.CFUNCTYPE(ctypes.c_int, *map(type, arguments))
        assert function(self._library.address("predict"))(*arguments) == 0
        return outputs
