"""Compiles the kernels of a table of cases at once, runs each of them beside forbidden memory."""

from __future__ import annotations

import ctypes
import mmap
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy
import onnx
from onnx.reference import ReferenceEvaluator

from mx.sol.backends.gen import FLAGS, GenKernel, Spec, Target, emit, library_source
from mx.sol.jits import compiled

WARNINGS = ("-Wall", "-Wextra", "-Werror")
TARGETS = [name for name in ("c", "avx2", "avx512", "neon") if Target.named(name).runs_here()]

_FORBIDDEN = 0  # PROT_NONE
_libc = ctypes.CDLL(None, use_errno=True)


class Guarded:
    """Elements that end where memory ends that must not be read or written."""

    def __init__(self, array: numpy.ndarray, ends: int = 1) -> None:
        page = mmap.PAGESIZE
        pages = -(-array.nbytes // page)
        self.memory = mmap.mmap(-1, (pages + 2) * page)
        start = ctypes.addressof(ctypes.c_char.from_buffer(self.memory))
        self.address = start + (pages + 1) * page - -(-array.nbytes // ends) * ends
        for forbidden in (start, start + (pages + 1) * page):
            if _libc.mprotect(ctypes.c_void_p(forbidden), ctypes.c_size_t(page), _FORBIDDEN):
                raise OSError(ctypes.get_errno(), "mprotect")
        self.shape, self.dtype = array.shape, array.dtype
        ctypes.memmove(self.address, array.ctypes.data, array.nbytes)

    def array(self) -> numpy.ndarray:
        """A copy of the elements."""
        size = int(numpy.prod(self.shape)) * self.dtype.itemsize
        return numpy.frombuffer(ctypes.string_at(self.address, size), self.dtype).reshape(
            self.shape
        )


def call(
    address: int, kernel: GenKernel, inputs: Sequence[numpy.ndarray], one_by_one: bool
) -> list[numpy.ndarray]:
    """Runs all tiles: from first to last, or one by one from last to first."""
    function = ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * 3, *[ctypes.c_int64] * 2)(address)
    given = [Guarded(numpy.ascontiguousarray(x)) for x in (*inputs, *kernel.constants)]
    outputs = [Guarded(numpy.full(spec.shape, 77, spec.dtype)) for spec in kernel.outputs]
    work = Guarded(numpy.full(kernel.workspace, 0xFF, numpy.uint8), ends=64)
    in_, out = (
        (ctypes.c_void_p * max(1, len(values)))(*[value.address for value in values])
        for values in (given, outputs)
    )
    if one_by_one:
        for tile in reversed(range(kernel.tiles)):
            function(in_, out, work.address, tile, tile + 1)
    else:
        function(in_, out, work.address, 0, kernel.tiles)
    return [value.array() for value in outputs]


@dataclass(frozen=True)
class Case:
    """A node: its operator, its inputs by position, which of those are constants, attributes."""

    operator: str
    inputs: tuple[numpy.ndarray | None, ...]
    known: tuple[int, ...] = ()
    attributes: Mapping[str, Any] = field(default_factory=dict)
    opset: int = 21

    def kernel(self, target: Target) -> GenKernel:
        """What the emitter makes of it."""
        specs = [None if x is None else Spec(x.shape, str(x.dtype)) for x in self.inputs]
        known = {index: self.inputs[index] for index in self.known}
        return emit(target, self.operator, specs, dict(self.attributes), known)  # type: ignore[arg-type]

    def expected(self, wide: bool = True) -> list[numpy.ndarray]:
        """What the reference evaluator of ONNX gives, in float64 for `wide`."""
        given = {f"x{i}": x for i, x in enumerate(self.inputs) if x is not None}
        if wide:
            given = {
                name: x.astype(numpy.float64) if x.dtype == numpy.float32 else x
                for name, x in given.items()
            }
        names = ["" if x is None else f"x{i}" for i, x in enumerate(self.inputs)]
        count = len(onnx.defs.get_schema(self.operator, self.opset).outputs)
        outputs = [f"y{i}" for i in range(min(count, len(self.kernel(Target.named("c")).outputs)))]
        node = onnx.helper.make_node(self.operator, names, outputs, **self.attributes)
        graph = onnx.helper.make_graph(
            [node],
            "case",
            [
                onnx.helper.make_tensor_value_info(
                    name, onnx.helper.np_dtype_to_tensor_dtype(x.dtype), x.shape
                )
                for name, x in given.items()
            ],
            [onnx.helper.make_empty_tensor_value_info(name) for name in outputs],
        )
        model = onnx.helper.make_model(
            graph, opset_imports=[onnx.helper.make_opsetid("", self.opset)]
        )
        return ReferenceEvaluator(model).run(None, given)


class Table:
    """Kernels by name, all of one target compiled together when the first of them runs."""

    def __init__(self, kernels: Mapping[str, Callable[[Target], GenKernel]]) -> None:
        self._makers = dict(kernels)
        self._made: dict[str, tuple[dict[str, GenKernel], Any]] = {}

    def run(
        self, target: str, name: str, inputs: Sequence[numpy.ndarray | None]
    ) -> list[numpy.ndarray]:
        """Outputs of a kernel, the same for any order of tiles."""
        if target not in self._made:
            kernels = {key: make(Target.named(target)) for key, make in self._makers.items()}
            # As plans compile it for this processor, and in less time for others.
            quick = () if target == TARGETS[-1] else ("-O1",)
            flags = (*FLAGS, *WARNINGS, *quick)
            library = compiled(library_source(kernels.values()), Target.named(target), flags)
            self._made[target] = kernels, library
        kernels, library = self._made[target]
        kernel = kernels[name]
        given = [x for x in inputs if x is not None]
        address = library.address(kernel.symbol)
        forward, backward = (call(address, kernel, given, order) for order in (False, True))
        for one, other in zip(forward, backward, strict=True):
            numpy.testing.assert_array_equal(one, other)
        return forward
