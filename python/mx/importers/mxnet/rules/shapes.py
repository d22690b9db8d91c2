"""What changes shapes and the order of axes, joins arrays and cuts them."""

from __future__ import annotations

from collections.abc import Sequence

import onnx_ir as ir

from ..expansion import Expansion
from ..table import MOST_OF_ONE_NODE, Names, Parameters, counted, optional, register, required

# A dimension of a result: a number, the numbers of input dimensions to multiply, or what is left.
Made = int | tuple[int, ...] | None


def _reshape(x: Expansion, data: ir.Value, made: Sequence[Made]) -> ir.Value:
    """Gives the data dimensions of its own, of products of these, numbers, and one of the rest."""
    shape = x.shape(data) if any(isinstance(n, tuple) for n in made) else ()
    target: list[int | tuple[int, ...]] = []
    for i, n in enumerate(made):
        if n is None:
            target.append(-1)
        elif isinstance(n, int):
            target.append(n)
        else:
            size = 1
            for axis in n:
                one = shape[axis]
                size = size * one if isinstance(one, int) and size else 0
            target.append(0 if n == (i,) and not size else size or n)
    unknown = [i for i, n in enumerate(target) if isinstance(n, tuple)]
    if len(unknown) == 1 and -1 not in target:
        target[unknown[0]] = -1
    if all(isinstance(n, int) for n in target):
        return x.reshape(data, [n for n in target if isinstance(n, int)])
    parts = []
    for n in target:
        if isinstance(n, int):
            parts.append(x.ints(n))
            continue
        size_of, *more = (x.size_along(data, axis) for axis in n)
        for other in more:
            size_of = x.op("Mul", size_of, other)
        parts.append(size_of)
    return x.op("Reshape", data, x.op("Concat", *parts, axis=0))


def _read_codes(x: Expansion, data: ir.Value, codes: Sequence[int]) -> list[Made]:
    """0 keeps a dimension, -1 is the rest, -2 keeps all further ones, -3 joins two, -4 splits."""
    made: list[Made] = []
    at, i = 0, 0
    while i < len(codes):
        code = codes[i]
        if code == 0:
            made.append((at,))
            at += 1
        elif code == -1:
            made.append(None)
            at += 1
        elif code == -2:
            made += [(axis,) for axis in range(at, x.rank(data))]
            at = x.rank(data)
        elif code == -3:
            made.append((at, at + 1))
            at += 2
        elif code == -4:
            first, second, n = _split_in_two(x, data, at, codes[i + 1 : i + 3])
            made += [first, second]
            at += 1
            i += n
        else:
            made.append(code)
            at += 1
        i += 1
    return made


def _split_in_two(
    x: Expansion, data: ir.Value, axis: int, codes: Sequence[int]
) -> tuple[Made, Made, int]:
    if len(codes) != 2 or list(codes) == [-1, -1]:
        raise x.error(f"expected two sizes after code -4, one of them not -1, but {codes} came")
    first, second = codes
    if -1 in codes and isinstance(x.shape(data)[axis], int):
        whole = x.dimension(data, axis)
        known = max(first, second)
        rest = whole // known
        return (rest if first == -1 else first), (rest if second == -1 else second), 2
    return (None if first == -1 else first), (None if second == -1 else second), 2


@register(
    "Reshape",
    "The data in another shape: 0 keeps a dimension, -1 is what is left, -2 keeps all further "
    "ones, -3 joins two, -4 splits one into the two that follow.",
    [
        optional("shape", "ints", ()),
        optional("reverse", "bool", False),
        optional("target_shape", "ints", ()),
        optional("keep_highest", "bool", False),
    ],
    aliases="reshape",
)
def reshape(x: Expansion) -> ir.Value:
    (data,) = x.inputs
    codes = [n for n in x.p.shape if n is not None]
    if not codes:
        # The form before 0.9: 0 is what is left.
        old = [-1 if n == 0 else n for n in x.p.target_shape]
        return x.reshape(data, [0, *old[1:]] if x.p.keep_highest else old)
    if not x.p.reverse and all(n >= -1 for n in codes):
        return x.reshape(data, codes)
    if not x.p.reverse:
        return _reshape(x, data, _read_codes(x, data, codes))
    return _reshape(x, data, _read_backwards(x, data, codes))


def _read_backwards(x: Expansion, data: ir.Value, codes: Sequence[int]) -> list[Made]:
    """The codes read from the last dimension to the first."""
    if -4 in codes:
        raise x.error("expected no code -4 with reverse=True")
    last = x.rank(data) - 1
    return [
        tuple(sorted(last - axis for axis in n)) if isinstance(n, tuple) else n
        for n in reversed(_read_codes(x, data, codes[::-1]))
    ]


