"""Cases of operators that move, choose and write elements."""

from __future__ import annotations

from typing import Any

import numpy
import torch
from torch.nn import functional as F

from .cases import case, ints, p, r

case("Reshape", r(2, 3), ints(3, -1), constant=(1,), torch=lambda x, n: x.reshape(3, 2))
case("Flatten", r(2, 3, 2), torch=lambda x: x.flatten(1))
case("Squeeze", r(2, 1, 3), ints(1), constant=(1,), torch=lambda x, n: x.squeeze(1))
case("Unsqueeze", r(2, 3), ints(1), constant=(1,), torch=lambda x, n: x.unsqueeze(1))
case("Transpose", r(2, 3, 4), perm=[2, 0, 1], torch=lambda x: x.permute(2, 0, 1))
case("Transpose", r(2, 3, 4), torch=lambda x: x.permute(2, 1, 0))
case("Expand", r(3, 1), ints(2, 1, 4), constant=(1,), torch=lambda x, n: x.expand(2, 3, 4))
case("Concat", r(2, 3), r(2, 1), axis=1, torch=lambda a, b: torch.cat((a, b), 1))
case(
    "Split",
    r(2, 5),
    ints(2, 3),
    constant=(1,),
    axis=1,
    outputs=2,
    torch=lambda x, n: x.split([2, 3], 1),
)
case("Split", r(2, 5), axis=1, num_outputs=2, outputs=2, torch=lambda x: x.split(3, 1))
case("Slice", r(4, 5), ints(1, 0), ints(3, 4), constant=(1, 2), torch=lambda x, *n: x[1:3, :4])
case(
    "Slice",
    r(4, 5),
    ints(-1),
    ints(-10),
    ints(0),
    ints(-2),
    constant=(1, 2, 3, 4),
    torch=lambda x, *n: x.flip(0)[::2],
)
case(
    "Slice",
    r(4, 5),
    ints(0, 1),
    ints(4, 5),
    ints(0, 1),
    ints(2, 3),
    constant=(3,),
    torch=lambda x, *n: x[::2, 1::3],
)
case(
    "Slice",
    r(4, 5, 3),
    ints(3, 1),
    ints(-10, 3),
    ints(0, -1),
    ints(-2, 1),
    torch=lambda x, *n: x[:, :, 1:].flip(0)[::2],
)


def _padded(*pads: int, mode: str = "constant") -> Any:
    """torch pads by numbers that are no tensors, and by elements only what has axes in front."""

    def call(x: Any, n: Any, value: Any = None, axes: Any = None) -> Any:
        if mode != "constant":
            return F.pad(x[None, None], pads, mode)[0, 0]
        return F.pad(x, pads) if value is None else F.pad(x - value, pads) + value

    return call


case("Pad", r(2, 3), ints(1, 0, 0, 2), r(), constant=(1,), torch=_padded(0, 2, 1, 0))
case("Pad", r(2, 3), ints(1, 0, 0, 2), r(), torch=_padded(0, 2, 1, 0))
case("Pad", r(2, 3, 1), ints(1, 2), None, ints(1), torch=_padded(0, 0, 1, 2))
case("Pad", r(2, 3), ints(1, -1), None, ints(1), constant=(1, 3), torch=_padded(1, -1))
for pads, of_torch, mode, name in (
    ((0, 1, 0, 2), (1, 2, 0, 0), "reflect", "reflect"),
    ((1, 2, 2, 0), (2, 0, 1, 2), "edge", "replicate"),
    ((1, 2, 0, 1), (2, 1, 1, 0), "wrap", "circular"),
):
    given = {"constant": (1,), "mode": mode, "torch": _padded(*of_torch, mode=name)}
    case("Pad", r(2, 4), ints(*pads), **given)
case(
    "Pad",
    r(2, 4),
    ints(1, 2),
    None,
    ints(1),
    constant=(1, 3),
    mode="reflect",
    torch=_padded(1, 2, 0, 0, mode="reflect"),
)
for mode, name in (("reflect", "reflect"), ("edge", "replicate"), ("wrap", "circular")):
    case(
        "Pad",
        r(1, 2, 4),
        ints(1, 2),
        None,
        ints(2),
        mode=mode,
        torch=lambda x, *n, name=name: F.pad(x, (1, 2), name),
    )
case("Tile", r(2, 3), ints(2, 3), torch=lambda x, n: x.repeat(2, 3))


def _blocks_first(x: Any, count: int) -> Any:
    """Has channels turned that are a number of blocks of others, as they are in ONNX."""
    return x.unflatten(1, (count, -1)).transpose(1, 2).flatten(1, 2)


