"""All members of an array, as one table, and how a class gets them."""

from __future__ import annotations

import builtins
from collections.abc import Callable
from types import FunctionType
from typing import Any

from . import _conversion, _indexing, _methods, _operators, _representation

MEMBERS: dict[str, Any] = {
    **_operators.SPECIAL,
    **_indexing.SPECIAL,
    **_conversion.SPECIAL,
    **_representation.SPECIAL,
    **_methods.METHODS,
    **_methods.PROPERTIES,
}


def install(
    cls: type,
    native: frozenset[str] = frozenset(),
    setattr: Callable[[type, str, Any], None] = builtins.setattr,
) -> None:
    """Adds the members of an array to cls, except those named in `native`, which it defines."""
    for name, member in MEMBERS.items():
        if name not in native:
            if isinstance(member, FunctionType):
                member.__name__ = name
                member.__qualname__ = f"ndarray.{name}"
            setattr(cls, name, member)
