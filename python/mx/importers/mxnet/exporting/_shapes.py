"""What changes shapes, joins arrays and cuts them."""

from __future__ import annotations

from collections.abc import Sequence

import onnx_ir as ir

from ._inverse import Inverse, inverse_of


@inverse_of("Reshape")
def reshape(x: Inverse) -> ir.Value:
    x.expect(allowzero=0)
    return x.make("Reshape", [x.input(0)], shape=x.numbers(1))


@inverse_of("Flatten")
def flatten(x: Inverse) -> ir.Value:
    x.expect(axis=1)
    return x.make("Flatten", [x.input(0)])


@inverse_of("Transpose")
def transpose(x: Inverse) -> ir.Value:
    return x.make("transpose", [x.input(0)], axes=x.attribute("perm"))


@inverse_of("Concat")
def concat(x: Inverse) -> ir.Value:
    values = [x.input(i) for i in range(len(x))]
    return x.make("Concat", values, num_args=len(values), dim=x.attribute("axis"))


@inverse_of("Squeeze")
def squeeze(x: Inverse) -> ir.Value:
    return x.make("squeeze", [x.input(0)], axis=x.numbers(1) if x.has(1) else None)


@inverse_of("Unsqueeze")
def unsqueeze(x: Inverse) -> ir.Value:
    axes = x.numbers(1)
    rank = len(x.shape(0)) + len(axes)
    value = x.input(0)
    ordered = sorted(axis % rank for axis in axes)
    for i, axis in enumerate(ordered):
        is_last = i == len(ordered) - 1
        value = x.make("expand_dims", [value], "" if is_last else f"_axis{i}", axis=axis)
    return value


@inverse_of("Slice")
def slice_axes(x: Inverse) -> ir.Value:
    starts, ends = x.numbers(1), x.numbers(2)
    axes = x.numbers(3) if x.has(3) else list(range(len(starts)))
    if x.has(4) and set(x.numbers(4)) != {1}:
        raise x.error(f"expected steps of 1, but {x.numbers(4)} came")
    value = x.input(0)
    for i, (axis, start, end) in enumerate(zip(axes, starts, ends, strict=True)):
        is_last = i == len(axes) - 1
        value = x.make(
            "slice_axis",
            [value],
            "" if is_last else f"_axis{i}",
            axis=axis,
            begin=start,
            end="None" if end >= 1 << 31 else end,
        )
    return value


@inverse_of("Split")
def split(x: Inverse) -> Sequence[ir.Value]:
    n = len(x.node.outputs)
    axis = x.attribute("axis", 0)
    if x.has(1):
        sizes = x.numbers(1)
        starts = [sum(sizes[:i]) for i in range(n)]
        return x.make_all("_split_v2", [x.input(0)], indices=starts, axis=axis)
    if x.size(0, axis) % n:
        raise x.error(f"expected {n} equal pieces, but dimension {x.size(0, axis)} came")
    return x.make_all("SliceChannel", [x.input(0)], num_outputs=n, axis=axis)


@inverse_of("Pad")
def pad(x: Inverse) -> ir.Value:
    mode = x.attribute("mode", "constant")
    if x.has(3) or mode == "wrap":
        raise x.error("expected all axes, and mode constant, edge or reflect")
    pads = x.numbers(1)
    n = len(pads) // 2
    width = [pads[i + side * n] for i in range(n) for side in (0, 1)]
    constant = x.constant(2) if x.has(2) else None
    if x.has(2) and constant is None:
        raise x.error("expected a constant as input 2: MXNet has a parameter there")
    value = 0.0 if constant is None else float(constant.reshape(()))
    return x.make("Pad", [x.input(0)], mode=mode, pad_width=width, constant_value=value)


@inverse_of("Gather")
def gather(x: Inverse) -> ir.Value:
    return x.make("take", [x.input(0), x.input(1)], axis=x.attribute("axis", 0), mode="wrap")


@inverse_of("Tile")
def tile(x: Inverse) -> ir.Value:
    return x.make("tile", [x.input(0)], reps=x.numbers(1))
