"""The dimensions that a model's structure leaves free."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

# Numbers, and texts for what may vary: "#0", or what is computed from such: "2*#0 - 1".
Shape = tuple[int | str, ...]


class Later(Mapping[str, Shape]):
    """Shapes that are found out when somebody asks for them."""

    def __init__(self, find: Callable[[], Mapping[str, Shape]]) -> None:
        self._find = find

    @functools.cached_property
    def _found(self) -> Mapping[str, Shape]:
        return self._find()

    def __getitem__(self, name: str) -> Shape:
        return self._found[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._found)

    def __len__(self) -> int:
        return len(self._found)


@dataclass(frozen=True)
class Dimensions:
    """Shapes of inputs and outputs in which dimensions that may vary are numbered: #0, #1, ..."""

    inputs: Mapping[str, Shape]
    outputs: Mapping[str, Shape]
    # The lengths of #0, #1, ... that the example has; None where there was no example.
    lengths: tuple[int | None, ...]
    # Why an axis of an input is fixed; the text for an input's name and axis.
    reason: Callable[[str, int], str] = field(repr=False)

    def __post_init__(self) -> None:
        """Whoever asks of an axis that may vary is told so."""
        object.__setattr__(self, "reason", functools.partial(_reason, self.inputs, self.reason))

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


def _reason(
    inputs: Mapping[str, Shape], fixed: Callable[[str, int], str], name: str, axis: int
) -> str:
    if name not in inputs:
        raise KeyError(f"there is no input {name!r}: there are {', '.join(inputs)}")
    shape = inputs[name]
    if not -len(shape) <= axis < len(shape):
        raise IndexError(f"input {name!r} has no axis {axis}: its shape is {_text(shape)}")
    extent = shape[axis]
    if isinstance(extent, int):
        return fixed(name, axis % len(shape))
    return f"it is not fixed: {extent} may vary"


def _head(number: int, title: str) -> str:
    return f"{title:<9}" if number == 0 else " " * 9


def _text(shape: Shape) -> str:
    return "[" + ", ".join(map(str, shape)) + "]"
