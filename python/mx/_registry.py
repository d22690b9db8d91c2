"""Which registered operators make up `mx.np`, and under which names.

The functions of `mx.np` are the registry's own, in their front-end form: nothing in Python stands
between a caller and the boundary.
"""

from __future__ import annotations

import ffi
from ffi import Function

from . import _library  # noqa: F401  registers the operators

PREFIX = "_npi."

# Registered for the methods of ndarray, not for people.
INTERNAL = frozenset({"flatten", "getitem", "setitem", "view"})

# Further names of an operator, as NumPy has them.
ALIASES = {
    "abs": "absolute",
    "acos": "arccos",
    "acosh": "arccosh",
    "amax": "max",
    "amin": "min",
    "around": "round",
    "asin": "arcsin",
    "asinh": "arcsinh",
    "atan": "arctan",
    "atan2": "arctan2",
    "atanh": "arctanh",
    "bitwise_invert": "invert",
    "bitwise_not": "invert",
    "bitwise_left_shift": "left_shift",
    "bitwise_right_shift": "right_shift",
    "concat": "concatenate",
    "conj": "conjugate",
    "mod": "remainder",
    "permute_dims": "transpose",
    "pow": "power",
    "true_divide": "divide",
}


def front_end(name: str) -> Function:
    """The operator registered as `_npi.<name>`, with the signature people see.

    KeyError where there is none.
    """
    function = ffi.get_global_func(PREFIX + name).front_end()
    function.__module__ = "mx.np"
    return function


def is_registered(name: str) -> bool:
    """Whether there is an operator `_npi.<name>`."""
    return ffi.get_global_func(PREFIX + name, allow_missing=True) is not None


def public_functions() -> dict[str, Function]:
    """Every public operator and alias, by its name in `mx.np`."""
    names = (name for name in ffi.list_global_func_names() if name.startswith(PREFIX))
    stems = (name[len(PREFIX) :] for name in names)
    functions = {stem: front_end(stem) for stem in stems if stem not in INTERNAL}
    aliases = {
        alias: functions[name]
        for alias, name in ALIASES.items()
        if name in functions and alias not in functions
    }
    return functions | aliases


FUNCTIONS = public_functions()
