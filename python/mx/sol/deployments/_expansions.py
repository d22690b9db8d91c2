"""Nodes of operators that have kernels, for nodes of operators that have none.

Those that gradients go through are written by the rules of `mx.sol.gradient`; here are the others.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import numpy
import onnx_ir as ir

from ...graph._einsum import NotWritten, write_einsum
from ...graph._spec import Dim
from ...graph.lowering._node import PRECISION
from ...importers._builder import dtype_of
from ..backends.gen import (
    PLAIN_CONVOLUTION,
    PLAIN_PRODUCT,
    PLAIN_TRANSPOSED,
    POOL_WITH_POSITIONS,
)
from ..gradient import rules as _rules  # noqa: F401  which fill the table
from ..gradient._rules import EXPANSIONS as OF_GRADIENTS
from ..gradient._rules import Call
from ..gradient._rules import Declined as NotExpanded
from ..gradient._writer import Writer
from ..gradient.rules.normalization import rms_norm_of_one_type
from ..gradient.rules.recurrence import of_batches
from ..gradient.rules.recurrent_steps import by_steps

Expansion: TypeAlias = Callable[[Writer, Call], ir.Value | Sequence[ir.Value]]

# Those written for gradients that deployments take, too: of operators without kernels.
_SHARED = frozenset(
    "AffineGrid DFT DeformConv GlobalLpPool GridSample LpPool MeanVarianceNormalization RoiAlign "
    "STFT Upsample".split()
)
# The version since which operators mean what the nodes for them do, where that is not the first.
_SINCE = {
    "BatchNormalization": 14,
    "DFT": 20,
    "Dropout": 7,
    "Gemm": 7,
    "MaxPool": 8,
    "Resize": 11,
    "RoiAlign": 16,
}
_OWN: dict[str, Expansion] = {}
_PLAIN = {
    "MatMul": PLAIN_PRODUCT,
    "Conv": PLAIN_CONVOLUTION,
    "ConvTranspose": PLAIN_TRANSPOSED,
}
_HALVES = (ir.DataType.FLOAT16, ir.DataType.BFLOAT16)


def expansion_of(operator: str, version: int) -> Expansion | None:
    """What writes the nodes for one of an operator of ONNX, which is as it is since a version; None
    where there is nothing."""
    if version < _SINCE.get(operator, 1):
        return None
    return OF_GRADIENTS[operator] if operator in _SHARED else _OWN.get(operator)


def _expansion(*names: str) -> Callable[[Expansion], Expansion]:
    def add(function: Expansion) -> Expansion:
        _OWN.update(dict.fromkeys(names, function))
        return function

    return add


@_expansion("MatMul", "Conv", "ConvTranspose")
def _in_float32(to: Writer, call: Call) -> ir.Value:
    """Half precision: products are summed in float32, and rounded once. Of other types, and with
    weights that are computed, there are plain kernels."""
    attributes = {name: one.value for name, one in call.node.attributes.items()}
    if dtype_of(call.x) not in _HALVES:
        if call.node.op_type == "MatMul" and dtype_of(call.x) == ir.DataType.FLOAT:
            raise NotExpanded("only products that have a kernel")
        plain = _PLAIN[call.node.op_type]
        return to.op(plain, *call.node.inputs, dtype=dtype_of(call.x), **attributes)[0]
    wide = [None if one is None else to.cast(one, ir.DataType.FLOAT) for one in call.node.inputs]
    made = to.op(call.node.op_type, *wide, dtype=ir.DataType.FLOAT, **attributes)[0]
    giver = made.producer()
    if giver is not None and dtype_of(call.x) == ir.DataType.BFLOAT16:
        giver.metadata_props[PRECISION] = "bfloat16"  # which its factors are in
    return to.cast(made, dtype_of(call.x))


@_expansion("AveragePool", "GlobalAveragePool", "GlobalMaxPool")
def _of_halves(to: Writer, call: Call) -> ir.Value:
    """Half precision: computed in float32, and rounded once."""
    dtype = dtype_of(call.x)
    if dtype not in _HALVES:
        raise NotExpanded("its elements are no halves")
    attributes = {name: one.value for name, one in call.node.attributes.items()}
    given = [to.cast(call.x, ir.DataType.FLOAT), *call.node.inputs[1:]]
    return to.cast(
        to.op(call.node.op_type, *given, dtype=ir.DataType.FLOAT, **attributes)[0], dtype
    )


@_expansion("Resize")
def _resize(to: Writer, call: Call) -> ir.Value | Sequence[ir.Value]:
    """Of halves in float32, and rounded once. Of integers in a type of floats that has all of them,
    without the fraction of what lies between two; numbers that do not fit wrap, as in plans."""
    dtype = dtype_of(call.x)
    if dtype in _HALVES:
        return _of_halves(to, call)
    if dtype in (ir.DataType.FLOAT, ir.DataType.DOUBLE, ir.DataType.UINT64):
        raise NotExpanded("only what has a kernel")
    attributes = {name: one.value for name, one in call.node.attributes.items()}
    wide = ir.DataType.FLOAT if dtype.bitwidth < 32 else ir.DataType.DOUBLE
    given = [to.cast(call.x, wide), *call.node.inputs[1:]]
    made = to.op("Resize", *given, dtype=wide, **attributes)[0]
    between = ir.DataType.INT64 if dtype == ir.DataType.UINT32 else ir.DataType.INT32
    if dtype.bitwidth < 32 or dtype == ir.DataType.UINT32:
        made = to.cast(made, between)
    return to.cast(made, dtype)


@_expansion("BatchNormalization")
def _batch_norm(to: Writer, call: Call) -> Sequence[ir.Value]:
    """With the mean and the variance of the batch; of several types, or of halves, in the widest
    one of them and float32."""
    given = [call.input(index) for index in range(5)]
    types, dtype = [dtype_of(one) for one in given], dtype_of(call.x)
    is_batch = call.integer("training_mode", 0)
    wide = ir.DataType.DOUBLE if ir.DataType.DOUBLE in types else ir.DataType.FLOAT
    if not is_batch and all(one == wide for one in types):
        raise NotExpanded("only of five inputs, one for each channel behind the first")
    x, scale, shift, mean, variance = (to.cast(one, wide) for one in given)
    running = []
    if is_batch:
        axes = [axis for axis in range(len(call.dims(0))) if axis != 1]
        average = to.ReduceMean(x, axes, keepdims=1)
        centered = to.Sub(x, average)
        spread = to.ReduceMean(to.Mul(centered, centered), axes, keepdims=1)
        momentum = call.number("momentum", 0.9)
        for old, now in ((mean, average), (variance, spread)):
            new = to.Reshape(now, [-1])
            made = to.Add(to.Mul(old, momentum), to.Mul(new, 1 - momentum))
            running.append((to.cast(made, dtype_of(call.input(3))), new))
        (_, mean), (_, variance) = running
    epsilon = call.number("epsilon", 1e-5)
    made = to.BatchNormalization(x, scale, shift, mean, variance, epsilon=epsilon)
    return [to.cast(made, dtype), *(one for one, _ in running)]


@_expansion("MaxPool")
def _max_pool(to: Writer, call: Call) -> Sequence[ir.Value]:
    """With the positions that MaxUnpool reads, or of types that have no vectors."""
    attributes = {name: one.value for name, one in call.node.attributes.items()}
    types = [dtype_of(call.x), ir.DataType.INT64]
    return to.op(POOL_WITH_POSITIONS, call.x, outputs=2, dtype=types, **attributes)


@_expansion("Gemm")
def _gemm(to: Writer, call: Call) -> ir.Value:
    """A product, and a sum with factors other than 0 and 1."""
    a, b = (
        to.Transpose(one, perm=[1, 0]) if call.integer(flag, 0) else one
        for one, flag in ((call.input(0), "transA"), (call.input(1), "transB"))
    )
    made = to.MatMul(a, b)
    if call.number("alpha", 1.0) != 1.0:
        made = to.Mul(made, call.number("alpha", 1.0))
    c = call.optional(2)
    return made if c is None else to.Add(made, to.Mul(c, call.number("beta", 1.0)))


@_expansion("Einsum")
def _einsum(to: Writer, call: Call) -> ir.Value:
    """Products of matrices and sums; those of half precision in float32, and rounded once."""
    given, dtype = call.node.inputs, dtype_of(call.x)
    if dtype in _HALVES:
        given = [None if one is None else to.cast(one, ir.DataType.FLOAT) for one in given]
    wide = ir.DataType.FLOAT if dtype in _HALVES else dtype

    def write(
        operator: str,
        *inputs: ir.Value | Sequence[int],
        shape: Sequence[Dim],
        **attributes: int | Sequence[int],
    ) -> ir.Value:
        given: dict[str, Any] = attributes
        made = to.op(operator, *inputs, dtype=wide, **given)[0]
        made.shape = ir.Shape(shape)
        return made

    try:
        return to.cast(write_einsum(write, call.string("equation", ""), given), dtype)
    except NotWritten as error:
        raise NotExpanded(str(error)) from None


@_expansion("Compress")
def _compress(to: Writer, call: Call) -> ir.Value:
    """Where the condition is known: what is at the positions where it holds."""
    tensor = ir.convenience.get_const_tensor(call.input(1))
    if tensor is None:
        raise NotExpanded("elements decide the shape of its output")
    positions = to.constant(numpy.flatnonzero(tensor.numpy()), ir.DataType.INT64)
    if "axis" in call.node.attributes:
        return to.Gather(call.x, positions, axis=call.integer("axis", 0))
    return to.Gather(to.Reshape(call.x, [-1]), positions, axis=0)


@_expansion("LpNormalization")
def _lp_normalization(to: Writer, call: Call) -> ir.Value:
    operator = "ReduceL1" if call.integer("p", 2) == 1 else "ReduceL2"
    norm = to.op(operator, call.x, [call.integer("axis", -1)], keepdims=1)[0]
    return to.Div(call.x, to.where(to.Not(to.Equal(norm, 0.0)), norm, 1.0))


@_expansion("LRN")
def _lrn(to: Writer, call: Call) -> ir.Value:
    """The sum of squares over channels nearby: a mean of windows over an axis of its own."""
    size, x = call.integer("size", 1), call.x
    n, channels, *extents = (int(str(extent)) for extent in call.dims(0))
    flat = to.Reshape(to.Mul(x, x), [n, 1, channels, -1])
    pads = [(size - 1) // 2, 0, size // 2, 0]
    mean = to.AveragePool(flat, kernel_shape=[size, 1], pads=pads, count_include_pad=1)
    scaled = to.Add(to.Mul(mean, call.number("alpha", 0.0001)), call.number("bias", 1.0))
    power = to.Pow(scaled, call.number("beta", 0.75))
    return to.Div(x, to.Reshape(power, [n, channels, *extents]))


@_expansion("Dropout")
def _dropout(to: Writer, call: Call) -> Sequence[ir.Value]:
    """What it gives in inference, or where it drops nothing."""
    ratio, training = call.optional(1), call.optional(2)
    given = [ir.convenience.get_const_tensor(one) for one in (ratio, training) if one is not None]
    chances = [one is None or one.numpy().any() for one in given]
    if training is not None and all(chances):
        raise NotExpanded("it drops other elements each time")
    extents = [int(str(extent)) for extent in call.dims(0)]
    return [to.Identity(call.x), to.constant(numpy.ones(extents, "bool"), ir.DataType.BOOL)]


@_expansion("LSTM", "GRU", "RNN")
def _recurrent(to: Writer, call: Call) -> Sequence[ir.Value]:
    """What the kernels do not take: the batch in front, or any other function, type or length of a
    layer, which is a loop over its steps then."""
    return of_batches(to, call) if call.integer("layout", 0) else by_steps(to, call)


_OWN["RMSNormalization"] = rms_norm_of_one_type
