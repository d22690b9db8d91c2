"""Reference pages in Markdown of what is registered, from the descriptions alone."""

from __future__ import annotations

import re

from .description import FunctionInfo, ParamInfo
from .enums import get_enum, list_enum_names
from .registry import get_global_func, list_global_func_names

__all__ = ["render"]


def render(prefix: str, level: int = 2) -> str:
    """The page of everything that is registered as `prefix.name`: enums, then functions, by name.

    Each has a heading of the given level, its signature or signatures, its text, and a list of what
    its parameters mean. Raises KeyError where nothing is registered under the prefix.
    """
    if not isinstance(prefix, str):
        raise TypeError(f"render: argument 0 ('prefix') expected str, got {type(prefix).__name__}")
    enums = [name for name in list_enum_names() if name.rpartition(".")[0] == prefix]
    functions = [name for name in list_global_func_names() if name.rpartition(".")[0] == prefix]
    if not enums and not functions:
        raise KeyError(f"nothing is registered as {prefix}.name")
    entries = [_enum(name, level) for name in enums]
    entries += [_function(get_global_func(name).info, level) for name in functions]
    return "\n".join(entries)


def _heading(name: str, level: int) -> str:
    return f"{'#' * level} `{name}`"


def _enum(name: str, level: int) -> str:
    made = get_enum(name)
    lines = [_heading(name, level), "", escaped(made.__doc__ or ""), ""]
    for short, member in made.__members__.items():
        doc = member.__doc__ if member.__doc__ != made.__doc__ else ""
        lines.append(
            f"- **{escaped(short)}** = {member.value}" + (f": {escaped(doc)}" if doc else "")
        )
    return "\n".join([*lines, ""])


def _function(info: FunctionInfo, level: int) -> str:
    lines = [_heading(info.name, level), ""]
    if not info.overloads:
        lines += _way(info)
    elif info.doc:
        lines += [escaped(info.doc), ""]
    for way in info.overloads:
        lines += _way(way)
    return "\n".join(lines)


def _way(info: FunctionInfo) -> list[str]:
    """One signature, with its text and parameters."""
    params = info.in_order(front_end=True)
    signature = info.signature(front_end=True)
    lines = ["```python", f"{info.name}{signature}", "```", ""]
    if info.doc:
        lines += [escaped(info.doc), ""]
    if params:
        lines += [*map(item, params), ""]
    return lines


def item(param: ParamInfo) -> str:
    """A parameter as an item of a list."""
    kind = f" (`{param.type}`)" if param.type else ""
    star = r"\*" if param.variadic else ""
    doc = f": {escaped(' '.join(param.doc.split()))}" if param.doc else ""
    return f"- **{star}{escaped(param.name)}**{kind}{doc}"


def escaped(doc: str) -> str:
    """A text as Markdown: only code in backquotes is markup."""
    parts = re.split(r"(`[^`]*`)", doc)
    parts[::2] = [re.sub(r"([*<_\[\]])", r"\\\1", part) for part in parts[::2]]
    return "".join(parts)
