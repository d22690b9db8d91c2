"""Operators on arrays that NumPy has no function for.

Every operator registered as `_npx.<name>` is a function here, under its own name, as those of
`mx.np` are.
"""

import sys

from .._registry import EXTENSION

FUNCTIONS = EXTENSION.public_functions()

__all__ = [*FUNCTIONS]

EXTENSION.follow_registry(sys.modules[__name__], FUNCTIONS)
