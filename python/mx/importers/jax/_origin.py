"""Where in the user's program an equation comes from."""

from __future__ import annotations

import os
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


def metadata_of(eqn: Any) -> dict[str, str]:
    """What nodes of the graph note of where they come from."""
    found = {"mx.module": module_path(eqn), "mx.source": source_line(eqn)}
    return {key: value for key, value in found.items() if value}


def describe(eqn: Any) -> str:
    """Names an equation in an error: its primitive, its scope and its line."""
    inside = [f"module {path!r}" for path in (module_path(eqn),) if path]
    where = ", ".join(part for part in (*inside, source_line(eqn)) if part)
    return f"{eqn.primitive.name} ({where})" if where else str(eqn.primitive.name)
