"""Batch normalization as TensorFlow writes it out."""

from __future__ import annotations

import onnx_ir as ir
from tensorflow import get_static_value

from ..._builder import dtype_of, rank_of, shape_of
from ..._layout import permuted
from .._call import Builder, Call
from .convolution import first, last


def batch_norm(b: Builder, call: Call) -> ir.Value | None:
    """The sum as a batch normalization, None where it is none: x * s + (offset - mean * s) with
    s = scale / sqrt(variance + epsilon), which is how TensorFlow writes it."""
    product, rest = (tensor.op for tensor in call.op.inputs)
    if product.type != "Mul" or rest.type != "Sub":
        return None
    offset, shift = rest.inputs
    if shift.op.type != "Mul":
        return None
    x, factor = product.inputs
    mean, same = shift.op.inputs
    if same is not factor or x.shape.rank is None or x.shape.rank < 2:
        return None
    scale, root = None, factor.op
    if root.type == "Mul":
        root, scale = root.inputs[0].op, root.inputs[1]
    if root.type != "Rsqrt" or root.inputs[0].op.type not in ("AddV2", "Add"):
        return None
    variance, epsilon = root.inputs[0].op.inputs
    vectors = [mean, variance, offset] + ([] if scale is None else [scale])
    small = get_static_value(epsilon)
    if small is None or small.ndim or any(one.shape.rank != 1 for one in vectors):
        return None
    values = [call.value(one) for one in (x, scale, offset, mean, variance) if one is not None]
    if any(one is None for one in values):
        return None
    images, *weights = values
    if scale is None:
        weights.insert(0, b.full(b.sizes(weights[0]), 1, dtype_of(weights[0])))
    rank = rank_of(images)
    result = b.BatchNormalization(permuted(b, images, first(rank)), *weights, epsilon=float(small))
    result.shape = ir.Shape([shape_of(images)[axis] for axis in first(rank)])
    return permuted(b, result, last(rank))
