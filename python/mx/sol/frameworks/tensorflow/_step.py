"""Steps of training of a model of Keras: its loss, its gradients, and the optimizer's step."""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import keras
import tensorflow as tf
from tensorflow import nest

from .... import numpy as np
from ....context import Context
from ....graph import GraphError
from ....graph.passes import Pass
from ....graph.passes.common import COMMON
from ....importers.tensorflow._trace import is_array
from ..._limited import arrays_of, within
from ..._plans import plan_of
from ..._step import StepGraph, step_graph
from ..._stops import remove_stops
from ..._training import Planned, Run
from ...passes import run
from ...schedule import Memory, step_memory
from ...tuning import Choices, Tuner
from .._framework import InTraining
from ._arrays import tensor_of
from ._keras import OptimizedModel
from ._optimizers import Optimizer, optimizer_of
from ._seeds import draw_seed
from ._source import TensorFlowSource

# Those of tf.Variable take four times as long, for what only tapes and graphs need.
_read, _assign = tf.raw_ops.ReadVariableOp, tf.raw_ops.AssignVariableOp
# Plans that are kept; of more the oldest go.
_MOST = 8
_ALL = ("forward", "loss", "backward", "optimizer")


class WithLoss(keras.Model):  # type: ignore[misc]
    """A model and a loss of what it returns, with the losses that layers and weights add."""

    def __init__(self, model: Any, loss: Callable[..., Any]) -> None:
        super().__init__(name=model.name, autocast=False)
        self.inner, self.loss_of = model, loss
        self.built = True

    def call(self, *args: Any, training: bool | None = None, **kwargs: Any) -> Any:
        """The loss, a number; the target is the last argument."""
        *inputs, target = args
        value = tf.reduce_mean(
            self.loss_of(target, self.inner(*inputs, training=training, **kwargs))
        )
        return tf.add_n([value, *(tf.cast(one, value.dtype) for one in self.inner.losses)])


