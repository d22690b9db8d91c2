"""Register tiles: the innermost loop of products, over the depth, with all results in registers."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass

from .._target import Target
from ._epilogue import Operand, Step, apply

# Rows of a tile of one vector, for which there are registers.
MOST_ROWS = 30
# Floats that are fetched at once.
LINE = 16
# Cycles of waiting for a line that comes from the second cache while others are multiplied.
_WAITING = 0.5
# Vectors and elements that are loaded in a cycle, where a multiplication takes no element of memory
# by itself: 1.6 to 1.8, measured on an AMD EPYC (Zen 3), 2026-11-29.
_LOADS = {"avx2": 1.7}
# Cycles that are lost at the end of a tile of many results and more than a few rows: 20 to 36, but
# 3 to 8 at the end of smaller ones.
_END = {"avx2": 25.0}
_MANY = 8
_FEW_ROWS = 3


@dataclass(frozen=True)
class Column:
    """A vector of results: where its elements lie behind the addresses of b, c and operands.

    `lanes` is None for a whole vector, else a C expression of how many elements are stored.
    """

    b: str
    c: str
    lanes: str | None = None
    loads: str | None = None  # of elements to read at b, where a whole vector must not be


def panel(vectors: int, lanes: str | None = None) -> list[Column]:
    """Columns beside each other; the last one has so many elements."""
    return [
        Column(f"{j} * VW", f"{j} * VW", lanes if j == vectors - 1 else None)
        for j in range(vectors)
    ]


@dataclass(frozen=True)
class Tile:
    """A register tile and how it walks.

    Element (row i, depth k) of a lies at a[i * a_row + k * a_step], b's row at b + k * b_step, and
    results at c + i * c_row. With taps, the depth counts channels: each has one row of b for every
    tap, at b + k * b_step + tap, and as many elements of a behind each other. With `a_at` it is a
    that has taps: elements at a + k * a_step + tap + a_at[i], and rows of b lie behind each other;
    with `walks_taps` those of all depths of a tap, else those of all taps at a depth.
    """

    rows: int
    columns: Sequence[Column]
    a_row: str
    a_step: str
    b_step: str
    c_row: str
    taps: Sequence[int] = ()
    a_at: Sequence[int] = ()
    walks_taps: bool = False
    fetches: int = 0  # elements at `next` to fetch into the second cache for each row of b
    # So many vectors are a line; each line of results, and of what is added to them, is fetched
    # before the sums are computed. 0: none is.
    vectors_a_line: int = 0
    is_blocked: bool = False  # the depth is walked in several calls: first, final
    adds: bool = False  # several calls add up what each of them sums for itself: first
    steps: Sequence[Step] = ()
    operands: Sequence[Operand] = ()

    def parameters(self) -> list[str]:
        """The parameters of the function, in C."""
        names = ["const float *restrict a", "const float *restrict b", "float *restrict c"]
        names += [f"const float *e{index}" for index in range(len(self.operands))]
        names.append("int64_t depth")
        if self.is_blocked:
            names += ["int first", "int final"]
        if self.adds:
            names.append("int first")
        if any(column.lanes == "lanes" for column in self.columns):
            names.append("int64_t lanes")
        if self.fetches:
            names.append("const float *next")
        return names

    def call(
        self,
        name: str,
        a: str,
        b: str,
        c: str,
        offsets: dict[str, str],
        depth: str,
        block: str = "",
        lanes: str = "",
        fetched: str = "",
    ) -> str:
        """C of a call; `offsets` has what to add to operands, by kind."""
        given = [a, b, c]
        for operand in self.operands:
            given.append(f"{operand.source} + {offsets.get(operand.kind, '0')}")
        given.append(depth)
        if self.is_blocked or self.adds:
            given.append(block)
        if any(column.lanes == "lanes" for column in self.columns):
            given.append(lanes)
        if self.fetches:
            given.append(fetched)
        return f"{name}({', '.join(given)});"

    def source(self, name: str) -> str:
        """The function."""
        lines = [f"static void {name}({', '.join(self.parameters())}) {{"]
        lines += self._start() + self._walk() + self._finish()
        return "\n".join([*lines, "}", ""])

    def _cells(self) -> list[tuple[int, int]]:
        return [(i, j) for i in range(self.rows) for j in range(len(self.columns))]

    def _at(self, i: int, j: int) -> str:
        return f"{i} * {self.c_row} + {self.columns[j].c}"

    def _load(self, address: str, lanes: str | None) -> str:
        return f"vf_load({address})" if lanes is None else f"vf_load_n({address}, {lanes})"

    def _start(self) -> list[str]:
        zeros = ", ".join(f"c{i}_{j} = {{0}}" for i, j in self._cells())
        return [f"  vf {zeros};", *self._fetching_results()]

    def _fetching_results(self) -> list[str]:
        """Fetches what is added to sums, and where they are stored, while they are computed."""
        if not self.vectors_a_line:
            return []
        beside = [f"e{n}" for n, operand in enumerate(self.operands) if operand.kind == "full"]
        addresses = [
            self._at(i, j)
            for i in range(self.rows)
            for j in range(0, len(self.columns), self.vectors_a_line)
        ]
        return [
            f"  __builtin_prefetch({name} + {address}, {int(name == 'c')}, 3);"
            for name in (*beside, "c")
            for address in addresses
        ]

    def _walk(self) -> list[str]:
        if self.walks_taps:
            offsets = ", ".join(map(str, self.taps))
            return [
                f"  static const int32_t taps[{len(self.taps)}] = {{{offsets}}};",
                f"  for (int t = 0; t < {len(self.taps)}; ++t) {{",
                "    const float *p = a + taps[t];",
                "    for (int64_t k = 0; k < depth; ++k) {",
                "    const float *q = b;",
                *self._sums(),
                f"    b += {self.b_step}, p += {self.a_step};",
                "    }",
                "  }",
            ]
        lines = ["  for (int64_t k = 0; k < depth; ++k) {"]
        if self.a_at:
            offsets = ", ".join(map(str, self.taps))
            lines += [
                f"    static const int32_t taps[{len(self.taps)}] = {{{offsets}}};",
                f"    for (int t = 0; t < {len(self.taps)}; ++t, b += {self.b_step}) {{",
                "    const float *q = b;",
                f"    const float *p = a + k * {self.a_step} + taps[t];",
            ]
        elif self.taps:
            offsets = ", ".join(map(str, self.taps))
            lines += [
                f"    static const int32_t taps[{len(self.taps)}] = {{{offsets}}};",
                f"    for (int t = 0; t < {len(self.taps)}; ++t, a += {self.a_step}) {{",
                f"    const float *q = b + k * {self.b_step} + taps[t];",
                "    const float *p = a;",
            ]
        else:
            lines += [
                f"    const float *q = b + k * {self.b_step};",
                f"    const float *p = a + k * {self.a_step};",
            ]
        return [*lines, *self._sums(), "    }" if self.taps else "", "  }"]

    def _sums(self) -> list[str]:
        """Adds a row of b, at q, times elements of a, behind p."""
        lines = self._fetching()
        for j, column in enumerate(self.columns):
            value = self._load(f"q + {column.b}", column.loads)
            lines.append(f"    const vf b{j} = {f'vf_held({value})' if self.rows > 1 else value};")
        for i in range(self.rows):
            sums = " ".join(f"c{i}_{j} += s * b{j};" for j in range(len(self.columns)))
            at = self.a_at[i] if self.a_at else f"{i} * {self.a_row}"
            lines.append(f"    {{ const vf s = vf_set1(p[{at}]); {sums} }}")
        return lines

    def _fetching(self) -> list[str]:
        """Fetches what is behind `next`."""
        if not self.fetches:
            return []
        lines = [
            f"    __builtin_prefetch(next + {at}, 0, 2);" for at in range(0, self.fetches, LINE)
        ]
        return [*lines, f"    next += {self.fetches};"]

    def _finish(self) -> list[str]:
        lines = []
        if self.is_blocked or self.adds:
            # Behind the terms: errors of sums of few, which are added, are smaller than of one.
            lines.append("  if (!first) {")
            for i, j in self._cells():
                value = self._load(f"c + {self._at(i, j)}", self.columns[j].lanes)
                lines.append(f"    c{i}_{j} += {value};")
            lines.append("  }")
        if self.steps:
            indent = "    " if self.is_blocked else "  "
            if self.is_blocked:
                lines.append("  if (final) {")
            for i, j in self._cells():
                load = functools.partial(self._operand, i, j)
                changes = apply(self.steps, self.operands, f"c{i}_{j}", load)
                lines += [indent + change for change in changes]
            if self.is_blocked:
                lines.append("  }")
        elif self.is_blocked:
            lines.append("  (void)final;")
        for i, j in self._cells():
            lanes = self.columns[j].lanes
            if lanes is None:
                lines.append(f"  vf_store(c + {self._at(i, j)}, c{i}_{j});")
            else:
                lines.append(f"  vf_store_n(c + {self._at(i, j)}, c{i}_{j}, {lanes});")
        return lines

    def _operand(self, i: int, j: int, index: int, operand: Operand) -> str:
        column = self.columns[j]
        if operand.kind == "scalar":
            return f"vf_set1(e{index}[0])"
        if operand.kind == "row":
            return f"vf_set1(e{index}[{i}])"
        where = column.c if operand.kind == "column" else self._at(i, j)
        return self._load(f"e{index} + {where}", column.lanes)


def cost(
    rows: int, vectors: int, target: Target, is_far: bool = False, depth: int | None = None
) -> float:
    """Cycles of a step of the depth: of multiplications, of loads, of waiting for the last sum;
    where the vectors are far, behind the first cache, of waiting for them, too; and what the end of
    a tile takes, divided by the depth."""
    waiting = _WAITING * vectors * target.lanes / LINE if is_far else 0.0
    loads = (rows + vectors) / _LOADS.get(target.name, 2.0)
    is_slow_to_end = rows * vectors > _MANY and rows > _FEW_ROWS
    end = _END.get(target.name, 0.0) / depth if depth and is_slow_to_end else 0.0
    return max(rows * vectors / 2, loads, 4.0) + waiting + end


def split(extent: int, most: int) -> list[int]:
    """An extent in as few parts as there must be, none longer than `most`, of nearly one length."""
    count = max(1, -(-extent // most))
    base, longer = divmod(extent, count)
    return [base + 1] * longer + [base] * (count - longer)


def sizes(extent: int, size: int, variable: str) -> list[tuple[int, str]]:
    """Lengths of the parts of an extent, each with the C condition on where it begins."""
    rest = extent % size
    if not rest or rest == extent:
        return [(rest or size, "1")]
    return [(rest, f"{variable} + {size} > {extent}"), (size, "1")]


def fits(rows: int, vectors: int, target: Target) -> bool:
    """Whether the registers hold results, a row of b and an element of a."""
    return rows * vectors + vectors + 1 <= target.registers


@functools.lru_cache(maxsize=1024)
def choose(
    rows: int,
    vectors: int,
    target: Target,
    is_far: bool = False,
    most: int = MOST_ROWS,
    depth: int | None = None,
) -> tuple[int, int]:
    """The rows, at most so many, and vectors of the tile with which a product takes the fewest
    cycles."""
    best, chosen = float("inf"), (1, 1)
    for high in range(1, min(rows, most) + 1):
        for wide in range(1, min(vectors, 8) + 1):
            if not fits(high, wide, target):
                continue
            cycles = sum(
                cost(i, j, target, is_far, depth) * rows_count * wide_count
                for i, rows_count in _counted(rows, high)
                for j, wide_count in _counted_even(vectors, wide)
            )
            # Equal ones: those with fewer rows of b to read for each multiplication.
            cycles *= 1 + 0.01 / high + 0.01 / wide
            if cycles < best:
                best, chosen = cycles, (high, wide)
    return chosen


def _counted(extent: int, size: int) -> list[tuple[int, int]]:
    whole, rest = divmod(extent, size)
    return [(size, whole), (rest, 1)] if rest else [(size, whole)]


def _counted_even(extent: int, size: int) -> list[tuple[int, int]]:
    parts = split(extent, size)
    return [(part, parts.count(part)) for part in sorted(set(parts))]
