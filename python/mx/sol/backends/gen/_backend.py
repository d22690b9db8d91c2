"""The backend `gen`: kernels of plans as generated code."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy

from ....graph.lowering._lowering import Lowering
from ....graph.lowering._node import PRECISION
from ....graph.lowering._rates import product_of
from ....graph.lowering._table import Backend
from ....graph.lowering._value import Declined, Value
from ._chain import Chain, longest
from ._emit_group import is_in_groups
from ._images import lower_last, takes
from ._kernel import GenKernel
from ._link import add_step, spec_of
from ._operators import OPERATORS
from ._table import SINCE, emit
from ._target import Target
from .products import matmul
from .products.channels_last import saves


class GenBackend(Backend):
    """Lowers nodes by emitters; what follows a node becomes part of its kernel where it can.

    Backends are equal by identity: as keys, one of them is another one than those of others.
    """

    __hash__ = object.__hash__

    def __init__(self, target: Target | None = None) -> None:
        """`target` is by default what this processor is."""
        super().__init__("gen")
        self._target = target

    @property
    def target(self) -> Target:
        """What kernels are compiled for."""
        return self._target or Target.host()

    def saves(self, layer: Any) -> float:
        """For convolutions of images whose channels are last in memory, or few, and for products of
        rows, not too many, with constant matrices."""
        if layer.operator in matmul.OPERATORS:
            extents = product_of(layer)
            return 0.0 if extents is None else matmul.saves(extents, self.target)
        if layer.operator != "Conv" or not takes(layer.inputs, layer.attributes, self.target):
            return 0.0
        x, weight = map(spec_of, layer.inputs[:2])
        return saves(x, weight, layer.attributes, self.target)

    def lower(
        self,
        to: Any,
        operator: str,
        version: int,
        inputs: Sequence[Value | None],
        attributes: dict[str, Any],
    ) -> list[Value]:
        """The outputs of a node, by a generated kernel."""
        if operator not in SINCE:
            raise Declined("no generated code for this operator")
        if version < SINCE[operator]:
            raise Declined(f"generated code is of version {SINCE[operator]} of this operator")
        in_blocks = any(value is not None and value.layout is not None for value in inputs)
        is_image = operator == "Conv" and takes(inputs, attributes, self.target)
        if in_blocks and not is_image:
            raise Declined("left to others: an input is in blocks")
        if operator == "Attention" and attributes.get("is_causal") and to.keep_nan:
            raise Declined("keys behind a query are not all looked at, which may be NaN")
        if to.precision and self.target.has("avx512_bf16"):
            attributes = {**attributes, PRECISION: to.precision}
        if is_image:
            return lower_last(to, self, self.target, inputs, attributes)
        # Of CastLike only the type of the second one counts.
        read = inputs[:1] if operator == "CastLike" else inputs
        if all(value is None or value.known is not None for value in read):
            raise Declined("left to others: elements that are known")
        if is_in_groups(operator) and to.num_outputs == 1:
            return self._lower_chain(to, operator, inputs, attributes)
        return self._lower_alone(to, operator, inputs, attributes)

    def _lower_chain(
        self,
        to: Lowering,
        operator: str,
        inputs: Sequence[Value | None],
        attributes: dict[str, Any],
    ) -> list[Value]:
        def check(value: Value) -> None:
            if value.layout is not None:
                raise Declined("left to others: an input is in blocks")
            if value.known is None and not to.is_row_major(value):
                raise Declined("left to others: an input with strides, which would be copied")

        if operator in OPERATORS and operator != "CastLike":  # whose second input has any shape
            inputs = _without_repeats(to, inputs)
        first = Chain().with_node(operator, inputs, attributes)
        kernel, chain = longest(self.target, first, to.followers, check)
        if len(chain) == 1 and operator in ("Cast", "CastLike", "Identity"):
            if kernel.outputs[0] == spec_of(chain.inputs[0]):
                raise Declined("left to others: nothing to compute")
        names = "+".join(node.operator.lower() for node in chain.nodes())
        made = self._step(to, kernel, names, chain.inputs)
        to.taken = len(chain) - 1
        return made

    def _lower_alone(
        self,
        to: Lowering,
        operator: str,
        inputs: Sequence[Value | None],
        attributes: dict[str, Any],
    ) -> list[Value]:
        specs = [None if value is None else spec_of(value) for value in inputs]
        known = {
            position: value.known.elements
            for position, value in enumerate(inputs)
            if value is not None and value.known is not None
        }
        kernel = emit(self.target, operator, specs, attributes, known)
        if len(kernel.outputs) < to.num_outputs:
            raise Declined(f"{to.num_outputs} outputs")
        given = [value for value in inputs if value is not None]
        return self._step(to, kernel, operator.lower(), given)[: to.num_outputs]

    def _step(
        self, to: Lowering, kernel: GenKernel, names: str, inputs: Sequence[Value]
    ) -> list[Value]:
        if kernel.tiles == 0:
            raise Declined("no elements")
        return add_step(to, self, self.target, kernel, f"gen:{names}", inputs)


def _without_repeats(to: Lowering, inputs: Sequence[Value | None]) -> list[Value | None]:
    """Inputs of which those that show elements again and again, as Expand gives them, show them
    once, where the shape that all have together stays the same."""
    given = [value for value in inputs if value is not None]
    try:
        whole = numpy.broadcast_shapes(*(value.shape for value in given))
    except ValueError:
        return list(inputs)
    result = list(inputs)
    for index, value in enumerate(inputs):
        if value is None or value.known is not None or to.is_row_major(value):
            continue
        pairs = list(zip(to.strides(value), value.shape, strict=True))
        shape = tuple(1 if step == 0 else n for step, n in pairs)
        others = [one.shape for k, one in enumerate(result) if one is not None and k != index]
        if shape != value.shape and numpy.broadcast_shapes(shape, *others) == whole:
            result[index] = to.slices(value, [slice(0, end) for end in shape])
    return result


GEN = GenBackend()
