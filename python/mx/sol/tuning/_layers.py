"""The layers of a plan as they are tuned: a node, and those behind it that may be one kernel."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy

from ...graph.lowering import Layer
from ...graph.lowering._trial import operands
from ...graph.lowering._value import Follower, Value
from ._choices import Choices

# Of a chain of nodes, how many may be one kernel, and before which no kernel goes on.
_LONGEST = 8
_HEADS = frozenset("Attention Conv ConvTranspose GRU Gemm LSTM MatMul RNN".split())


@dataclass(frozen=True, eq=False)
class Noted:
    """A layer of a plan, what has lowered it, and what it gives."""

    layer: Layer
    chain: tuple[Follower, ...]
    backend: str
    taken: int  # of the chain
    outputs: tuple[Value, ...]

    def kind(self) -> str:
        """What layers have in common that differ in nothing but shapes."""
        what = [self.layer.operator, self.layer.version, _attributes(self.layer.attributes)]
        return json.dumps(what, sort_keys=True)

    def key(self) -> str:
        """What layers have in common that take the same time: operators, attributes, shapes."""
        nodes = [
            [self.layer.operator, self.layer.version, _attributes(self.layer.attributes)],
            *[[one.operator, one.version, _attributes(one.attributes)] for one in self.chain],
        ]
        read = [_spec(value) for value in operands(self.layer, self.chain)]
        what = [nodes, read, self.layer.num_outputs, self.backend]
        what += [self.layer.precision] if self.layer.precision else []
        text = json.dumps(what, sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()[:24]


class Recording(Choices):
    """Notes the layers of the plans that are made with it."""

    def __init__(self, records: bool = False) -> None:
        super().__init__(records=records)
        self.may_slice = False
        self.layers: list[Noted] = []
        self._stopped = False

    def stop(self) -> list[Noted]:
        """The layers; none are noted from now on, as plans live longer than what is measured."""
        layers, self.layers, self._stopped = self.layers, [], True
        # A plan is begun again where a backend has failed.
        return list({one.layer.position: one for one in layers}.values())

    def note(self, layer: Layer, backend: str, taken: int, outputs: Sequence[Value]) -> None:
        if self._stopped:
            return
        chain: list[Follower] = []
        # Now, as the inputs of a node behind this one may be there later that are not yet.
        while len(chain) < _LONGEST:
            follower = layer.followers.get(len(chain))
            if follower is None or follower.operator in _HEADS:
                break
            chain.append(follower)
        self.layers.append(Noted(layer, tuple(chain), backend, taken, tuple(outputs)))


def _spec(value: Value | None) -> Any:
    if value is None:
        return None
    order = "" if value.layout is None else str(value.layout.layout.text)
    # Small constants are axes and shapes, of which the work depends.
    known = value.known
    elements = None
    if known is not None and value.size <= 8 and value.dtype.startswith("int"):
        elements = known.elements.tolist()
    strides = value.strides if value.layout is None else None
    return [value.shape, value.dtype, known is not None, order, elements, strides]


def rounded(value: Any) -> Any:
    """An attribute as files have it, in which floats are of 32 bits: a graph that is read again has
    the keys that it had before."""
    if isinstance(value, float):
        return float(numpy.float32(value))
    return [*map(rounded, value)] if isinstance(value, list | tuple) else value


def _attributes(attributes: dict[str, Any]) -> Any:
    return {
        name: value.tolist() if isinstance(value, numpy.ndarray) else rounded(value)
        for name, value in attributes.items()
        if isinstance(value, (int, float, str, list, tuple, numpy.ndarray))
    }
