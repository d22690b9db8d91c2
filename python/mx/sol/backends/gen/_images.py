"""Convolutions in plans whose images have their channels last, as oneDNN likes them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy

from ....graph.lowering._images import TO_LAST, is_last, seen_first, seen_last
from ....graph.lowering._lowering import Lowering
from ....graph.lowering._table import Backend
from ....graph.lowering._value import Declined, Follower, Followers, Value
from ....graph.lowering.onednn import images_last
from ._chain import Chain, longest
from ._link import add_step
from ._operators import OPERATORS
from ._target import Target
from .products.channels_last import CONV_LAST, READS_FIRST, starts_images

# The most elements of a constant beside results that is copied to lie as they do.
_FEW = 1 << 16


def takes(inputs: Sequence[Value | None], attributes: dict[str, Any], target: Target) -> bool:
    """Whether the first input of a Conv is images that kernels read which give channels that are
    last: in blocks they are copied, as oneDNN's kernels have them copied, too; row-major they are
    of few channels, as those that are given to models."""
    x, weight, *_ = inputs
    if x is None or weight is None or len(x.shape) != 4 or x.dtype != "float32" or not x.size:
        return False
    if x.layout is None:
        is_first = starts_images(x.shape, weight.shape, attributes, target)
        return is_first and x.known is None and weight.known is not None and _has_layouts(x)
    return True


def _has_layouts(images: Value) -> bool:
    """Whether there is oneDNN, which has the layouts of such results."""
    try:
        images_last(images.shape)
    except Declined:
        return False
    return True


def lower_last(
    to: Lowering,
    backend: Backend,
    target: Target,
    inputs: Sequence[Value | None],
    attributes: dict[str, Any],
) -> list[Value]:
    """The output of a Conv, whose channels are last, too, and of what its kernel does besides."""
    x, *others = inputs
    assert x is not None
    if any(value is not None and value.layout is not None for value in others):
        raise Declined("left to others: weights in blocks")
    if x.layout is None:
        if not to.is_row_major(x):
            raise Declined("left to others: an input with strides, which would be copied")
        given = x
        x = replace(x, layout=images_last(x.shape))
        attributes = {**attributes, READS_FIRST: 1}
    else:
        x = x if is_last(x) else x.layout.channels_last(x.shape).of(to, x)
        given = seen_last(to, x)
    first = Chain().with_node(CONV_LAST, [given, *others], attributes)
    kernel, chain = longest(target, first, Followers(_followers(to)))
    names = [kernel.name, *(node.operator.lower() for node in chain.nodes()[1:])]
    (made,) = add_step(to, backend, target, kernel, f"gen:{'+'.join(names)}", chain.inputs)
    to.taken = len(chain) - 1
    return [seen_first(to, made, x)]


def _followers(to: Lowering) -> Iterator[Follower]:
    """Those that may become part of the kernel, with operands whose channels are last."""
    index = 0
    while (follower := to.followers.get(index)) is not None:
        if follower.operator not in OPERATORS or "axis" in follower.attributes:
            return
        try:
            inputs = tuple(
                None if value is None else _beside(to, value) for value in follower.inputs
            )
        except Declined:
            return
        yield replace(follower, inputs=inputs)
        index += 1


def _beside(to: Lowering, value: Value) -> Value:
    """An operand beside images. Declined for one that would have to be copied by each run."""
    if is_last(value):
        return seen_last(to, value)
    if value.size == 1 and len(value.shape) <= 4:
        return value
    if value.known is not None and len(value.shape) <= 4 and value.size <= _FEW:
        array = value.known.elements
        array = array.reshape((1,) * (4 - array.ndim) + array.shape)
        return to.constant(numpy.ascontiguousarray(array.transpose(TO_LAST)))
    raise Declined("left to others: an operand whose channels are not last")