class TrainingStep:
    """See sol.training_step. One thread at a time may call it."""

    def __init__(
        self,
        model: Any,
        loss: Any,
        optimizer: Any,
        context: Context,
        passes: Sequence[Pass],
        memory_limit: int | None = None,
    ) -> None:
        if not isinstance(optimizer, keras.optimizers.Optimizer):
            kind = type(optimizer).__name__
            raise TypeError(
                f"sol.training_step: optimizer: expected a keras.optimizers.Optimizer, got {kind}"
            )
        is_optimized = isinstance(model, OptimizedModel)
        if is_optimized and memory_limit is None:
            memory_limit = model._sol.compiled.memory_limit
        self._limit = memory_limit
        self._model, self.optimizer = model, optimizer
        # None where an optimized model is of another framework.
        original = getattr(model, "original", None) if is_optimized else model
        self._is_here = context.device_type == "cpu" and original is not None
        function = _loss_of(loss)
        self._whole = WithLoss(model if original is None else original, function)
        self._of_model = WithLoss(model, function)
        self._passes = tuple(passes)
        self._tuner = model._sol.compiled.training_tuner() if is_optimized else Tuner.by_config()
        self._plans: dict[Any, _StepPlan | str] = {}
        self._lock = threading.Lock()
        self.fused: tuple[str, ...] = ()

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """The loss of a step that it does."""
        tensors, optimizer, plan = self._planned(args, kwargs)
        if isinstance(plan, str):
            return self._in_keras(args, kwargs, plan)
        self.fused = _ALL if optimizer is not None else _ALL[:3]
        return plan(tensors, optimizer, self.optimizer)

    def memory(self, *args: Any, **kwargs: Any) -> Memory:
        """What a step with these arguments takes, known before it is done for the first time.

        It is told by kind and over time, see sol.memory; what variables become is told as
        gradients. NotImplementedError, with the reason, where Keras would do the step, and where
        elements of arrays decide about shapes. MemoryError as of a call.
        """
        _, _, plan = self._planned(args, kwargs)
        if isinstance(plan, str):
            raise NotImplementedError(f"sol.training_step: memory: Keras does the step: {plan}")
        return plan.memory()

    def _planned(
        self, args: Any, kwargs: Any
    ) -> tuple[list[Any], Optimizer | None, _StepPlan | str]:
        """The tensors among the arguments, the optimizer, if its step can be planned, and the plan,
        or why Keras does the step."""
        if len(args) < 2:
            raise TypeError("sol.training_step: expected arguments of the model and a target")
        leaves = nest.flatten((args, kwargs))
        arrays = [one for one in leaves if is_array(one)]
        why = self._why_keras(arrays)
        if why:
            return [], None, why
        tensors = [tf.convert_to_tensor(one) for one in arrays]
        optimizer = optimizer_of(self.optimizer, self._model.trainable_variables)
        others = [one for one in leaves if not is_array(one)]
        key = (
            str(nest.map_structure(lambda one: "*" if is_array(one) else one, (args, kwargs))),
            tuple((tuple(one.shape), one.dtype) for one in tensors),
            tuple(map(repr, others)),
            tuple(layer.trainable for layer in self._whole._flatten_layers()),
            tuple(map(id, self._model.trainable_variables)),
            None if optimizer is None else optimizer.signature(),
        )
        if key not in self._plans:
            with self._lock:
                made = self._made(args, kwargs, optimizer)
                while len(self._plans) >= _MOST:
                    del self._plans[next(iter(self._plans))]
                self._plans[key] = made
        return tensors, optimizer, self._plans[key]

    def _why_keras(self, arrays: Sequence[Any]) -> str:
        """Why Keras does a step, whatever the model and the loss are; "" where it need not."""
        if not self._is_here:
            return "plans of whole steps are for the CPU and for models of Keras"
        if not tf.executing_eagerly() or any(map(tf.is_symbolic_tensor, arrays)):
            return "it is called in a tf.function"
        if tf.distribute.has_strategy():
            return "it is called in a strategy"
        scales = isinstance(self.optimizer, keras.optimizers.LossScaleOptimizer)
        if scales or self.optimizer.loss_scale_factor is not None:
            return "the optimizer scales the loss"
        return ""

    def _made(self, args: Any, kwargs: Any, optimizer: Optimizer | None) -> _StepPlan | str:
        source = TensorFlowSource(self._whole, args, kwargs)
        assert source.example is not None
        trained = self._model.trainable_variables
        try:
            shapes = [tuple(one.shape) for one in source.example]
            form = source.parse_for_training(shapes, losses=False)
            if self._limit is None:
                return _StepPlan(source, form, trained, optimizer, self._passes, self._tuner)

            def make(memory_limit: int | None = None) -> _StepPlan:
                passes = self._passes
                if memory_limit is not None:
                    # Which would compute once what is meant to be computed again.
                    passes = tuple(one for one in passes if one.name != COMMON.name)
                return _StepPlan(source, form, trained, optimizer, passes, None, memory_limit)

            return within(
                make,
                lambda one: one.memory().peak,
                self._limit,
                "sol.training_step",
                self._whole.name,
                0,
            )
        except (GraphError, NotImplementedError) as error:
            # Is it the loss? What is wrong with the model its own call will tell.
            return str(error)

    def _in_keras(self, args: Any, kwargs: Any, why: str) -> Any:
        if self._limit is not None:
            raise NotImplementedError(
                "sol.training_step: memory_limit: Keras does the step, whose memory is not known:"
                f" {why}"
            )
        with tf.GradientTape() as tape:
            value = self._of_model(*args, training=True, **kwargs)
            scaled = self.optimizer.scale_loss(value)
        trained = self._model.trainable_variables
        self.optimizer.apply(tape.gradient(scaled, [one.value for one in trained]), trained)
        self.fused = ("forward", "backward") if isinstance(self._model, OptimizedModel) else ()
        return value


def _loss_of(loss: Any) -> Callable[..., Any]:
    """A loss as `compile` takes it: a function, a keras.losses.Loss or the name of one."""
    try:
        found = keras.losses.get(loss)
    except ValueError as error:
        raise ValueError(f"sol.training_step: loss: {error}") from None
    if not callable(found):
        kind = type(loss).__name__
        raise TypeError(f"sol.training_step: loss: expected a loss of Keras, got {kind}")
    made: Callable[..., Any] = found
    return made


