"""Channels last and channels first: permutations of axes that are put off as long as possible.

ONNX's operators of images have the channels second, those of other frameworks mostly last. A rule
writes such an operator between two transposes. Rules of operators that any order of axes suits look
through the transpose in front of their input and put one behind their result instead, so that pairs
of them meet and vanish: one transpose is left where a model begins, and one where it ends. Those
that nothing uses in the end are removed with all other nodes of the kind.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import onnx_ir as ir

from ._builder import Builder, Size, rank_of, shape_of

Order = tuple[int, ...]


def inverse(order: Sequence[int]) -> Order:
    """The permutation that takes another one back."""
    return tuple(sorted(range(len(order)), key=list(order).__getitem__))


def permuted(b: Builder, x: ir.Value, order: Sequence[int]) -> ir.Value:
    """The value with its axes in another order; two permutations are one, and one of nothing is
    none."""
    order = tuple(order)
    source, before = behind(x)
    if source is not x:
        order, x = tuple(before[axis] for axis in order), source
    if order == tuple(range(len(order))):
        return x
    known: dict[Order, ir.Value] = x.meta.setdefault("permuted", {})
    if order not in known or known[order].graph is not b.graph:
        known[order] = b.Transpose(x, perm=list(order))
        shape = shape_of(x)
        known[order].shape = ir.Shape([shape[axis] for axis in order])
        known[order].meta["order"] = (x, order)
    return known[order]


def behind(x: ir.Value) -> tuple[ir.Value, Order]:
    """The value that `x` is a permutation of, and the permutation: itself, and that of nothing."""
    found: tuple[ir.Value, Order] | None = x.meta.get("order")
    return found if found is not None else (x, tuple(range(rank_of(x))))


def elementwise(b: Builder, write: Callable[..., ir.Value], *xs: ir.Value) -> ir.Value:
    """What an operator gives that computes each element of broadcast operands by itself."""
    orders = [behind(x)[1] for x in xs if behind(x)[0] is not x]
    rank = max(rank_of(x) for x in xs)
    # Of most axes: the others are broadcast to it.
    order = next((one for one in orders if len(one) == rank), None)
    shapes = [shape_of(x) for x in xs]
    if order is None:
        result = write(*xs)
        if result.shape is None:
            result.shape = ir.Shape([_broadcast(shapes, axis - rank) for axis in range(rank)])
        return result
    back = inverse(order)
    result = write(*(_aligned(b, x, back) for x in xs))
    result.shape = ir.Shape([_broadcast(shapes, axis - rank) for axis in back])
    return permuted(b, result, order)


def _aligned(b: Builder, x: ir.Value, order: Order) -> ir.Value:
    """An operand with its axes in an order of more of them, for which it is broadcast."""
    rank, own = len(order), rank_of(x)
    if own == 0 or all(extent == 1 for extent in shape_of(x)) and own == 1:
        return x
    if own < rank:
        shape: list[Size] = [*[1] * (rank - own), *b.sizes(x)]
        known: list[int | ir.SymbolicDim] = [*[1] * (rank - own), *shape_of(x)]
        wide = b.reshape(x, [shape[axis] for axis in order]) if own == 1 else None
        if wide is not None:
            wide.shape = ir.Shape([known[axis] for axis in order])
            return wide
        x = b.reshape(x, shape)
        x.shape = ir.Shape(known)
    return permuted(b, x, order)


def _broadcast(shapes: Sequence[Sequence[int | ir.SymbolicDim]], axis: int) -> int | ir.SymbolicDim:
    extents = [shape[axis] for shape in shapes if len(shape) >= -axis]
    return next((extent for extent in extents if extent != 1), 1)


def with_bias(b: Builder, x: ir.Value, y: ir.Value) -> ir.Value | None:
    """The sum as a convolution or a product with a bias, None where it is none. Nothing else may
    use `x`."""
    source, order = behind(x)
    node = source.producer()
    if node is None or node.graph is not b.graph or len(node.inputs) != 2:
        return None
    is_conv = node.op_type in ("Conv", "ConvTranspose")
    if not is_conv and (node.op_type != "Gemm" or source is not x):
        return None
    channels = shape_of(source)[1]
    axis = rank_of(y) - rank_of(x) + order.index(1) if is_conv else rank_of(y) - 1
    lengths = list(shape_of(y))
    if not isinstance(channels, int) or axis < 0 or lengths.pop(axis) != channels:
        return None
    if any(length != 1 for length in lengths) or rank_of(y) > rank_of(x):
        return None
    bias = y
    if rank_of(y) > 1:
        bias = b.Reshape(y, [-1])
        bias.shape = ir.Shape([channels])
    outputs = b.op(
        node.op_type,
        *node.inputs,
        bias,
        **{name: one.value for name, one in node.attributes.items()},
    )
    outputs[0].shape = source.shape
    return permuted(b, outputs[0], order) if source is not x else outputs[0]
