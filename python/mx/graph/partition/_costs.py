"""Whether groups are worth their copies: what they take on the device, and on the CPU."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import onnx_ir

from ._compiled import FAILURES
from ._device import Answer, CopyCost, Device
from ._groups import CPU
from ._rates import cpu_rates
from ._wiring import Part, Wiring

# What a step of the CPU's plan takes besides.
_MICROSECONDS_PER_NODE = 1.0
# A group whose cost is measured or estimated is left on the CPU if it is so much slower there.
_MARGIN = 2.0

# Values that are copied, and whether to the device.
Copies = list[tuple[onnx_ir.Value, bool]]


class Costs:
    """Judges the groups of one placement, one after another.

    Only copies count that one of the two needs and the other does not; a group that needs none on
    the device is there, unless the library tells all costs. Outputs of the graph are to
    be on the device; its inputs are wherever the caller has them, and count for neither.
    """

    def __init__(
        self,
        wiring: Wiring,
        device: Device,
        answers: Sequence[Answer],
        groups: Sequence[int],
        on_host: bool = False,
    ) -> None:
        """With `on_host` inputs and outputs of the graph are on the host, as those of bodies."""
        self._wiring = wiring
        self._device = device
        self._answers = answers
        self._groups = list(groups)
        self._on_host = on_host
        # How many nodes of each group, or of the CPU, read each value.
        self._readers: dict[onnx_ir.Value, dict[int, int]] = {}
        for position, group in enumerate(groups):
            for value in wiring.used(position):
                readers = self._readers.setdefault(value, {})
                readers[group] = readers.get(group, 0) + 1

    def why_not_worth(self, number: int, positions: Sequence[int]) -> str:
        """Why a group would be slower on the device; "" where it would not, or nobody can say."""
        part = self._wiring.part(positions)
        there, here = self._copies(number, part)
        answers = [self._answers[position] for position in positions]
        byte_cost = max(answer.byte_cost for answer in answers)
        is_told = byte_cost > 0 and all(answer.cost > 0 for answer in answers)
        if not there and not is_told:
            return ""
        computed = sum(answer.cost for answer in answers)
        computed += max(answer.group_cost for answer in answers)
        on_cpu = [_microseconds(node) for node in part.nodes]
        copied = [self._time(copies, byte_cost) for copies in (there, here)]
        if None in on_cpu or copied[0] is None or copied[1] is None:
            return ""
        on_device = computed + copied[0]
        if on_device <= (sum(filter(None, on_cpu)) + copied[1]) * (1.0 if is_told else _MARGIN):
            return ""
        return (
            f"its group would take {on_device:.3g} us there, {copied[0]:.3g} of them copies, and "
            f"{sum(filter(None, on_cpu)) + copied[1]:.3g} here"
        )

    def leave(self, number: int, positions: Sequence[int]) -> None:
        """Puts a group on the CPU, for the judgement of others."""
        for position in positions:
            self._groups[position] = CPU
            for value in self._wiring.used(position):
                readers = self._readers[value]
                count = readers.pop(number, 0)
                readers[CPU] = readers.get(CPU, 0) + count

    def _copies(self, number: int, part: Part) -> tuple[Copies, Copies]:
        """What is copied if a group is on the device, and what if it is on the CPU."""
        there: Copies = []
        here: Copies = []
        for value in part.inputs:
            maker = self._wiring.maker(value)
            if maker is None and not self._on_host:
                continue
            on_cpu, on_device = self._others(value, number)
            if maker is None or self._groups[maker] == CPU:
                if not on_device:
                    there.append((value, True))
            elif not on_cpu:
                here.append((value, False))
        for value in part.outputs:
            on_cpu, on_device = self._others(value, number)
            if on_cpu:
                there.append((value, False))
            if on_device:
                here.append((value, True))
        return there, here

    def _others(self, value: onnx_ir.Value, number: int) -> tuple[bool, bool]:
        """Whether others than a group read a value on the CPU, and on the device."""
        readers = self._readers.get(value, {})
        on_cpu = readers.get(CPU, 0) > 0
        on_device = len(readers) > (CPU in readers) + (number in readers)
        is_result = self._wiring.is_result(value)
        return on_cpu or is_result and self._on_host, on_device or is_result and not self._on_host

    def _time(self, copies: Copies, byte_cost: float) -> float | None:
        """Microseconds of copies: as the library says, in nanoseconds a byte, or as measured."""
        if not copies:
            return 0.0
        sizes = [_bytes_of(value) for value, _ in copies]
        if None in sizes:
            return None
        if byte_cost > 0:
            return byte_cost * sum(filter(None, sizes)) * 1e-3
        try:
            costs: Mapping[bool, CopyCost] = self._device.copy_costs()
        except FAILURES:
            return None
        return sum(
            costs[to_device].base + costs[to_device].per_byte * (size or 0)
            for (_, to_device), size in zip(copies, sizes, strict=True)
        )


def _size_of(value: onnx_ir.Value | None) -> int | None:
    if value is None:
        return 0
    if value.shape is None or not value.shape.is_static():
        return None
    return math.prod(value.shape.numpy())


def _bytes_of(value: onnx_ir.Value | None) -> int | None:
    size = _size_of(value)
    if size is None or value is None:
        return size
    return size * (1 if value.dtype is None else math.ceil(value.dtype.itemsize))


def _microseconds(node: onnx_ir.Node) -> float | None:
    """What a node takes on the CPU."""
    sizes = [_bytes_of(value) for value in (*node.inputs, *node.outputs)]
    flops = _flops(node)
    if None in sizes or flops is None:
        return None
    rates = cpu_rates()
    return _MICROSECONDS_PER_NODE + max(sum(filter(None, sizes)) / rates.bytes, flops / rates.flops)


def _flops(node: onnx_ir.Node) -> float | None:
    """Those of products, which take longer than what they read and write."""
    out = _size_of(node.outputs[0])
    inputs = node.inputs
    if out is None or any(_size_of(value) is None for value in inputs):
        return None
    shapes = [() if one is None or one.shape is None else one.shape.numpy() for one in inputs]
    if node.op_type in ("Conv", "ConvTranspose"):
        return 2.0 * out * math.prod(shapes[1][1:])
    if node.op_type == "MatMul":
        return 2.0 * out * shapes[0][-1]
    if node.op_type == "Gemm":
        return 2.0 * out * shapes[0][0 if node.attributes.get_int("transA", 0) else 1]
    if node.op_type in ("LSTM", "GRU", "RNN"):
        return 2.0 * math.prod(shapes[0][:2]) * (math.prod(shapes[1]) + math.prod(shapes[2]))
    return 0.0
