"""Kernels that compute each element of a tensor, or each row of one, by itself."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from textwrap import indent

from .._kernel import GenKernel, Spec, make_kernel, signature
from ._copy import strides_of

# Elements that a tile computes at least.
LEAST = 4096


def each(
    name: str,
    outputs: Sequence[Spec],
    count: int,
    lines: Sequence[str],
    *,
    index: str = "i",
    size: int = 1,
    head: Sequence[str] = (),
    tables: Sequence[str] = (),
    workspace: int = 0,
) -> GenKernel:
    """The kernel that runs `lines` for `index` from 0 to `count`, in tiles.

    `size` is about how many elements each of them is, `head` stands in front of the loop of a tile,
    and `tables` in front of the function.
    """
    group = max(1, min(count, LEAST // max(size, 1)))
    text = [
        *tables,
        f"{signature()} {{",
        *(["  (void)work;"] if not workspace else []),
        *(f"  {line}" for line in head),
        f"  const int64_t last = end * {group} < {count} ? end * {group} : {count};",
        f"  for (int64_t {index} = begin * {group}; {index} < last; ++{index}) {{",
        *(indent(line, "    ") for line in lines),
        "  }",
        "}",
        "",
    ]
    return make_kernel(name, "\n".join(text), -(-count // group), outputs, workspace=workspace)


def whole(name: str, outputs: Sequence[Spec], lines: Sequence[str]) -> GenKernel:
    """The kernel that runs `lines` once, where their order matters: of one tile."""
    text = [f"{signature()} {{", "  (void)work, (void)begin, (void)end;"]
    text += [*(indent(line, "  ") for line in lines), "}", ""]
    return make_kernel(name, "\n".join(text), 1, outputs)


def coordinates(index: str, shape: Sequence[int]) -> list[str]:
    """The index along each axis of a row-major tensor, of the number of an element."""
    found = []
    for axis, (extent, stride) in enumerate(zip(shape, strides_of(shape), strict=True)):
        text = f"{index} / {stride}" if stride > 1 else index
        found.append(text if axis == 0 else f"{text} % {max(extent, 1)}")
    return found


def position(at: Sequence[str], shape: Sequence[int]) -> str:
    """The number of an element in a row-major tensor, of its index along each axis."""
    terms = [f"({one}) * {stride}" for one, stride in zip(at, strides_of(shape), strict=True)]
    return " + ".join(terms) or "0"


def inside(extent: int) -> Iterator[str]:
    """The position in `at`, counted from the end where it is negative; `ok` says if it is inside.

    A function that returns nothing cannot reject a position outside: what is read from there
    becomes bytes of ones, a NaN for types that have one, and never another element of memory;
    what would be written there is written nowhere.
    """
    yield f"if (at < 0) at += {extent};"
    yield f"const int ok = at >= 0 && at < {extent};"


def around(shape: Sequence[int], axis: int) -> tuple[int, int, int]:
    """How many elements are in front of an axis, along it, and behind it."""
    return math.prod(shape[:axis]), shape[axis], math.prod(shape[axis + 1 :])