@register(
    "_npx_reshape",
    "The data in another shape: -1 is what is left, -2 keeps a dimension, -3 drops one of 1, -4 "
    "keeps all further ones, -5 joins two, -6 splits one into the two that follow.",
    [
        required("newshape", "ints"),
        optional("reverse", "bool", False),
        optional("order", "str", "C"),
    ],
    arguments="a",
    aliases="_npi_reshape",
)
def reshape_of_numpy(x: Expansion) -> ir.Value:
    (data,) = x.inputs
    codes = list(x.p.newshape)
    if 0 in codes or x.p.reverse or x.p.order != "C":
        raise x.error("expected order C, reverse=False and no dimension of 0")
    if all(n >= -1 for n in codes):
        return x.reshape(data, codes)
    old = {-2: 0, -4: -2, -5: -3, -6: -4}
    if -3 not in codes:
        return _reshape(x, data, _read_codes(x, data, [old.get(n, n) for n in codes]))
    if -6 in codes:
        raise x.error("expected not both of the codes -3 and -6")
    made: list[Made] = []
    at = 0
    for code in codes:
        if code == -3:
            if x.dimension(data, at) != 1:
                raise x.error(f"expected dimension {at} to be 1, but {x.dimension(data, at)} came")
            at += 1
            continue
        for one in _read_codes(x, data, [0] * at + [old.get(code, code)])[at:]:
            made.append(one)
        at = x.rank(data) if code == -4 else at + (2 if code == -5 else 1)
    return _reshape(x, data, made)


@register(
    "_np_reshape",
    "The data in another shape, in which -1 is what is left.",
    [required("newshape", "ints"), optional("order", "str", "C", "C")],
    arguments="a",
)
def plain_reshape(x: Expansion) -> ir.Value:
    return x.reshape(x.inputs[0], x.p.newshape)


@register(
    "reshape_like",
    "The data in the shape of another array, or some axes in the form of some of its.",
    [
        optional("lhs_begin", "int"),
        optional("lhs_end", "int"),
        optional("rhs_begin", "int"),
        optional("rhs_end", "int"),
    ],
    "lhs rhs",
    aliases="_npx_reshape_like",
)
def reshape_like(x: Expansion) -> ir.Value:
    data, like = x.inputs
    p = x.p
    if p.lhs_begin is p.lhs_end is p.rhs_begin is p.rhs_end is None:
        return x.op("Reshape", data, x.op("Shape", like))
    before = x.op("Shape", data, start=0, end=p.lhs_begin or 0)
    middle = x.op("Shape", like, start=p.rhs_begin or 0, end=p.rhs_end)
    parts = [before, middle]
    if p.lhs_end is not None:
        parts.append(x.op("Shape", data, start=p.lhs_end))
    return x.op("Reshape", data, x.op("Concat", *parts, axis=0))


@register(
    "Flatten",
    "All axes but the first in one.",
    aliases="flatten _npx_batch_flatten",
)
def flatten(x: Expansion) -> ir.Value:
    return x.op("Flatten", x.inputs[0], axis=1)


@register(
    "transpose",
    "The data with its axes in another order: reversed where none is given.",
    [optional("axes", "ints", ())],
    aliases="_np_transpose _npi_transpose",
)
def transpose(x: Expansion) -> ir.Value:
    axes = x.p.axes
    if axes and min(axes) < 0:
        axes = [x.axis(axis, x.inputs[0]) for axis in axes]
    return x.op("Transpose", x.inputs[0], perm=axes or None)


@register(
    "SwapAxis",
    "The data with two axes exchanged.",
    [optional("dim1", "int", 0), optional("dim2", "int", 0)],
    aliases="swapaxes _npi_swapaxes",
)
def swap_axes(x: Expansion) -> ir.Value:
    (data,) = x.inputs
    axes = list(range(x.rank(data)))
    a, b = x.axis(x.p.dim1, data), x.axis(x.p.dim2, data)
    axes[a], axes[b] = axes[b], axes[a]
    return x.op("Transpose", data, perm=axes)


@register(
    "_np_moveaxis",
    "The data with axes moved to other positions.",
    [required("source", "ints"), required("destination", "ints")],
    arguments="a",
    aliases="_npi_moveaxis",
)
def move_axes(x: Expansion) -> ir.Value:
    (data,) = x.inputs
    sources = [x.axis(axis, data) for axis in x.p.source]
    targets = [x.axis(axis, data) for axis in x.p.destination]
    order = [axis for axis in range(x.rank(data)) if axis not in sources]
    for target, source in sorted(zip(targets, sources, strict=True)):
        order.insert(target, source)
    return x.op("Transpose", data, perm=order)


