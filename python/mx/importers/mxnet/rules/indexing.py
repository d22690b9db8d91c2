"""What picks elements by their indices, and what puts them in order."""

from __future__ import annotations

from collections.abc import Sequence

import onnx_ir as ir

from ..expansion import Expansion
from ..table import Names, Parameters, Shape, optional, register, required

INT64 = ir.DataType.INT64


def _within(x: Expansion, index: ir.Value, n: ir.Value, mode: str) -> ir.Value:
    """Indices of which those outside are clipped or wrapped round; n is a 0-d value."""
    index = x.cast(index, INT64)
    if mode == "clip":
        last = x.op("Sub", n, x.constant(1, INT64))
        return x.op("Clip", index, x.constant(0, INT64), last)
    return x.op("Mod", index, n) if mode == "wrap" else index


def _size(x: Expansion, data: ir.Value, axis: int) -> ir.Value:
    n = None if data.shape is None else x.shape(data)[axis]
    return x.constant(n, INT64) if isinstance(n, int) else x.squeeze(x.size_along(data, axis), 0)


def _table_shapes(p: Parameters, known: dict[str, Shape]) -> dict[str, Shape | None]:
    return {"weight": (p.input_dim, p.output_dim)}


@register(
    "Embedding",
    "The rows of weight that data numbers.",
    [
        required("input_dim", "int"),
        required("output_dim", "int"),
        optional("dtype", "dtype", "float32"),
        optional("sparse_grad", "bool", False),
    ],
    "data weight",
    shapes=_table_shapes,
    dtypes={"weight": "dtype"},
    aliases="embedding _npx_embedding _contrib_SparseEmbedding",
)
def embedding(x: Expansion) -> ir.Value:
    data, weight = x.inputs
    n = x.constant(x.p.input_dim, INT64)
    return x.op("Gather", weight, _within(x, data, n, "clip"), axis=0)


MODE = optional("mode", "str", "clip", "raise", "wrap", "clip")


@register(
    "take",
    "The elements along an axis that indices numbers.",
    [optional("axis", "int", 0), MODE],
    "a indices",
    dtypes={"indices": "float32"},
    aliases="_npi_take",
)
def take(x: Expansion) -> ir.Value:
    data, indices = x.inputs
    if x.p.axis is None:
        data = x.reshape(data, [-1])
    axis = x.p.axis or 0
    return x.op("Gather", data, _within(x, indices, _size(x, data, axis), x.p.mode), axis=axis)


@register("batch_take", "One element of each row.", (), "a indices", dtypes={"indices": "int32"})
def batch_take(x: Expansion) -> ir.Value:
    data, indices = x.inputs
    within = _within(x, indices, _size(x, data, 1), "clip")
    return x.squeeze(x.op("GatherElements", data, x.unsqueeze(within, 1), axis=1), 1)


@register(
    "pick",
    "One element along an axis for each position of the others.",
    [
        optional("axis", "int", -1),
        optional("keepdims", "bool", False),
        optional("mode", "str", "clip", "wrap", "clip"),
    ],
    "data index",
    aliases="choose_element_0index _npx_pick",
)
def pick(x: Expansion) -> ir.Value:
    data, index = x.inputs
    axis = x.axis(-1 if x.p.axis is None else x.p.axis, data)
    if x.rank(index) < x.rank(data):
        index = x.unsqueeze(index, axis)
    within = _within(x, index, _size(x, data, axis), x.p.mode)
    out = x.op("GatherElements", data, within, axis=axis)
    return out if x.p.keepdims else x.squeeze(out, axis)


@register(
    "one_hot",
    "A new last axis with on_value at the index and off_value elsewhere.",
    [
        required("depth", "int"),
        optional("on_value", "float", 1.0),
        optional("off_value", "float", 0.0),
        optional("dtype", "dtype", "float32"),
    ],
    "indices",
    aliases="_npx_one_hot",
)
def one_hot(x: Expansion) -> ir.Value:
    index = x.unsqueeze(x.cast(x.inputs[0], INT64), -1)
    classes = x.op("Range", *(x.constant(n, INT64) for n in (0, x.p.depth, 1)))
    hit = x.op("Equal", index, classes)
    on, off = (x.constant(n, x.p.dtype) for n in (x.p.on_value, x.p.off_value))
    return x.op("Where", hit, on, off)


