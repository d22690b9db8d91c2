"""Operators on arrays that NumPy has no function for.

Every operator registered as `_npx.<name>` is a function here, under its own name, as those of
`mx.np` are.
"""

from typing import Any

from .._registry import EXTENSION

FUNCTIONS = EXTENSION.public_functions()
globals().update(FUNCTIONS)

__all__ = [*FUNCTIONS]


def __getattr__(name: str) -> Any:
    """Operators that were registered after this package was imported."""
    value = EXTENSION.registered_later(name)
    globals()[name] = value
    return value
