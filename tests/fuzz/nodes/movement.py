"""Operators that move elements: indices, slices, shapes, and what strings are made of."""

from __future__ import annotations

from typing import Any

import numpy
import onnx

from .draw import FLOATS, Draw, int64, scalar
from .model import tensor_of, type_of
from .table import cases


def _indices(d: Draw, shape: tuple[int, ...], extent: int, dtype: str = "") -> Any:
    """Indices in bounds, some from the end; none where there is nothing."""
    if not extent:
        shape = (*shape[:-1], 0) if shape else (0,)
    low = -extent if d.chance() else 0
    made = d.random.integers(low, max(extent, 1), shape)
    return numpy.asarray(made).astype(dtype or d.pick("int32", "int64"))


@cases("Concat")
def _concat(d: Draw, schema: Any) -> tuple[Any, ...]:
    shape = d.shape(1)
    axis = d.axis(len(shape)) if schema.since_version >= 11 else d.between(0, len(shape) - 1)
    parts = []
    for _ in range(d.between(1, 4)):
        own = list(shape)
        own[axis] = d.extent()
        parts.append(d.like(schema, own))
    return parts, {"axis": axis}


@cases("Gather")
def _gather(d: Draw, schema: Any) -> tuple[Any, ...]:
    x = d.like(schema, d.shape(1))
    given = d.given(axis=d.axis(x.ndim))
    if schema.since_version < 11 and given.get("axis", 0) < 0:
        given["axis"] += x.ndim
    indices = _indices(d, d.shape(0, 2), x.shape[given.get("axis", 0)])
    return [x, indices % max(x.shape[given.get("axis", 0)], 1)
            if schema.since_version < 11 else indices], given  # fmt: skip


@cases("GatherElements", "ScatterElements", "Scatter")
def _elements(d: Draw, schema: Any) -> tuple[Any, ...]:
    x = d.like(schema, d.shape(1, 4))
    given = d.given(axis=d.axis(x.ndim))
    axis = given.get("axis", 0) % x.ndim
    shape = [d.between(0, one) if d.chance(0.4) else one for one in x.shape]
    if d.chance(0.3):
        shape[axis] = d.extent()
    if not x.shape[axis]:
        shape[axis] = 0
    indices = _indices(d, tuple(shape), max(x.shape[axis], 1))
    if schema.name == "GatherElements":
        return [x, indices], given
    if not x.shape[axis]:
        indices = indices[tuple(slice(0) if i == axis else slice(None) for i in range(x.ndim))]
    if "reduction" in schema.attributes and d.chance(0.6):
        words = ["none", "add", "mul"] + (["max", "min"] if schema.since_version >= 18 else [])
        given["reduction"] = d.pick(*words)
        if x.dtype.kind in "Ob":
            given["reduction"] = "none"
    if given.get("reduction", "none") == "none" and x.ndim and indices.size:
        # Each element is written at most once: what else comes is not defined.
        order = numpy.argsort(d.random.random(x.shape), axis=axis)
        part = [slice(extent) for extent in shape]
        part[axis] = slice(min(shape[axis], x.shape[axis]))
        indices = order[tuple(part)].astype(indices.dtype)
    return [x, indices, d.like(schema, indices.shape, 2)], given


@cases("GatherND", "ScatterND")
def _nd(d: Draw, schema: Any) -> tuple[Any, ...]:
    x = d.like(schema, tuple(max(one, 1) for one in d.shape(1, 4)))
    given: dict[str, Any] = {}
    batches = 0
    if schema.name == "GatherND" and schema.since_version >= 12 and x.ndim > 1 and d.chance():
        batches = d.between(0, x.ndim - 1)
        given["batch_dims"] = batches
    depth = d.between(1, x.ndim - batches)
    outer = (*x.shape[:batches], *d.shape(0, 2))
    parts = [_indices(d, outer, x.shape[batches + i], "int64") for i in range(depth)]
    indices = numpy.stack(parts, axis=-1) if parts else None
    if schema.name == "GatherND":
        return [x, indices], given
    if "reduction" in schema.attributes and d.chance(0.6):
        words = ["none", "add", "mul"] + (["max", "min"] if schema.since_version >= 18 else [])
        given["reduction"] = "none" if x.dtype.kind in "Ob" else d.pick(*words)
    if given.get("reduction", "none") == "none":
        rows = indices.reshape(-1, depth) % numpy.array(x.shape[:depth])
        _, first = numpy.unique(rows, axis=0, return_index=True)
        indices = indices.reshape(-1, depth)[numpy.sort(first)]
    shape = (*indices.shape[:-1], *x.shape[depth:])
    return [x, indices, d.like(schema, shape, 2)], given