case(
    "DepthToSpace",
    r(1, 8, 2, 3),
    blocksize=2,
    torch=lambda x: torch.pixel_shuffle(_blocks_first(x, 4), 2),
)
case(
    "DepthToSpace",
    r(1, 8, 2, 3),
    blocksize=2,
    mode="CRD",
    torch=lambda x: torch.pixel_shuffle(x, 2),
)
case(
    "SpaceToDepth",
    r(1, 3, 4, 2),
    blocksize=2,
    torch=lambda x: _blocks_first(torch.pixel_unshuffle(x, 2), 3),
)
case("Trilu", r(3, 3), ints(1)[0], upper=0, torch=lambda x, k: x.tril(1))
case(
    "ReverseSequence",
    r(3, 2),
    ints(2, 3),
    time_axis=0,
    batch_axis=1,
    torch=lambda x, n: torch.stack((x[[1, 0, 2], 0], x[[2, 1, 0], 1]), 1),
)
case(
    "ReverseSequence",
    r(2, 4, 3),
    ints(1, 3),
    time_axis=1,
    batch_axis=0,
    torch=lambda x, n: torch.cat((x[:1], x[1:, [2, 1, 0, 3]])),
)
case(
    "Resize",
    r(1, 1, 3, 4),
    None,
    numpy.array([1, 1, 2, 1.5], "float32"),
    mode="linear",
    constant=(2,),
    torch=lambda x, *n: torch.nn.functional.interpolate(
        x, scale_factor=(2, 1.5), mode="bilinear", recompute_scale_factor=False
    ),
)
case("Resize", r(1, 1, 3, 4), None, None, ints(1, 1, 5, 3), mode="nearest", constant=(3,))
case(
    "Resize",
    r(1, 2, 3, 4),
    None,
    None,
    ints(1, 2, 5, 3),
    mode="nearest",
    nearest_mode="floor",
    coordinate_transformation_mode="asymmetric",
    constant=(3,),
    torch=lambda x, *n: F.interpolate(x, (5, 3), mode="nearest"),
)
case(
    "Resize",
    r(1, 2, 9, 7),
    None,
    None,
    ints(1, 2, 4, 5),
    mode="linear",
    antialias=1,
    exclude_outside=1,
    constant=(3,),
    torch=lambda x, *n: F.interpolate(x, (4, 5), mode="bilinear", antialias=True),
)
case(
    "Resize",
    r(1, 2, 3, 4),
    None,
    None,
    ints(1, 2, 5, 3),
    mode="linear",
    coordinate_transformation_mode="align_corners",
    constant=(3,),
    torch=lambda x, *n: F.interpolate(x, (5, 3), mode="bilinear", align_corners=True),
)
case(
    "Resize",
    r(1, 1, 3, 4),
    None,
    None,
    ints(6, 6),
    axes=[2, 3],
    mode="cubic",
    constant=(3,),
    torch=lambda x, *n: torch.nn.functional.interpolate(x, (6, 6), mode="bicubic"),
)
for policy in ("not_larger", "not_smaller"):
    case(
        "Resize",
        r(1, 1, 3, 4),
        None,
        None,
        ints(6, 7),
        axes=[2, 3],
        mode="linear",
        constant=(3,),
        keep_aspect_ratio_policy=policy,
    )
case("CenterCropPad", r(4, 3), ints(2, 3), torch=lambda x, n: x[1:3])
case("CenterCropPad", r(5, 2, 3), ints(2, 5), axes=[0, 2], torch=lambda x, n: F.pad(x[1:3], (1, 1)))

INDEX = ints([0, 2], [1, -1])
case("Gather", r(3, 4), INDEX, torch=lambda x, i: x[i])
case("Gather", r(3, 4), ints(1, 1), axis=1, torch=lambda x, i: x[:, i])
case("Gather", r(3, 4), ints(2)[0], axis=1, torch=lambda x, i: x[:, 2])
case("GatherElements", r(2, 4), ints([0, 1], [2, 2]), axis=1, torch=lambda x, i: x.gather(1, i))
case("GatherND", r(3, 4), ints([0, 1], [0, 1]), torch=lambda x, i: x[i[:, 0], i[:, 1]])
BATCH = torch.arange(2)[:, None]
for indices in (([[1], [0]], [[2], [2]]), ([[1], [0], [1]], [[2], [2], [-1]])):
    given = {"batch_dims": 1, "torch": lambda x, i: x[BATCH, i[..., 0]]}
    case("GatherND", r(2, 3, 2), ints(*indices), **given)
case(
    "GatherND",
    r(2, 3, 4),
    ints([[1], [0], [3]], [[2], [2], [-1]]),
    batch_dims=2,
    torch=lambda x, i: x.gather(2, i % 4)[..., 0],
)
case(
    "ScatterElements",
    r(2, 4),
    ints([0, 1], [2, 3]),
    r(2, 2),
    axis=1,
    torch=lambda x, i, u: x.scatter(1, i, u),
)
case(
    "ScatterElements",
    r(4, 2),
    ints([0, 0], [2, 0]),
    r(2, 2),
    axis=0,
    reduction="add",
    torch=lambda x, i, u: x.scatter_add(0, i, u),
)


def _scatter_reduce(axis: int, kind: str) -> Any:
    return lambda x, i, u: x.scatter_reduce(axis, i, u, kind)


