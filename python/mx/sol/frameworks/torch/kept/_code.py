"""What code refers to: names of globals and attributes."""

from __future__ import annotations

import dis
import sys
from collections.abc import Iterator, Mapping
from types import CodeType, ModuleType
from typing import Any

# With these, names of attributes need not be in the code.
DYNAMIC = frozenset(
    ("getattr", "hasattr", "setattr", "delattr", "vars", "dir", "attrgetter", "methodcaller")
    + ("__dict__", "__getattribute__", "__getattr__", "__slots__")
)
# They bring in, or change, what no look at the function's globals tells.
_REJECTED = {
    "IMPORT_NAME": "imports a module when it is called",
    "IMPORT_STAR": "imports a module when it is called",
    "STORE_GLOBAL": "sets a global variable",
    "DELETE_GLOBAL": "removes a global variable",
    "LOAD_BUILD_CLASS": "defines a class when it is called",
    "MATCH_CLASS": "matches classes",
}
_GLOBALS = ("LOAD_GLOBAL", "LOAD_NAME")
_ATTRIBUTES = ("LOAD_ATTR", "LOAD_METHOD")
_MISSING = object()


class NotDescribedError(Exception):
    """Something that a key cannot describe for certain; the text says what."""


def all_codes(code: CodeType) -> Iterator[CodeType]:
    """A code object and those of functions that are defined in it."""
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from all_codes(constant)


def text_of(code: CodeType) -> str:
    """All of a code object but for its constants; the lines are in errors and reports."""
    lines = code.co_linetable
    exceptions = getattr(code, "co_exceptiontable", b"")
    counts = code.co_argcount, code.co_posonlyargcount, code.co_kwonlyargcount, code.co_flags
    names = code.co_names, code.co_varnames, code.co_freevars, code.co_cellvars
    where = code.co_name, code.co_filename, code.co_firstlineno
    return repr((where, counts, names, code.co_code, lines, exceptions))


def globals_read(
    code: CodeType, names: Mapping[str, Any], builtins: Mapping[str, Any]
) -> Iterator[tuple[str, Any]]:
    """What code reads of globals, by name; of modules the attributes, as "module.attribute".

    NotDescribedError where a module itself is taken for a value, and for code that imports or sets
    globals.
    """
    instructions = [one for one in dis.get_instructions(code) if one.opname != "CACHE"]
    for number, one in enumerate(instructions):
        if one.opname in _REJECTED:
            raise NotDescribedError(_REJECTED[one.opname])
        if one.opname not in _GLOBALS:
            continue
        path = str(one.argval)
        value = names.get(path, builtins.get(path, _MISSING))
        while isinstance(value, ModuleType):
            number += 1
            following = instructions[number]
            if following.opname not in _ATTRIBUTES:
                raise NotDescribedError(f"takes the module {value.__name__} for a value")
            path = f"{path}.{following.argval}"
            if type(value) is not ModuleType or following.argval not in value.__dict__:
                raise NotDescribedError(f"reads {path}, which its module computes")
            value = value.__dict__[following.argval]
        yield (path, value) if value is not _MISSING else (f"no {path}", None)


def only_compares(code: CodeType) -> bool:
    """Whether it is a method as those of dataclasses, which compare classes, or name them."""
    calls = (one.opname.startswith(("CALL", "PRECALL")) for one in dis.get_instructions(code))
    return code.co_name in (
        "__eq__",
        "__lt__",
        "__le__",
        "__gt__",
        "__ge__",
        "__repr__",
    ) and not any(calls)


def calls_own_class(code: CodeType) -> bool:
    """Whether a method uses `__class__` for more than `super()`."""
    loads = [
        str(one.argval)
        for one in dis.get_instructions(code)
        if one.opname in ("LOAD_DEREF", "LOAD_CLASSDEREF", *_GLOBALS)
    ]
    # From Python 3.12 on `super()` itself reads it.
    own = loads.count("super") if sys.version_info >= (3, 12) else 0
    return loads.count("__class__") > own
