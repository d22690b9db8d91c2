"""What single elements are computed with: functions in C made of the headers' formulas.

mxnet/op/formulas.inc says what elementwise operators mean, mxnet/op/narrow_floats.inc what float16
and bfloat16 are, mxnet/op/conversions.inc what integers floats are. Generated code calls a formula,
and a conversion to integers, as mx_NAME_TYPE, and a conversion of float16 as mx_NAME; those of them
that it calls stand in front of it.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Container
from dataclasses import dataclass
from pathlib import Path

from ffi import config

from ._types import TYPES, Type

_FORMULAS = "formulas.inc"
_CONVERSIONS = "conversions.inc"
_MACRO = re.compile(r"^(MXNET_\w+)\(", re.M)
_WORD = re.compile(r"\b[A-Za-z_]\w*\b")
_CALLED = re.compile(r"\bmx_(\w+)\b")
_COMMENT = re.compile(r"/\*.*?\*/\s*", re.S)
# Those of <math.h> that are macros have one name for all types.
_MACROS = frozenset(("isfinite", "isinf", "isnan"))
_KINDS = {kind.short: kind for kind in TYPES.values() if kind.size != 2 or not kind.is_float}


def family_of(kind: Type) -> str:
    """The family of formulas that elements of a type have."""
    return "Float" if kind.is_float else "Int" if kind.is_integer else "Bool"


def has_formula(name: str, kind: Type) -> bool:
    """Whether there is a formula for elements of a type."""
    return name in _operators() and (name, family_of(kind)) in _formulas()


def gives_bool(name: str) -> bool:
    """Whether the operator of that name gives booleans, whatever it is given."""
    return _operators()[name].gives_bool


def operands_of(name: str) -> int:
    """How many operands the operator of that name has."""
    return _operators()[name].operands


def formula(name: str, kind: Type, *args: str) -> str:
    """The call of a formula."""
    return f"mx_{name}_{kind.short}({', '.join(args)})"


def integer_of_float(kind: Type, origin: Type, text: str) -> str:
    """A float as an integer, or as a boolean."""
    return f"({kind.value})mx_{_integers()[kind.name]}_{origin.short}({text})"


def functions_for(text: str) -> str:
    """The definitions of all formulas and conversions that a text calls, each of them once."""
    made: dict[str, str] = {}
    _collect(text, made)
    if not made:
        return ""
    # A formula asks of all integers whether they are below 0.
    head = '#pragma GCC diagnostic push\n#pragma GCC diagnostic ignored "-Wtype-limits"\n'
    return head + "".join(made.values()) + "#pragma GCC diagnostic pop\n"


def _collect(text: str, made: dict[str, str]) -> None:
    for name in _CALLED.findall(text):
        if name in made:
            continue
        operator, _, short = name.rpartition("_")
        definition = _conversion(name) or _function(operator, short)
        if definition:
            _collect(definition.partition("{")[2], made)
            made[name] = f"MX_INLINE {definition}\n"


def _conversion(name: str) -> str:
    return _named(_conversions().get(name, ""), _conversions(), "")


def _function(name: str, short: str) -> str:
    """The function of a formula, or of what formulas call, for elements of a type."""
    kind = _KINDS.get(short)
    if kind is None:
        return ""
    if name in _functions_of_types():
        return _typed(_functions_of_types()[name], kind)
    text = _formulas().get((name, family_of(kind)))
    if text is None:
        return ""
    operands = "abc"[: operands_of(name)]
    parameters = ", ".join(f"C {operand}" for operand in operands)
    unused = "".join(f"(void){x}; " for x in operands if x not in _WORD.findall(text))
    result = "int" if gives_bool(name) else "C"
    return _typed(f"{result} mx_{name}_{short}({parameters}) {{ {unused}return {text}; }}", kind)


def _typed(text: str, kind: Type) -> str:
    """A text of formulas.inc with the types and functions for elements of a type."""
    bits = 8 * kind.size
    words = {"C": kind.value}
    if kind.is_float:
        suffix = "f" if kind.value == "float" else ""
        words |= {name: f"{name}{suffix}" for name in _functions() - _MACROS}
    else:
        words["U"] = f"uint{bits}_t"
        words["W"] = f"uint{max(32, bits)}_t"
        words["BITS"] = str(bits)
    text = _WORD.sub(lambda word: words.get(word[0], word[0]), text)
    return _named(text, _functions_of_types(), f"_{kind.short}")


def _named(text: str, functions: Container[str], suffix: str) -> str:
    """A text in which these functions have the names that they have in generated code."""

    def name_of(word: re.Match[str]) -> str:
        return f"mx_{word[0]}{suffix}" if word[0] in functions else word[0]

    return _WORD.sub(name_of, text)


# -- what the headers have --


@dataclass(frozen=True)
class _Operator:
    operands: int
    gives_bool: bool


@functools.cache
def _calls_of_macros(file: str) -> list[tuple[str, str]]:
    """The macros that a file calls, each with all that stands between its parentheses."""
    text = (Path(config.include_dir()) / "mxnet" / "op" / file).read_text(encoding="utf-8")
    text = _COMMENT.sub("", text)
    found = []
    for macro in _MACRO.finditer(text):
        end, depth = macro.end(), 1
        while depth:
            depth += {"(": 1, ")": -1}.get(text[end], 0)
            end += 1
        found.append((macro[1], text[macro.end() : end - 1]))
    return found


def _arguments(file: str, macro: str, count: int) -> list[list[str]]:
    """So many arguments of each call of a macro; the last one may have commas."""
    return [
        [part.strip() for part in text.split(",", count - 1)]
        for name, text in _calls_of_macros(file)
        if name == macro
    ]


@functools.cache
def _formulas() -> dict[tuple[str, str], str]:
    rows = _arguments(_FORMULAS, "MXNET_FORMULA", 3)
    return {(name, family): text for name, family, text in rows}


@functools.cache
def _functions_of_types() -> dict[str, str]:
    """What formulas call, and what converts floats to integers."""
    rows = _arguments(_FORMULAS, "MXNET_FORMULA_HELPER", 2)
    rows += _arguments(_CONVERSIONS, "MXNET_CONVERSION", 2)
    return {row[0]: row[1] for row in rows}


@functools.cache
def _integers() -> dict[str, str]:
    """The function that converts floats to integers of a type."""
    return dict(_arguments(_CONVERSIONS, "MXNET_INTEGER_OF_FLOAT", 2))


@functools.cache
def _functions() -> frozenset[str]:
    return frozenset(name for (name,) in _arguments(_FORMULAS, "MXNET_FORMULA_FUNCTION", 1))


@functools.cache
def _operators() -> dict[str, _Operator]:
    rows = _arguments(_FORMULAS, "MXNET_ELEMENTWISE", 4)
    return {name: _Operator(int(count), result == "Bool") for name, count, _, result in rows}


@functools.cache
def _conversions() -> dict[str, str]:
    macros = ("MXNET_NARROW_FLOAT_BITS", "MXNET_NARROW_FLOAT")
    rows = [row for macro in macros for row in _arguments("narrow_floats.inc", macro, 2)]
    return {row[0]: row[1] for row in rows}
