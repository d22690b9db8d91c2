"""Sums, means, extremes and what else reduces axes; broadcasting, which is its opposite."""

from __future__ import annotations

import math

import onnx_ir as ir

from ..expansion import Expansion
from ..table import Parameters, optional, register

REDUCED = (
    optional("axis", "axes"),
    optional("keepdims", "bool", False),
    optional("exclude", "bool", False),
)
REDUCED_NUMPY = (
    optional("axis", "axes"),
    optional("dtype", "dtype"),
    optional("keepdims", "bool", False),
    optional("initial", "float"),
)


def _axes(x: Expansion, data: ir.Value) -> tuple[int, ...] | None:
    """The axes to reduce; None for all of them."""
    axis = x.p.axis
    axes = () if axis is None else (axis,) if isinstance(axis, int) else tuple(axis)
    if getattr(x.p, "exclude", False) and axis is not None:
        kept = {x.axis(a, data) for a in axes}
        return tuple(a for a in range(x.rank(data)) if a not in kept)
    return axes or None


def _reduce(x: Expansion, op_type: str, data: ir.Value, numpy: bool = False) -> ir.Value:
    """Reduces axes. All axes give one dimension of 1, but none where NumPy says so."""
    axes = _axes(x, data)
    inputs = [data] if axes is None else [data, x.ints(*axes)]
    out = x.op(op_type, *inputs, keepdims=int(x.p.keepdims))
    whole = axes is None or (data.shape is not None and len(axes) == len(data.shape))
    return x.reshape(out, [1]) if whole and not x.p.keepdims and not numpy else out


def _without_nan(x: Expansion, data: ir.Value, instead: float) -> ir.Value:
    return x.op("Where", x.op("IsNaN", data), x.number(instead, data), data)


def _add(name: str, doc: str, op_type: str, aliases: str, of_numpy: str = "") -> None:
    register(name, doc, REDUCED, aliases=aliases)(lambda x: _reduce(x, op_type, x.inputs[0]))

    def expand(x: Expansion) -> ir.Value:
        (data,) = x.inputs
        if x.p.initial is not None:
            raise x.error("expected no initial value")
        if op_type == "ReduceMean" and not x.is_floating(data):
            data = x.cast(data, "float32")
        if op_type in ("ReduceSum", "ReduceProd") and data.dtype == ir.DataType.BOOL:
            data = x.cast(data, "int64")
        return _reduce(x, op_type, x.cast(data, x.p.dtype), numpy=True)

    if of_numpy:
        first, _, more = of_numpy.partition(" ")
        register(first, doc, REDUCED_NUMPY, aliases=more)(expand)


_add("sum", "The sum over axes.", "ReduceSum", "sum_axis", "_npi_sum _np_sum")
_add("mean", "The mean over axes.", "ReduceMean", "", "_npi_mean")
_add("prod", "The product over axes.", "ReduceProd", "", "_npi_prod _np_prod _np_product")
_add("max", "The maximum over axes.", "ReduceMax", "max_axis", "_npi_max _npi_amax _np_max")
_add("min", "The minimum over axes.", "ReduceMin", "min_axis", "_npi_min _npi_amin _np_min")
_add("_square_sum", "The sum of squares over axes.", "ReduceSumSquare", "")


@register("nansum", "The sum over axes, of what is a number.", REDUCED)
def nansum(x: Expansion) -> ir.Value:
    return _reduce(x, "ReduceSum", _without_nan(x, x.inputs[0], 0))


@register("nanprod", "The product over axes, of what is a number.", REDUCED)
def nanprod(x: Expansion) -> ir.Value:
    return _reduce(x, "ReduceProd", _without_nan(x, x.inputs[0], 1))


@register(
    "norm",
    "The sum of absolute values (ord=1) or the root of the sum of squares (ord=2) over axes.",
    [
        optional("ord", "int", 2),
        optional("axis", "axes"),
        optional("out_dtype", "dtype"),
        optional("keepdims", "bool", False),
    ],
    aliases="_npx_norm",
)
def norm(x: Expansion) -> ir.Value:
    if x.p.ord not in (1, 2):
        raise x.error(f"expected ord 1 or 2, but {x.p.ord} came")
    data = x.cast(x.inputs[0], x.p.out_dtype)
    return _reduce(x, "ReduceL1" if x.p.ord == 1 else "ReduceL2", data)


def _variance(x: Expansion, data: ir.Value) -> tuple[ir.Value, ir.Value]:
    """The mean with axes of 1, and the squared distances from it."""
    axes = _axes(x, data)
    inputs = [data] if axes is None else [data, x.ints(*axes)]
    mean = x.op("ReduceMean", *inputs, keepdims=1)
    apart = x.op("Sub", data, mean)
    return mean, x.op("Mul", apart, apart)


VARIANCE = (
    optional("axis", "axes"),
    optional("dtype", "dtype"),
    optional("ddof", "int", 0),
    optional("keepdims", "bool", False),
)


def _variance_of_numpy(x: Expansion) -> ir.Value:
    data = x.cast(x.inputs[0], x.p.dtype)
    if not x.is_floating(data):
        data = x.cast(data, "float32")
    out = _reduce(x, "ReduceMean", _variance(x, data)[1], numpy=True)
    if not x.p.ddof:
        return out
    axes = _axes(x, data) or tuple(range(x.rank(data)))
    n = math.prod(x.dimension(data, axis) for axis in axes)
    return x.op("Mul", out, x.number(n / (n - x.p.ddof), out))


