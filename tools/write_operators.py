"""Writes what the registry says of the operators: a page, and JSON for makers of accelerators.

`python tools/write_operators.py`, after a change to what an operator is described as.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import ffi
import mx
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

# What a parameter is to an accelerator, by its role; all others are attributes.
ROLES = {
    "array": "input, or an attribute where no array is given",
    "arrays": "inputs name[0], name[1] ..., or an attribute where no array is given",
    "context": "device of the call",
    "out": "output",
}
# The JSON types of an attribute, by the alternatives of its parameter's type.
JSON_TYPES = {
    "ArrayLike": ("bool", "int", "float", "list of these, nested"),
    "Sequence[ArrayLike]": ("list of bools, ints and floats, nested",),
    "DTypeLike": ("name of a data type",),
    "None": ("null",),
    "Sequence[int]": ("list of ints",),
    "bool": ("bool",),
    "float": ("float", "int"),
    "int": ("int",),
    "str": ("text",),
    "tuple[int | Sequence[int], int | Sequence[int]]": (
        "list of two, each an int or list of ints",
    ),
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
        "```text",
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
        "version": mx.op.version(function),
        "doc": info.doc,
        "parameters": [_parameter(param) for param in info.in_order(False)],
        "returns": info.returns,
    }


def _parameter(param: Any) -> dict[str, Any]:
    kinds = _alternatives(param.type)
    role = ROLES.get(param.role, "attribute")
    described = {"name": param.name, "role": role, "doc": param.doc}
    types = [text for kind in kinds for text in JSON_TYPES.get(kind, ())]
    if "attribute" in role:
        described["json"] = list(dict.fromkeys(types))
    if param.optional:
        described["default"] = param.default
    return described


def _alternatives(annotation: str) -> list[str]:
    """The types of a union, of which those in brackets are one."""
    kinds = [""]
    for part in annotation.split(" | "):
        if kinds[-1].count("[") > kinds[-1].count("]"):
            kinds[-1] += f" | {part}"
        else:
            kinds.append(part)
    return kinds[1:]


def written() -> dict[Path, str]:
    """What each file should hold, by its path."""
    return {PAGE: page(), TABLE: table()}


if __name__ == "__main__":
    for path, text in written().items():
        path.write_text(text, encoding="utf-8")
