"""Which registered operators make up `mx.np` and `mx.npx`, and under which names.

The functions of both are the registry's own, in their front-end form: nothing in Python stands
between a caller and the boundary.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from types import ModuleType
from typing import Any

import ffi
from ffi import Function
from ffi.following import Following, watch

from . import _library  # noqa: F401  registers the operators

# Operators behind methods of ndarray, which are no functions of the modules.
INTERNAL = frozenset({"flatten", "getitem", "setitem", "view"})

# Aliases that NumPy has for an operator.
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
        return self._shown(ffi.get_global_func(self.prefix + name))

    def _shown(self, registered: Function) -> Function:
        function = registered.front_end()
        function.__module__ = self.module
        return function

    def public_functions(self) -> dict[str, Function]:
        """Every public operator and alias, by its name in the module; it follows the registry."""
        functions: dict[str, Function] = {}

        def find(name: str) -> Function | None:
            registered = ffi.get_global_func(self.prefix + name, allow_missing=True)
            if registered is None:
                return functions.get(self.aliases.get(name, ""))
            return self._shown(registered)

        self._follow(functions, find, ffi.list_global_func_names)
        return functions

    def follow_registry(self, module: ModuleType, functions: Mapping[str, Function]) -> None:
        """Keeps a module's functions those of public_functions, now and later.

        Names that the module has from elsewhere are left alone.
        """
        self._follow(
            vars(module), functions.get, lambda: [self.prefix + name for name in [*functions]]
        )

    def _follow(
        self,
        namespace: dict[str, Any],
        find: Callable[[str], Function | None],
        names: Callable[[], Iterable[str]],
    ) -> None:
        following = Following(namespace, find)

        def changed(full_name: str) -> None:
            if full_name.startswith(self.prefix):
                following.renew(self._names_of(full_name[len(self.prefix) :]))

        watch(self.prefix, changed)
        for name in names():
            changed(name)

    def _names_of(self, stem: str) -> tuple[str, ...]:
        """The names of an operator in the module; none for one behind a method."""
        if stem.startswith("_") or stem in self.internal:
            return ()
        return (stem, *self._aliases_of.get(stem, ()))

    @cached_property
    def _aliases_of(self) -> dict[str, list[str]]:
        aliases: dict[str, list[str]] = {}
        for alias, name in self.aliases.items():
            aliases.setdefault(name, []).append(alias)
        return aliases


NUMPY = Namespace("mx.np", "_npi.", INTERNAL, ALIASES)
EXTENSION = Namespace("mx.npx", "_npx.")

front_end = NUMPY.front_end
FUNCTIONS = NUMPY.public_functions()
