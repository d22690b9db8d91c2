"""Nodes between convolutions that read and write tensors whose channels are last."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy
import onnx_ir

from ...graph.lowering._value import Declined, Follower, Followers
from ..backends.gen import emit
from ..backends.gen._chain import Chain, longest
from ..backends.gen._operators import OPERATORS
from ..backends.gen._reduce import REDUCE
from ..backends.gen.nodes._pooling_last import pool_last
from ..backends.gen.products._window import window_of
from ..backends.gen.products.channels_last import (
    CONV_LAST,
    READS_FIRST,
    cycles_of_last,
    is_depthwise,
)
from ..backends.gen.products.convolution import cycles_of_first
from ..backends.gen.products.transposed_last import TRANSPOSED_LAST
from ._fusion import Fused
from ._program import Value, constant_of

if TYPE_CHECKING:
    from ._lower import Behind, Lowering

# From the axes (N, C, H, W) to (N, H, W, C), and back.
TO_LAST = (0, 2, 3, 1)
TO_FIRST = (0, 3, 1, 2)
# A convolution whose input lies as it is may take that much longer for one with channels last: the
# nodes behind it gain.
_WORTH = 1.1


def fused_last(
    to: Lowering,
    node: onnx_ir.Node,
    inputs: Sequence[Value | None],
    attributes: dict[str, Any],
    behind: Sequence[Behind],
) -> Fused | None:
    """The kernel of a node, and of those behind it, whose output has its channels last; None where
    the node is none that gains by that. Declined where there is no kernel."""
    operator = node.op_type
    if operator == "Conv":
        return _convolution(to, inputs, attributes, behind)
    if all(value is None or value.last is None for value in inputs) or len(node.outputs) > 1:
        return None
    if operator in OPERATORS and "axis" not in attributes:
        given = [None if value is None else _as_last(value) for value in inputs]
        return _chain(to, operator, given, attributes, behind, 4)
    if operator == "ConvTranspose":
        if inputs[0] is None or inputs[0].last is None:
            return None
        return _chain(to, TRANSPOSED_LAST, [inputs[0].last, *inputs[1:]], attributes, behind, None)
    if operator == "Concat":
        if attributes.get("axis") not in (1, -3):
            return None
        parts = [_as_last(value) for value in inputs if value is not None]
        return Fused(emit(to.target, "Concat", [one.spec for one in parts], {"axis": 3}), parts, 0)
    x, *rest = inputs
    if x is None or x.last is None:
        return None
    if operator in ("MaxPool", "AveragePool"):
        kernel = pool_last(to.target, x.last.spec, attributes, operator == "MaxPool")
        return Fused(kernel, [x.last], 0)
    if operator == "GlobalAveragePool":
        return _reduction(to, "ReduceMean", x.last, [2, 3])
    if operator in REDUCE and attributes.get("keepdims", 1):
        axes = attributes.get("axes", _elements(rest[0]) if rest else None)
        return None if axes is None else _reduction(to, operator, x.last, axes)
    return None


def _reduction(to: Lowering, operator: str, last: Value, axes: Sequence[int]) -> Fused:
    """The kernel of a reduction that keeps its axes, of which those are reduced."""
    moved = numpy.array([TO_LAST.index(int(axis) % 4) for axis in axes])
    given = [last, constant_of(moved)]
    specs = [value.spec for value in given]
    return Fused(emit(to.target, operator, specs, {"keepdims": 1}, {1: moved}), given, 0)


def _elements(value: Value | None) -> Sequence[int] | None:
    return None if value is None or value.constant is None else value.constant.reshape(-1).tolist()


def _convolution(
    to: Lowering,
    inputs: Sequence[Value | None],
    attributes: dict[str, Any],
    behind: Sequence[Behind],
) -> Fused | None:
    x, w, *others = inputs
    if x is None or w is None or len(x.shape) != 4 or w.constant is None:
        return None
    window = window_of(x.spec, w.shape, attributes)[0]
    last = x.last or (x.reshaped(_shape_last(x)) if x.shape[2:] == (1, 1) else None)
    if is_depthwise(window):
        if last is None:
            return None
    elif last is None:
        if window.results < to.target.lanes or window.groups > 1:
            return None
        if cycles_of_last(window, to.target) > _WORTH * cycles_of_first(window, to.target):
            return None
    given = [x if last is None else last, w, *others]
    return _chain(
        to, CONV_LAST, given, {**attributes, READS_FIRST: int(last is None)}, behind, None
    )


def _chain(
    to: Lowering,
    operator: str,
    given: Sequence[Value | None],
    attributes: dict[str, Any],
    behind: Sequence[Behind],
    rank: int | None,
) -> Fused:
    first = Chain().with_node(operator, given, attributes)
    kernel, chain = longest(to.target, first, Followers(_followers(behind)))
    if rank is not None and len(kernel.outputs[0].shape) != rank:
        raise Declined(f"an output of shape {kernel.outputs[0].shape}")
    values = [value for value in chain.inputs if isinstance(value, Value)]
    return Fused(kernel, values, len(chain) - 1)


def _followers(behind: Sequence[Behind]) -> Iterator[Follower]:
    """Those that may become part of the kernel, with operands whose channels are last."""
    for _, follower in behind:
        if follower.operator not in OPERATORS or "axis" in follower.attributes:
            return
        try:
            inputs = tuple(
                None if value is None else _as_last(value)  # type: ignore[arg-type]
                for value in follower.inputs
            )
        except Declined:
            return
        yield replace(follower, inputs=inputs)


def _as_last(value: Value) -> Value:
    """A tensor as nodes read it whose other inputs have their channels last."""
    if value.last is not None:
        return value.last
    if value.size == 1 and len(value.shape) <= 4:
        return value
    if value.constant is not None and len(value.shape) <= 4:
        array = value.constant
        array = array.reshape((1,) * (4 - array.ndim) + array.shape)
        return constant_of(numpy.ascontiguousarray(array.transpose(TO_LAST)))
    if len(value.shape) == 4 and value.shape[2:] == (1, 1):
        return value.reshaped(_shape_last(value))
    raise Declined("a tensor whose channels are not last")


def _shape_last(value: Value) -> tuple[int, ...]:
    return tuple(value.shape[axis] for axis in TO_LAST)


def first_of(last: Value) -> Value:
    """The tensor that one with its channels last stands for; it has no elements until a node needs
    them, but where both lie alike."""
    shape = tuple(last.shape[axis] for axis in TO_FIRST)
    is_same = shape[1] == 1 or shape[2:] == (1, 1)
    return Value(shape, last.dtype, of=last.root if is_same else None, last=last)
