"""Functions of JAX of which JAX executes a part: the equations that cannot be read."""

from __future__ import annotations

import functools
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from typing import Any

import jax
import numpy
from jax import tree_util

from ....graph import GraphError
from ....importers.jax._origin import describe, source_line
from ....importers.jax._trace import Traced, is_array, is_key
from ..._compiled import Compiled
from .._cut import Kept, Step, failing, grouped, reason_of, tell
from ._function import OptimizedFunction
from ._marker import PartedMarker
from ._source import JaxSource

# A part is worth a call of a plan if it has one of these; all else JAX compiles as well.
_PRODUCTS = {"dot_general", "conv_general_dilated", "scan", "while"}
# Calls of functions that are read as if they were not there.
_CALLS = {"jit": "jaxpr", "pjit": "jaxpr", "closed_call": "call_jaxpr", "core_call": "call_jaxpr"}


def in_parts(
    function: Any,
    args: Sequence[Any],
    kwargs: Mapping[str, Any],
    planned: Callable[..., Compiled],
    error: Exception,
) -> Any:
    """A function of which plans execute what they can between the equations that cannot be read,
    and JAX those; the function itself where plans have nothing to do.

    A SolWarning says which parts, and why not all.
    """
    parted = PartedFunction(function, planned, args, kwargs)
    cut = parted.example
    names = [f"{name} ({one.count} equations)" for name, one in cut.planned()]
    tell(parted.__name__, "JAX", names, cut.reasons or [reason_of(error)], stacklevel=4)
    return parted if names else function