@register(
    "expand_dims",
    "The data with a new axis of dimension 1.",
    [required("axis", "int")],
    aliases="_npi_expand_dims",
)
def expand_dims(x: Expansion) -> ir.Value:
    return x.unsqueeze(x.inputs[0], x.p.axis)


@register(
    "squeeze",
    "The data without axes of dimension 1: those given, or all.",
    [optional("axis", "axes")],
    aliases="_np_squeeze _npi_squeeze",
)
def squeeze(x: Expansion) -> ir.Value:
    (data,) = x.inputs
    axes = (x.p.axis,) if isinstance(x.p.axis, int) else x.p.axis
    if axes is None:
        axes = [i for i, n in enumerate(x.dimensions(data)) if n == 1]
    return x.squeeze(data, *axes) if axes else x.op("Identity", data)


@register(
    "Concat",
    "The arguments one after another along an axis.",
    [required("num_args", "int"), optional("dim", "int", 1)],
    counted(prefix="arg"),
    aliases="concat",
    variadic=True,
)
def concat(x: Expansion) -> ir.Value:
    return x.op("Concat", *x.inputs, axis=x.p.dim)


@register(
    "_rnn_param_concat",
    "The parameters of an RNN one after another.",
    [required("num_args", "int"), optional("dim", "int", 1)],
    counted(prefix="arg"),
    aliases="_npi_rnn_param_concat",
    variadic=True,
)
def join_rnn_parameters(x: Expansion) -> ir.Value:
    return x.op("Concat", *x.inputs, axis=x.p.dim)


@register(
    "_npi_concatenate",
    "The arguments one after another along an axis, or flattened where it is None.",
    [required("num_args", "int"), optional("axis", "int", 0), optional("dim", "int")],
    counted(prefix="data"),
    aliases="_np_concat",
    variadic=True,
)
def concatenate(x: Expansion) -> ir.Value:
    return x.op("Concat", *x.inputs, axis=x.p.axis if x.p.dim is None else x.p.dim)


@register(
    "stack",
    "The arguments along a new axis.",
    [required("num_args", "int"), optional("axis", "int", 0)],
    counted(prefix="arg"),
    aliases="_npi_stack",
    variadic=True,
)
def stack(x: Expansion) -> ir.Value:
    return x.op("Concat", *(x.unsqueeze(v, x.p.axis) for v in x.inputs), axis=x.p.axis)


def _cut(x: Expansion, pieces: Sequence[ir.Value]) -> Sequence[ir.Value]:
    if not x.p.squeeze_axis:
        return pieces
    return [x.squeeze(piece, x.p.axis) for piece in pieces]


def _output_names(n: int) -> Names:
    return tuple(f"output{i}" for i in range(n)) if n != 1 else ("output",)


@register(
    "SliceChannel",
    "Equal pieces along an axis.",
    [
        required("num_outputs", "int"),
        optional("axis", "int", 1),
        optional("squeeze_axis", "bool", False),
    ],
    outputs=lambda p: _output_names(p.num_outputs),
    aliases="split",
)
def slice_channel(x: Expansion) -> Sequence[ir.Value]:
    n = x.p.num_outputs
    if n == 1:
        return _cut(x, [x.op("Identity", x.inputs[0])])
    return _cut(x, x.ops("Split", n, x.inputs[0], axis=x.p.axis, num_outputs=n))


def _pieces(p: Parameters) -> int:
    if p.sections > MOST_OF_ONE_NODE or not (p.indices or p.sections > 0):
        raise ValueError(f"parameter sections: expected 1 to {MOST_OF_ONE_NODE}, or indices")
    return int(p.sections) if p.sections > 0 else len(p.indices)


@register(
    "_split_v2",
    "Pieces along an axis: equal ones, or those that begin at indices.",
    [
        optional("indices", "ints", ()),
        optional("axis", "int", 1),
        optional("squeeze_axis", "bool", False),
        optional("sections", "int", 0),
    ],
    outputs=lambda p: _output_names(_pieces(p)),
    aliases="split_v2 _npi_split _npi_array_split",
)
def split_v2(x: Expansion) -> Sequence[ir.Value]:
    (data,) = x.inputs
    if x.p.sections > 0:
        n = x.p.sections
        return _cut(x, x.ops("Split", n, data, axis=x.p.axis, num_outputs=n))
    starts = list(x.p.indices)
    ends = [*starts[1:], (1 << 63) - 1]
    return _cut(
        x,
        [x.slice(data, [a], [b], [x.p.axis]) for a, b in zip(starts, ends, strict=True)],
    )


