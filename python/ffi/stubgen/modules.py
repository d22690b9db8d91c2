"""Functions, enums and classes that are registered under one prefix as the stub of a module."""

from __future__ import annotations

import keyword
from collections.abc import Collection, Iterable, Iterator
from enum import IntEnum

from ..enums import get_enum, list_enum_names
from ..registry import get_global_func
from .classes import class_stub, list_class_keys
from .expressions import Expressions
from .functions import docstring, function

NOTICE = "# Written by `python -m ffi stubgen` from what is registered; do not edit."
# Overloads are tried in order, so one for int before one for float is meant, though they overlap.
OVERLOADED = (
    '# mypy: disable-error-code="overload-overlap, overload-cannot-match"\n'
    "# pyright: reportOverlappingOverload=false"
)


def module_of(name: str) -> str:
    """The module that a registered name belongs to: `demo.linalg` for `demo.linalg.solve`."""
    return name.rpartition(".")[0]


def is_plain(name: str) -> bool:
    """Whether the last part of a registered name can be written in Python."""
    last = name.rpartition(".")[2]
    return last.isidentifier() and not keyword.iskeyword(last)


def module_stub(
    module: str, functions: Iterable[str], enums: Iterable[str], classes: Iterable[str] = ()
) -> str:
    """The stub of a module of some functions, enums and classes, given by their whole names."""
    functions = [name for name in functions if is_plain(name)]
    enums = [name for name in enums if is_plain(name)]
    classes = [name for name in classes if is_plain(name)]
    last_parts = [name.rpartition(".")[2] for name in (*functions, *enums, *classes)]
    expressions = Expressions(defined=last_parts, own=_own_names(module))
    body: list[str] = []
    for name in enums:
        body += [*_enum_class(get_enum(name), expressions), ""]
    for name in classes:
        body += [*class_stub(name, expressions), ""]
    overloaded = False
    for name in functions:
        info = get_global_func(name).info
        overloaded |= bool(info.overloads)
        body += [*function(name.rpartition(".")[2], info, expressions)]
    head = [NOTICE, *([OVERLOADED] if overloaded else [])]
    return "\n".join([*head, *expressions.imports(), "", *body]).rstrip() + "\n"


def _own_names(module: str) -> dict[str, str]:
    """How the stub of a module names each registered type that is the module's own."""
    names = (*list_enum_names(), *list_class_keys())
    return {name: name.rpartition(".")[2] for name in names if module_of(name) == module}


def _enum_class(enum: type[IntEnum], expressions: Expressions) -> Iterator[str]:
    yield f"class {enum.__name__}({expressions.name('enum', 'IntEnum')}):"
    yield from docstring(enum.__doc__ or enum.__name__)
    for name, member in enum.__members__.items():
        yield f"    {name} = {member.value}"


def stubs(
    functions: Collection[str], enums: Collection[str], classes: Collection[str] = ()
) -> dict[str, str]:
    """The stub of each module that the names belong to, by the path of its file.

    A module that other modules are in is a package, `demo/__init__.pyi`.
    """
    modules = sorted({module_of(name) for name in (*functions, *enums, *classes)} - {""})
    made = {}
    for module in modules:
        is_package = any(other.startswith(f"{module}.") for other in modules)
        path = module.replace(".", "/") + ("/__init__.pyi" if is_package else ".pyi")
        made[path] = module_stub(
            module,
            [name for name in functions if module_of(name) == module],
            [name for name in enums if module_of(name) == module],
            [name for name in classes if module_of(name) == module],
        )
    return made
