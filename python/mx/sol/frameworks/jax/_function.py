"""Optimized models as functions of JAX's arrays."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import jax
import numpy

from ..._compiled import Compiled
from ..._training import TrainingPlans
from .._gradients import Gradients
from .._part import Part
from ._marker import OptimizedMarker
from ._source import JaxSource


class OptimizedFunction(OptimizedMarker):
    """An optimized model, called as the original with arrays of JAX.

    Inside of `jax.jit` it is a callback to this process. What it is made of keeps its weights: a
    function of JAX those that were bound.
    """

    def __init__(self, compiled: Compiled) -> None:
        self.__name__ = compiled.source.name
        self._gradients = Gradients(compiled, [])
        self._sol = _Part(self._gradients)
        self._run = jax.custom_vjp(self._call)
        self._run.defvjp(self._forward, self._backward)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """What the model returns; errors name the argument."""
        compiled = self._sol.compiled
        given = compiled.source.flatten(args, kwargs)
        arrays = [_checked(x, spec) for x, spec in zip(given, compiled.inputs, strict=True)]
        if any(isinstance(one, jax.core.Tracer) for one in arrays):
            outputs = [_without_tangent(one) for one in self._run(*arrays)]
        else:
            outputs = [_array_of(one) for one in self._plan(arrays)]
        return compiled.source.unflatten(outputs)

    @property
    def weights(self) -> dict[str, Any]:
        """The weights that the model has now, by name."""
        found = self._sol.compiled.weights()
        return {name: jax.numpy.asarray(tensor.numpy()) for name, (tensor, _) in found.items()}

    def __repr__(self) -> str:
        inputs = ", ".join(map(str, self._sol.compiled.inputs))
        return f"<{self._sol.compiled.source.name}, optimized: ({inputs})>"

    def _plan(self, arrays: Sequence[Any]) -> Sequence[Any]:
        compiled = self._sol.compiled
        if compiled.holder.has_changed():
            self._sol.refresh()
        given = zip(arrays, compiled.inputs, strict=True)
        return compiled.run([_widened(x, spec) for x, spec in given])

    def _call(self, *arrays: Any) -> Any:
        """The outputs for arrays that JAX traces."""
        compiled = self._sol.compiled
        given = [tuple(array.shape) for array in arrays]
        outputs = compiled.outputs_for(given)
        shapes: list[Any] = [spec.shape for spec in outputs]
        are_known = all(
            shape is not None and all(isinstance(n, int) for n in shape) for shape in shapes
        )
        if not are_known and isinstance(compiled.source, JaxSource):
            # What a loop gives, of which a graph may not say how many axes it has, or how long.
            shapes = list(compiled.source.result_shapes(given))
        specs = [
            jax.ShapeDtypeStruct(shape, jax.dtypes.canonicalize_dtype(spec.dtype))
            for shape, spec in zip(shapes, outputs, strict=True)
        ]

        def run(*given: Any) -> list[Any]:
            found: Any = self._plan([numpy.asarray(one) for one in given])
            return [
                numpy.asarray(one).astype(spec.dtype, copy=False)
                for one, spec in zip(found, specs, strict=True)
            ]

        return jax.pure_callback(run, specs, *arrays, vmap_method="sequential")

    def _forward(self, *arrays: Any) -> Any:
        return self._call(*arrays), arrays

    def _backward(self, arrays: Any, grads: Any) -> Any:
        """The gradients of the inputs; the model runs once more for what they need."""
        inputs = self._sol.compiled.inputs
        wrt = [
            n for n, one in enumerate(arrays) if jax.numpy.issubdtype(one.dtype, jax.numpy.inexact)
        ]
        count = len(arrays)

        def run(*given: Any) -> list[Any]:
            # What JAX compiles leaves out the call itself where only its gradient is used.
            if self._sol.compiled.holder.has_changed():
                self._sol.refresh()
            own = [_widened(numpy.asarray(x), s) for x, s in zip(given, inputs, strict=False)]
            # Of outputs that are no floats there is no gradient, nor anything to hand on.
            tangents = [
                None if one.dtype == jax.dtypes.float0 else numpy.asarray(one)
                for one in given[count:]
            ]
            found = self._gradients.forward(own, wrt).backward(tangents)
            return [
                numpy.zeros_like(own[n]) if found[n] is None else numpy.asarray(found[n])
                for n in wrt
            ]

        specs = [jax.ShapeDtypeStruct(arrays[n].shape, arrays[n].dtype) for n in wrt]
        made = jax.pure_callback(run, specs, *arrays, *grads, vmap_method="sequential")
        result: list[Any] = [None] * count
        for n, one in zip(wrt, made, strict=True):
            result[n] = one
        return tuple(result)


class _Part(Part):
    """The function as reports see it."""

    infers_in_training = True

    def __init__(self, gradients: Gradients) -> None:
        super().__init__(gradients.compiled)
        self._gradients = gradients

    def refresh(self) -> None:
        """See Part. Plans of gradients have the weights as constants."""
        super().refresh()
        self._gradients.forget()

    def forget_training(self) -> None:
        """See Part."""
        self._gradients.forget()

    def _training_plans(
        self, compiled: Compiled, shapes: Sequence[tuple[int, ...]]
    ) -> tuple[TrainingPlans, frozenset[str]]:
        """See Part: those of gradients by all arguments that have some."""
        dtypes = [jax.dtypes.canonicalize_dtype(spec.dtype) for spec in compiled.inputs]
        wrt = [n for n, one in enumerate(dtypes) if jax.numpy.issubdtype(one, jax.numpy.inexact)]
        return self._gradients.of(compiled).plans(shapes, wrt), frozenset()


def _array_of(array: Any) -> Any:
    """An array of a plan as one of JAX, in the same memory where JAX has its data type."""
    dtype = numpy.dtype(array.dtype)
    if jax.dtypes.canonicalize_dtype(dtype) != dtype:
        return jax.numpy.asarray(numpy.asarray(array).astype(jax.dtypes.canonicalize_dtype(dtype)))
    return jax.dlpack.from_dlpack(array)


def _without_tangent(array: Any) -> Any:
    """An array that JAX traces. It gives results of custom_vjp that are no floats tangents, which
    its branches reject; bits are what they are by an operation that has none."""
    is_float = jax.numpy.issubdtype(array.dtype, jax.numpy.inexact)
    return array if is_float else jax.lax.bitwise_or(array, array)


def _widened(array: Any, spec: Any) -> Any:
    """An array in the type that the model takes: JAX has mostly no numbers of 64 bits."""
    if spec.dtype is None or str(array.dtype) == spec.dtype:
        return array
    return numpy.asarray(array).astype(spec.dtype)


def _checked(array: Any, spec: Any) -> Any:
    if not isinstance(array, jax.Array):
        array = jax.numpy.asarray(array)
    if spec.dtype is not None:
        wanted = jax.dtypes.canonicalize_dtype(spec.dtype)
        if array.dtype != wanted:
            raise TypeError(f"input {spec.name!r}: expected {wanted}, got {array.dtype}")
    return array
