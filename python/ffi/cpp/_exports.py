"""Writes the registrations of plain C++ functions, with what their source says of parameters.

The source is not parsed as C++: a name or a default that is not found where one usually is stays
unknown, and the function is registered all the same.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from keyword import iskeyword
from typing import NamedTuple

_COMMENT_OR_TEXT = re.compile(
    r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', re.S
)
_NAME_LAST = re.compile(r"^(.*?)\b([A-Za-z_]\w*)$", re.S)
_AFTER = re.compile(r"\s*(?:\{|;|noexcept\b|->|try\b)")
_QUALIFIERS = {"const", "volatile", "struct", "class", "enum", "typename", "register"}
_TYPE_WORDS = {
    *("void", "bool", "char", "short", "int", "long", "float", "double", "signed", "unsigned"),
    *("auto", "wchar_t", "char8_t", "char16_t", "char32_t"),
}
_NOT_A_TYPE = {"return", "else", "new", "throw", "case", "goto", "do", "co_return", "co_await"}
_LITERAL = re.compile(
    r"[-+]?(?:\d[\d']*\.?\d*|\.\d+)(?:[eE][-+]?\d+)?[fFlLuU]*|0[xX][\da-fA-F]+|true|false"
    r'|nullptr|"(?:\\.|[^"\\\n])*"'
)


class Parameter(NamedTuple):
    """A parameter, with the C++ literal of its default or None."""

    name: str
    default: str | None


class Found(NamedTuple):
    """Where a function is, from line 1, and its parameters if all have a name."""

    line: int
    parameters: tuple[Parameter, ...] | None


def find(text: str, function: str) -> Found | None:
    """Finds a function of namespace scope in a source text, if possible with named parameters."""
    blanked = _COMMENT_OR_TEXT.sub(_blank, text)
    found = None
    last = function.rpartition("::")[2]
    for match in re.finditer(rf"(?<![\w.]){re.escape(last)}\s*\(", blanked):
        end = _closing(blanked, match.end() - 1)
        if end is None or not _AFTER.match(blanked, end + 1) or not _follows_type(blanked, match):
            continue
        parameters = _parameters(text, blanked, match.end(), end)
        found = Found(text.count("\n", 0, match.start()) + 1, parameters)
        if parameters is not None:
            return found
    return found


def _blank(match: re.Match[str]) -> str:
    return re.sub(r"[^\n]", " ", match.group())


def _follows_type(blanked: str, match: re.Match[str]) -> bool:
    before = blanked[: match.start()].rstrip()
    before = re.sub(r"(\w+\s*::\s*)+$", "", before).rstrip()
    word = re.search(r"(\w+)$", before)
    if word:
        return word.group() not in _NOT_A_TYPE
    return before.endswith(("*", "&", ">", "]"))


def _closing(blanked: str, start: int) -> int | None:
    depth = 0
    for index in range(start, len(blanked)):
        depth += {"(": 1, ")": -1}.get(blanked[index], 0)
        if depth == 0:
            return index
    return None


def _parts(blanked: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """The pieces of a parameter list between commas that are in no bracket."""
    depth = 0
    for index in range(start, end):
        depth += {"(": 1, "[": 1, "{": 1, "<": 1, ")": -1, "]": -1, "}": -1, ">": -1}.get(
            blanked[index], 0
        )
        if blanked[index] == "," and depth == 0:
            yield start, index
            start = index + 1
    yield start, end


def _parameters(text: str, blanked: str, start: int, end: int) -> tuple[Parameter, ...] | None:
    if blanked[start:end].strip() in ("", "void"):
        return ()
    found = []
    for first, last in _parts(blanked, start, end):
        declared, equals, _ = blanked[first:last].partition("=")
        name = _name(declared.strip())
        if name is None:
            return None
        default = text[first + len(declared) + 1 : last].strip() if equals else ""
        default = "nullptr" if default == "std::nullopt" else default
        known = _LITERAL.fullmatch(default) is not None
        found.append(Parameter(name, default if known else None))
    return tuple(found)


def _name(declared: str) -> str | None:
    match = _NAME_LAST.match(declared)
    if not match:
        return None
    before, name = match.group(1).rstrip(), match.group(2)
    words = set(re.findall(r"\w+", before))
    if not words - _QUALIFIERS or before.endswith("::") or name in _TYPE_WORDS | _QUALIFIERS:
        return None
    return name + "_" if iskeyword(name) else name


def registrations(
    prefix: str, functions: Mapping[str, str], texts: Mapping[str, str]
) -> Iterator[str]:
    """The C++ that registers `functions`, names with docs, under prefix.name.

    `texts` are the sources that may define them, by path.
    """
    yield "\n#include <mxnet/runtime/registry.h>\nnamespace {\n"
    for number, (function, doc) in enumerate(functions.items()):
        path, found = next(
            ((path, found) for path, text in texts.items() if (found := find(text, function))),
            (next(iter(texts)), Found(1, None)),
        )
        name = f"{prefix}.{function.rpartition('::')[2]}"
        location = f"{_quoted(name)}, {_quoted(path)}, {found.line}"
        yield f"const auto mxffi_exported_{number} = []() -> ::mxnet::runtime::RegistryEntry {{\n"
        yield f"  ::mxnet::runtime::Registry entry({location});\n"
        if doc:
            yield f"  entry.describe({_quoted(doc)});\n"
        if found.parameters:
            yield from _arguments(function, found.parameters)
        yield f"  return entry.set_body_typed(&{function});\n}}();\n"
    yield "}  // namespace\n"


def _arguments(function: str, parameters: tuple[Parameter, ...]) -> Iterator[str]:
    # Described only where the count fits: an overload or a macro may have been read instead.
    signature = f"::mxnet::runtime::details::FunctionSignature<decltype(&{function})>::Arguments"
    yield f"  if constexpr (std::tuple_size_v<{signature}> == {len(parameters)}) {{\n"
    for name, default in parameters:
        given = f", {default}, {_quoted('')}" if default is not None else ""
        yield f"    entry.arg({_quoted(name)}{given});\n"
    yield "  }\n"


def _quoted(text: str) -> str:
    """A C++ string literal of a text, in plain ASCII."""
    safe = "".join(
        chr(byte) if 32 <= byte < 127 and chr(byte) not in '"\\?' else f"\\{byte:03o}"
        for byte in text.encode("utf-8", "surrogateescape")
    )
    return f'"{safe}"'
