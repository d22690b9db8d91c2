"""Our docstrings as Sphinx reads them."""

from __future__ import annotations

from typing import Any


def mark_code(app: Any, kind: str, name: str, obj: Any, options: Any, lines: list[str]) -> None:
    """Marks indented paragraphs as code, which they are in our docstrings."""
    for index in range(len(lines) - 1, 0, -1):
        begins = lines[index].startswith("    ") and not lines[index - 1].strip()
        if begins and not _previous(lines, index).startswith((" ", ":", "-")):
            lines[index:index] = ["::", ""]


def _previous(lines: list[str], index: int) -> str:
    """The last line before a position that is not blank."""
    return next((line for line in reversed(lines[:index]) if line.strip()), "")