@cases("Slice")
def _slice(d: Draw, schema: Any) -> tuple[Any, ...]:
    x = d.like(schema, d.shape(1))
    axes = d.axes(x.ndim, 1)
    if d.chance(0.3):
        axes = list(range(d.between(1, x.ndim)))
    least, most = -(1 << 63), (1 << 63) - 1
    ends = [d.pick(d.between(-9, 9), d.between(-20, 20), least, most, 1000) for _ in axes]
    starts = [d.pick(d.between(-9, 9), d.between(-20, 20), d.between(0, 3)) for _ in axes]
    if schema.since_version < 10:
        axes = [axis % x.ndim for axis in axes]
        return [x], {"axes": axes, "starts": starts, "ends": ends}
    kind = d.pick("int32", "int64")
    if kind == "int32":
        ends = [max(-(1 << 31), min((1 << 31) - 1, one)) for one in ends]
    steps = [d.pick(1, 2, -1, -2, 3, -3, 100, -100) for _ in axes]
    # ONNX Runtime goes to the beginning where an end backwards is the largest integer.
    ends = [min(end, 1000) if step < 0 else end for end, step in zip(ends, steps, strict=True)]
    inputs = [x, *(numpy.array(one, kind) for one in (starts, ends, axes, steps))]
    if d.chance(0.3):
        inputs.pop()
        if axes == list(range(len(axes))):
            inputs.pop()
    return inputs, {}


