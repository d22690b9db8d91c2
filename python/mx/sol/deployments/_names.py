"""Names in C of what models call otherwise, and its types."""

from __future__ import annotations

import keyword
import re
from collections.abc import Iterable, Sequence

# What each data type is in C; bool is a byte of 0 or 1, and half precision the bits.
C_TYPES = {
    "bool": "uint8_t",
    "float16": "uint16_t",
    "bfloat16": "uint16_t",
    "float32": "float",
    "float64": "double",
    **{f"{sign}int{bits}": f"{sign}int{bits}_t" for sign in ("", "u") for bits in (8, 16, 32, 64)},
}

_KEYWORDS = frozenset(
    """
    alignas alignof and asm auto bool break case catch char class const constexpr continue default
    delete do double else enum explicit export extern false float for friend goto if inline int long
    mutable namespace new noexcept not nullptr operator or private protected public register
    restrict return short signed sizeof static struct switch template this throw true try typedef
    typename union unsigned using virtual void volatile while xor main
    """.split()
)


def check_name(parameter: str, name: object, in_python: bool = False) -> str:
    """The name, if it can be one in C; TypeError or ValueError if not."""
    if not isinstance(name, str):
        raise TypeError(f"sol.deploy: {parameter}: expected a text, got {type(name).__name__}")
    is_taken = name in _KEYWORDS or (in_python and keyword.iskeyword(name))
    if re.fullmatch(r"[A-Za-z][A-Za-z0-9_]*", name) is None or is_taken:
        raise ValueError(
            f"sol.deploy: {parameter}: expected a name as C has them, of letters, digits and"
            f" underscores, got {name!r}"
        )
    return name


def identifier(text: str) -> str:
    """A name in C that reads like any text; other characters become underscores."""
    name = re.sub(r"[^A-Za-z0-9]+", "_", text).strip("_")
    return name if name[:1].isalpha() else f"v_{name}".rstrip("_")


def shape_text(shape: Sequence[int]) -> str:
    """A shape in a name: 1x3x224x224."""
    return "x".join(map(str, shape)) if shape else "scalar"


def unique(names: Iterable[str], taken: Iterable[str] = ()) -> list[str]:
    """Names, those that came before with a number behind."""
    seen, found = set(taken), []
    for name in names:
        fresh, number = name, 2
        while fresh in seen:
            fresh, number = f"{name}_{number}", number + 1
        seen.add(fresh)
        found.append(fresh)
    return found