def _ends(
    begin: Sequence[int | None], end: Sequence[int | None], step: Sequence[int | None]
) -> tuple[list[int], list[int], list[int]]:
    """The same with numbers for what is left out."""
    most = (1 << 63) - 1
    steps = [n or 1 for n in step] or [1] * len(begin)
    starts = [(most if s < 0 else 0) if b is None else b for b, s in zip(begin, steps, strict=True)]
    stops = [
        (-most if s < 0 else most) if e is None else e for e, s in zip(end, steps, strict=True)
    ]
    return starts, stops, steps


@register(
    "slice",
    "From begin to end along the first axes, in steps.",
    [required("begin", "ints"), required("end", "ints"), optional("step", "ints", ())],
    aliases="crop _npx_slice _npi_slice",
)
def slice_axes(x: Expansion) -> ir.Value:
    starts, ends, steps = _ends(x.p.begin, x.p.end, x.p.step or (None,) * len(x.p.begin))
    has_steps = any(step != 1 for step in steps)
    return x.slice(x.inputs[0], starts, ends, range(len(starts)), steps if has_steps else None)


@register(
    "slice_axis",
    "From begin to end along one axis.",
    [required("axis", "int"), required("begin", "int"), optional("end", "int")],
)
def slice_axis(x: Expansion) -> ir.Value:
    end = (1 << 63) - 1 if x.p.end is None else x.p.end
    return x.slice(x.inputs[0], [x.p.begin], [end], [x.p.axis])


@register(
    "slice_like",
    "The first elements along axes, as many as another array has.",
    [optional("axes", "ints", ())],
    "data shape_like",
    aliases="_npx_slice_like",
)
def slice_like(x: Expansion) -> ir.Value:
    data, like = x.inputs
    if not x.p.axes:
        axes = list(range(x.rank(data)))
        ends = x.op("Shape", like)
    else:
        axes = [x.axis(axis, data) for axis in x.p.axes]
        sizes = [x.size_along(like, x.axis(axis, like)) for axis in x.p.axes]
        ends = x.op("Concat", *sizes, axis=0)
    return x.op("Slice", data, x.ints(*[0] * len(axes)), ends, x.ints(*axes))


@register(
    "tile",
    "The data repeated as a whole along axes.",
    [required("reps", "ints")],
    aliases="_npi_tile",
)
def tile(x: Expansion) -> ir.Value:
    (data,) = x.inputs
    repeats, rank = list(x.p.reps), x.rank(data)
    if len(repeats) > rank:
        data = x.unsqueeze(data, *range(len(repeats) - rank))
    return x.op("Tile", data, x.ints(*[1] * (rank - len(repeats)), *repeats))


@register(
    "repeat",
    "Each element repeated along an axis, or of the flattened data.",
    [required("repeats", "int"), optional("axis", "int")],
    aliases="_npi_repeat",
)
def repeat(x: Expansion) -> ir.Value:
    (data,) = x.inputs
    if x.p.axis is None:
        data = x.reshape(data, [-1])
    axis = 0 if x.p.axis is None else x.axis(x.p.axis, data)
    rank = x.rank(data)
    counts = [1] * (rank + 1)
    counts[axis + 1] = x.p.repeats
    tiled = x.op("Tile", x.unsqueeze(data, axis + 1), x.ints(*counts))
    made: list[Made] = [(i if i <= axis else i + 1,) for i in range(rank)]
    made[axis] = (axis, axis + 1)
    return _reshape(x, tiled, made)


PAD_MODES = {"constant": "constant", "edge": "edge", "reflect": "reflect"}


@register(
    "Pad",
    "Pads axes with a constant, with what is at the edge, or with its reflection.",
    [
        required("mode", "str", *PAD_MODES),
        required("pad_width", "ints"),
        optional("constant_value", "float", 0.0),
    ],
    aliases="pad",
)
def pad(x: Expansion) -> ir.Value:
    (data,) = x.inputs
    width = list(x.p.pad_width)
    pads = x.ints(*width[::2], *width[1::2])
    if x.p.mode == "constant":
        return x.op("Pad", data, pads, x.number(x.p.constant_value, data))
    return x.op("Pad", data, pads, mode=PAD_MODES[x.p.mode])


