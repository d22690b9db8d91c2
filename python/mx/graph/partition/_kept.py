"""The plan of the CPU that gives the first answers of a second start, made without the graph.

Until models are loaded in the background the CPU executes the graph. Where kernels of mx alone do,
the cache has what the plan is made of, and its weights: to read and to infer a graph, and to choose
kernels, takes several times as long as to make them.
"""

from __future__ import annotations

import os
import time
from collections.abc import Mapping, Sequence
from typing import Any

import onnx_ir

import ffi

from ... import _library
from ... import numpy as np
from ...cache._file import PieceFile, PieceWriter
from ...context import cpu
from ..lowering import recipes
from ..lowering.recipes import Recipe
from ..plan import own_arrays
from ._compiled import FAILURES
from ._device import Device

_count_fallbacks = ffi.get_global_func("mx.acc.count_fallbacks")

# What weights take at most.
_MOST_BYTES = 1 << 24


class KeptPlan:
    """What the CPU executes in place of a graph that is not read."""

    def __init__(
        self, device: Device, plan: Any, operators: Sequence[tuple[str, int]], why: str
    ) -> None:
        """`operators` are those of the graph, with how many nodes are of them; `why` says why the
        CPU executes these."""
        self._device = device
        self._plan = plan
        self._counts = [item for name, count in operators for item in (name, why, count)]

    def run(self, given: Mapping[onnx_ir.Value, Any]) -> list[Any]:
        """The graph's outputs for its inputs, in order."""
        contents = list(given.values())
        with cpu():
            outputs = self._plan.run([_on_host(each) for each in contents])
        _count_fallbacks(self._device.ctx, *self._counts)
        return own_arrays([self._device.array(each) for each in outputs], contents)


def _on_host(content: Any) -> Any:
    return content.to_device(cpu()) if isinstance(content, np.ndarray) else np.asarray(content)


def seconds_of(recipe: Recipe) -> float | None:
    """How long it takes to make a plan and to run it once; None where it cannot be kept."""
    if recipe.bytes > _MOST_BYTES or not recipe.is_own:
        return None
    begin = time.perf_counter()
    try:
        with cpu():
            recipe.plan().run(recipe.inputs())
    except FAILURES:
        return None
    return time.perf_counter() - begin


def write(writer: PieceWriter, recipe: Recipe, operators: Sequence[tuple[str, int]]) -> Any:
    """Adds a plan to a file; what `read` has to be told."""
    arrays = recipes.write(writer, recipe)
    return {"arrays": arrays, "operators": [list(each) for each in operators]}


def read(file: PieceFile, about: Any, device: Device, why: str) -> KeptPlan:
    """The plan that a file has. Raises FAILURES and KeyError where it makes no sense."""
    with cpu():
        plan = recipes.read(file, about["arrays"]).plan()
    operators = [(str(name), int(count)) for name, count in about["operators"]]
    return KeptPlan(device, plan, operators, why)


def stamp() -> list[int]:
    """What tells the library of kernels from others, where its version does not."""
    status = os.stat(_library.PATH)
    return [status.st_size, status.st_mtime_ns]
