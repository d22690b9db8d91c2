"""Functions of JAX: read by their jaxpr, and optimized models as functions."""

from __future__ import annotations

import functools
import sys
from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from .._framework import Framework, Source
from ._marker import OptimizedMarker, PartedMarker

if TYPE_CHECKING:
    from ..._compiled import Compiled


class Jax(Framework):
    """JAX. Nothing of it is imported before a function of it comes, or is asked for."""

    name = "jax"
    models = "a function of jax.jit, or functools.partial of one with its parameters"
    target = "jax"

    def reads(self, model: object) -> bool:
        """Whether it is a function of jax.jit, with or without arguments that are bound."""
        jax = sys.modules.get("jax")
        if jax is None or not hasattr(jax, "stages"):
            return False
        while isinstance(model, functools.partial):
            model = model.func
        return isinstance(model, (jax.stages.Wrapped, OptimizedMarker, PartedMarker))

    def parse(self, model: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Source:
        """The jaxpr of a function for an example."""
        from ._source import JaxSource

        return JaxSource(model, args, kwargs)

    def wrap(self, compiled: Compiled, model: Any) -> Any:
        """A function."""
        try:
            from ._function import OptimizedFunction
        except ModuleNotFoundError as error:
            raise ImportError(
                "sol.optimize: framework='jax' needs jax: pip install jax", name=error.name
            ) from error
        return OptimizedFunction(compiled)

    def fall_back(
        self, model: Any, args: Sequence[Any], kwargs: Mapping[str, Any], how: Any, error: Exception
    ) -> Any:
        """A function of which JAX executes what cannot be optimized, and plans the parts."""
        from ._fallback import in_parts

        return in_parts(model, args, kwargs, how, error)

    def training_step(self, *_: Any) -> Any:
        """NotImplementedError: functions have no parameters that a step could change."""
        raise NotImplementedError(
            "sol.training_step: model: functions of JAX have no parameters to change: optimize the"
            " loss as a function of them, and differentiate it by jax.value_and_grad"
        )

    def parts(self, model: Any) -> list[tuple[str, Any]] | None:
        """The function itself, or what plans execute of it."""
        if isinstance(model, PartedMarker):
            return list(model.parts())
        runner = getattr(model, "_sol", None) if isinstance(model, OptimizedMarker) else None
        return None if runner is None else [("", runner)]

    def missing(self) -> str:
        """What to install."""
        return "" if find_spec("jax") else "pip install jax"


FRAMEWORK = Jax()
