"""Functions of JAX traced: what they are called with, and what they return."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Mapping, Sequence
from typing import Any

import jax
import numpy as np
from jax import tree_util

from mx.graph import Graph

from ._import import import_jaxpr


class Traced:
    """A function with an example of its arguments. What functools.partial has bound is weights."""

    def __init__(self, function: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> None:
        if not callable(function):
            raise TypeError(
                f"mx.importers.jax.load: function: expected a function, got"
                f" {type(function).__name__}"
            )
        self.function = function
        inner, self._bound, self._bound_names = _unwrapped(function)
        self._inner = inner
        self.name = str(getattr(inner, "__name__", "jax"))
        self.args, self.kwargs = tuple(args), dict(kwargs)
        leaves, self.structure = tree_util.tree_flatten((self.args, self.kwargs))
        self.leaves = leaves
        self.positions = [n for n, leaf in enumerate(leaves) if is_array(leaf)]
        if not self.positions:
            raise TypeError(
                f"mx.importers.jax.load: {self.name}: expected an example of the arguments with an"
                " array among them"
            )
        self.paths = self._paths()
        self.outputs: Any = None  # the structure of what the function returns

    def _paths(self) -> list[str]:
        """x, x_0, x_key: a name for each array among the arguments."""
        parameters: list[str] = []
        try:
            signature = inspect.signature(self._inner).parameters
            parameters = [name for name in signature if name not in self._bound_names[1]][
                self._bound_names[0] :
            ]
        except (TypeError, ValueError):
            pass
        found, _ = tree_util.tree_flatten_with_path((self.args, self.kwargs))
        names = []
        for (part, number, *path), _leaf in found:
            if part.idx == 0:
                at = number.idx
                first = parameters[at] if at < len(parameters) else f"input_{at}"
            else:
                first = str(number.key)
            names.append("_".join([first, *map(key_text, path)]))
        return [names[n] for n in self.positions]

    def arguments(self) -> list[tuple[Any, ...]]:
        """Which argument each array is, or is in."""
        found, _ = tree_util.tree_flatten_with_path((self.args, self.kwargs))
        return [found[n][0][:2] for n in self.positions]

    def weights(self) -> list[tuple[str, Any]]:
        """The arrays that are bound, by the names of the parameters and the keys to them."""
        found, _ = tree_util.tree_flatten_with_path(self._bound)
        return [
            (".".join(map(key_text, path)), leaf) for path, leaf in found if hasattr(leaf, "dtype")
        ]

    def shapes(self) -> list[tuple[int, ...]]:
        """The shapes of the arrays of the example."""
        return [tuple(np.shape(self.leaves[n])) for n in self.positions]

    def specs(self, shapes: Sequence[Sequence[int]]) -> list[Any]:
        """The arrays of the example in other shapes, as JAX takes them without elements."""
        found = [self.leaves[n] for n in self.positions]
        return [
            jax.ShapeDtypeStruct(tuple(shape), _canonical(_dtype(leaf)))
            for leaf, shape in zip(found, shapes, strict=True)
        ]

    def graph_of(self, shapes: Sequence[Sequence[int]], stops: bool = False) -> Graph:
        """The graph for arrays of these shapes."""
        weights = self.weights()
        try:
            closed = jax.make_jaxpr(self.flat)([array for _, array in weights], self.specs(shapes))
        except ValueError as error:
            if "static arguments" not in str(error):
                raise
            raise TypeError(
                f"mx.importers.jax.load: {self.name}: arguments that jax.jit has as static are"
                f" bound by functools.partial: {error}"
            ) from None
        names = output_names(self.outputs)
        return import_jaxpr(closed, weights, self.paths, names, self.name, stops)

    def flat(self, weights: Sequence[Any], arrays: Sequence[Any]) -> list[Any]:
        """The function of lists of arrays, which gives a list."""
        bound, structure = tree_util.tree_flatten(self._bound)
        given = iter(weights)
        bound = [next(given) if hasattr(leaf, "dtype") else leaf for leaf in bound]
        positional, named = _positional(tree_util.tree_unflatten(structure, bound))
        leaves = list(self.leaves)
        for n, array in zip(self.positions, arrays, strict=True):
            leaves[n] = array
        args, kwargs = tree_util.tree_unflatten(self.structure, leaves)
        result = self._inner(*positional, *args, **named, **kwargs)
        self.outputs = tree_util.tree_map(_without_elements, result)
        return [leaf for leaf in tree_util.tree_leaves(result) if is_array(leaf)]


def _unwrapped(function: Any) -> tuple[Any, dict[str, Any], tuple[int, set[str]]]:
    """The function inside of partial ones; what is bound by name, and how it was given."""
    args: tuple[Any, ...] = ()
    kwargs: dict[str, Any] = {}
    while isinstance(function, functools.partial):
        args, kwargs = (*function.args, *args), {**function.keywords, **kwargs}
        function = function.func
    try:
        names = list(inspect.signature(function).parameters)
    except (TypeError, ValueError):
        names = []
    bound: dict[str, Any] = {}
    for number, value in enumerate(args):
        name = names[number] if number < len(names) else f"bound_{number}"
        bound[_POSITION + name] = value
    bound.update(kwargs)
    return function, _Bound(bound), (len(args), set(kwargs))


# What begins so is bound by position.
_POSITION = "\0"


class _Bound(dict[str, Any]):
    """What is bound, in the order in which it was given."""


tree_util.register_pytree_with_keys(
    _Bound,
    lambda bound: (
        [(tree_util.DictKey(key.removeprefix(_POSITION)), bound[key]) for key in bound],
        tuple(bound),
    ),
    lambda keys, values: _Bound(zip(keys, values, strict=True)),
)


def _positional(bound: Mapping[str, Any]) -> tuple[list[Any], dict[str, Any]]:
    given = [value for key, value in bound.items() if key.startswith(_POSITION)]
    return given, {key: one for key, one in bound.items() if not key.startswith(_POSITION)}


def is_array(leaf: object) -> bool:
    """Whether a leaf of arguments or results is an array; numbers of Python are."""
    is_number = isinstance(leaf, (bool, int, float, complex))
    return is_number or (hasattr(leaf, "shape") and hasattr(leaf, "dtype"))


def is_key(dtype: Any) -> bool:
    """Whether it is the type of JAX's keys of random numbers, which no graph has."""
    return bool(jax.dtypes.issubdtype(dtype, jax.dtypes.extended))


def _canonical(dtype: Any) -> Any:
    return dtype if is_key(dtype) else jax.dtypes.canonicalize_dtype(dtype)


def _dtype(leaf: Any) -> Any:
    found = getattr(leaf, "dtype", None)
    if found is None:
        return np.asarray(leaf).dtype
    name = str(found).removeprefix("torch.")
    return found if name == str(found) else np.dtype(name)


def _without_elements(leaf: Any) -> Any:
    return jax.ShapeDtypeStruct(leaf.shape, leaf.dtype) if hasattr(leaf, "shape") else leaf


def key_text(key: Any) -> str:
    """The number, the key or the name of the attribute that leads to a part of a structure."""
    found = [getattr(key, name) for name in ("idx", "key", "name") if hasattr(key, name)]
    return str(found[0] if found else key)


def output_names(structure: Any) -> list[str]:
    """A name for each array of what a function returns."""
    found = []
    for path, leaf in tree_util.tree_flatten_with_path(structure)[0]:
        if is_array(leaf):
            name = "_".join(map(key_text, path))
            found.append(name if name and not name[0].isdigit() else f"output_{name}".rstrip("_"))
    return found
