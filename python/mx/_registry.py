"""Which registered operators make up `mx.np` and `mx.npx`, and under which names.

The functions of both are the registry's own, in their front-end form: nothing in Python stands
between a caller and the boundary.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import ModuleType

import ffi
from ffi import Function, registry

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

    def follow_registry(self, module: ModuleType, functions: Mapping[str, Function]) -> None:
        """Has a module, which has these functions, get what is registered later, lose what goes.

        What it has from elsewhere stays, whatever is registered under the same name.
        """
        given = dict(functions)

        def changed(full_name: str) -> None:
            stem = full_name[len(self.prefix) :]
            if stem.startswith("_") or stem in self.internal:
                return
            function = self._found(stem)
            for name in (stem, *(alias for alias, of in self.aliases.items() if of == stem)):
                if name in vars(module) and vars(module)[name] is not given.get(name):
                    continue
                if function is None:
                    vars(module).pop(name, None)
                else:
                    vars(module)[name] = given[name] = function

        registry.watch(self.prefix, changed)

    def _found(self, name: str) -> Function | None:
        registered = ffi.get_global_func(self.prefix + name, allow_missing=True)
        return None if registered is None else self.front_end(name)


NUMPY = Namespace("mx.np", "_npi.", INTERNAL, ALIASES)
EXTENSION = Namespace("mx.npx", "_npx.")

front_end = NUMPY.front_end
FUNCTIONS = NUMPY.public_functions()
