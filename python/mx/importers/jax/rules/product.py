"""Products of matrices and convolutions."""

from __future__ import annotations

from math import prod

import onnx_ir as ir

from ..._builder import rank_of, shape_of
from ..._layout import inverse, permuted
from .._call import Builder, Equation, Unsupported, rule


def _lengths(x: ir.Value) -> list[int]:
    return [int(str(length)) for length in shape_of(x)]


@rule("dot_general")
def dot(b: Builder, call: Equation) -> ir.Value:
    (of_x, of_y), (batch_x, batch_y) = call.param("dimension_numbers")
    x, y = (b.cast(one, call.out()) for one in call.inputs)
    free_x = [i for i in range(rank_of(x)) if i not in (*of_x, *batch_x)]
    free_y = [i for i in range(rank_of(y)) if i not in (*of_y, *batch_y)]
    lengths_x, lengths_y = _lengths(x), _lengths(y)
    batch = [lengths_x[i] for i in batch_x]
    rows, columns = [lengths_x[i] for i in free_x], [lengths_y[i] for i in free_y]
    inner = prod(lengths_x[i] for i in of_x)
    left = permuted(b, x, [*batch_x, *free_x, *of_x])
    right = permuted(b, y, [*batch_y, *of_y, *free_y])
    if not batch and len(free_x) != 1:
        # A product with one matrix takes any number of axes before the last.
        left = _shaped(b, left, [*rows, inner] if rows else [1, inner])
    else:
        left = _shaped(b, left, [*batch, prod(rows), inner])
    right = _shaped(b, right, [*batch, inner, prod(columns)])
    if not batch and rank_of(left) == 2:
        result = b.Gemm(left, right)
    else:
        result = b.MatMul(left, right)
    before = list(shape_of(left))[:-1] if not batch else [*batch, prod(rows)]
    result.shape = ir.Shape([*before, prod(columns)])
    return _shaped(b, result, call.shape())


def _shaped(b: Builder, x: ir.Value, shape: list[int]) -> ir.Value:
    if list(shape_of(x)) == shape:
        return x
    result = b.reshape(x, shape)
    result.shape = ir.Shape(shape)
    return result


@rule("conv_general_dilated")
def convolution(b: Builder, call: Equation) -> ir.Value:
    numbers = call.param("dimension_numbers")
    if call.param("batch_group_count") != 1:
        raise Unsupported("groups of the batch")
    x = permuted(b, call[0], numbers.lhs_spec)
    weight = permuted(b, call[1], numbers.rhs_spec)
    strides, pads = list(call.param("window_strides")), list(call.param("padding"))
    gaps, dilations = list(call.param("lhs_dilation")), list(call.param("rhs_dilation"))
    kernel = _lengths(weight)[2:]
    groups = int(call.param("feature_group_count"))
    if set(gaps) == {1}:
        if any(one < 0 for pair in pads for one in pair):
            raise Unsupported("images that are cut before")
        result = b.Conv(
            x,
            weight,
            strides=strides,
            dilations=dilations,
            pads=[pair[side] for side in (0, 1) for pair in pads],
            kernel_shape=kernel,
            group=groups,
        )
    else:
        result = _transposed(b, x, weight, strides, pads, gaps, dilations, kernel, groups)
    shape = call.shape()
    order = list(numbers.out_spec)
    result.shape = ir.Shape([shape[axis] for axis in order])
    return permuted(b, result, inverse(order))


def _transposed(
    b: Builder,
    x: ir.Value,
    weight: ir.Value,
    strides: list[int],
    pads: list[tuple[int, int]],
    gaps: list[int],
    dilations: list[int],
    kernel: list[int],
    groups: int,
) -> ir.Value:
    """A convolution of an image with gaps between its elements: a transposed one, of the kernel
    turned around."""
    if set(strides) != {1} or groups != 1:
        raise Unsupported("gaps between elements, with steps or groups")
    count = len(kernel)
    last = 2**63 - 1
    axes = list(range(2, 2 + count))
    turned = b.Slice(weight, [-1] * count, [-last] * count, axes, [-1] * count)
    turned.shape = weight.shape
    reach = [(k - 1) * d for k, d in zip(kernel, dilations, strict=True)]
    # What the padding of the wide image lacks of the kernel's reach is cut off the result.
    before = [r - low for r, (low, _) in zip(reach, pads, strict=True)]
    after = [r - high for r, (_, high) in zip(reach, pads, strict=True)]
    more = [max(-one, 0) for one in after]
    if any(one < 0 for one in before):
        raise Unsupported("an image that is padded by more than the kernel reaches")
    if any(one >= max(g, d) for one, g, d in zip(more, gaps, dilations, strict=True)):
        raise Unsupported("an image that is padded by more than the kernel reaches")
    return b.ConvTranspose(
        x,
        permuted(b, turned, [1, 0, *axes]),
        strides=gaps,
        dilations=dilations,
        pads=[*before, *(max(one, 0) for one in after)],
        output_padding=more if any(more) else None,
        kernel_shape=kernel,
    )