def _last_first(x: Expansion, indices: ir.Value) -> ir.Value:
    """The first axis, which numbers the axes of the data, as the last, as ONNX has it."""
    rank = x.rank(indices)
    return x.transpose(x.cast(indices, INT64), [*range(1, rank), 0])


@register(
    "gather_nd",
    "The elements, or slices, at the positions that the columns of indices are.",
    (),
    "data indices",
    dtypes={"indices": "int64"},
    aliases="_npi_gather_nd _npx_gather_nd",
)
def gather_nd(x: Expansion) -> ir.Value:
    data, indices = x.inputs
    return x.op("GatherND", data, _last_first(x, indices))


@register(
    "scatter_nd",
    "Zeros with the data at the positions that the columns of indices are.",
    [required("shape", "ints")],
    "data indices",
    dtypes={"indices": "int64"},
    aliases="_npx_scatter_nd",
)
def scatter_nd(x: Expansion) -> ir.Value:
    data, indices = x.inputs
    zeros = x.op("Expand", x.number(0, data), x.ints(*x.p.shape))
    return x.op("ScatterND", zeros, _last_first(x, indices), data)


@register(
    "_contrib_boolean_mask",
    "The elements along an axis for which index is not 0.",
    [optional("axis", "int", 0)],
    "data index",
    aliases="_npi_boolean_mask",
)
def boolean_mask(x: Expansion) -> ir.Value:
    data, index = x.inputs
    return x.op("Compress", data, x.cast(index, ir.DataType.BOOL), axis=x.p.axis)


def _ordered(x: Expansion, data: ir.Value, k: int, ascending: bool) -> Sequence[ir.Value]:
    """The k first values and their positions along `x.p.axis`."""
    axis = x.p.axis
    length = x.ints(k) if k > 0 else x.size_along(data, x.axis(axis, data))
    return x.ops("TopK", 2, data, length, axis=axis, largest=int(not ascending), sorted=1)


def _flat(x: Expansion) -> ir.Value:
    (data,) = x.inputs
    if x.p.axis is None:
        x.p = Parameters({**vars(x.p), "axis": 0})
        return x.reshape(data, [-1])
    return data


@register(
    "sort",
    "The elements along an axis in order.",
    [optional("axis", "int", -1), optional("is_ascend", "bool", True)],
    aliases="_npi_sort",
)
def sort(x: Expansion) -> ir.Value:
    return _ordered(x, _flat(x), 0, x.p.is_ascend)[0]


@register(
    "argsort",
    "Where the elements along an axis are, in order.",
    [
        optional("axis", "int", -1),
        optional("is_ascend", "bool", True),
        optional("dtype", "dtype", "float32"),
    ],
    aliases="_npi_argsort",
)
def argsort(x: Expansion) -> ir.Value:
    return x.cast(_ordered(x, _flat(x), 0, x.p.is_ascend)[1], x.p.dtype)


def _top_names(p: Parameters) -> Names:
    return ("output0", "output1") if p.ret_typ == "both" else ("output",)


@register(
    "topk",
    "The k largest or smallest elements along an axis: their positions, themselves or a mask.",
    [
        optional("axis", "int", -1),
        optional("k", "int", 1),
        optional("ret_typ", "str", "indices", "value", "indices", "mask", "both"),
        optional("is_ascend", "bool", False),
        optional("dtype", "dtype", "float32"),
    ],
    outputs=_top_names,
    aliases="_npx_topk",
)
def topk(x: Expansion) -> Sequence[ir.Value]:
    shape = x.op("Shape", x.inputs[0]) if x.p.axis is None and x.p.ret_typ == "mask" else None
    data = _flat(x)
    values, where = _ordered(x, data, x.p.k, x.p.is_ascend)
    if x.p.ret_typ == "value":
        return [values]
    if x.p.ret_typ == "mask":
        zeros = x.op("Sub", data, data)
        ones = x.op("Expand", x.number(1, data), x.op("Shape", where))
        mask = x.op("ScatterElements", zeros, where, ones, axis=x.p.axis)
        return [mask if shape is None else x.op("Reshape", mask, shape)]
    indices = x.cast(where, x.p.dtype)
    return [indices] if x.p.ret_typ == "indices" else [values, indices]
