"""Writes what the registry says of the operators: a page, and JSON for makers of accelerators.

`python tools/write_operators.py`, after a change to what an operator is described as.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import ffi
from ffi import reference
from mx._registry import EXTENSION, NUMPY, Namespace

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "reference" / "operators.md"
TABLE = ROOT / "python" / "mx" / "operators.json"
NOTICE = "<!-- Written by tools/write_operators.py from the registry; do not edit. -->"
INTRODUCTION = """\
# Operators

What `help(mx.np.zeros)` shows and what a keyword call accepts, of every operator. A library that is
installed has the same as JSON, `operators.json` in the package `mx`, with what each parameter is to
[an accelerator](../guide/accelerators.md): an input, an attribute and of which JSON types, or
neither.
"""
SECTIONS = (
    (NUMPY, "They follow NumPy 2, with the differences that [arrays](../guide/arrays.md) names."),
    (EXTENSION, "What NumPy has no function for."),
)

# What parameters of a type are to an accelerator, and the JSON types of their attributes.
INPUT = "input, or an attribute where no array is given"
INPUTS = "inputs named name[0], name[1] ..., or an attribute where no array is given"
_ATTRIBUTE = "attribute"
_INT, _INTS, _FLOAT, _NULL = "int", "list of ints", "float", "null"
_NUMBERS = ["bool", _INT, _FLOAT, "list of these, nested"]
ROLES: dict[str, tuple[str, list[str]]] = {
    "ArrayLike": (INPUT, _NUMBERS),
    "ArrayLike | None": (INPUT, [*_NUMBERS, _NULL]),
    "Sequence[ArrayLike]": (INPUTS, ["list of these, nested", "bool", _INT, _FLOAT]),
    "int | Sequence[int] | ndarray": (INPUT, [_INT, _INTS]),
    "ndarray | None": ("output", []),
    "Context | str | None": ("device of the call", []),
    "DTypeLike": (_ATTRIBUTE, ["name of a data type"]),
    "DTypeLike | None": (_ATTRIBUTE, ["name of a data type", _NULL]),
    "Sequence[int] | None": (_ATTRIBUTE, [_INTS, _NULL]),
    "bool": (_ATTRIBUTE, ["bool"]),
    "float": (_ATTRIBUTE, [_FLOAT, _INT]),
    "float | None": (_ATTRIBUTE, [_FLOAT, _INT, _NULL]),
    "int": (_ATTRIBUTE, [_INT]),
    "int | None": (_ATTRIBUTE, [_INT, _NULL]),
    "int | Sequence[int]": (_ATTRIBUTE, [_INT, _INTS]),
    "int | Sequence[int] | None": (_ATTRIBUTE, [_INT, _INTS, _NULL]),
    "int | tuple[int | Sequence[int], int | Sequence[int]]": (
        _ATTRIBUTE,
        [_INT, "list of two, each an int or a list of ints"],
    ),
    "str": (_ATTRIBUTE, ["text"]),
    "str | None": (_ATTRIBUTE, ["text", _NULL]),
}


def operators(namespace: Namespace) -> dict[str, ffi.Function]:
    """The public operators of a namespace by name, without the further names of some."""
    functions = namespace.public_functions()
    return {name: functions[name] for name in sorted(functions) if name not in namespace.aliases}


def page() -> str:
    """The reference page, in Markdown."""
    lines = [NOTICE, "", INTRODUCTION]
    for namespace, text in SECTIONS:
        lines += [f"## `{namespace.module}`", "", text, ""]
        for name, function in operators(namespace).items():
            lines += _entry(namespace, name, function)
    return "\n".join(lines).rstrip() + "\n"


def _entry(namespace: Namespace, name: str, function: ffi.Function) -> Iterator[str]:
    info = function.info
    signature = info.signature(front_end=True)
    yield from (
        f"### `{name}`",
        "",
        "```python",
        f"{namespace.module}.{name}{signature}",
        "```",
        "",
    )
    aliases = sorted(alias for alias, of in namespace.aliases.items() if of == name)
    if aliases:
        yield from (f"Also {', '.join(f'`{alias}`' for alias in aliases)}.", "")
    yield from (reference.escaped(info.doc), "")
    yield from (*map(reference.item, info.in_order(True)), "")


def table() -> str:
    """The operators as JSON."""
    operator_set = ffi.get_global_func("mx.acc.operator_set")()
    # A line an operator, so that a change shows which.
    described = ",\n".join(
        json.dumps(_described(namespace, name, function))
        for namespace, _ in SECTIONS
        for name, function in operators(namespace).items()
    )
    return f'{{"operator_set": {operator_set}, "operators": [\n{described}\n]}}\n'


def _described(namespace: Namespace, name: str, function: ffi.Function) -> dict[str, Any]:
    info = function.info
    return {
        "name": name,
        "function": f"{namespace.module}.{name}",
        "doc": info.doc,
        "parameters": [_parameter(param) for param in info.in_order(False)],
        "returns": info.returns,
    }


def _parameter(param: Any) -> dict[str, Any]:
    role, types = ROLES[param.type]
    described = {"name": param.name, "role": role, "doc": param.doc}
    if types:
        described["json"] = types
    if param.optional:
        default = param.default
        described["default"] = default if default is None or types else str(default)
    return described


def written() -> dict[Path, str]:
    """What each file should hold, by its path."""
    return {PAGE: page(), TABLE: table()}


if __name__ == "__main__":
    for path, text in written().items():
        path.write_text(text, encoding="utf-8")