@register("_npi_var", "The variance over axes.", VARIANCE)
def var(x: Expansion) -> ir.Value:
    return _variance_of_numpy(x)


@register("_npi_std", "The standard deviation over axes.", VARIANCE)
def std(x: Expansion) -> ir.Value:
    return x.op("Sqrt", _variance_of_numpy(x))


@register(
    "moments",
    "The mean and the variance over axes.",
    [optional("axes", "axes"), optional("keepdims", "bool", False)],
    outputs="mean var",
)
def moments(x: Expansion) -> tuple[ir.Value, ir.Value]:
    (data,) = x.inputs
    x.p = Parameters({**vars(x.p), "axis": x.p.axes})
    squares = _variance(x, data)[1]
    return _reduce(x, "ReduceMean", data), _reduce(x, "ReduceMean", squares)


ARGMAX = (optional("axis", "int"), optional("keepdims", "bool", False))


def _position(x: Expansion, op_type: str) -> ir.Value:
    (data,) = x.inputs
    if x.p.axis is None:
        out = x.op(op_type, x.reshape(data, [-1]), axis=0, keepdims=0)
        if x.p.keepdims:
            return x.reshape(out, [1] * x.rank(data))
        return out
    return x.op(op_type, data, axis=x.p.axis, keepdims=int(x.p.keepdims))


def _add_position(name: str, doc: str, op_type: str) -> None:
    def expand(x: Expansion) -> ir.Value:
        out = _position(x, op_type)
        whole = x.p.axis is None or (x.inputs[0].shape is not None and x.rank(x.inputs[0]) == 1)
        out = x.reshape(out, [1]) if whole and not x.p.keepdims else out
        return x.cast(out, x.inputs[0].dtype or ir.DataType.FLOAT)

    register(name, f"{doc}, as numbers of the type of the data.", ARGMAX)(expand)
    register(f"_npi_{name}", f"{doc}.", ARGMAX)(lambda x: _position(x, op_type))


_add_position("argmax", "Where the maximum along an axis is", "ArgMax")
_add_position("argmin", "Where the minimum along an axis is", "ArgMin")


@register("argmax_channel", "Which channel has the maximum, as numbers of the type of the data.")
def argmax_channel(x: Expansion) -> ir.Value:
    out = x.op("ArgMax", x.inputs[0], axis=1, keepdims=0)
    return x.cast(out, x.inputs[0].dtype or ir.DataType.FLOAT)


@register(
    "broadcast_axis",
    "Repeats axes of dimension 1 to the sizes given.",
    [optional("axis", "axes", ()), optional("size", "axes", ())],
    aliases="broadcast_axes",
)
def broadcast_axis(x: Expansion) -> ir.Value:
    (data,) = x.inputs
    axes = (x.p.axis,) if isinstance(x.p.axis, int) else x.p.axis
    sizes = (x.p.size,) if isinstance(x.p.size, int) else x.p.size
    target = [1] * x.rank(data)
    for axis, size in zip(axes, sizes, strict=True):
        target[x.axis(axis, data)] = size
    return x.op("Expand", data, x.ints(*target))


@register(
    "broadcast_to",
    "Repeats axes of dimension 1 to a shape, in which 0 keeps a dimension.",
    [optional("shape", "ints", ())],
)
def broadcast_to(x: Expansion) -> ir.Value:
    return x.op("Expand", x.inputs[0], x.ints(*(n or 1 for n in x.p.shape)))


@register(
    "_npi_broadcast_to",
    "Repeats axes of dimension 1 to a shape.",
    [optional("shape", "ints", ())],
    aliases="_np_broadcast_to",
)
def broadcast_to_of_numpy(x: Expansion) -> ir.Value:
    return x.op("Expand", x.inputs[0], x.ints(*(1 if n == -2 else n for n in x.p.shape)))


@register(
    "broadcast_like",
    "Repeats axes of dimension 1 to those of another array.",
    [optional("lhs_axes", "ints"), optional("rhs_axes", "ints")],
    "lhs rhs",
    aliases="_npx_broadcast_like",
)
def broadcast_like(x: Expansion) -> ir.Value:
    data, like = x.inputs
    if x.p.lhs_axes is None:
        return x.op("Expand", data, x.op("Shape", like))
    parts = [x.ints(1)] * x.rank(data)
    for a, b in zip(x.p.lhs_axes, x.p.rhs_axes, strict=True):
        parts[x.axis(a, data)] = x.size_along(like, x.axis(b, like))
    return x.op("Expand", data, x.op("Concat", *parts, axis=0))


@register(
    "_np_cumsum",
    "The sums of all elements up to each one along an axis.",
    [optional("axis", "int"), optional("dtype", "dtype")],
    arguments="a",
    aliases="_npi_cumsum cumsum",
)
def cumsum(x: Expansion) -> ir.Value:
    data = x.cast(x.inputs[0], x.p.dtype)
    if x.p.axis is None:
        data = x.reshape(data, [-1])
    return x.op("CumSum", data, x.constant(x.p.axis or 0, ir.DataType.INT64))
