"""MaxRoiPool: the largest elements of parts of regions of images."""

from __future__ import annotations

import math
from typing import Any

from .....graph.lowering._value import Declined
from .._kernel import GenKernel, Spec
from .._table import Known, emits
from .._target import Target
from .._types import type_of
from ._each import coordinates, each
from ._movement import Inputs, first

# Corners further away than this, in elements, are here: products with them stay in 64 bits, and no
# image reaches that far.
_FAR = "1e12"


@emits("MaxRoiPool")
def _max_roi_pool(
    target: Target, inputs: Inputs, attributes: dict[str, Any], known: Known
) -> GenKernel:
    """0 for a part outside of its image. A region of an image that there is not, and of corners
    that are no numbers, gives NaN."""
    x, rois = first(inputs), inputs[1]
    if rois is None or rois.dtype != x.dtype or len(x.shape) != 4 or len(rois.shape) != 2:
        raise Declined(f"regions {rois} of {x.dtype} {list(x.shape)}")
    images, channels, *extents = x.shape
    parts = [int(one) for one in attributes["pooled_shape"]]
    kind, scale = type_of(x.dtype), float(attributes.get("spatial_scale", 1.0))
    if not kind.is_float or rois.shape[1] != 5:
        raise Declined(f"regions {list(rois.shape)} of {x.dtype} {list(x.shape)}")
    shape = (rois.shape[0], channels, *parts)
    region, channel, *part = coordinates("i", shape)
    corners = [kind.load(f"roi[{n}]") for n in range(5)]
    bounds = []
    for axis, (low, high) in enumerate(((2, 4), (1, 3))):
        bounds += [
            f"const int64_t low{axis} = (int64_t)round(corner[{low}]);",
            f"int64_t size{axis} = (int64_t)round(corner[{high}]) - low{axis} + 1;",
            f"if (size{axis} < 1) size{axis} = 1;",
            f"const int64_t part{axis} = {part[axis]};",
            f"int64_t begin{axis} = low{axis} + part{axis} * size{axis} / {parts[axis]};",
            f"int64_t stop{axis} = low{axis} + ((part{axis} + 1) * size{axis} + {parts[axis] - 1})"
            f" / {parts[axis]};",
            f"if (begin{axis} < 0) begin{axis} = 0;",
            f"if (stop{axis} > {extents[axis]}) stop{axis} = {extents[axis]};",
        ]
    lines = [
        f"const {kind.memory} *const roi = (const {kind.memory} *)in[1] + ({region}) * 5;",
        f"{kind.memory} *const y = ({kind.memory} *)out[0] + i;",
        f"const double image = (double){corners[0]};",
        "double corner[5] = {0};",
        f"int ok = image >= 0 && image < {images} && image == floor(image);",
        *(
            f"corner[{n}] = (double){one} * {scale!r};"
            for n, one in enumerate(corners[1:], start=1)
        ),
        "for (int n = 1; n < 5; ++n) {",
        "  ok = ok && isfinite(corner[n]);",
        f"  corner[n] = corner[n] > {_FAR} ? {_FAR} : corner[n] < -{_FAR} ? -{_FAR} : corner[n];",
        "}",
        "if (!ok) {",
        f"  *y = {kind.store('NAN')};",
        "  continue;",
        "}",
        *bounds,
        f"const {kind.memory} *const x = (const {kind.memory} *)in[0]"
        f" + ((int64_t)image * {channels} + {channel}) * {math.prod(extents)};",
        f"{kind.value} top = 0;",
        "int found = 0;",
        "for (int64_t row = begin0; row < stop0; ++row)",
        "  for (int64_t column = begin1; column < stop1; ++column) {",
        f"    const {kind.value} value = {kind.load(f'x[row * {extents[1]} + column]')};",
        "    if (!found || value > top || (value != value && top == top)) top = value;",
        "    found = 1;",
        "  }",
        f"*y = {kind.store('top')};",
    ]
    size = max(1, math.prod(extents) // max(math.prod(parts), 1))
    return each("max_roi_pool", [Spec(shape, x.dtype)], math.prod(shape), lines, size=size)
