"""A C header as those who call it from Python need it: constants, types, structs, functions."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from docs._ext.declarations import Declaration, declarations, flat

_FOR_CXX = re.compile(r"^#ifdef __cplusplus\n(?:(?!#).*\n)*?(?:#else\n|(?=#endif))", re.M)
_NUMBER = re.compile(r"^#define (\w+) \(?(0x[0-9a-fA-F]+|\d+)(?:U?L* << (\d+)U?L*\))?[ \t]*$", re.M)
_POINTER_TO_FUNCTION = re.compile(r"(.*?)\(\*(\w*)\)\((.*)\)$", re.S)


@dataclass
class Value:
    """A member or a parameter: its type, "const char*", its name, and how many of them."""

    type: str
    name: str
    count: int = 0
    function: Function | None = None  # what it points to


@dataclass
class Function:
    returns: str
    params: list[Value]


@dataclass
class Header:
    """What some headers declare, in their order."""

    constants: dict[str, int] = field(default_factory=dict)
    enums: dict[str, dict[str, int]] = field(default_factory=dict)
    # By their names: a type of C, a function that is pointed to, or the members of a struct.
    types: dict[str, str | Function | list[Value]] = field(default_factory=dict)
    unions: set[str] = field(default_factory=set)
    functions: dict[str, Function] = field(default_factory=dict)


def read(paths: Iterable[Path]) -> Header:
    header = Header()
    for path in paths:
        text = _FOR_CXX.sub("", path.read_text(encoding="utf-8"))
        for name, number, shift in _NUMBER.findall(text):
            header.constants[name] = int(number, 0) << int(shift or 0)
        for declaration in flat(text):
            _add(header, declaration)
    return header


def _add(header: Header, declaration: Declaration) -> None:
    head = " ".join(declaration.head.split())
    kind = re.match(r"(?:typedef )?(enum|struct|union)\b", head)
    if kind and declaration.body is not None:
        name = declaration.tail or head.split()[-1]
        if kind[1] == "enum":
            numbers = dict(_enumerators(declaration.body))
            header.constants |= numbers
            if declaration.tail:
                header.enums[name] = numbers
            return
        header.types[name] = [value_of(m.head) for m in declarations(declaration.body)]
        if kind[1] == "union":
            header.unions.add(name)
    elif head.startswith("typedef "):
        value = value_of(head.removeprefix("typedef "))
        header.types[value.name] = value.function or value.type
    elif match := re.match(r"(?:MXNET_DLL|MXACC_EXPORT) (.*?)(\w+)\((.*)\)$", head):
        header.functions[match[2]] = Function(match[1].strip(), list(_params(match[3])))


def _enumerators(body: str) -> Iterator[tuple[str, int]]:
    number = -1
    for item in declarations(body, ","):
        name, _, given = (part.strip() for part in item.head.partition("="))
        number = int(given.rstrip("U"), 0) if given else number + 1
        yield name, number


def _params(text: str) -> Iterator[Value]:
    for param in re.split(r",(?![^()]*\))", text):
        if param.strip() not in ("", "void"):
            yield value_of(param)


def value_of(text: str) -> Value:
    """The declaration of one member or parameter, or what stands behind `typedef`."""
    text = " ".join(text.split()).replace("struct ", "")
    if match := _POINTER_TO_FUNCTION.match(text):
        function = Function(match[1].strip(), list(_params(match[3])))
        return Value("", match[2], function=function)
    match = re.match(r"(.*?)(\w+)(?:\[(\d+)\])?$", text)
    if match is None:
        raise ValueError(f"neither a member nor a parameter: {text}")
    return Value(match[1].strip(), match[2], int(match[3] or 0))
