"""Operators of elements and of lines: arithmetic, reductions, normalizations."""

from __future__ import annotations

from typing import Any

import numpy
import onnx

from .draw import FLOATS, Draw, int64, scalar
from .model import type_of
from .table import cases

_UNARY = """
    Abs Acos Acosh Asin Asinh Atan Atanh BitwiseNot Ceil Celu Cos Cosh Elu Erf Exp Floor Gelu
    HardSigmoid HardSwish Identity IsInf IsNaN LeakyRelu Log Mish Neg Not Reciprocal Relu Round Selu
    Shape Shrink Sigmoid Sign Sin Sinh Size Softplus Softsign Sqrt Swish Tan Tanh ThresholdedRelu
    NonZero Det
""".split()
_BINARY = """
    Add And BitShift BitwiseAnd BitwiseOr BitwiseXor Div Equal Greater GreaterOrEqual Less
    LessOrEqual Mod Mul Or PRelu Pow Sub SwiGLU Xor StringConcat
""".split()
_WORDS = {
    "approximate": ("none", "tanh"),
    "direction": ("LEFT", "RIGHT"),
}


def numbers_of(d: Draw, schema: Any, *but: str) -> dict[str, Any]:
    """Some of the attributes that are numbers of any kind, switches, or words."""
    made: dict[str, Any] = {}
    for name, attribute in schema.attributes.items():
        if name in but or not (attribute.required or d.chance(0.6)):
            continue
        if name in _WORDS:
            made[name] = d.pick(*_WORDS[name])
        elif attribute.type == onnx.defs.OpSchema.AttrType.FLOAT:
            made[name] = float(d.pick(0.01, 0.25, 0.5, 1.0, 1.5, 2.0))
        elif attribute.type == onnx.defs.OpSchema.AttrType.INT:
            made[name] = d.between(0, 1)
    return made


@cases(*_UNARY)
def _unary(d: Draw, schema: Any) -> tuple[Any, ...]:
    x = d.like(schema, d.shape())
    name = schema.name
    if name == "Det":
        extent = d.between(1, 4)
        x = d.like(schema, (*d.shape(0, 2), extent, extent))
    if name == "Shape" and schema.since_version >= 15:
        return [x], d.given(start=d.between(-6, 6), end=d.between(-6, 6))
    return [x], numbers_of(d, schema)


@cases(*_BINARY)
def _binary(d: Draw, schema: Any) -> tuple[Any, ...]:
    name = schema.name
    shape = d.shape()
    a = d.like(schema, shape if name == "PRelu" or d.chance(0.7) else d.broadcast(shape))
    b = d.like(schema, shape if name == "SwiGLU" else d.broadcast(shape), 1)
    attributes = numbers_of(d, schema)
    if name == "Mod":
        attributes["fmod"] = 1 if b.dtype.name in FLOATS else d.between(0, 1)
        if attributes["fmod"] == 0 and d.chance():
            attributes.pop("fmod")
    if name in ("Mod", "Div") and b.dtype.kind in "iu":
        b = numpy.where(b == 0, numpy.array(3, b.dtype), b)
    if name == "BitShift":
        b = numpy.abs(b % (8 * b.dtype.itemsize + d.pick(0, 0, 2))).astype(b.dtype)
    if name == "Pow" and a.dtype.kind in "iu" and b.dtype.kind == "i":
        b = numpy.abs(b % 5).astype(b.dtype)
    if name == "PRelu":
        return [a, b], attributes
    is_ordered = name in ("SwiGLU", "Pow", "BitShift", "Div", "Mod")
    return [a, b] if is_ordered or d.chance() else [b, a], attributes


@cases("Max", "Min", "Sum", "Mean")
def _variadic(d: Draw, schema: Any) -> tuple[Any, ...]:
    shape, joins = d.shape(), schema.since_version >= 8
    return [
        d.like(schema, d.broadcast(shape) if joins else shape) for _ in range(d.between(1, 4))
    ], {}


@cases("Clip")
def _clip(d: Draw, schema: Any) -> tuple[Any, ...]:
    x = d.like(schema, d.shape())
    if schema.since_version < 11:
        return [x], d.given(min=d.pick(-1.0, 0.5), max=d.pick(1.0, 0.25))
    bounds = [d.maybe(lambda i=i: d.like(schema, (), i), 0.7) for i in (1, 2)]
    return [x, *bounds], {}


@cases("Where")
def _where(d: Draw, schema: Any) -> tuple[Any, ...]:
    shape = d.shape()
    return [d.like(schema, d.broadcast(shape), i) for i in range(3)], {}


