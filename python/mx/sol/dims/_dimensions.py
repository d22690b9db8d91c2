"""The dimensions that a model's structure leaves free."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

# Numbers, and texts for what may vary: "#0", or what is computed from such: "2*#0 - 1".
Shape = tuple[int | str, ...]


@dataclass(frozen=True)
class Dimensions:
    """Shapes of inputs and outputs in which dimensions that may vary are numbered: #0, #1, ..."""

    inputs: Mapping[str, Shape]
    outputs: Mapping[str, Shape]
    # The lengths of #0, #1, ... that the example has; None where there was no example.
    lengths: tuple[int | None, ...]
    # Why an axis of an input is fixed; the text for an input's name and axis.
    reason: Callable[[str, int], str] = field(repr=False)

    def __str__(self) -> str:
        """The shapes as lines of text."""
        lines = [f"{_head(n, 'Inputs:')}{name} {_text(shape)}"
                 for n, (name, shape) in enumerate(self.inputs.items())]  # fmt: skip
        lines += [f"{_head(n, 'Outputs:')}{name} {_text(shape)}"
                  for n, (name, shape) in enumerate(self.outputs.items())]  # fmt: skip
        return "\n".join(lines)


def numbered(
    shapes: Sequence[Shape], lengths: Mapping[str, int | None]
) -> tuple[list[Shape], tuple[int | None, ...]]:
    """Shapes with the names of their dimensions replaced by #0, #1, ... in the order of `lengths`,
    and the lengths in that order."""
    numbers = {name: f"#{number}" for number, name in enumerate(lengths)}

    def renamed(extent: int | str) -> int | str:
        if isinstance(extent, int):
            return extent
        return re.sub(r"[A-Za-z_]\w*", lambda found: numbers.get(found[0], found[0]), extent)

    return [tuple(map(renamed, shape)) for shape in shapes], tuple(lengths.values())


def _head(number: int, title: str) -> str:
    return f"{title:<9}" if number == 0 else " " * 9


def _text(shape: Shape) -> str:
    return "[" + ", ".join(map(str, shape)) + "]"
