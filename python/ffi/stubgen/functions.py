"""Functions of the registry as the statements of a stub."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

from ..description import FunctionInfo, ParamInfo
from .expressions import Expressions


def default_text(default: Any) -> str:
    """A default as source code, `...` where it has no literal."""
    if default is None or type(default) in (bool, int, str):
        return repr(default)
    if type(default) is float and math.isfinite(default):
        return repr(default)
    return "..."


def parameter(param: ParamInfo, expressions: Expressions) -> str:
    """One parameter of a signature."""
    star = "*" if param.variadic else ""
    default = f" = {default_text(param.default)}" if param.optional else ""
    return f"{star}{param.name}: {expressions.rewrite(param.type)}{default}"


def parameters(
    info: FunctionInfo, expressions: Expressions, front_end: bool = False, skip: int = 0
) -> str:
    """The parameters between the parentheses, without the first `skip`."""
    if not info.described:
        anything = expressions.name("typing", "Any")
        return f"*args: {anything}, **kwargs: {anything}"
    params = info.in_order(front_end)[skip:]
    shown = [parameter(param, expressions) for param in params]
    by_name = [index for index, param in enumerate(params) if param.keyword_only]
    if by_name and not any(param.variadic for param in params):
        shown.insert(by_name[0], "*")
    return ", ".join(shown)


def function(
    name: str,
    info: FunctionInfo,
    expressions: Expressions,
    *,
    front_end: bool = False,
    with_doc: bool = True,
) -> Iterator[str]:
    """The statements that declare a function, one for each way to call it."""
    for way in info.overloads or (info,):
        if info.overloads:
            yield f"@{expressions.name('typing', 'overload')}"
        result = expressions.rewrite(way.returns)
        head = f"def {name}({parameters(way, expressions, front_end)}) -> {result}:"
        doc = way.doc or info.doc
        if with_doc and doc:
            yield head
            yield from docstring(doc)
        else:
            yield f"{head} ..."


def docstring(doc: str, indent: str = "    ") -> Iterator[str]:
    """The lines of a docstring."""
    text = doc.replace("\\", "\\\\").replace('"""', '\\"\\"\\"')
    if text.endswith('"'):
        text += " "
    first, *others = text.splitlines()
    if not others:
        yield f'{indent}"""{first}"""'
        return
    yield f'{indent}"""{first}'
    yield from (f"{indent}{line}" if line else "" for line in others)
    yield f'{indent}"""'