def _rows_reduced(kind: str) -> Any:
    """Of the last of three axes, each written at indices of the two in front."""

    def call(x: Any, i: Any, u: Any) -> Any:
        rows = (i % torch.tensor(x.shape[:2])) @ torch.tensor([x.shape[1], 1])
        where = rows.reshape(-1, 1).expand(-1, x.shape[2])
        return x.flatten(0, 1).scatter_reduce(0, where, u.flatten(0, 1), kind).reshape(x.shape)

    return call


# Indices of an element several times, elements that are 0, and, of both inputs, equal ones.
TWICE = ints([0, 2], [0, -1], [2, 0])
FEW = numpy.array([[2.0, 0.0], [0.5, 3.0], [1.5, -2.0], [1.0, 0.0]])
UPDATES = numpy.array([[2.0, 0.0], [-1.5, 0.7], [1.5, 0.0]])
ZEROS = numpy.array([[0.0, 0.5], [3.0, 0.0], [1.5, 0.0]])
for kind, name in (("mul", "prod"), ("max", "amax"), ("min", "amin")):
    case(
        "ScatterElements",
        r(4, 2),
        TWICE,
        r(3, 2),
        axis=0,
        reduction=kind,
        torch=lambda x, i, u, name=name: x.scatter_reduce(0, i % 4, u, name),
    )
    case(
        "ScatterElements",
        FEW,
        TWICE % 4,
        UPDATES,
        reduction=kind,
        smooth=kind == "mul",
        torch=_scatter_reduce(0, name),
    )
    case(
        "ScatterND",
        r(3, 2, 2),
        ints([[0, 1], [2, 0]], [[2, 0], [-1, -2]]),
        r(2, 2, 2),
        reduction=kind,
        torch=_rows_reduced(name),
    )
    case(
        "ScatterElements",
        r(4, 3),
        TWICE,
        r(3, 2),
        axis=-2,
        reduction=kind,
        torch=lambda x, i, u, name=name: x.scatter_reduce(0, i % 4, u, name),
    )
case(
    "ScatterElements",
    r(3, 4),
    ints([0, -1, 1]),
    r(1, 3),
    axis=-1,
    torch=lambda x, i, u: x.scatter(1, i % 4, u),
)
case(
    "ScatterElements",
    r(3, 4),
    ints([0, 1], [3, 3]),
    r(2, 2),
    axis=-1,
    reduction="add",
    torch=lambda x, i, u: x.scatter_add(1, i, u),
)
case("ScatterElements", FEW, TWICE % 4, ZEROS, reduction="mul", torch=_scatter_reduce(0, "prod"))
case(
    "ScatterND",
    r(3, 4),
    ints([0], [2]),
    r(2, 4),
    torch=lambda x, i, u: x.index_put((i[:, 0],), u),
)
for indices, shape in ((([0], [0]), (2, 4)), (([1, 3], [-1, 0], [1, -1]), (3,))):
    case(
        "ScatterND",
        r(3, 4),
        ints(*indices),
        r(*shape),
        reduction="add",
        torch=lambda x, i, u: x.index_put(i.unbind(-1), u, accumulate=True),
    )


def _written_at(count: int) -> Any:
    """So many rows of each item of the batch, of which the one behind the last is the first."""

    def call(x: Any, u: Any, first: Any) -> Any:
        rows = (first[:, None] + torch.arange(count)) % x.shape[1]
        return x.scatter(1, rows[..., None].expand_as(u), u)

    return call


case("TensorScatter", r(2, 4, 3), r(2, 2, 3), ints(1, 0), axis=1, torch=_written_at(2))
case(
    "TensorScatter",
    r(2, 4, 3),
    r(2, 3, 3),
    ints(3, 2),
    axis=1,
    mode="circular",
    torch=_written_at(3),
)
case("TopK", r(3, 4), ints(2), axis=1, outputs=2, torch=lambda x, k: x.topk(2, 1).values)
CHOICE = numpy.array([True, False, True, True])
case("Compress", r(3, 2), CHOICE[:3], axis=0, torch=lambda x, i: x[i])
case("Compress", r(3, 2), CHOICE, torch=lambda x, i: x.flatten()[:4][i])
case("Unique", r(7), outputs=4, torch=lambda x: x.sort().values)
case("Unique", r(4, 3), axis=1, outputs=2, torch=lambda x: x[:, x[0].argsort()])


def _one_hot(axis: int) -> Any:
    def call(i: Any, depth: Any, values: Any) -> Any:
        where = F.one_hot(i % depth, int(depth)).movedim(-1, axis)
        return torch.where(where > 0, values[1], values[0])

    return call


case("OneHot", ints(1, 0), ints(3)[0], r(2), torch=_one_hot(-1))
case("OneHot", ints([1, -1, 0], [2, 2, 1]), ints(3)[0], r(2), axis=1, torch=_one_hot(1))
case(
    "Range",
    numpy.array(0.5),
    numpy.array(2.0),
    p() * 0.4,
    fixed=(1,),
    torch=lambda first, end, step: first + step * torch.arange(int(((end - first) / step).ceil())),
)