_TARGETS = (
    "bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 float16 bfloat16 float32 float64 "
    "float8e4m3fn float8e5m2 int4 uint4 string"
).split()


@cases("Cast", "CastLike")
def _cast(d: Draw, schema: Any) -> tuple[Any, ...]:
    # What a type cannot hold is not defined.
    x = d.array(d.shape(0, 3), d.dtype(schema), 0.0)
    index = min(1, len(schema.inputs) - 1)
    typed = schema.inputs[1].types if schema.name == "CastLike" else schema.outputs[0].types
    names = {"float32": "float", "float64": "double"}
    allowed = [one for one in _TARGETS if f"tensor({names.get(one, one)})" in typed]
    target = d.pick(*allowed)
    if x.dtype.kind == "O":
        words = numpy.array(["1", "-2", "3.5", "0", "1e3", "NaN", "inf", "-inf"], object)
        x = words[d.random.integers(0, 5 if target.startswith(("int", "uint")) else 8, x.shape)]
        if target.startswith(("int", "uint", "bool")):
            x = numpy.array(["1", "2", "0", "7"], object)[d.random.integers(0, 4, x.shape)]
        x = numpy.asarray(x, object)
    given = {}
    if "saturate" in schema.attributes and d.chance():
        given["saturate"] = d.between(0, 1)
    other = d.array((2,), target)
    if schema.name == "CastLike":
        return [x, other], given
    assert index == 0
    return [x], {"to": type_of(other), **given}


@cases(
    *[f"Reduce{one}" for one in "L1 L2 LogSum LogSumExp Max Mean Min Prod Sum SumSquare".split()]
)
def _reduce(d: Draw, schema: Any) -> tuple[Any, ...]:
    x = d.like(schema, d.shape())
    axes = d.maybe(lambda: d.axes(x.ndim), 0.8)
    given = d.given(keepdims=d.between(0, 1))
    if "axes" in schema.attributes:
        return [x], given if not axes else {**given, "axes": axes}
    given |= d.given(0.3, noop_with_empty_axes=d.between(0, 1))
    return [x, None if axes is None else int64(*axes)], given


@cases("ArgMax", "ArgMin", "Softmax", "LogSoftmax", "Hardmax", "LpNormalization")
def _line(d: Draw, schema: Any) -> tuple[Any, ...]:
    name = schema.name
    is_arg = name.startswith("Arg")
    # Whether NaN is the largest is nobody's word.
    special = 0.0 if name == "Hardmax" else 0.15
    x = d.array(d.shape(1), d.dtype(schema), special)
    if x.dtype.kind == "f" and d.chance(0.3):
        x = numpy.round(x / 2).astype(x.dtype)  # so that several are the same
    if is_arg and 0 in x.shape:
        x = d.like(schema, (2, 3))
    given = d.given(0.7, axis=d.axis(x.ndim))
    if given.get("axis", 0) < 0 and schema.since_version < 11 and name != "LpNormalization":
        given["axis"] += x.ndim
    if name == "LpNormalization":
        given |= d.given(p=d.between(1, 2))
    if is_arg:
        given |= d.given(keepdims=d.between(0, 1))
        if "select_last_index" in schema.attributes:
            given |= d.given(select_last_index=d.between(0, 1))
    if not is_arg and name != "LpNormalization" and schema.since_version < 13 and x.ndim == 1:
        given["axis"] = 0
    return [x], given


@cases("CumSum", "CumProd")
def _running(d: Draw, schema: Any) -> tuple[Any, ...]:
    x = d.like(schema, d.shape(1))
    kind = d.pick("int32", "int64")
    axis = scalar(d.axis(x.ndim), kind)
    return [x, axis], d.given(exclusive=d.between(0, 1), reverse=d.between(0, 1))


@cases("TopK")
def _top_k(d: Draw, schema: Any) -> tuple[Any, ...]:
    x = d.like(schema, d.shape(1))
    given = d.given(0.7, axis=d.axis(x.ndim))
    if given.get("axis", 0) < 0 and schema.since_version < 11:
        given["axis"] += x.ndim
    k = d.between(0, x.shape[given.get("axis", -1)])
    if "k" in schema.attributes:
        return [x], {**given, "k": k}, 2
    if schema.since_version >= 11:
        given |= d.given(largest=d.between(0, 1))
    return [x, int64(k)], given, 2


