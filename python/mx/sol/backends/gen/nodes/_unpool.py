"""Operators that put windows back where they came from, Col2Im and MaxUnpool; and the largest
elements of windows with their positions, which the latter reads."""

from __future__ import annotations

import math
from typing import Any

from .....graph.lowering._value import Declined
from .....graph.lowering._windows import extents_out
from .._kernel import GenKernel, Spec
from .._table import Known, emits
from .._target import Target
from .._types import type_of
from ._copy import item_type
from ._each import coordinates, each, inside, position, whole
from ._movement import Inputs, first, ints
from ._pooling import windows_of
from ._scatter import joined

# No operator of ONNX: a MaxPool whose positions are asked for, or of a type without vectors.
POOL_WITH_POSITIONS = "MaxPoolWithPositions"


@emits("Col2Im")
def _col2im(target: Target, inputs: Inputs, attributes: dict[str, Any], known: Known) -> GenKernel:
    """Each element is added where it came from; those that came from the padding are left out."""
    x = first(inputs)
    image, block = ints({}, known, "image_shape", 1), ints({}, known, "block_shape", 2)
    if image is None or block is None:
        raise Declined("the shapes of image and block depend on the model's inputs")
    axes = len(image)
    strides = list(attributes.get("strides") or [1] * axes)
    dilations = list(attributes.get("dilations") or [1] * axes)
    pads = list(attributes.get("pads") or [0] * 2 * axes)
    counts = extents_out(image, block, strides, dilations, pads)
    if len(x.shape) != 3 or x.shape[1] % math.prod(block) or x.shape[2] != math.prod(counts):
        raise Declined(f"blocks of {block} in {image} for the shape {list(x.shape)}")
    kind, planes = type_of(x.dtype).memory, x.shape[0] * (x.shape[1] // math.prod(block))
    outside = " || ".join(f"i{n} < 0 || i{n} >= {image[n]}" for n in range(axes))
    lines = [
        f"{kind} *const y = ({kind} *)out[0] + plane * {math.prod(image)};",
        f"const {kind} *x = (const {kind} *)in[0] + plane * {math.prod(block) * x.shape[2]};",
        f"memset(y, 0, {math.prod(image)} * sizeof *y);",
        *(f"for (int64_t k{n} = 0; k{n} < {size}; ++k{n})" for n, size in enumerate(block)),
        *(
            f"for (int64_t o{n} = 0; o{n} < {size}; ++o{n}{', ++x' * (n == axes - 1)})"
            for n, size in enumerate(counts)
        ),
        "{",
        *(
            f"  const int64_t i{n} = o{n} * {strides[n]} + k{n} * {dilations[n]} - {pads[n]};"
            for n in range(axes)
        ),
        f"  if ({outside}) continue;",
        f"  const int64_t at = {position([f'i{n}' for n in range(axes)], image)};",
        f"  {joined('add', x.dtype, 'y[at]', '*x')}",
        "}",
    ]
    out = Spec((x.shape[0], x.shape[1] // math.prod(block), *image), x.dtype)
    size = math.prod(block) * x.shape[2]
    return each("col2im", [out], planes, lines, index="plane", size=size)


@emits("MaxUnpool")
def _max_unpool(
    target: Target, inputs: Inputs, attributes: dict[str, Any], known: Known
) -> GenKernel:
    """Each element is written at its position in a tensor of zeros, which may be a corner of a
    larger one."""
    x, positions = first(inputs), inputs[1]
    if positions is None or positions.shape != x.shape or positions.dtype != "int64":
        raise Declined(f"positions {positions} for elements of the shape {list(x.shape)}")
    if len(inputs) > 2 and inputs[2] is not None and 2 not in known:
        raise Declined("a shape that depends on the model's inputs")
    kernel = attributes["kernel_shape"]
    axes = len(kernel)
    strides = attributes.get("strides") or [1] * axes
    pads = attributes.get("pads") or [0] * 2 * axes
    own = [
        (extent - 1) * strides[n] - pads[n] - pads[axes + n] + kernel[n]
        for n, extent in enumerate(x.shape[2:])
    ]
    shape = (*x.shape[:2], *own)
    wanted = tuple(ints({}, known, "output_shape", 2) or shape)
    if len(wanted) != len(shape) or any(w < s for w, s in zip(wanted, shape, strict=True)):
        raise Declined(f"the shape {list(wanted)} for windows of {list(shape)}")
    kind = item_type(x.dtype)
    to = position(coordinates("at", shape), wanted) if wanted != shape else "at"
    return whole(
        "max_unpool",
        [Spec(wanted, x.dtype)],
        [
            f"{kind} *const y = out[0];",
            f"const {kind} *const x = in[0];",
            "const int64_t *const positions = in[1];",
            f"memset(y, 0, {math.prod(wanted)} * sizeof *y);",
            f"for (int64_t i = 0; i < {x.size}; ++i) {{",
            "  int64_t at = positions[i];",
            *(f"  {line}" for line in inside(math.prod(shape))),
            f"  if (ok) y[{to}] = x[i];",
            "}",
        ],
    )


@emits(POOL_WITH_POSITIONS, since=0)
def _pool_with_positions(
    target: Target, inputs: Inputs, attributes: dict[str, Any], known: Known
) -> GenKernel:
    """As MaxPool; positions count elements of the whole tensor. A NaN is larger than all others."""
    x = first(inputs)
    windows, kind = windows_of(Spec(x.shape, "float32"), attributes), type_of(x.dtype)
    axes, counts, spatial = range(len(windows.counts)), windows.counts, windows.spatial
    at = [f"i{n}" for n in axes]
    if attributes.get("storage_order", 0):  # of the axes of a window the first one counts on
        column = position(at[::-1], spatial[::-1])
    else:
        column = position(at, spatial)
    value = kind.load(f"x[{position(at, spatial)}]")
    larger = " || (value != value && top == top)" if kind.is_float else ""
    lines = [
        f"const {kind.memory} *const x = (const {kind.memory} *)in[0]"
        f" + i / {math.prod(counts)} * {math.prod(spatial)};",
        f"const int64_t window = i % {math.prod(counts)};",
        f"{kind.value} top = 0;",
        "int64_t found = -1;",
        *(f"for (int64_t k{n} = 0; k{n} < {windows.kernel[n]}; ++k{n})" for n in axes),
        "{",
        *(
            f"  const int64_t i{n} = ({one}) * {windows.strides[n]} - {windows.before[n]}"
            f" + k{n} * {windows.dilations[n]};"
            for n, one in enumerate(coordinates("window", counts))
        ),
        f"  if ({' || '.join(f'i{n} < 0 || i{n} >= {spatial[n]}' for n in axes)}) continue;",
        f"  const {kind.value} value = {value};",
        f"  if (found < 0 || value > top{larger}) {{",
        "    top = value;",
        f"    found = {column};",
        "  }",
        "}",
        f"(({kind.memory} *)out[0])[i] = {kind.store('top')};",
        f"((int64_t *)out[1])[i] = i / {math.prod(counts)} * {math.prod(spatial)} + found;",
    ]
    shape = (*x.shape[:2], *counts)
    outputs = [Spec(shape, x.dtype), Spec(shape, "int64")]
    return each("max_pool", outputs, math.prod(shape), lines, size=math.prod(windows.kernel))
