"""Cases of what samples between elements, of transforms, and of patches put together."""

from __future__ import annotations

from typing import Any

import numpy
import torch
from torch.nn import functional as F

from .cases import case, h, ints, p, r, u
from .layers_of_torch import aligned_regions, deformed, largest_of_regions


def _grid_sample(padding: str, mode: str, aligned: bool) -> Any:
    return lambda x, g: F.grid_sample(x, g, mode, padding, aligned)


GRID = 1.2 * u(2, 3, 2, 2)
case("GridSample", r(2, 3, 4, 5), GRID, torch=_grid_sample("zeros", "bilinear", False))
case(
    "GridSample",
    r(2, 3, 4, 5),
    GRID,
    align_corners=1,
    padding_mode="border",
    torch=_grid_sample("border", "bilinear", True),
)
case(
    "GridSample", r(2, 3, 4, 5), GRID, mode="nearest", torch=_grid_sample("zeros", "nearest", False)
)
for aligned in (False, True):
    options = {"align_corners": int(aligned), "mode": "cubic"}
    case(
        "GridSample",
        r(2, 3, 4, 5),
        GRID,
        torch=_grid_sample("zeros", "bicubic", aligned),
        **options,
    )
    for size, cubic in ((0.6, _grid_sample("border", "bicubic", aligned)), (1.4, None)):
        # Positions outside are moved before elements are chosen, and not behind it as in torch.
        case(
            "GridSample",
            r(2, 2, 4, 5),
            size * u(2, 3, 2, 2),
            padding_mode="border",
            torch=cubic,
            **options,
        )
    for mode, name in (("linear", "bilinear"), ("nearest", "nearest"), ("cubic", "bicubic")):
        options["mode"] = mode
        case(
            "GridSample",
            r(2, 3, 4, 5),
            4 * u(2, 3, 2, 2),
            padding_mode="reflection",
            torch=_grid_sample("reflection", name, aligned),
            **options,
        )
    for mode, name in (("linear", "bilinear"), ("nearest", "nearest")):
        for padding in ("zeros", "border", "reflection"):
            options["mode"] = mode
            case(
                "GridSample",
                r(1, 2, 3, 4, 2),
                1.5 * u(1, 2, 2, 3, 3),
                padding_mode=padding,
                torch=_grid_sample(padding, name, aligned),
                **options,
            )
case("GridSample", r(1, 2, 3, 4, 2), 1.2 * u(1, 2, 1, 3, 3), mode="cubic")
case(
    "GridSample",
    r(1, 2, 1, 4),
    3 * u(1, 2, 3, 2),
    padding_mode="reflection",
    align_corners=1,
    executed=False,
    torch=_grid_sample("reflection", "bilinear", True),
)
case(
    "GridSample",
    r(1, 2, 6),
    1.2 * u(1, 4, 1),
    # As an image of three rows, of which it reads the middle one.
    torch=lambda x, g: F.grid_sample(
        F.pad(x[:, :, None], (0, 0, 1, 1)), F.pad(g, (0, 1))[:, None], align_corners=False
    )[:, :, 0],
)
case(
    "AffineGrid",
    h(1, 2, 3),
    ints(1, 1, 2, 3),
    torch=lambda t, n: F.affine_grid(t, [1, 1, 2, 3], False),
)
case(
    "AffineGrid",
    h(2, 3, 4),
    ints(2, 1, 2, 3, 2),
    align_corners=1,
    torch=lambda t, n: F.affine_grid(t, [2, 1, 2, 3, 2], True),
)
case(
    "AffineGrid",
    h(1, 2, 3),
    ints(1, 1, 2, 3),
    constant=(1,),
    torch=lambda t, n: F.affine_grid(t, [1, 1, 2, 3], False),
)
case(
    "RoiAlign",
    r(2, 2, 5, 5),
    numpy.array([[0.3, 0.4, 3.2, 3.9], [1.1, 0.2, 4.4, 2.7]]),
    ints(1, 0),
    sampling_ratio=2,
    output_height=2,
    output_width=2,
    spatial_scale=0.9,
    torch=aligned_regions((2, 2), 2, 0.9),
)
case(
    "RoiAlign",
    r(2, 2, 5, 6),
    numpy.array([[0.3, 0.4, 3.2, 3.9], [1.1, 0.2, 4.4, 2.7]]),
    ints(1, 1),
    sampling_ratio=3,
    output_height=2,
    output_width=3,
    coordinate_transformation_mode="output_half_pixel",
    torch=aligned_regions((2, 3), 3, half=0),
)
REGIONS_OF_MAXIMA = [
    (0, slice(0, 6), slice(0, 5)),
    (1, slice(1, 5), slice(2, 7)),
    None,
    (1, slice(1, 2), slice(2, 3)),
]
case(
    "MaxRoiPool",
    r(2, 2, 6, 7),
    numpy.array([[0, 0, 0, 8, 9], [1, 3, 2, 11, 7], [0, 20, 4, 30, 9], [1, 3, 2, 3, 2]], "float64"),
    fixed=(1,),
    pooled_shape=[2, 3],
    spatial_scale=0.5,
    torch=largest_of_regions((2, 3), REGIONS_OF_MAXIMA),
)
case(
    "RoiAlign",
    r(2, 2, 5, 5),
    numpy.array([[0.3, 0.4, 3.2, 3.9], [1.1, 0.2, 6.4, 2.7]]),
    ints(1, 0),
    mode="max",
    sampling_ratio=2,
    output_height=2,
    output_width=3,
)
# Of the first region the parts have other numbers of samples than of the second; the last one is
# empty.
REGIONS = numpy.array([[0.3, 0.4, 4.2, 3.9], [1.1, 0.2, 2.4, 4.7], [3.0, 2.0, 2.0, 1.0]])
for mode in ("avg", "max"):
    case(
        "RoiAlign",
        r(2, 2, 5, 5),
        REGIONS,
        ints(1, 0, 1),
        mode=mode,
        output_height=2,
        output_width=1,
        executed=mode == "avg",
    )