def _plain(d: Draw, schema: Any, shape: Any, index: int = 0) -> Any:
    """An input without infinities, which sums of squares have no use for."""
    return d.array(shape, d.dtype(schema, index), 0.0)


@cases("MeanVarianceNormalization")
def _mean_variance(d: Draw, schema: Any) -> tuple[Any, ...]:
    x = _plain(d, schema, d.shape(4, 4))
    return [x], d.given(axes=d.axes(4, 1))


@cases("BatchNormalization")
def _batch_norm(d: Draw, schema: Any) -> tuple[Any, ...]:
    x = _plain(d, schema, d.shape(2))
    c = x.shape[1]
    scale, bias = _plain(d, schema, (c,), 1), _plain(d, schema, (c,), 2)
    mean = _plain(d, schema, (c,), 3)
    variance = d.positive((c,), d.dtype(schema, 4))
    given = d.given(epsilon=d.pick(1e-3, 0.5))
    outputs = 1
    if schema.since_version >= 14 and d.chance(0.3):
        given |= {"training_mode": 1} | d.given(momentum=0.5)
        outputs = d.pick(1, 3)
    return [x, scale, bias, mean, variance], given, outputs


@cases("InstanceNormalization", "GroupNormalization")
def _group_norm(d: Draw, schema: Any) -> tuple[Any, ...]:
    groups, each = d.between(1, 4), d.between(1, 3)
    n, _, *rest = d.shape(3)
    x = _plain(d, schema, (n, groups * each, *rest))
    given = d.given(epsilon=d.pick(1e-3, 0.5))
    count = x.shape[1]
    if schema.name == "GroupNormalization":
        given["num_groups"] = groups
        count = groups if schema.since_version < 21 else count
    return [x, _plain(d, schema, (count,), 1), _plain(d, schema, (count,), 2)], given


@cases("LayerNormalization", "RMSNormalization")
def _layer_norm(d: Draw, schema: Any) -> tuple[Any, ...]:
    x = _plain(d, schema, d.shape(1))
    axis = d.axis(x.ndim)
    given = d.given(epsilon=d.pick(1e-3, 0.5))
    if axis != -1 or d.chance():
        given["axis"] = axis
    shape = x.shape[axis:]
    shape = d.broadcast(shape) if d.chance(0.3) else shape
    if schema.name == "RMSNormalization":
        return [x, _plain(d, schema, shape, 1)], given
    bias = d.maybe(lambda: _plain(d, schema, d.broadcast(shape) if d.chance(0.2) else shape, 2))
    # The reference gives means of the type of the elements, where they are of float32.
    outputs = 1 if x.dtype.itemsize == 2 else d.between(1, 3)
    return [x, _plain(d, schema, shape, 1), bias], given, outputs


@cases("LRN")
def _lrn(d: Draw, schema: Any) -> tuple[Any, ...]:
    x = _plain(d, schema, d.shape(4, 4))
    given = d.given(alpha=d.pick(0.5, 1.0), beta=d.pick(0.5, 1.0), bias=2.0)
    return [x], {"size": d.between(1, 6), **given}


@cases("Dropout")
def _dropout(d: Draw, schema: Any) -> tuple[Any, ...]:
    x = d.like(schema, d.shape())
    if schema.since_version < 12:
        return [x], d.given(ratio=0.25), d.between(1, 2)
    ratio = d.maybe(lambda: d.positive((), d.dtype(schema, 1)) / 4)
    ratio = None if ratio is None else numpy.asarray(ratio % 1, dtype=ratio.dtype)
    return [x, ratio, d.maybe(lambda: numpy.array(False))], {}, d.between(1, 2)


