"""Calls of plans with tensors of TensorFlow, eager ones and those of a graph."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy
import tensorflow as tf
from tensorflow.python.eager.record import could_possibly_record

from ..._compiled import Compiled
from .._part import Part


class Runner(Part):
    """Runs an optimized model whose weights are variables."""

    def __init__(self, compiled: Compiled, variables: Mapping[str, Any]) -> None:
        super().__init__(compiled)
        # In the order of names.
        self.variables = dict(variables)

    def __call__(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
        """What the model returns; errors name the argument."""
        compiled = self.compiled
        given = compiled.source.flatten(args, kwargs)
        tensors = [_checked(x, spec) for x, spec in zip(given, compiled.inputs, strict=True)]
        if any(map(tf.is_symbolic_tensor, tensors)):
            outputs = self._in_graph(tensors)
        elif could_possibly_record():
            outputs = self._recorded(tensors)
        else:
            outputs = self.run(tensors)
        return compiled.source.unflatten(outputs)

    def run(self, tensors: Sequence[Any]) -> list[Any]:
        """The outputs for eager tensors."""
        compiled = self.compiled
        if compiled.holder.has_changed():
            compiled.refresh()
        return [tensor_of(one) for one in compiled.run(list(tensors))]

    def _in_graph(self, tensors: Sequence[Any]) -> list[Any]:
        """The outputs for tensors of a tf.function: an operation that runs the plan."""
        compiled = self.compiled
        specs = compiled.outputs
        types = [tf.as_dtype(spec.dtype) for spec in specs]

        def run(*arrays: Any) -> list[Any]:
            if compiled.holder.has_changed():
                compiled.refresh()
            return [numpy.asarray(one) for one in compiled.run(arrays)]

        @tf.custom_gradient  # type: ignore[untyped-decorator]
        def call(*inputs: Any) -> Any:
            outputs = tf.numpy_function(run, inputs, types, name="optimized")
            for output, spec in zip(outputs, specs, strict=True):
                output.set_shape([n if isinstance(n, int) else None for n in spec.shape or ()])
            return outputs, self._gradient

        return list(call(*tensors))

    def _recorded(self, tensors: Sequence[Any]) -> list[Any]:
        """The outputs for eager tensors while a tape records."""

        @tf.custom_gradient  # type: ignore[untyped-decorator]
        def call(*inputs: Any) -> Any:
            return self.run(inputs), self._gradient

        return list(call(*tensors))

    def _gradient(self, *grads: Any) -> Any:
        raise NotImplementedError(
            f"{self.compiled.source.name}: gradients of optimized models are not implemented yet"
            " for TensorFlow"
        )


def tensor_of(array: Any) -> Any:
    """An array of a plan as a tensor, in the same memory."""
    return tf.experimental.dlpack.from_dlpack(array.__dlpack__())


def _checked(tensor: Any, spec: Any) -> Any:
    if isinstance(tensor, tf.Variable):
        tensor = tensor.value()
    if not tf.is_tensor(tensor):
        tensor = tf.convert_to_tensor(tensor)
    if spec.dtype is not None and tensor.dtype.name != spec.dtype:
        raise TypeError(f"input {spec.name!r}: expected {spec.dtype}, got {tensor.dtype.name}")
    return tensor
