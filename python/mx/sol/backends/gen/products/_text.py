"""C texts with placeholders."""

from __future__ import annotations

from string import Template


def fill(text: str, **values: object) -> str:
    """The text with $name or ${name} replaced; KeyError for a name that is not given."""
    return Template(text).substitute({name: str(value) for name, value in values.items()})


def indent(text: str, spaces: int) -> str:
    """The lines of a text, further right."""
    return "\n".join(" " * spaces + line if line else line for line in text.splitlines())
