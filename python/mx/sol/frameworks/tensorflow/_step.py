"""Steps of training of models of Keras and modules of TensorFlow: the loss, its gradients, and the
optimizer's step."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import keras
import numpy
import tensorflow as tf
from tensorflow import nest

from ....context import Context
from ....graph import GraphError
from ....graph.passes import Pass
from ....importers.tensorflow._trace import is_array, variable_of
from ..._step import step_graph
from ..._step_plan import StepPlan, planned_step
from ...schedule import Memory
from ...tuning import Tuner
from .._framework import InTraining
from ._arrays import tensor_of
from ._keras import OptimizedModel
from ._module import OptimizedModule
from ._optimizers import Optimizer, optimizer_of
from ._seeds import draw_seed
from ._source import TensorFlowSource
from ._with_loss import with_loss

# Those of tf.Variable take four times as long, for what only tapes and graphs need.
_read, _assign = tf.raw_ops.ReadVariableOp, tf.raw_ops.AssignVariableOp
# Plans that are kept; of more the oldest go.
_MOST = 8
_ALL = ("forward", "loss", "backward", "optimizer")
# What code that TensorFlow does not trace raises, and what is traced and not known.
_NOT_READ = (
    GraphError, NotImplementedError, ValueError, TypeError, AttributeError, tf.errors.OpError,
)  # fmt: skip


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
        is_optimized = isinstance(model, (OptimizedModel, OptimizedModule))
        if is_optimized and memory_limit is None:
            memory_limit = model._sol.compiled.memory_limit
        self._limit = memory_limit
        self._framework = "Keras" if isinstance(model, keras.layers.Layer) else "TensorFlow"
        original = _original(model) if is_optimized else model
        self._is_here = context.device_type == "cpu" and original is not None
        self._model = model if original is None else original
        self._whole, self._optimizer = with_loss(self._model, loss), optimizer
        self._passes = tuple(passes)
        self._tuner = model._sol.compiled.training_tuner() if is_optimized else Tuner.by_config()
        self._plans: dict[Any, _StepPlan | str] = {}
        self._lock = threading.Lock()
        self.fused: tuple[str, ...] = ()

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """The loss of a step that it does."""
        tensors, optimizer, plan = self._planned(args, kwargs)
        if isinstance(plan, str):
            return self._without_plan(args, kwargs, plan)
        self.fused = _ALL if optimizer is not None else _ALL[:3]
        return plan(tensors, optimizer)

    def memory(self, *args: Any, **kwargs: Any) -> Memory:
        """What a step with these arguments takes, known before it is done for the first time.

        It is told by kind and over time, see sol.memory; what variables become is told as
        gradients, and the optimizer is built. NotImplementedError, with the reason, where Keras or
        TensorFlow would do the step, and where elements of arrays decide about shapes. MemoryError
        as of a call.
        """
        _, _, plan = self._planned(args, kwargs)
        if isinstance(plan, str):
            raise NotImplementedError(
                f"sol.training_step: memory: {self._framework} does the step: {plan}"
            )
        return plan.memory()

    def _planned(
        self, args: Any, kwargs: Any
    ) -> tuple[list[Any], Optimizer | None, _StepPlan | str]:
        """The tensors among the arguments, the optimizer, if its step can be planned, and the plan,
        or why the framework does the step."""
        if len(args) < 2:
            raise TypeError("sol.training_step: expected arguments of the model and a target")
        if "training" in kwargs:
            raise TypeError("sol.training_step: training: a step is always one in training")
        leaves = nest.flatten((args, kwargs))
        arrays = [one for one in leaves if is_array(one)]
        if not arrays:
            kinds = ", ".join(type(one).__name__ for one in args)
            raise TypeError(f"sol.training_step: expected tensors or arrays, got {kinds}")
        why = self._why_not(arrays)
        if why:
            return [], None, why
        self._whole.build_layers(args, kwargs)
        # Before the variables are looked at: the first trace of a module may make some.
        form = None if self._plans else self._parsed(args, kwargs)
        tensors = [tf.convert_to_tensor(one) for one in arrays]
        # An optimizer is built for all variables, which may not be there where nothing was traced.
        trained = [] if isinstance(form, str) else self._trained()
        optimizer = None if isinstance(form, str) else optimizer_of(self._optimizer, trained)
        others = [one for one in leaves if not is_array(one)]
        key = (
            str(nest.map_structure(lambda one: "*" if is_array(one) else one, (args, kwargs))),
            tuple((tuple(one.shape), one.dtype) for one in tensors),
            tuple(map(repr, others)),
            self._whole.modes(),
            tuple(map(id, trained)),
            None if optimizer is None else optimizer.signature(),
        )
        if key not in self._plans:
            with self._lock:
                made = self._made(form or self._parsed(args, kwargs), trained, optimizer)
                while len(self._plans) >= _MOST:
                    del self._plans[next(iter(self._plans))]
                self._plans[key] = made
        return tensors, optimizer, self._plans[key]

    def _trained(self) -> list[Any]:
        """The variables that are trained. Models of Keras may be frozen, modules cannot be."""
        found = list(self._model.trainable_variables)
        if not found and self._framework == "TensorFlow":
            raise ValueError(
                "sol.training_step: model: expected a tf.Module with variables that are trained,"
                f" got {type(self._model).__name__}, which has none: those of layers of Keras"
                " inside of it are not among its variables"
            )
        return found

    def _why_not(self, arrays: Sequence[Any]) -> str:
        """Why the framework does a step, whatever the model and the loss are; "" where it need
        not."""
        if not self._is_here:
            return "plans of whole steps are for the CPU and for models of Keras and TensorFlow"
        if not tf.executing_eagerly() or any(map(tf.is_symbolic_tensor, arrays)):
            return "it is called in a tf.function"
        if tf.distribute.has_strategy():
            return "it is called in a strategy"
        scales = isinstance(self._optimizer, keras.optimizers.LossScaleOptimizer)
        if scales or self._optimizer.loss_scale_factor is not None:
            return "the optimizer scales the loss"
        return ""

    def _parsed(self, args: Any, kwargs: Any) -> tuple[TensorFlowSource, InTraining] | str:
        """The model and the loss as a graph, or why there is none."""
        source = TensorFlowSource(self._whole, args, kwargs)
        assert source.example is not None
        shapes = [tuple(one.shape) for one in source.example]
        try:
            return source, source.parse_for_training(shapes, losses=False)
        except _NOT_READ as error:
            # Is it the loss? What is wrong with the model its own call will tell.
            return " ".join(str(error).split())

    def _made(
        self,
        parsed: tuple[TensorFlowSource, InTraining] | str,
        trained: Sequence[Any],
        optimizer: Optimizer | None,
    ) -> _StepPlan | str:
        if isinstance(parsed, str):
            return parsed
        source, form = parsed
        # What is planned for a limit may be thrown away.
        tuner = self._tuner if self._limit is None else None

        def make(memory_limit: int | None, passes: Sequence[Pass]) -> _StepPlan:
            own = self._optimizer
            return _StepPlan(source, form, trained, own, optimizer, passes, tuner, memory_limit)

        try:
            return planned_step(make, self._passes, self._limit, self._whole.name)
        except (GraphError, NotImplementedError) as error:
            return str(error)

    def _without_plan(self, args: Any, kwargs: Any, why: str) -> Any:
        if self._limit is not None:
            raise NotImplementedError(
                f"sol.training_step: memory_limit: {self._framework} does the step, whose memory is"
                f" not known: {why}"
            )
        with tf.GradientTape() as tape:
            value = self._whole.in_training(*args, **kwargs)
            scaled = self._optimizer.scale_loss(value)
        trained = self._trained()
        self._optimizer.apply(tape.gradient(scaled, list(map(variable_of, trained))), trained)
        self.fused = ()
        return value


def _original(model: Any) -> Any:
    """What an optimized model was made of, where it is of the kind that it is itself; else None."""
    if isinstance(model, OptimizedModel):
        return getattr(model, "original", None)
    source = model._sol.compiled.source.base()
    is_module = isinstance(source, TensorFlowSource) and isinstance(source.model, tf.Module)
    return source.model if is_module else None


class _StepPlan(StepPlan):
    """A step for arguments of known shapes."""

    def __init__(
        self,
        source: TensorFlowSource,
        form: InTraining,
        trained: Sequence[Any],
        own: Any,
        optimizer: Optimizer | None,
        passes: Sequence[Pass],
        tuner: Tuner | None,
        memory_limit: int | None,
    ) -> None:
        """`own` is the optimizer of Keras, of which `optimizer` knows the step."""
        variables = source.traced.variables()
        names = {id(variables[name]): name for name in form.weights}
        wanted = {
            names[id(variable_of(one))]: one
            for one in trained
            if id(variable_of(one)) in names and variable_of(one).dtype.is_floating
        }
        outputs = [spec.name for spec in form.graph.outputs]
        stores = dict(zip(outputs[1:], form.writes, strict=True))
        updates = {} if optimizer is None else optimizer.updates(wanted)
        made = step_graph(form.graph, list(wanted), stores, updates, memory_limit)
        given = [spec.name for spec in form.graph.inputs]
        # Variables get other memory in each step, as somebody may have what they had. It is that of
        # the step before the last one, which plans keep.
        super().__init__(made, given, form.weights, passes, tuner, {}, lambda compiled: None)
        self._own, self._has_seed = own, form.has_seed
        self._variables = [variables[name] for name in form.weights]
        self._written = [variables[name] for name in form.writes]
        self._updated = [wanted[name] for name in made.updated]
        # Those of which the plan gives gradients, among all.
        self._with_gradients, self._trained = [wanted[name] for name in made.gradients], trained
        if trained and not self._updated and not self._with_gradients:
            raise NotImplementedError("the loss has no gradient of any variable that is trained")

    def memory(self) -> Memory:
        """See StepPlan."""
        found = super().memory()
        if self._updated or not self._own.built:
            return found
        return replace(
            found, optimizer=sum(variable_of(one).numpy().nbytes for one in self._own.variables)
        )

    def __call__(self, tensors: Sequence[Any], optimizer: Optimizer | None) -> Any:
        """The loss; variables are assigned to when all is computed."""
        given = [*tensors, *map(_elements, self._variables)]
        if self._has_seed:
            given.append(draw_seed())
        targets = list(self._written)
        if optimizer is not None:
            states = [list(map(variable_of, optimizer.states(one))) for one in self._updated]
            given += [_elements(one) for kept in states for one in kept]
            given += optimizer.settings(self._updated)
            for one, kept in zip(self._updated, states, strict=True):
                targets += [variable_of(one), *kept]
        loss, *others = map(tensor_of, self.run(given))
        count = len(self._written)
        gradients = others[count : count + len(self._with_gradients)]
        del others[count : count + len(self._with_gradients)]
        for target, value in zip(targets, others, strict=True):
            _assign(resource=target.handle, value=tf.cast(value, target.dtype))
        if self._updated and optimizer is not None:
            optimizer.note_step()
        elif gradients:
            found = dict(zip(map(id, self._with_gradients), gradients, strict=True))
            # In the order in which the optimizer keeps what it has for them.
            self._own.apply([found.get(id(one)) for one in self._trained], self._trained)
        return loss


def _elements(variable: Any) -> Any:
    """An array in the memory of a variable, which stays as it is when the variable gets another."""
    elements = _read(resource=variable.handle, dtype=variable.dtype)._numpy_internal()
    return numpy.asarray(elements)  # those without axes come as numbers