case(
    "DeformConv",
    r(1, 2, 4, 4),
    r(3, 2, 2, 2),
    0.4 * u(1, 8, 3, 3),
    r(3),
    p(1, 4, 3, 3),
    torch=deformed(),
)
case(
    "DeformConv",
    r(2, 4, 4, 5),
    r(6, 2, 2, 2),
    0.4 * u(2, 16, 2, 4),
    r(6),
    p(2, 8, 2, 4),
    group=2,
    offset_group=2,
    kernel_shape=[2, 2],
    strides=[2, 1],
    pads=[0, 1, 0, 0],
    dilations=[1, 2],
    torch=deformed(2, 2, (2, 1), (0, 1, 0, 0), (1, 2)),
)
case(
    "DeformConv",
    r(1, 6, 3, 3),
    r(2, 3, 2, 2),
    0.4 * u(1, 24, 2, 2),
    group=2,
    offset_group=3,
    kernel_shape=[2, 2],
    torch=deformed(2, 3),
)
case(
    "DeformConv",
    r(1, 2, 6),
    r(4, 1, 3),
    0.4 * u(1, 6, 6),
    pads=[1, 1],
    group=2,
    offset_group=2,
    kernel_shape=[3],
    executed=False,
)
case("Det", r(2, 3, 3), torch=torch.det)
case(
    "Col2Im",
    r(1, 8, 9),
    ints(4, 3),
    ints(2, 2),
    constant=(1, 2),
    pads=[0, 1, 0, 0],
    strides=[1, 1],
    torch=lambda x, *n: F.fold(x, (4, 4), 2)[..., 1:],
)
case(
    "Col2Im",
    r(1, 8, 4),
    ints(4, 4),
    ints(2, 2),
    constant=(1, 2),
    strides=[2, 2],
    torch=lambda x, *n: F.fold(x, (4, 4), 2, stride=2),
)
case(
    "Col2Im",
    r(1, 12, 12),
    ints(5, 4),
    ints(2, 3),
    strides=[2, 1],
    dilations=[1, 1],
    pads=[1, 1, 1, 1],
    torch=lambda x, *n: F.fold(x, (5, 4), (2, 3), padding=1, stride=(2, 1)),
)
case("DFT", r(2, 5, 1), torch=lambda x: torch.view_as_real(torch.fft.fft(x[..., 0])))
case(
    "DFT",
    r(3, 4, 2),
    ints(5)[0],
    ints(0)[0],
    constant=(1, 2),
    inverse=1,
    torch=lambda x, *n: torch.view_as_real(torch.fft.ifft(torch.view_as_complex(x), 5, 0)),
)
case("DFT", r(2, 5, 1), onesided=1, torch=lambda x: torch.view_as_real(torch.fft.rfft(x[..., 0])))
case(
    "DFT",
    r(2, 4, 1),
    ints(6)[0],
    inverse=1,
    torch=lambda x, n: torch.view_as_real(torch.fft.ifft(x[..., 0], 6).resolve_conj()),
)
case(
    "DFT",
    r(2, 4, 2),
    inverse=1,
    onesided=1,
    torch=lambda x: torch.fft.irfft(torch.view_as_complex(x))[..., None],
)
case(
    "DFT",
    r(5, 3, 2),
    ints(7)[0],
    ints(0)[0],
    constant=(2,),
    inverse=1,
    onesided=1,
    torch=lambda x, n, a: torch.fft.irfft(torch.view_as_complex(x), 7, 0)[..., None],
)
case(
    "STFT",
    r(2, 9, 2),
    ints(3)[0],
    p(4),
    onesided=0,
    executed=False,
    torch=lambda x, n, w: torch.view_as_real(
        torch.stft(torch.view_as_complex(x), 4, 3, 4, w, False, return_complex=True).transpose(1, 2)
    ),
)
case(
    "STFT",
    r(2, 9, 1),
    ints(2)[0],
    None,
    ints(5)[0],
    executed=False,
    torch=lambda x, n, w, m: torch.view_as_real(
        torch.stft(
            x[..., 0], 5, 2, window=torch.ones(5, dtype=x.dtype), center=False, return_complex=True
        ).transpose(1, 2)
    ),
)
case(
    "STFT",
    r(1, 8, 1),
    ints(2)[0],
    p(4),
    ints(4)[0],
    constant=(1, 3),
    executed=False,
    torch=lambda x, n, w, m: torch.view_as_real(
        torch.stft(x[..., 0], 4, 2, 4, w, False, return_complex=True).transpose(1, 2)
    ),
)
