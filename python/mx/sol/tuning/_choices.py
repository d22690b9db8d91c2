"""Which backend a plan asks first for each of its layers."""

from __future__ import annotations

import functools
import math
from collections.abc import Mapping, Sequence
from typing import Any

from ...graph.lowering import Backend, Chooser, Layer
from ...graph.lowering._rates import product_of
from ...graph.lowering._value import Value
from .. import jits
from .._backends import backends

# Without measurements: the backends that come before all others, by operator.
_FIRST: dict[str, tuple[str, ...]] = {
    # Others compute products of integers element by element.
    "DynamicQuantizeLinear": ("gen",),
    "MatMulInteger": ("gen",),
}
# Those that layers have only by the table above, by what they are expected to save, or by
# measurement: their kernels are compiled, which takes longer than most models that are run once.
_ON_DEMAND = frozenset({"gen"})
# What a backend has to save of the time of a layer to come first unmeasured, and the operations of
# such a layer, by operator: compiling its kernel takes as long as ten to thirty thousand runs save.
_MUCH = 0.15
_LONG = {"Conv": 1e6, "Gemm": 3e7, "MatMul": 3e7}
# Products of fewer rows take as long: their matrix is read.
_FEW_ROWS = 16


@functools.cache
def all_backends() -> tuple[Backend, ...]:
    """All there are, in the order in which they are asked; what is installed is looked up once."""
    return tuple(backends)


def by_table(operator: str) -> tuple[Backend, ...]:
    """The backends that a layer of this operator asks untuned, in order."""
    found = {one.name: one for one in all_backends() if one.is_asked(operator)}
    first = [found[name] for name in _FIRST.get(operator, ()) if name in found]
    rest = [one for one in found.values() if one not in first and one.name not in _ON_DEMAND]
    return (*first, *rest)


def _saving(layer: Layer) -> Sequence[Backend]:
    """The backends that are expected to save much of the time of a layer that takes long."""
    if layer.operator not in _LONG or layer.precision:
        return ()
    if _operations(layer) < _LONG[layer.operator]:
        return ()
    found = [one for one in all_backends() if one.saves(layer) >= _MUCH]
    return found if found and _can_compile() else ()


def _operations(layer: Layer) -> float:
    """Multiplications and additions; 0 where they are not known."""
    if layer.operator != "Conv":
        extents = product_of(layer)
        if extents is None:
            return 0.0
        rows = max(extents.rows, _FEW_ROWS) if extents.rows else 0
        return 2.0 * extents.count * rows * extents.columns * extents.terms
    x, weight, *_ = (*layer.inputs, None, None)
    if x is None or weight is None:
        return 0.0
    pixels = x.size // max(1, x.shape[1] * math.prod(layer.attributes.get("strides") or ()))
    return float(2 * pixels * weight.size)


def _can_compile() -> bool:
    try:
        return bool(jits.found())
    except ValueError:  # which is told where it is to compile
        return True


class InRows(Backend):
    """Another backend, which is given in rows what others have in blocks or with strides."""

    def __init__(self, backend: Backend) -> None:
        super().__init__(backend.name, backend.rules, backend.loses_nan)
        self._backend = backend

    def lower(
        self,
        to: Any,
        operator: str,
        version: int,
        inputs: Sequence[Value | None],
        attributes: dict[str, Any],
    ) -> list[Value]:
        """The outputs of a node; Declined as the other backend does."""
        plain = [
            value if value is None or value.known is not None else to.row_major(value)
            for value in inputs
        ]
        return self._backend.lower(to, operator, version, plain, attributes)


class Choices(Chooser):
    """Has a backend of its own first for some layers, by their positions in the graph."""

    def __init__(self, chosen: Mapping[int, str] | None = None, records: bool = False) -> None:
        """`records` is as Chooser has it."""
        self.records = records
        super().__init__([one for one in all_backends() if one.name not in _ON_DEMAND])
        self.chosen = dict(chosen or {})
        self.may_slice = not self.chosen  # what was measured are layers of whole batches
        self._named = {one.name: (one, InRows(one)) for one in all_backends()} if chosen else {}

    def order(self, layer: Layer) -> Sequence[Backend]:
        """The backend that was chosen, with inputs as they are or in rows; then the untuned."""
        first = self._named.get(self.chosen.get(layer.position, ""), ())
        return (*first, *_saving(layer), *super().order(layer))

    def asked(self, operator: str) -> tuple[Backend, ...]:
        """As the table says."""
        return by_table(operator)