class _StepPlan:
    """A step for arguments of known shapes."""

    def __init__(
        self,
        source: TensorFlowSource,
        form: InTraining,
        trained: Sequence[Any],
        optimizer: Optimizer | None,
        passes: Sequence[Pass],
        tuner: Tuner | None,
        memory_limit: int | None = None,
    ) -> None:
        variables = source.traced.variables()
        self._variables = [variables[name] for name in form.weights]
        self._has_seed = form.has_seed
        names = {id(variables[name]): name for name in form.weights}
        wanted = {names[id(one.value)]: one for one in trained if id(one.value) in names}
        specs = [spec.name for spec in form.graph.outputs]
        stores = dict(zip(specs[1:], form.writes, strict=True))
        updates = {} if optimizer is None else optimizer.updates(wanted)
        made = step_graph(form.graph, list(wanted), stores, updates, memory_limit)
        graph = made.graph
        remove_stops(graph)
        run(passes, graph)
        if tuner is None:
            self._plan = plan_of(graph, Choices())
        else:
            _, self._plan = tuner.plan(graph, arrays_of(graph.inputs, np.ones))
        tell = functools.partial(setattr, self, "_run")
        # Outputs are kept by variables until the next step, and their memory is used again then.
        self._run: Run = Planned(self._plan, tell, graph.name, lambda compiled: None)
        self._updated = [wanted[name] for name in made.updated]
        self._without = [one for one in trained if id(one.value) not in names]
        self._targets = _targets(made, variables, wanted, optimizer)
        self._inputs = graph.inputs
        kinds = {
            **dict.fromkeys(form.weights, "parameters"),
            **{spec.name: "optimizer" for spec in self._inputs[len(form.graph.inputs) :]},
        }
        self._memory_of = step_memory(graph, kinds, made.parts, ())

    def memory(self) -> Memory:
        """What a step takes. NotImplementedError where it takes several plans."""
        compiled = self._plan.compiled(arrays_of(self._inputs))
        if compiled is None:
            raise NotImplementedError(
                "sol.training_step: memory: not known for a step that takes several plans"
            )
        return self._memory_of(compiled)

    def __call__(
        self, tensors: Sequence[Any], optimizer: Optimizer | None, keras_optimizer: Any
    ) -> Any:
        """The loss; variables are assigned to when all is computed."""
        given = [*tensors, *map(_elements, self._variables)]
        if self._has_seed:
            given.append(draw_seed())
        if optimizer is not None:
            given += [_elements(one.value) for one in optimizer.states(self._updated)]
            given += optimizer.settings(self._updated)
        loss, *others = map(tensor_of, self._run(given))
        gradients: list[tuple[Any, Any]] = []
        for target, value in zip(self._targets, others, strict=True):
            if isinstance(target, tf.Variable):
                _assign(resource=target.handle, value=tf.cast(value, target.dtype))
            else:
                gradients.append((value, target))
        if optimizer is not None:
            keras_optimizer.iterations.assign_add(1)
        else:
            gradients += [(None, one) for one in self._without]
            keras_optimizer.apply_gradients(gradients)
        return loss


def _elements(variable: Any) -> Any:
    """An array in the memory of a variable, which stays as it is when the variable gets another."""
    return _read(resource=variable.handle, dtype=variable.dtype)._numpy_internal()


def _targets(
    made: StepGraph,
    variables: Mapping[str, Any],
    wanted: Mapping[str, Any],
    optimizer: Optimizer | None,
) -> list[Any]:
    """What the outputs behind the loss are for: variables that they are assigned to, or those of
    Keras that they are gradients for."""
    states = {} if optimizer is None else optimizer.states_by_name(wanted)
    gradients = {output: wanted[name] for name, output in made.gradients.items()}
    found = []
    for spec in made.graph.outputs[1:]:
        if spec.name in gradients:
            found.append(gradients[spec.name])
        else:
            name = made.stores[spec.name]
            found.append(states[name].value if name in states else variables[name])
    return found