@register(
    "reverse",
    "The data with the elements along axes in the opposite order.",
    [optional("axis", "axes")],
    aliases="flip _npi_flip",
)
def reverse(x: Expansion) -> ir.Value:
    (data,) = x.inputs
    axes = [x.p.axis] if isinstance(x.p.axis, int) else x.p.axis
    axes = range(x.rank(data)) if axes is None else list(axes)
    n = len(axes)
    return x.slice(data, [-1] * n, [-(1 << 63) + 1] * n, axes, [-1] * n)


@register(
    "depth_to_space",
    "Moves blocks of channels into space.",
    [required("block_size", "int")],
)
def depth_to_space(x: Expansion) -> ir.Value:
    return x.op("DepthToSpace", x.inputs[0], blocksize=x.p.block_size, mode="DCR")


@register(
    "space_to_depth",
    "Moves blocks of space into channels.",
    [required("block_size", "int")],
)
def space_to_depth(x: Expansion) -> ir.Value:
    return x.op("SpaceToDepth", x.inputs[0], blocksize=x.p.block_size)


@register("shape_array", "The shape, as whole numbers.", aliases="_npx_shape_array")
def shape_array(x: Expansion) -> ir.Value:
    return x.op("Shape", x.inputs[0])


@register("size_array", "The number of elements, as an array of one.")
def size_array(x: Expansion) -> ir.Value:
    return x.reshape(x.op("Size", x.inputs[0]), [1])


@register(
    "_np_roll",
    "The elements along an axis moved round.",
    [optional("shift", "axes"), optional("axis", "axes")],
    aliases="_npi_roll",
)
def roll(x: Expansion) -> ir.Value:
    (data,) = x.inputs
    whole = x.p.axis is None
    out = x.reshape(data, [-1]) if whole else data
    axes = (0,) if whole else (x.p.axis,) if isinstance(x.p.axis, int) else x.p.axis
    shifts = (x.p.shift,) if isinstance(x.p.shift, int) else x.p.shift
    for axis, shift in zip(axes, shifts * (len(axes) // len(shifts)), strict=True):
        n = x.dimension(out, axis)
        at = n - shift % n if n else 0
        parts = [x.slice(out, [at], [n], [axis]), x.slice(out, [0], [at], [axis])]
        out = x.op("Concat", *parts, axis=axis)
    return x.op("Reshape", out, x.op("Shape", data)) if whole else out


def _joined(x: Expansion, axis: int, least: int) -> ir.Value:
    """The arguments along an axis, after they have got axes of 1 in front."""
    values = []
    for value in x.inputs:
        missing = max(0, least - x.rank(value))
        values.append(x.unsqueeze(value, *range(missing)) if missing else value)
    return x.op("Concat", *values, axis=axis)


STACKED = (required("num_args", "int"),)


@register(
    "_npi_vstack",
    "The arguments below one another.",
    STACKED,
    counted(prefix="data"),
    aliases="_np_vstack",
    variadic=True,
)
def vstack(x: Expansion) -> ir.Value:
    return _joined(x, 0, 2)


@register(
    "_npi_hstack",
    "The arguments beside one another.",
    STACKED,
    counted(prefix="data"),
    aliases="_np_hstack",
    variadic=True,
)
def hstack(x: Expansion) -> ir.Value:
    return _joined(x, 0 if x.rank(x.inputs[0]) <= 1 else 1, 1)


def _triangle(x: Expansion, upper: int) -> ir.Value:
    return x.op("Trilu", x.inputs[0], x.constant(x.p.k, ir.DataType.INT64), upper=upper)


@register("_npi_tril", "The elements on and below a diagonal.", [optional("k", "int", 0)])
def tril(x: Expansion) -> ir.Value:
    return _triangle(x, 0)


@register("_npi_triu", "The elements on and above a diagonal.", [optional("k", "int", 0)])
def triu(x: Expansion) -> ir.Value:
    return _triangle(x, 1)


@register(
    "_npi_pad",
    "NumPy's pad, with a constant, with what is at the edge, or with its reflection.",
    [
        required("pad_width", "pairs"),
        optional("mode", "str", "constant", *PAD_MODES),
        optional("constant_values", "float", 0.0),
        optional("reflect_type", "str", "even", "even"),
    ],
    aliases="_np_pad",
)
def pad_of_numpy(x: Expansion) -> ir.Value:
    (data,) = x.inputs
    width = x.p.pad_width
    pads = x.ints(*width[::2], *width[1::2])
    if x.p.mode == "constant":
        return x.op("Pad", data, pads, x.number(x.p.constant_values, data))
    return x.op("Pad", data, pads, mode=x.p.mode)
