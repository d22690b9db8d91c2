"""Cases of operators that move, choose and write elements."""

from __future__ import annotations

from typing import Any

import numpy
import torch

from .cases import case, ints, p, r

case("Reshape", r(2, 3), ints(3, -1), constant=(1,), torch=lambda x, n: x.reshape(3, 2))
case("Flatten", r(2, 3, 2), torch=lambda x: x.flatten(1))
case("Squeeze", r(2, 1, 3), ints(1), constant=(1,), torch=lambda x, n: x.squeeze(1))
case("Unsqueeze", r(2, 3), ints(1), constant=(1,), torch=lambda x, n: x.unsqueeze(1))
case("Transpose", r(2, 3, 4), perm=[2, 0, 1], torch=lambda x: x.permute(2, 0, 1))
case("Transpose", r(2, 3, 4), torch=lambda x: x.permute(2, 1, 0))
case("Expand", r(3, 1), ints(2, 1, 4), constant=(1,), torch=lambda x, n: x.expand(2, 3, 4))
case("Concat", r(2, 3), r(2, 1), axis=1, torch=lambda a, b: torch.cat((a, b), 1))
case("Split", r(2, 5), ints(2, 3), constant=(1,), axis=1, outputs=2)
case("Split", r(2, 5), axis=1, num_outputs=2, outputs=2)
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
case("Pad", r(2, 3), ints(1, 0, 0, 2), r(), constant=(1,), torch=None)
case("Pad", r(2, 3), ints(1, 0, 0, 2), r())
case("Pad", r(2, 3, 1), ints(1, 2), None, ints(1))
case("Pad", r(2, 3), ints(1, -1), None, ints(1), constant=(1, 3))
case("Pad", r(2, 4), ints(1, 2), None, ints(1), constant=(1, 3), mode="reflect")
case("Pad", r(2, 4), ints(1, 2, 2, 0), constant=(1,), mode="edge")
case("Pad", r(2, 4), ints(1, 2, 0, 1), constant=(1,), mode="wrap")
for mode, name in (("reflect", "reflect"), ("edge", "replicate"), ("wrap", "circular")):
    case(
        "Pad",
        r(1, 2, 4),
        ints(1, 2),
        None,
        ints(2),
        mode=mode,
        torch=lambda x, *n, name=name: torch.nn.functional.pad(x, (1, 2), name),
    )
case("Tile", r(2, 3), ints(2, 3), torch=lambda x, n: x.repeat(2, 3))
case("DepthToSpace", r(1, 8, 2, 3), blocksize=2)
case(
    "DepthToSpace",
    r(1, 8, 2, 3),
    blocksize=2,
    mode="CRD",
    torch=lambda x: torch.pixel_shuffle(x, 2),
)
case("SpaceToDepth", r(1, 2, 4, 2), blocksize=2)
case("Trilu", r(3, 3), ints(1)[0], upper=0, torch=lambda x, k: x.tril(1))
case("ReverseSequence", r(3, 2), ints(2, 3), time_axis=0, batch_axis=1)
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
case("CenterCropPad", r(4, 3), ints(2, 3))

INDEX = ints([0, 2], [1, -1])
case("Gather", r(3, 4), INDEX, torch=lambda x, i: x[i])
case("Gather", r(3, 4), ints(1, 1), axis=1, torch=lambda x, i: x[:, i])
case("Gather", r(3, 4), ints(2)[0], axis=1, torch=lambda x, i: x[:, 2])
case("GatherElements", r(2, 4), ints([0, 1], [2, 2]), axis=1, torch=lambda x, i: x.gather(1, i))
case("GatherND", r(3, 4), ints([0, 1], [0, 1]), torch=lambda x, i: x[i[:, 0], i[:, 1]])
case("GatherND", r(2, 3, 2), ints([[1], [0]], [[2], [2]]), batch_dims=1)
case("GatherND", r(2, 3, 2), ints([[1], [0], [1]], [[2], [2], [-1]]), batch_dims=1)
case("GatherND", r(2, 3, 4), ints([[1], [0], [3]], [[2], [2], [-1]]), batch_dims=2)
case("ScatterElements", r(2, 4), ints([0, 1], [2, 3]), r(2, 2), axis=1)
case("ScatterElements", r(4, 2), ints([0, 0], [2, 0]), r(2, 2), axis=0, reduction="add")


def _scatter_reduce(axis: int, kind: str) -> Any:
    return lambda x, i, u: x.scatter_reduce(axis, i, u, kind)


# Indices of an element several times, elements that are 0, and, of both inputs, equal ones.
TWICE = ints([0, 2], [0, -1], [2, 0])
FEW = numpy.array([[2.0, 0.0], [0.5, 3.0], [1.5, -2.0], [1.0, 0.0]])
UPDATES = numpy.array([[2.0, 0.0], [-1.5, 0.7], [1.5, 0.0]])
ZEROS = numpy.array([[0.0, 0.5], [3.0, 0.0], [1.5, 0.0]])
for kind, name in (("mul", "prod"), ("max", "amax"), ("min", "amin")):
    case("ScatterElements", r(4, 2), TWICE, r(3, 2), axis=0, reduction=kind)
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
case("ScatterElements", r(3, 4), ints([0, -1, 1]), r(1, 3), axis=-1)
case("ScatterElements", r(3, 4), ints([0, 1], [3, 3]), r(2, 2), axis=-1, reduction="add")
case("ScatterElements", FEW, TWICE % 4, ZEROS, reduction="mul", torch=_scatter_reduce(0, "prod"))
case("ScatterND", r(3, 4), ints([0], [2]), r(2, 4))
case("ScatterND", r(3, 4), ints([0], [0]), r(2, 4), reduction="add")
case("TensorScatter", r(2, 4, 3), r(2, 2, 3), ints(1, 0), axis=1)
case("TopK", r(3, 4), ints(2), axis=1, outputs=2, torch=lambda x, k: x.topk(2, 1).values)
case("Compress", r(3, 2), numpy.array([True, False, True]), axis=0)
case("Compress", r(3, 2), numpy.array([True, False, True, True]))
case("Unique", r(7), outputs=4, torch=lambda x: x.sort().values)
case("Unique", r(4, 3), axis=1, outputs=2)
case("OneHot", ints(1, 0), ints(3)[0], r(2))
case("Range", numpy.array(0.5), numpy.array(2.0), p() * 0.4, fixed=(1,))