class PartedFunction(PartedMarker):
    """A function in parts, called as the original.

    As a function of jax.jit, it takes arguments of any shapes: it is traced for each anew.
    """

    def __init__(
        self,
        function: Any,
        planned: Callable[..., Compiled],
        args: Sequence[Any],
        kwargs: Mapping[str, Any],
    ) -> None:
        self._function, self._planned = function, planned
        self._cuts: Kept[_Cut] = Kept()
        self.example = self.cut(args, kwargs)
        inner = function
        while isinstance(inner, functools.partial):
            inner = inner.func
        self.__name__ = str(getattr(inner, "__name__", "jax"))

    def cut(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> _Cut:
        """The function in parts for arguments of these shapes and types."""
        leaves, structure = tree_util.tree_flatten((tuple(args), dict(kwargs)))
        key = structure, tuple(map(_spec, leaves))
        found = self._cuts.get(key)
        if found is None:
            # Not of the arguments, which it would keep, and whose elements do not matter.
            traced = Traced(self._function, args, kwargs)
            for n, spec in zip(traced.positions, traced.specs(traced.shapes()), strict=True):
                leaves[n] = spec
            given, named = tree_util.tree_unflatten(structure, leaves)
            found = _Cut(Traced(self._function, given, named), self._planned)
            self._cuts.add(key, found)
        return found

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """What the function returns."""
        return self.cut(args, kwargs)(tree_util.tree_leaves((args, kwargs)))

    def parts(self) -> list[tuple[str, Any]]:
        """What plans execute for the example, by number."""
        return [(name, one.run._sol) for name, one in self.example.planned()]

    def __repr__(self) -> str:
        return f"<{self.__name__}, optimized in parts>"


class _Cut:
    """A function in parts, for arguments of some shapes and types."""

    def __init__(self, traced: Traced, planned: Callable[..., Compiled]) -> None:
        self._traced, self._plan = traced, planned
        bound = traced.weights()
        specs = traced.specs(traced.shapes())
        weights = [array for _, array in bound]
        closed = jax.make_jaxpr(traced.flat)(weights, specs)
        given = [jax.ShapeDtypeStruct(one.shape, one.dtype) for one in closed.in_avals]
        flat = jax.make_jaxpr(lambda *given: _inlined(closed, given))(*given)
        self._jaxpr, self._eqns = flat.jaxpr, list(flat.jaxpr.eqns)
        count = len(weights)
        self._inputs = flat.jaxpr.invars[count:]
        self._dtypes = [one.dtype for one in specs]
        # What is known before a call, and the names that plans have for it.
        self._known = dict(zip(flat.jaxpr.invars, weights, strict=False))
        self._names = dict(zip(flat.jaxpr.invars, [name for name, _ in bound], strict=False))
        self._known.update(zip(flat.jaxpr.constvars, flat.consts, strict=True))
        self.reasons: list[str] = []
        self._steps = self._cut()

    def planned(self) -> list[tuple[str, Step]]:
        """What plans execute, by number."""
        steps = [one for one in self._steps if isinstance(one.run, OptimizedFunction)]
        return [(str(number), one) for number, one in enumerate(steps)]

    def __call__(self, leaves: Sequence[Any]) -> Any:
        """What the function returns for the leaves of its arguments."""
        arrays = [leaves[n] for n in self._traced.positions]
        given = zip(arrays, self._dtypes, strict=True)
        values = dict(self._known)
        converted = [x if is_key(dtype) else jax.numpy.asarray(x, dtype) for x, dtype in given]
        values.update(zip(self._inputs, converted, strict=True))
        for step in self._steps:
            made = step.run(*[values[one] for one in step.taken])
            values.update(zip(step.given, made, strict=True))
        results = iter([_read(one, values) for one in self._jaxpr.outvars])
        outputs, structure = tree_util.tree_flatten(self._traced.outputs)
        return tree_util.tree_unflatten(
            structure, [next(results) if is_array(leaf) else leaf for leaf in outputs]
        )

    # -- cutting --

    def _cut(self) -> list[Step]:
        eqns = self._eqns

        def attempt(first: int, stop: int) -> str:
            found = self._optimized(eqns[first:stop])
            if not isinstance(found, str):
                return ""
            is_told = "mx.importers" in found
            return found if is_told else f"{describe([eqns[first]])}: {found}"

        # What acts on more than its results keeps its order.
        acting = {n: "it has effects" for n, eqn in enumerate(eqns) if eqn.effects}
        bad = failing(len(eqns), "all cannot be together", attempt)
        self.reasons += list(bad.values())
        apart = bad | acting
        token = [["effects"] if n in acting else [] for n in range(len(eqns))]
        reads = [[*_variables(eqn.invars), *more] for eqn, more in zip(eqns, token, strict=True)]
        writes = [[*eqn.outvars, *more] for eqn, more in zip(eqns, token, strict=True)]
        steps: list[Step] = []
        waiting: list[int] = []
        for is_apart, group in grouped(reads, writes, apart):
            some = [eqns[n] for n in group]
            found: Step | str = ""
            if not is_apart and any(eqn.primitive.name in _PRODUCTS for eqn in some):
                found = self._optimized(some)
            if isinstance(found, str):
                self.reasons += [found] if found else []
                waiting += group
                continue
            steps += self._in_jax(waiting)
            waiting = []
            steps.append(found)
        return steps + self._in_jax(waiting)

    def _in_jax(self, numbers: Sequence[int]) -> list[Step]:
        """Equations as a step that JAX compiles."""
        if not numbers:
            return []
        taken, given, jaxpr = self._section([self._eqns[n] for n in sorted(numbers)])
        run = jax.jit(lambda *values: jax.core.eval_jaxpr(jaxpr, (), *values))
        return [Step(run, taken, given, len(numbers))]

    def _optimized(self, some: Sequence[Any]) -> Step | str:
        """Equations as a step of a plan, or why they cannot be one."""
        taken, given, jaxpr = self._section(some)
        if not given:
            return "nothing reads its results"
        bound = {
            self._names.get(one, f"constant_{n}"): self._known[one]
            for n, one in enumerate(taken)
            if one in self._known
        }
        free = [one for one in taken if one not in self._known]

        def section(weights: Mapping[str, Any], *values: Any) -> Any:
            found, rest = iter(weights.values()), iter(values)
            every = [next(found if one in self._known else rest) for one in taken]
            return jax.core.eval_jaxpr(jaxpr, (), *every)

        section.__name__ = self._traced.name
        # A function of nothing takes a number that it does not read.
        specs = [one.aval for one in free] or [jax.ShapeDtypeStruct((), numpy.dtype("float32"))]
        try:
            example = [numpy.zeros(one.shape, one.dtype) for one in specs]
            source = JaxSource(functools.partial(jax.jit(section), bound), example, {})
            run = OptimizedFunction(self._plan(source, False))
        except (GraphError, NotImplementedError, TypeError, ValueError) as error:
            return reason_of(error)
        if not free:
            return Step(functools.partial(run, example[0]), [], given, len(some))
        return Step(run, free, given, len(some))

    def _section(self, some: Sequence[Any]) -> tuple[list[Any], list[Any], Any]:
        """What equations read of others, what others read of them, and a jaxpr of them."""
        inside = set(map(id, some))
        written = list(dict.fromkeys(one for eqn in some for one in eqn.outvars))
        read = dict.fromkeys(one for eqn in some for one in _variables(eqn.invars))
        others = set(_variables(self._jaxpr.outvars))
        for eqn in self._eqns:
            if id(eqn) not in inside:
                others.update(_variables(eqn.invars))
        taken = [one for one in read if one not in set(written)]
        given = [one for one in written if one in others]
        return taken, given, _part(self._jaxpr, taken, given, some)


def _inlined(closed: Any, given: Sequence[Any], around: Any = None) -> list[Any]:
    """Evaluates a jaxpr, of calls of functions the equations inside; `around` is the call."""
    jaxpr = closed.jaxpr
    values = dict(zip(jaxpr.constvars, closed.consts, strict=True))
    values.update(zip(jaxpr.invars, given, strict=True))
    for own in jaxpr.eqns:
        eqn = own if around is None else own.replace(source_info=_inside(own, around))
        inner = eqn.params.get(_CALLS.get(eqn.primitive.name, ""))
        if hasattr(inner, "consts"):
            made = _inlined(inner, [_read(one, values) for one in eqn.invars], eqn)
        else:
            taken = list(dict.fromkeys(_variables(eqn.invars)))
            alone = _part(jaxpr, taken, eqn.outvars, [eqn])
            made = jax.core.eval_jaxpr(alone, (), *[values[one] for one in taken])
        values.update(zip(eqn.outvars, made, strict=True))
    return [_read(one, values) for one in jaxpr.outvars]


def _inside(eqn: Any, around: Any) -> Any:
    """Where an equation comes from that is in a function which another one calls."""
    info, outer = eqn.source_info, around.source_info
    info = info.replace(name_stack=outer.name_stack + info.name_stack)
    return info if source_line(eqn) else info.replace(traceback=outer.traceback)


def _part(jaxpr: Any, taken: Sequence[Any], given: Sequence[Any], eqns: Sequence[Any]) -> Any:
    """A jaxpr of some equations of another."""
    return jaxpr.replace(constvars=[], invars=list(taken), outvars=list(given), eqns=list(eqns))


def _read(variable: Any, values: Mapping[Any, Any]) -> Any:
    return variable.val if hasattr(variable, "val") else values[variable]


def _variables(atoms: Iterable[Any]) -> list[Any]:
    """Those that are no literals."""
    return [one for one in atoms if not hasattr(one, "val")]


def _spec(leaf: Any) -> Hashable:
    if not is_array(leaf):
        return repr(leaf)
    return numpy.shape(leaf), str(getattr(leaf, "dtype", type(leaf)))
