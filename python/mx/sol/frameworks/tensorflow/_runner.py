"""Calls of plans with tensors of TensorFlow, eager ones and those of a graph."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy
import tensorflow as tf
from tensorflow.python.eager.record import could_possibly_record, stop_recording

from ..._compiled import Compiled
from .._gradients import Gradients
from .._part import Part


class Runner(Part):
    """Runs an optimized model whose weights are variables."""

    def __init__(self, compiled: Compiled, variables: Mapping[str, Any]) -> None:
        super().__init__(compiled)
        # In the order of names.
        self.variables = dict(variables)
        self._gradients = Gradients(compiled, list(self.variables))

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
        specs, count = compiled.outputs, len(tensors)
        types = [tf.as_dtype(spec.dtype) for spec in specs]

        def run(*arrays: Any) -> list[Any]:
            if compiled.holder.has_changed():
                compiled.refresh()
            return [numpy.asarray(one) for one in compiled.run(arrays)]

        @tf.custom_gradient  # type: ignore[untyped-decorator]
        def call(*given: Any) -> Any:
            outputs = tf.numpy_function(run, given[:count], types, name="optimized")
            for output, spec in zip(outputs, specs, strict=True):
                output.set_shape([n if isinstance(n, int) else None for n in spec.shape or ()])

            def gradient(*grads: Any) -> Any:
                dense = _dense(grads)
                return self._without_second(self._gradient_in_graph(given, dense), [*given, *dense])

            return outputs, gradient

        return list(call(*tensors, *self._read()))

    def _recorded(self, tensors: Sequence[Any]) -> list[Any]:
        """The outputs for eager tensors while a tape records."""

        given = [*tensors, *self._read()]
        with stop_recording():
            recorded = self._gradients.forward(given, _floats(given))
            outputs = [tensor_of(one) for one in recorded.outputs]

        @tf.custom_gradient  # type: ignore[untyped-decorator]
        def call(*_: Any) -> Any:
            def gradient(*grads: Any) -> list[Any]:
                dense = _dense(grads)
                with stop_recording():
                    found = recorded.backward(dense)
                    made = [None if one is None else tensor_of(one) for one in found]
                return self._without_second(made, [*given, *dense])

            return outputs, gradient

        return list(call(*given))

    def _gradient_in_graph(self, given: Sequence[Any], grads: Sequence[Any]) -> list[Any]:
        """Gradients as an operation, which runs the model once more for what they need."""
        count, wrt = len(given), _floats(given)

        def run(*arrays: Any) -> list[Any]:
            call = self._gradients.forward(arrays[:count], wrt)
            found = call.backward(arrays[count:])
            return [
                numpy.zeros_like(arrays[n]) if found[n] is None else numpy.asarray(found[n])
                for n in wrt
            ]

        types = [given[n].dtype for n in wrt]
        made = tf.numpy_function(run, [*given, *grads], types, name="optimized_gradient")
        result: list[Any] = [None] * count
        for n, one in zip(wrt, made, strict=True):
            one.set_shape(given[n].shape)
            result[n] = one
        return result

    def _without_second(self, grads: Sequence[Any], sources: Sequence[Any]) -> list[Any]:
        """Gradients, which depend on the sources, as what NotImplementedError is differentiated
        by: another tape would find no gradient of them, without an error."""
        name = self.compiled.source.name
        which = [n for n, one in enumerate(grads) if one is not None]
        if not which:
            return list(grads)

        @tf.custom_gradient  # type: ignore[untyped-decorator]
        def call(*_: Any) -> Any:
            def second(*_: Any) -> Any:
                text = "an optimized model has no second gradients: differentiate the original"
                raise NotImplementedError(f"{name}: {text}")

            return [tf.identity(grads[n]) for n in which], second

        result = list(grads)
        for n, one in zip(which, call(*sources), strict=True):
            result[n] = one
        return result

    def _read(self) -> list[Any]:
        """The elements of the variables, as tapes see them read."""
        return [tf.identity(one) for one in self.variables.values()]


def _floats(tensors: Sequence[Any]) -> list[int]:
    """The numbers of tensors that can have gradients."""
    return [n for n, one in enumerate(tensors) if one.dtype.is_floating]


def _dense(grads: Sequence[Any]) -> list[Any]:
    """Gradients as tensors; those of what rows were gathered from come as tf.IndexedSlices."""
    return [None if one is None else tf.convert_to_tensor(one) for one in grads]


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
