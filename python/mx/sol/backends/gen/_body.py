"""Pieces of C that all kernels are put together of: loops over elements, pointers into tensors."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from textwrap import indent

from ._domain import Domain
from ._types import type_of

# Elements of a tile: enough that handing it to a thread is nothing beside it.
TILE = 8192


def block(head: str, lines: Sequence[str]) -> str:
    """A statement with braces."""
    return f"{head} {{\n{indent(chr(10).join(lines), '  ')}\n}}"


# Gets the index expression; for the part of a vector the number of its elements, else None; and
# which of several vectors that are done at a time it is.
Piece = Callable[[str, str | None, int], list[str]]


def loop(count: int, lanes: int, piece: Piece, unroll: int = 1) -> list[str]:
    """Over `count` elements, by vectors of `lanes`; a part of a vector at the end.

    `unroll` vectors are done at a time, as long as there are so many.
    """
    if lanes == 1:
        return [block(f"for (int64_t i = 0; i < {count}; ++i)", piece("i", None, 0))]
    whole, rest = count // lanes, count % lanes
    lines: list[str] = []
    done = 0
    if unroll > 1 and whole >= unroll:
        done = whole // unroll * unroll
        inner: list[str] = []
        for number in range(unroll):
            inner.append(block("", piece(f"(i + {number * lanes})", None, number)).lstrip())
        head = f"for (int64_t i = 0; i < {done * lanes}; i += {unroll * lanes})"
        lines.append(block(head, inner))
    if whole > done:
        head = f"for (int64_t i = {done * lanes}; i < {whole * lanes}; i += {lanes})"
        lines.append(block(head, piece("i", None, 0)))
    if rest:
        lines.append(block("", piece(str(whole * lanes), str(rest), 0)).lstrip())
    return lines


def vector_load(dtype: str, pointer: str, index: str, rest: str | None) -> str:
    """A vector of what lies behind a pointer, from an index on."""
    prefix = {"float32": "vf", "int32": "vi", "bool": "vb"}[dtype]
    if rest is None:
        return f"{prefix}_load({pointer} + {index})"
    return f"{prefix}_load_n({pointer} + {index}, {rest})"


def vector_store(dtype: str, pointer: str, index: str, rest: str | None, value: str) -> str:
    """The statement that puts a vector there."""
    prefix = {"float32": "vf", "int32": "vi", "bool": "vb"}[dtype]
    if rest is None:
        return f"{prefix}_store({pointer} + {index}, {value});"
    return f"{prefix}_store_n({pointer} + {index}, {value}, {rest});"


def load(is_vector: bool, dtype: str, pointer: str, index: str, rest: str | None) -> str:
    """The same, or a single element."""
    if is_vector:
        return vector_load(dtype, pointer, index, rest)
    return type_of(dtype).load(f"{pointer}[{index}]")


def store(
    is_vector: bool, dtype: str, pointer: str, index: str, rest: str | None, value: str
) -> str:
    """The statement that puts a vector or a single element there."""
    if is_vector:
        return vector_store(dtype, pointer, index, rest, value)
    return f"{pointer}[{index}] = {type_of(dtype).store(value)};"


def splat(is_vector: bool, dtype: str, pointer: str) -> str:
    """The element behind a pointer, in all lanes."""
    if not is_vector:
        return type_of(dtype).load(f"*{pointer}")
    if dtype == "bool":
        return f"vi_set1(*{pointer} ? -1 : 0)"
    return f"{'vf' if dtype == 'float32' else 'vi'}_set1(*{pointer})"


def value_type(is_vector: bool, dtype: str) -> str:
    """The C type of a value in an expression."""
    kind = type_of(dtype)
    if is_vector:
        return "vf" if kind.is_float else "vi"
    return kind.value


def row_indices(domain: Domain, row: str = "row") -> list[str]:
    """Statements for the index along each axis but the last, x0, x1, ..., of the number of a row.

    Axes along which no tensor moves have none.
    """
    outer = domain.shape[:-1]
    lines: list[str] = []
    if not outer:
        return lines
    if len(outer) == 1:
        return [f"const int64_t x0 = {row};", "(void)x0;"]
    lines.append(f"int64_t left = {row};")
    for axis in range(len(outer) - 1, 0, -1):
        lines.append(f"const int64_t x{axis} = left % {max(1, outer[axis])};")
        lines.append(f"left /= {max(1, outer[axis])};")
    lines.append("const int64_t x0 = left;")
    used = {axis for own in domain.strides for axis, step in enumerate(own[:-1]) if step}
    lines += [f"(void)x{axis};" for axis in range(len(outer)) if axis not in used]
    return lines


def offset(strides: Sequence[int]) -> str:
    """The offset of a row along the axes but the last, for a tensor with these strides."""
    terms = [f"x{axis} * {step}" for axis, step in enumerate(strides[:-1]) if step]
    return " + ".join(terms) or "0"


def tiles_of(rows: int, columns: int) -> tuple[int, int]:
    """How many rows a tile has, and how many tiles there are."""
    if rows == 0 or columns == 0:
        return 1, 0
    height = max(1, min(rows, TILE // columns))
    return height, -(-rows // height)


def row_loop(rows: int, height: int, lines: Sequence[str]) -> list[str]:
    """Statements that go over the rows of the tiles begin to end."""
    return [
        f"const int64_t first = begin * {height};",
        f"const int64_t last = end * {height} < {rows} ? end * {height} : {rows};",
        block("for (int64_t row = first; row < last; ++row)", lines),
    ]
