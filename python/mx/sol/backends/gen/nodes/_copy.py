"""C that copies elements by strides: what most operators of movement come down to."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy

from .....graph.lowering._value import Declined
from .._kernel import NAME, GenKernel, Spec, make_kernel, signature

# Elements that are copied at once; as many tiles as may be of use to threads.
_LEAST, _MOST_TILES = 4096, 64
# Rows and columns that are transposed at once, so that both sides stay in cache.
_BLOCK = 16


@dataclass(frozen=True)
class Piece:
    """One copy: `shape` elements from an input to an output, by strides in elements."""

    input: int
    output: int
    shape: tuple[int, ...]
    in_strides: tuple[int, ...]
    out_strides: tuple[int, ...]
    in_offset: int = 0
    out_offset: int = 0


def strides_of(shape: Sequence[int]) -> tuple[int, ...]:
    """The strides of a row-major tensor, in elements."""
    return tuple(math.prod(shape[axis + 1 :]) for axis in range(len(shape)))


def item_type(dtype: str) -> str:
    """A type in C that is as large as an element, and may be read and written where other kernels
    have elements of their own types."""
    size = 2 if dtype == "bfloat16" else numpy.dtype(dtype).itemsize
    if dtype.startswith("complex") or size not in (1, 2, 4, 8):
        raise Declined(f"elements of type {dtype}")
    return f"mx_item{8 * size}"


def copy_kernel(name: str, pieces: Sequence[Piece], outputs: Sequence[Spec]) -> GenKernel:
    """The kernel that does all copies; together they write each element of the outputs once."""
    kind = item_type(outputs[0].dtype)
    functions: list[str] = []
    calls: list[str] = []
    tiles = 0
    for number, piece in enumerate(piece for piece in pieces if math.prod(piece.shape)):
        loops = _merged(piece)
        outer = _outer(loops)
        count = math.prod(loop.extent for loop in loops[:outer])
        function = f"{NAME}_{number}"
        functions += _function(function, kind, loops, outer, piece)
        calls.append(
            f"  {_clipped(tiles, count)}\n    {function}(({kind} *)out[{piece.output}],"
            f" (const {kind} *)in[{piece.input}], first, last);\n  }}"
        )
        tiles += count
    lines = [*functions, f"{signature()} {{", "  (void)work;", *calls]
    if not calls:
        lines += ["  (void)in;", "  (void)out;", "  (void)begin;", "  (void)end;"]
    return make_kernel(name, "\n".join([*lines, "}", ""]), tiles, outputs)


def _clipped(begin: int, count: int) -> str:
    """What has a piece do its part of the tiles."""
    if not begin:
        return f"{{\n    const int64_t first = begin, last = end < {count} ? end : {count};"
    return (
        f"{{\n    const int64_t first = begin < {begin} ? 0 : begin - {begin};\n"
        f"    const int64_t last = (end < {begin + count} ? end : {begin + count}) - {begin};"
    )


@dataclass
class _Loop:
    extent: int
    read: int  # strides
    write: int


def _merged(piece: Piece) -> list[_Loop]:
    """The axes as loops, outermost first: none of one element, neighbours as one where they can."""
    loops: list[_Loop] = []
    for extent, read, write in zip(piece.shape, piece.in_strides, piece.out_strides, strict=True):
        if extent == 1:
            continue
        if loops and loops[-1].read == read * extent and loops[-1].write == write * extent:
            loops[-1] = _Loop(loops[-1].extent * extent, read, write)
        else:
            loops.append(_Loop(extent, read, write))
    if len(loops) == 1 and loops[0].read == loops[0].write == 1 and loops[0].extent > 2 * _LEAST:
        # One long run, in several parts where it can be divided.
        extent = loops[0].extent
        parts = next((n for n in range(_MOST_TILES, 1, -1) if extent % n == 0), 1)
        if parts > 1:
            return [_Loop(parts, extent // parts, extent // parts), _Loop(extent // parts, 1, 1)]
    return loops


def _outer(loops: Sequence[_Loop]) -> int:
    """How many loops, from the outermost on, are counted by tiles."""
    size = math.prod(loop.extent for loop in loops)
    count, tiles = 0, 1
    while count < len(loops) - 1 and size > _LEAST and tiles < _MOST_TILES:
        size //= loops[count].extent
        tiles *= loops[count].extent
        count += 1
    return count


def _function(
    name: str, kind: str, loops: Sequence[_Loop], outer: int, piece: Piece
) -> Iterator[str]:
    yield (
        f"static void {name}({kind} *restrict out, const {kind} *restrict read, int64_t begin,\n"
        "    int64_t end) {"
    )
    yield "  for (int64_t tile = begin; tile < end; ++tile) {"
    yield f"    {kind} *to = out + {piece.out_offset};"
    yield f"    const {kind} *from = read + {piece.in_offset};"
    if not outer:
        yield "    (void)tile;"
    rest = math.prod(loop.extent for loop in loops[:outer])
    for loop in loops[:outer]:
        rest //= loop.extent
        index = f"tile / {rest} % {loop.extent}" if rest > 1 else f"tile % {loop.extent}"
        yield f"    from += ({index}) * {loop.read}, to += ({index}) * {loop.write};"
    yield from (f"    {line}" for line in _inner(loops[outer:]))
    yield "  }"
    yield "}"


def _inner(loops: Sequence[_Loop]) -> Iterator[str]:
    """The loops inside a tile; the two innermost by what is fastest for their strides."""
    if not loops:
        yield "*to = *from;"
        return
    last = loops[-1]
    column = next((n for n in range(len(loops) - 1) if loops[n].read == 1 and last.read != 1), None)
    is_plain = column is None or last.write != 1
    ahead = [loop for n, loop in enumerate(loops[:-1]) if is_plain or n != column]
    for depth, loop in enumerate(ahead):
        i = f"i{depth}"
        yield f"for (int64_t {i} = 0; {i} < {loop.extent}; ++{i}) {{"
    reads = "".join(f" + i{n} * {loop.read}" for n, loop in enumerate(ahead))
    writes = "".join(f" + i{n} * {loop.write}" for n, loop in enumerate(ahead))
    if not is_plain and column is not None:
        yield from _transposed(loops[column], last, reads, writes)
    elif last.read == last.write == 1:
        yield f"memcpy(to{writes}, from{reads}, {last.extent} * sizeof *to);"
    else:
        yield f"for (int64_t j = 0; j < {last.extent}; ++j)"
        yield f"  (to{writes})[j * {last.write}] = (from{reads})[j * {last.read}];"
    yield from ("}" for _ in ahead)


def _transposed(rows: _Loop, columns: _Loop, reads: str, writes: str) -> Iterator[str]:
    """Blocks of a matrix of which the one side is contiguous in rows, the other in columns."""
    yield f"for (int64_t r = 0; r < {rows.extent}; r += {_BLOCK})"
    yield f"  for (int64_t c = 0; c < {columns.extent}; c += {_BLOCK}) {{"
    yield f"    const int64_t r_end = r + {_BLOCK} < {rows.extent} ? r + {_BLOCK} : {rows.extent};"
    yield "    const int64_t c_end ="
    yield f"        c + {_BLOCK} < {columns.extent} ? c + {_BLOCK} : {columns.extent};"
    yield "    for (int64_t i = r; i < r_end; ++i)"
    yield "      for (int64_t j = c; j < c_end; ++j)"
    yield f"        (to{writes})[i * {rows.write} + j] = (from{reads})[i + j * {columns.read}];"
    yield "  }"
