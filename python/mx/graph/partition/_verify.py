"""Compares what an accelerator computes with what the CPU does, and finds the node that differs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

import numpy
import onnx_ir

from ...context import cpu
from .._errors import MismatchError
from ..lowering import BACKENDS, Chooser
from ..lowering._contents import to_numpy
from ..lowering._node import describe as text_of
from ..lowering._program import Program
from ._device import Device
from ._wiring import Part, Wiring


@dataclass(frozen=True)
class Tolerance:
    """|there - here| <= absolute * largest |here| + relative * |here|, element by element."""

    relative: float
    absolute: float

    def find(self, there: Any, here: Any, any_nan: bool = False) -> str:
        """What differs, where it first does, and both values there; empty where nothing does. With
        `any_nan` anything is right where the CPU has NaN."""
        if there.dtype != here.dtype or there.shape != here.shape:
            return f"is {there.dtype} {there.shape} there, {here.dtype} {here.shape} on the CPU"
        if there.dtype.kind not in "fcV":
            wrong = there != here
        else:
            wide = numpy.complex128 if there.dtype.kind == "c" else numpy.float64
            one, other = there.astype(wide), here.astype(wide)
            finite = numpy.abs(other[numpy.isfinite(other)])
            largest = float(finite.max()) if finite.size else 0.0
            with numpy.errstate(invalid="ignore"):
                near = numpy.isclose(one, other, self.relative, self.absolute * largest, True)
            wrong = ~near & ~numpy.isnan(other) if any_nan else ~near
        count = int(numpy.count_nonzero(wrong))
        if not count:
            return ""
        at = tuple(int(index) for index in numpy.argwhere(wrong)[0])
        return (
            f"differs in {count} of {wrong.size} elements, first at {at}: {there[at]} there, "
            f"{here[at]} on the CPU (tolerance: relative {self.relative:g}, of the largest "
            f"{self.absolute:g})"
        )


# Sums of different order differ by some units in the last place of their largest addends.
TOLERANCES = {"float16": Tolerance(1e-2, 1e-2), "bfloat16": Tolerance(4e-2, 4e-2)}
USUAL = Tolerance(1e-3, 1e-4)
# Operators that some kernel of the CPU makes a number of a NaN in.
LOSE_NAN = frozenset().union(*(backend.loses_nan for backend in BACKENDS))


class Verifier:
    """Executes groups of a graph on the CPU, too.

    What the CPU executes keeps NaN. Where the plan need not keep them, a device may make numbers of
    them in those operators of which kernels of the CPU do.
    """

    def __init__(
        self,
        wiring: Wiring,
        device: Device,
        ids: Mapping[onnx_ir.Node, int],
        opset: Mapping[str, int],
        tolerance: Tolerance | None,
        keep_nan: bool,
    ) -> None:
        self._wiring = wiring
        self._device = device
        self._ids = ids
        self._opset = opset
        self._tolerance = tolerance
        self._keep_nan = keep_nan
        self._programs: dict[tuple[int, ...], Program] = {}

    def check(
        self, positions: Sequence[int], inputs: Sequence[Any], outputs: Sequence[Any]
    ) -> None:
        """MismatchError, which names the first node of a group whose output differs."""
        part = self._wiring.part(positions)
        given = dict(zip(part.inputs, inputs, strict=True))
        text = self._compare(tuple(positions), part, given, outputs)
        if not text:
            return
        for count in range(1, len(positions)):
            shorter = tuple(positions[:count])
            part = self._wiring.part(shorter)
            source = self._device.source(self._wiring, part, self._ids, self._opset)
            model = self._device.compiler.compile(source)
            found = self._compare(
                shorter, part, given, model.infer([given[value] for value in part.inputs])
            )
            if found:
                raise MismatchError(found)
        raise MismatchError(text)

    def _compare(
        self,
        positions: tuple[int, ...],
        part: Part,
        given: Mapping[onnx_ir.Value, Any],
        outputs: Sequence[Any],
    ) -> str:
        """What the first output that differs says of its node."""
        if positions not in self._programs:
            self._programs[positions] = Program(
                cast(onnx_ir.Graph, part), self._opset, Chooser(BACKENDS), keep_nan=True
            )
        with cpu():
            here = self._programs[positions].run(
                [given[value].to_device(cpu()) for value in part.inputs]
            )
        any_nan = not self._keep_nan and any(node.op_type in LOSE_NAN for node in part.nodes)
        for value, there, expected in zip(part.outputs, outputs, here, strict=True):
            one, other = to_numpy(there.to_device(cpu())), to_numpy(expected)
            tolerance = self._tolerance or TOLERANCES.get(str(other.dtype), USUAL)
            text = tolerance.find(one, other, any_nan)
            node = value.producer()
            if text and node is not None:
                return f"{text_of(node)} on {self._device.name}: output {value.name!r} {text}"
        return ""
