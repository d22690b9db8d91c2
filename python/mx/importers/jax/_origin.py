"""Where in the user's program an equation comes from."""

from __future__ import annotations

import os
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

_OWN = os.path.dirname(os.path.dirname(os.path.dirname(__file__)))


@lru_cache(maxsize=1)
def _not_the_users() -> tuple[str, ...]:
    import jax

    return os.path.dirname(jax.__file__) + os.sep, _OWN + os.sep, "<"


def source_line(eqn: Any) -> str:
    """`file:line` of the innermost line that is not JAX's own."""
    traceback = eqn.source_info.traceback
    for frame in traceback.frames if traceback is not None else ():
        if not frame.file_name.startswith(_not_the_users()):
            return f"{frame.file_name}:{frame.line_num}"
    return ""


def module_path(eqn: Any) -> str:
    """The named scopes that the equation is in, as libraries of layers set them."""
    return str(eqn.source_info.name_stack)


def _origin(eqns: Sequence[Any]) -> tuple[str, str]:
    """Scope and line of the last one, which is in a function that the one before calls: JAX keeps
    what it has traced of a function, and then no line of the user's is known inside."""
    scopes = [path for eqn in eqns if (path := module_path(eqn))]
    lines = [line for eqn in eqns if (line := source_line(eqn))]
    return "/".join(scopes), lines[-1] if lines else ""


def metadata_of(eqns: Sequence[Any]) -> dict[str, str]:
    """What nodes of the graph note of where they come from."""
    path, line = _origin(eqns)
    found = {"mx.module": path, "mx.source": line}
    return {key: value for key, value in found.items() if value}


def describe(eqns: Sequence[Any]) -> str:
    """Names an equation in an error: its primitive, its scope and its line."""
    path, line = _origin(eqns)
    where = ", ".join(part for part in (f"module {path!r}" if path else "", line) if part)
    name = str(eqns[-1].primitive.name)
    return f"{name} ({where})" if where else name
