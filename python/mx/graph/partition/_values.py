"""The values of one run of a graph, and their copies between the device and the host."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from time import perf_counter_ns
from typing import Any

import onnx_ir

from ... import numpy as np
from ..._acc.fallback import waitall
from ...context import cpu
from ..profile import Recorder
from ._device import Device

Contents = dict[onnx_ir.Value, Any]


class Values:
    """What has been computed so far, each value on the device, on the host, or on both.

    With a recorder, copies are steps of their own, which last until they are done.
    """

    def __init__(
        self, device: Device, given: Mapping[onnx_ir.Value, Any], recorder: Recorder | None
    ) -> None:
        self._device = device
        self._recorder = recorder
        self.here: Contents = {}
        self.there: Contents = {}
        for value, content in given.items():
            if not isinstance(content, np.ndarray):
                self.here[value] = content
            elif content.ctx == device.memory:
                self.there[value] = content
            else:
                self.here[value] = content.to_device(cpu())  # of another device, or itself

    def on_device(self, values: Sequence[onnx_ir.Value]) -> list[Any]:
        """The contents of values on the device."""
        begin = perf_counter_ns()
        missing = [value for value in values if value not in self.there]
        for value in missing:
            self.there[value] = self._device.array(self.here[value])
        self._record(missing, self.here, self.there, self._device.name, begin)
        return [self.there[value] for value in values]

    def on_host(self, values: Sequence[onnx_ir.Value]) -> list[Any]:
        """The contents of values on the host."""
        begin = perf_counter_ns()
        missing = [value for value in values if value not in self.here]
        for value in missing:
            self.here[value] = self.there[value].to_device(cpu())
        self._record(missing, self.there, self.here, "cpu", begin)
        return [self.here[value] for value in values]

    def drop(self, values: Iterable[onnx_ir.Value]) -> None:
        """Forgets values that nobody reads again."""
        for value in values:
            self.here.pop(value, None)
            self.there.pop(value, None)

    def _record(
        self,
        values: Sequence[onnx_ir.Value],
        sources: Contents,
        targets: Contents,
        to: str,
        begin_ns: int,
    ) -> None:
        if self._recorder is None:
            return
        # With a library that has no memory of its own they are the same arrays.
        copied = [value for value in values if targets[value] is not sources[value]]
        if copied:
            waitall()
            names = ", ".join(value.name or "" for value in copied)
            shapes = [np.shape(targets[value]) for value in copied]
            self._recorder.add(names, f"copy to {to}", shapes, begin_ns)