@cases("MatMul", "Gemm", "MatMulInteger", "QLinearMatMul")
def _product(d: Draw, schema: Any) -> tuple[Any, ...]:
    name = schema.name
    n, k, m = d.extent(), d.extent(), d.extent()
    if name == "Gemm":
        turned = d.given(transA=d.between(0, 1), transB=d.between(0, 1))
        a = d.like(schema, (k, n) if turned.get("transA") else (n, k))
        b = d.like(schema, (m, k) if turned.get("transB") else (k, m), 1)
        c = d.like(schema, d.broadcast((n, m)), 2)
        if schema.since_version >= 11 and d.chance():
            c = None
        return [a, b, c], {**turned, **d.given(alpha=d.pick(0.0, 0.5), beta=d.pick(0.0, 0.5))}
    batch = d.shape(0, 2)
    shapes = [(*d.broadcast(batch), n, k), (*d.broadcast(batch), k, m)]
    if d.chance(0.2):
        shapes[0] = (k,)
    if d.chance(0.2):
        shapes[1] = (k,)
    if name == "MatMul":
        return [d.like(schema, shapes[0]), d.like(schema, shapes[1], 1)], {}
    if name == "MatMulInteger":
        a, b = d.like(schema, shapes[0]), d.like(schema, shapes[1], 1)
        zero_a = d.maybe(lambda: d.like(schema, (n,) if a.ndim > 1 and d.chance(0.3) else (), 2))
        zero_b = d.maybe(lambda: d.like(schema, (m,) if b.ndim > 1 and d.chance(0.3) else (), 3))
        return [a, b, zero_a, zero_b], {}
    a, b = d.like(schema, shapes[0], 0, "int8", "uint8"), d.like(schema, shapes[1], 3)
    kinds = {i: d.dtype(schema, i, "float32") for i in (1, 4, 6)}
    rows = (n,) if a.ndim == 2 and d.chance(0.2) else ()
    columns = (m,) if b.ndim == 2 and d.chance(0.2) else ()
    return [
        a, d.positive(rows, kinds[1]), d.like(schema, rows, 2),
        b, d.positive(columns, kinds[4]), d.like(schema, columns, 5),
        d.positive((), kinds[6]), d.like(schema, (), 7),
    ], {}  # fmt: skip


@cases("QuantizeLinear", "DequantizeLinear")
def _quantize(d: Draw, schema: Any) -> tuple[Any, ...]:
    is_quantize = schema.name == "QuantizeLinear"
    x = d.like(schema, d.shape(1, 4))
    if x.dtype == "int32" and not is_quantize and d.chance():
        x = numpy.asarray(x, dtype="int32")
    given: dict[str, Any] = {}
    shape: tuple[int, ...] = ()
    if d.chance() and schema.since_version >= 13:
        axis = d.axis(x.ndim)
        given["axis"] = axis
        shape = (x.shape[axis],)
        if schema.since_version >= 21 and x.shape[axis] and d.chance():
            block = d.between(1, x.shape[axis])
            given["block_size"] = block
            extents = list(x.shape)
            extents[axis] = -(-x.shape[axis] // block)
            shape = tuple(extents)
    kind = d.dtype(schema, 1)
    scale = d.positive(shape, kind if kind != "float8e8m0" else "float32")
    if is_quantize:
        zero = d.maybe(lambda: d.like(schema, shape, 2), 0.7)
        if zero is not None and zero.dtype.name.startswith("float"):
            zero = numpy.zeros_like(zero)
        if zero is None and "output_dtype" in schema.attributes and d.chance():
            given["output_dtype"] = type_of(d.array((1,), d.pick("int8", "uint8", "int16", "int4")))
        if "saturate" in schema.attributes and d.chance(0.3):
            given["saturate"] = d.between(0, 1)
    else:
        zero = d.maybe(lambda: d.like(schema, shape, 2), 0.7)
        if zero is not None and (x.dtype == "int32" or zero.dtype.name.startswith("float")):
            zero = numpy.zeros_like(zero)
    return [x, scale, zero], given


@cases("DynamicQuantizeLinear")
def _dynamic(d: Draw, schema: Any) -> tuple[Any, ...]:
    x = d.array(d.shape(), "float32", 0.0)
    x = d.pick(x, abs(x), -abs(x))
    return [x if x.size else numpy.ones(3, "float32")], {}, 3


@cases("NegativeLogLikelihoodLoss", "SoftmaxCrossEntropyLoss")
def _loss(d: Draw, schema: Any) -> tuple[Any, ...]:
    shape = tuple(max(one, 1) for one in d.shape(2, 4))
    x = d.array(shape, d.dtype(schema), 0.0)
    target = d.random.integers(0, shape[1], (shape[0], *shape[2:])).astype(d.dtype(schema, 1))
    given = d.given(reduction=d.pick("none", "mean", "sum"))
    given |= d.given(0.4, ignore_index=d.pick(-1, 0, 1, 255))
    weight = d.maybe(lambda: d.positive((shape[1],), d.dtype(schema, 2)))
    if "ignore_index" in given and d.chance(0.6):
        target[d.random.random(target.shape) < 0.3] = given["ignore_index"]
    elif "ignore_index" not in given:
        target = abs(target)
    is_soft = schema.name == "SoftmaxCrossEntropyLoss"
    return [x, target, weight], given, d.between(1, 2) if is_soft else 1
