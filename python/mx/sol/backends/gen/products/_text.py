"""C texts with placeholders."""

from __future__ import annotations

from collections.abc import Sequence
from string import Template


def fill(text: str, **values: object) -> str:
    """The text with $name or ${name} replaced; KeyError for a name that is not given."""
    return Template(text).substitute({name: str(value) for name, value in values.items()})


def indent(text: str, spaces: int) -> str:
    """The lines of a text, further right."""
    return "\n".join(" " * spaces + line if line else line for line in text.splitlines())


def table_of(name: str, offsets: Sequence[int]) -> tuple[str, str]:
    """C of a table, and of the offset of matrix z: a product where the offsets are that regular."""
    step = offsets[1] - offsets[0] if len(offsets) > 1 else 0
    if all(offset == offsets[0] + z * step for z, offset in enumerate(offsets)):
        return "", f"z * {step}" if step else "0"
    numbers = ", ".join(map(str, offsets))
    return f"static const int64_t {name}[{len(offsets)}] = {{{numbers}}};\n", f"{name}[z]"
