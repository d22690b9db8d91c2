"""Which registered operators make up `mx.np` and `mx.npx`, and under which names.

The functions of both are the registry's own, in their front-end form: nothing in Python stands
between a caller and the boundary.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import ffi
from ffi import Function

from . import _library  # noqa: F401  registers the operators

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


@dataclass(frozen=True)
class Namespace:
    """A module of operators: `<prefix><name>` of the registry is `<module>.<name>`."""

    module: str
    prefix: str
    internal: frozenset[str] = frozenset()
    aliases: Mapping[str, str] = field(default_factory=dict)

    def front_end(self, name: str) -> Function:
        """The operator of this name, with the signature people see. KeyError for none."""
        function = ffi.get_global_func(self.prefix + name).front_end()
        function.__module__ = self.module
        return function

    def public_functions(self) -> dict[str, Function]:
        """Every public operator and alias, by its name in the module."""
        names = (name for name in ffi.list_global_func_names() if name.startswith(self.prefix))
        stems = (name[len(self.prefix) :] for name in names)
        functions = {stem: self.front_end(stem) for stem in stems if stem not in self.internal}
        aliases = {
            alias: functions[name]
            for alias, name in self.aliases.items()
            if name in functions and alias not in functions
        }
        return functions | aliases

    def registered_later(self, name: str) -> Function:
        """An operator that was registered after the module was imported.

        AttributeError, as of the module, where there is none for people.
        """
        hidden = name.startswith("_") or name in self.internal
        if hidden or ffi.get_global_func(self.prefix + name, allow_missing=True) is None:
            raise AttributeError(f"module {self.module!r} has no attribute {name!r}")
        return self.front_end(name)


NUMPY = Namespace("mx.np", "_npi.", INTERNAL, ALIASES)
EXTENSION = Namespace("mx.npx", "_npx.")

front_end = NUMPY.front_end
FUNCTIONS = NUMPY.public_functions()