@cases("Pad")
def _pad(d: Draw, schema: Any) -> tuple[Any, ...]:
    x = d.like(schema, d.shape(1, 4))
    modes = ["constant", "reflect", "edge"] + (["wrap"] if schema.since_version >= 19 else [])
    mode = d.pick("constant", *modes)
    axes = d.axes(x.ndim, 1) if schema.since_version >= 18 and d.chance(0.4) else None
    chosen = list(range(x.ndim)) if axes is None else axes
    pads = [d.between(0, 3) if d.chance(0.7) else 0 for _ in chosen * 2]
    for n, axis in enumerate(chosen):
        extent = x.shape[axis]
        if mode == "reflect":
            pads[n], pads[n + len(chosen)] = (
                min(one, max(extent - 1, 0)) for one in (pads[n], pads[n + len(chosen)])
            )
        elif mode != "constant" and not extent:
            pads[n] = pads[n + len(chosen)] = 0
        elif extent > 1 and d.chance(0.15) and mode != "wrap":
            pads[n] = -d.between(0, extent // 2)
    given = {"mode": mode} if mode != "constant" or d.chance() else {}
    if schema.since_version < 11:
        return [x], {**given, "pads": pads, **d.given(value=1.5)}
    value = d.maybe(lambda: d.like(schema, (), 2)) if mode == "constant" else None
    chosen_input = None if axes is None else int64(*axes).astype(d.pick("int32", "int64"))
    inputs = [x, int64(*pads), value]
    return [*inputs, chosen_input] if schema.since_version >= 18 else inputs, given


@cases("Split", "SplitToSequence")
def _split(d: Draw, schema: Any) -> tuple[Any, ...]:
    x = d.like(schema, d.shape(1, 4))
    given = d.given(0.7, axis=d.axis(x.ndim))
    if schema.since_version < 11 and given.get("axis", 0) < 0:
        given["axis"] += x.ndim
    extent = x.shape[given.get("axis", 0)]
    count = d.between(1, 4)
    cuts = sorted(d.between(0, extent) for _ in range(count - 1))
    sizes = [b - a for a, b in zip([0, *cuts], [*cuts, extent], strict=True)]
    if schema.name == "SplitToSequence":
        given |= d.given(keepdims=d.between(0, 1))
        kind = d.pick("int32", "int64")
        split = d.pick(None, numpy.array(sizes, kind), numpy.array(d.between(1, 5), kind))
        return [x, split], given
    if "split" in schema.attributes:
        if d.chance() or extent % count:
            return [x], {**given, "split": sizes}, count
        return [x], given, count
    if d.chance(0.4):
        if schema.since_version >= 18:
            return [x], {**given, "num_outputs": count}, count
        if extent % count == 0:
            return [x], given, count
    return [x, int64(*sizes)], given, count


@cases("Squeeze", "Unsqueeze")
def _squeeze(d: Draw, schema: Any) -> tuple[Any, ...]:
    shape = list(d.shape(0, 3))
    ones = d.between(0 if schema.name == "Squeeze" else 1, 2)
    rank = len(shape) + ones
    axes = [int(one) for one in d.random.permutation(rank)[:ones]]
    if schema.name == "Squeeze":
        for axis in sorted(axes):
            shape.insert(axis, 1)
    if schema.since_version >= 11:
        axes = [axis - (rank if d.chance(0.3) else 0) for axis in axes]
    x = d.like(schema, shape)
    if schema.name == "Squeeze" and d.chance(0.2):
        return [x], {}
    if schema.since_version < 13:
        return [x], {"axes": axes} if axes else {}
    return [x, int64(*axes)], {}


@cases("Transpose")
def _transpose(d: Draw, schema: Any) -> tuple[Any, ...]:
    x = d.like(schema, d.shape())
    return [x], d.given(
        0.8 if x.ndim else 0, perm=[int(one) for one in d.random.permutation(x.ndim)]
    )


@cases("Reshape")
def _reshape(d: Draw, schema: Any) -> tuple[Any, ...]:
    shape = d.shape()
    wanted = list(shape)
    for _ in range(d.between(0, 3)):
        if len(wanted) > 1 and d.chance():
            at = d.between(0, len(wanted) - 2)
            wanted[at : at + 2] = [wanted[at] * wanted[at + 1]]
        else:
            wanted.insert(d.between(0, len(wanted)), 1)
    given = {}
    if schema.since_version >= 14 and (0 in shape or d.chance(0.2)):
        given["allowzero"] = 1
    elif 0 in shape:
        return [d.like(schema, (2, 3)), int64(0, -1)], {}
    elif wanted and d.chance(0.4):
        at = d.between(0, len(wanted) - 1)
        if at < len(shape) and wanted[at] == shape[at]:
            wanted[at] = 0
    if wanted and 0 not in shape and d.chance(0.4):
        at = d.between(0, len(wanted) - 1)
        if not given or 0 not in wanted:
            wanted[at] = -1
    return [d.like(schema, shape), int64(*wanted)], given


@cases("Flatten")
def _flatten(d: Draw, schema: Any) -> tuple[Any, ...]:
    x = d.like(schema, d.shape(0 if d.chance(0.2) else 1))
    axis = d.between(-x.ndim, x.ndim) if schema.since_version >= 11 else d.between(0, x.ndim)
    return [x], d.given(0.7, axis=axis) if x.ndim else {"axis": 0}


@cases("Expand")
def _expand(d: Draw, schema: Any) -> tuple[Any, ...]:
    shape = d.shape()
    return [
        d.like(schema, d.broadcast(shape)),
        int64(*(shape if d.chance() else d.broadcast(shape))),
    ], {}


@cases("Tile")
def _tile(d: Draw, schema: Any) -> tuple[Any, ...]:
    x = d.like(schema, d.shape(0, 4))
    return [x, int64(*[d.pick(0, 1, 1, 2, 3) for _ in x.shape])], {}


@cases("Trilu")
def _trilu(d: Draw, schema: Any) -> tuple[Any, ...]:
    k = d.maybe(lambda: scalar(d.pick(d.between(-4, 4), d.between(-20, 20), 1 << 40, -(1 << 40))))
    return [d.like(schema, d.shape(2)), k], d.given(upper=d.between(0, 1))


@cases("EyeLike")
def _eye(d: Draw, schema: Any) -> tuple[Any, ...]:
    x = d.like(schema, d.shape(2, 2))
    given = d.given(k=d.pick(d.between(-4, 4), d.between(-30, 30)))
    if d.chance():
        given["dtype"] = type_of(d.array((1,), d.pick("float32", "int64", "float64", "uint8")))
    return [x], given


@cases("Range")
def _range(d: Draw, schema: Any) -> tuple[Any, ...]:
    kind = d.dtype(schema)
    step = d.pick(1, 2, 3, -1, -2, 0.5, 0.1, 0.25) if kind in FLOATS else d.pick(1, 2, 3, -1, -2)
    low, high = d.between(-9, 9), d.between(-9, 9)
    return [scalar(one, kind) for one in (low, high, step)], {}


@cases("ConstantOfShape")
def _filled(d: Draw, schema: Any) -> tuple[Any, ...]:
    kind = d.pick("float32", "int64", "bool", "float16", "uint8", "float64")
    value = tensor_of(d.array((1,), kind), "value")
    return [int64(*d.shape())], d.given(value=value)


@cases("OneHot")
def _one_hot(d: Draw, schema: Any) -> tuple[Any, ...]:
    kind = d.dtype(schema, 0, "int64", "int32", "float32", "uint8")
    depth = d.between(1, 6)
    low = 0 if kind.startswith("uint") else -depth - 2
    indices = numpy.asarray(d.random.integers(low, depth + 3, d.shape(0, 3))).astype(kind)
    if schema.since_version >= 28:  # of which onnx's inference knows no index alone
        indices = numpy.atleast_1d(indices)
    many = scalar(depth, d.dtype(schema, 1, "int64", "int32", "float32"))
    many = many if d.chance() else many.reshape(1)
    given = d.given(axis=d.axis(indices.ndim + 1))
    return [indices, many, d.like(schema, (2,), 2)], given


@cases("Compress")
def _compress(d: Draw, schema: Any) -> tuple[Any, ...]:
    x = d.like(schema, d.shape(1))
    given = d.given(axis=d.axis(x.ndim))
    if schema.since_version < 11 and given.get("axis", 0) < 0:
        given["axis"] += x.ndim
    extent = x.shape[given["axis"]] if given else x.size
    return [x, d.array((d.between(0, extent) if d.chance() else extent,), "bool")], given


@cases("Unique")
def _unique(d: Draw, schema: Any) -> tuple[Any, ...]:
    x = d.like(schema, d.shape(1, 3))
    if x.dtype.kind == "f":
        x = numpy.round(x).astype(x.dtype)
    return [x], d.given(axis=d.axis(x.ndim), sorted=d.between(0, 1)), d.between(1, 4)


@cases("ReverseSequence")
def _reverse(d: Draw, schema: Any) -> tuple[Any, ...]:
    x = d.like(schema, d.shape(2))
    batch = d.between(0, 1)
    given = {"batch_axis": batch, "time_axis": 1 - batch}
    lengths = int64(*[d.between(min(1, x.shape[1 - batch]), x.shape[1 - batch])
                      for _ in range(x.shape[batch])])  # fmt: skip
    return [x, lengths], given


@cases("DepthToSpace", "SpaceToDepth")
def _blocks(d: Draw, schema: Any) -> tuple[Any, ...]:
    size = d.between(1, 3)
    n, c, h, w = (d.between(1, 3) for _ in range(4))
    given: dict[str, Any] = {"blocksize": size}
    if "mode" in schema.attributes:
        given |= d.given(mode=d.pick("DCR", "CRD"))
    to_space = schema.name == "DepthToSpace"
    shape = (n, c * size * size, h, w) if to_space else (n, c, h * size, w * size)
    return [d.like(schema, shape)], given


@cases("CenterCropPad")
def _crop(d: Draw, schema: Any) -> tuple[Any, ...]:
    x = d.like(schema, d.shape(1, 4))
    if d.chance():
        return [x, int64(*[d.between(0, 9) for _ in x.shape])], {}
    axes = d.axes(x.ndim, 1)
    kind = d.pick("int32", "int64")
    return [x, numpy.array([d.between(0, 9) for _ in axes], kind)], {"axes": axes}


@cases("TensorScatter")
def _cache(d: Draw, schema: Any) -> tuple[Any, ...]:
    shape = tuple(max(1, one) for one in d.shape(3, 4))
    x = d.like(schema, shape)
    axis = d.pick(-2, 1, len(shape) - 2, -1)
    extent = shape[axis]
    update = list(shape)
    update[axis] = d.between(1, extent)
    mode = d.pick("linear", "circular")
    most = extent - update[axis] if mode == "linear" else extent - 1
    where = d.maybe(lambda: int64(*[d.between(0, most) for _ in range(shape[0])]))
    given = d.given(mode=mode) if mode == "linear" else {"mode": mode}
    if axis != -2:
        given["axis"] = axis
    return [x, d.like(schema, update, 1), where], given


@cases("SequenceAt", "SequenceErase", "SequenceInsert", "SequenceLength", "ConcatFromSequence")
def _sequence(d: Draw, schema: Any) -> tuple[Any, ...]:
    kind = d.pick("float32", "int64", "float16", "bool", "string")
    shape = d.shape(1, 3)
    items = [d.array(shape, kind) for _ in range(d.between(1, 4))]
    name, count = schema.name, len(items)
    if name == "SequenceLength":
        return [items], {}
    if name == "ConcatFromSequence":
        new = d.given(new_axis=d.between(0, 1))
        return [items], {"axis": d.axis(len(shape) + new.get("new_axis", 0)), **new}
    index = d.pick("int32", "int64")
    if name == "SequenceAt":
        return [items, scalar(d.between(-count, count - 1), index)], {}
    at = d.maybe(lambda: scalar(d.between(-count, count - (name == "SequenceErase")), index))
    return [items, at] if name == "SequenceErase" else [items, d.array(shape, kind), at], {}


@cases("SequenceConstruct", "SequenceEmpty")
def _construct(d: Draw, schema: Any) -> tuple[Any, ...]:
    if schema.name == "SequenceEmpty":
        return [], d.given(dtype=int(onnx.TensorProto.INT64))
    return [d.like(schema, d.shape()) for _ in range(d.between(1, 4))], {}


@cases("StringNormalizer")
def _normalizer(d: Draw, schema: Any) -> tuple[Any, ...]:
    x = d.array(d.pick((4,), (1, 4)), "string")
    given = d.given(
        case_change_action=d.pick("NONE", "LOWER", "UPPER"),
        is_case_sensitive=d.between(0, 1),
        stopwords=["a", "AB"],
    )
    return [x], given


@cases("StringSplit")
def _string_split(d: Draw, schema: Any) -> tuple[Any, ...]:
    x = numpy.array(["a b", " a  b ", "", "x.y.z", "..", "a"], object)
    x = numpy.asarray(x[d.random.integers(0, 6, d.shape(0, 2))], object)
    return [x], d.given(delimiter=d.pick(".", " ", "b"), maxsplit=d.between(0, 2)), 2


@cases("RegexFullMatch")
def _regex(d: Draw, schema: Any) -> tuple[Any, ...]:
    return [d.array(d.shape(0, 2), "string")], {"pattern": d.pick("a", "a*b?", r"[a-z.]+", ".")}


@cases("BitCast")
def _bit_cast(d: Draw, schema: Any) -> tuple[Any, ...]:
    x = d.like(schema, d.shape(0, 3))
    same = {1: ("int8", "uint8"), 2: ("int16", "float16"), 4: ("int32", "float32", "uint32"),
            8: ("int64", "float64")}  # fmt: skip
    target = d.pick(*same.get(x.dtype.itemsize, ("int8",)))
    return [x], {"to": type_of(d.array((1,), target))}
