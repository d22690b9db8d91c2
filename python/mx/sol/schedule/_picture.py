"""Memory over time as a picture: stacked areas, one for each kind, a column for each step."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape

from ._sizes import KINDS, size_text, used_of

_WIDTH, _HEIGHT = 720, 320
_LEFT, _RIGHT, _TOP, _BOTTOM = 78, 150, 16, 34
# Colors that people who see colors in another way can tell apart, too.
_COLORS = dict(
    zip(
        KINDS,
        (
            "#7f7f7f", "#0072b2", "#56b4e9", "#009e73", "#cc79a7", "#d55e00", "#e69f00",
            "#f0e442",
        ),
        strict=True,
    )
)  # fmt: skip


def picture(columns: Sequence[Mapping[str, int]], peak: int) -> str:
    """An SVG of bytes by kind for each step. Its labels tell each kind and the most it takes."""
    totals = [sum(one.values()) for one in columns]
    most = max([peak, *totals, 1])
    used = used_of(columns)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {_HEIGHT}" '
        f'width="{_WIDTH}" height="{_HEIGHT}" font-family="sans-serif" font-size="11" role="img">',
        f"<title>Memory over time: peak {escape(size_text(peak))}</title>",
        f'<rect width="{_WIDTH}" height="{_HEIGHT}" fill="white"/>',
    ]
    parts += _axes(most, peak, len(columns))
    below = [0] * len(columns)
    for kind in used:
        above = [low + one[kind] for low, one in zip(below, columns, strict=True)]
        parts.append(_area(kind, below, above, most))
        below = above
    for number, kind in enumerate(reversed(used)):
        parts += _label(number, kind, max(one[kind] for one in columns))
    return "\n".join([*parts, "</svg>"])


def _x(index: int, count: int) -> float:
    return _LEFT + (_WIDTH - _LEFT - _RIGHT) * index / max(count, 1)


def _y(size: float, most: int) -> float:
    return _HEIGHT - _BOTTOM - (_HEIGHT - _TOP - _BOTTOM) * size / most


def _area(kind: str, below: list[int], above: list[int], most: int) -> str:
    """Steps, as memory is taken and given back at once."""
    count = len(above)
    there = [
        f"{_x(n + side, count):.1f},{_y(size, most):.1f}"
        for n, size in enumerate(above)
        for side in (0, 1)
    ]
    back = [
        f"{_x(n + side, count):.1f},{_y(size, most):.1f}"
        for n, size in reversed(list(enumerate(below)))
        for side in (1, 0)
    ]
    return f'<polygon class="{kind}" fill="{_COLORS[kind]}" points="{" ".join([*there, *back])}"/>'


def _axes(most: int, peak: int, steps: int) -> list[str]:
    lines = []
    for number in range(5):
        size = most * number / 4
        y = _y(size, most)
        lines.append(f'<path d="M{_LEFT} {y:.1f}H{_WIDTH - _RIGHT}" stroke="#dddddd"/>')
        text = size_text(size)
        lines.append(f'<text x="{_LEFT - 6}" y="{y + 4:.1f}" text-anchor="end">{text}</text>')
    y = _y(peak, most)
    dashes = 'stroke="black" stroke-dasharray="4 3"'
    lines.append(f'<path class="peak" d="M{_LEFT} {y:.1f}H{_WIDTH - _RIGHT}" {dashes}/>')
    lines.append(f'<text x="{_WIDTH - _RIGHT + 6}" y="{y + 4:.1f}">peak, as laid out</text>')
    lines.append(f'<text x="{_LEFT}" y="{_HEIGHT - 12}">steps: {steps}</text>')
    return lines


def _label(number: int, kind: str, size: int) -> list[str]:
    x, y = _WIDTH - _RIGHT + 8, _TOP + 34 + 18 * number
    box = f'<rect x="{x}" y="{y - 9}" width="10" height="10" fill="{_COLORS[kind]}"/>'
    return [box, f'<text x="{x + 15}" y="{y}">{kind} {escape(size_text(size))}</text>']
