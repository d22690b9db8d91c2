"""Optimized models in training: batch statistics, dropout, and what they assign to variables."""

from __future__ import annotations

import itertools
import threading
from collections.abc import Mapping, Sequence
from typing import Any

import numpy
import tensorflow as tf
from tensorflow.python.eager.record import stop_recording

from ....graph import ValueSpec
from ..._compiled import Compiled
from ..._training import TrainingPlans
from .._gradients import GradientCall
from .._in_mode import InMode
from ._arrays import dense, eager, tensor_of, without_second
from ._seeds import draw_seed
from ._source import TensorFlowSource

# Calls inside of functions whose gradients have not been asked for yet; of more the oldest go.
_MOST = 2


class Trained:
    """A model in training, with its variables as they are trained now.

    Its outputs have the losses behind them that layers add.
    """

    def __init__(self, compiled: Compiled, mode: InMode, variables: Mapping[str, Any]) -> None:
        """`variables` are the weights that the model has, by name."""
        self._compiled, self._mode, self._form = compiled, mode, mode.form
        self.num_losses = self._form.num_losses
        self._variables = [variables[name] for name in self._form.weights]
        self._written = [variables[name] for name in self._form.writes]
        self._counters = [(variables[name], n) for name, n in self._form.counters.items()]
        self._gradients = mode.gradients
        self._calls: dict[int, GradientCall] = {}
        self._lock = threading.Lock()  # of these
        self._numbers = itertools.count()  # of calls inside of functions

    def _wrt(self, count: int) -> list[int]:
        """The numbers of what may have gradients: of `count` inputs, and of variables."""
        inputs, every = self._compiled.inputs, list(range(count))
        found = [n for n in every if tf.as_dtype(inputs[n].dtype).is_floating]
        return found + [
            count + n
            for n, one in enumerate(self._variables)
            if one.trainable and one.dtype.is_floating
        ]

    def plans(self, shapes: Sequence[tuple[int, ...]]) -> tuple[TrainingPlans, frozenset[str]]:
        """Those of calls with inputs of these shapes that a tape records; see Part."""
        every = [*shapes, *(tuple(one.shape) for one in self._variables)]
        every = self._mode.given(every, (2,))  # of the seed
        found = self._gradients.plans(every, self._wrt(len(shapes)))
        return found, frozenset(self._form.weights)

    def run(self, tensors: Sequence[Any], recorded: bool) -> list[Any]:
        """The outputs for eager tensors; with `recorded` tapes can differentiate them."""
        given = [*tensors, *(tf.identity(one) for one in self._variables)]
        with stop_recording():
            wrt = self._wrt(len(tensors)) if recorded else []
            made = self._gradients.forward(self._mode.given(given, self._seed()), wrt)
            every = [tensor_of(one) for one in made.outputs]
            outputs = self._assigned(every)
        if not recorded:
            return outputs

        @tf.custom_gradient  # type: ignore[untyped-decorator]
        def call(*_: Any) -> Any:
            def gradient(*grads: Any) -> list[Any]:
                own = eager(self._mode.source.name, grads)
                with stop_recording():
                    found = made.backward(own)[: len(given)]
                    tensors = [None if one is None else tensor_of(one) for one in found]
                return without_second(self._mode.source.name, tensors, [*given, *own])

            return outputs, gradient

        return list(call(*given))

    def _seed(self) -> Any:
        """The seed of a call. A model without random elements takes none from the generator."""
        return draw_seed() if self._form.has_seed else numpy.zeros(2, "int64")

    def _assigned(self, every: Sequence[Any]) -> list[Any]:
        """The outputs of the model among those of the graph; variables get the others."""
        count = len(every) - len(self._written)
        for variable, value in zip(self._written, every[count:], strict=True):
            variable.assign(tf.cast(value, variable.dtype))
        for variable, step in self._counters:
            variable.assign_add(tf.cast(step, variable.dtype))
        return list(every[:count])

    def _specs(self) -> list[ValueSpec]:
        """The types and shapes of what the graph gives. One of a framework that traces for lengths
        says nothing of others: then the shapes of the model's own outputs are those of inference.
        """
        specs = list(self._form.graph.outputs)
        if not isinstance(self._mode.source.base(), TensorFlowSource):
            specs[: len(self._compiled.outputs)] = self._compiled.outputs
        return specs

    def in_graph(self, tensors: Sequence[Any]) -> list[Any]:
        """The outputs for tensors of a tf.function: an operation that runs the plan."""
        wrt = self._wrt(len(tensors))
        specs = self._specs()
        # Whether anybody has asked for gradients when the function was traced.
        is_wanted = [False]

        def run(*arrays: Any) -> list[Any]:
            seed, number = self._seed(), next(self._numbers)
            every = self._mode.given(arrays, seed)
            made = self._gradients.forward(every, wrt if is_wanted[0] else [])
            if is_wanted[0]:
                self._keep(number, made)
            return [*map(numpy.asarray, made.outputs), numpy.array([*seed, number])]

        @tf.custom_gradient  # type: ignore[untyped-decorator]
        def call(*given: Any) -> Any:
            types = [tf.as_dtype(spec.dtype) for spec in specs]
            *outputs, drawn = tf.numpy_function(run, given, [*types, tf.int64], name="training")
            for output, spec in zip(outputs, specs, strict=True):
                output.set_shape([n if isinstance(n, int) else None for n in spec.shape or ()])

            def gradient(*grads: Any) -> list[Any]:
                is_wanted[0] = True
                own = dense(grads[: len(specs) - len(self._written)])
                found = self._gradient_in_graph(drawn, given, wrt, own)
                return without_second(self._mode.source.name, found, [*given, *own])

            return outputs, gradient

        return self._assigned(call(*tensors, *(tf.identity(one) for one in self._variables)))

    def _keep(self, number: int, made: GradientCall) -> None:
        with self._lock:
            while len(self._calls) >= _MOST:
                del self._calls[next(iter(self._calls))]
            self._calls[number] = made

    def _gradient_in_graph(
        self, drawn: Any, given: Sequence[Any], wrt: Sequence[int], grads: Sequence[Any]
    ) -> list[Any]:
        """Gradients as an operation, for a call by its seed and its number."""
        count = len(given)

        def run(drawn: Any, *arrays: Any) -> list[Any]:
            own, grads = arrays[:count], arrays[count:]
            with self._lock:
                made = self._calls.pop(int(drawn[2]), None)
            if made is None:  # asked for a second time, or after many other calls
                made = self._gradients.forward(self._mode.given(own, drawn[:2]), wrt)
            found = made.backward(grads)
            return [
                numpy.zeros_like(own[n]) if found[n] is None else numpy.asarray(found[n])
                for n in wrt
            ]

        types = [given[n].dtype for n in wrt]
        made = tf.numpy_function(run, [drawn, *given, *grads], types, name="training_gradient")
        result: list[Any] = [None] * count
        for n, one in zip(wrt, made, strict=True):
            one.set_shape(given[n].shape)
            result[n] = one
        return result
