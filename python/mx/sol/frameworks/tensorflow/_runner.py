"""Calls of plans with tensors of TensorFlow, eager ones and those of a graph."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextvars import ContextVar
from typing import Any

import numpy
import tensorflow as tf
from tensorflow.python.eager.record import could_possibly_record, stop_recording

from ..._compiled import Compiled
from ..._training import TrainingPlans
from .._gradients import Gradients
from .._in_mode import InMode, check_losses
from .._part import Part
from ._arrays import dense, eager, tensor_of, without_second
from ._source import TensorFlowSource
from ._trained import Trained

# Whether a call has to add the losses of layers; predictions need none.
_are_losses_added: ContextVar[bool] = ContextVar("are_losses_added", default=True)


@contextlib.contextmanager
def without_losses() -> Iterator[None]:
    """Has calls in inference add no losses."""
    token = _are_losses_added.set(False)
    try:
        yield
    finally:
        _are_losses_added.reset(token)


class Runner(Part):
    """Runs an optimized model whose weights are variables."""

    def __init__(
        self,
        compiled: Compiled,
        variables: Mapping[str, Any],
        accepts_mode: bool = False,
        add_loss: Callable[[Any], None] | None = None,
        converts: str = "",
    ) -> None:
        """`accepts_mode` is whether calls may say `training`, whatever the model takes; `add_loss`
        is told of the losses that layers add in a call. `converts` is what is converted to the data
        types of inputs: "floats", "numbers", or nothing."""
        super().__init__(compiled)
        self._converts = converts
        self._accepts_mode, self._add_loss = accepts_mode, add_loss
        self._in_training: dict[tuple[Any, ...], Trained] = {}
        self._lock = threading.Lock()
        # In the order of names.
        self.variables = dict(variables)
        # Of what calls in inference read.
        more = compiled.source.weights_of_training()
        read = {name: one for name, one in self.variables.items() if name not in more}
        self._read_variables = list(read.values())
        self._gradients = Gradients(compiled, list(read))

    def __call__(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
        """What the model returns; errors name the argument."""
        compiled = self.compiled
        is_training, kwargs = self._mode(kwargs)
        given = compiled.source.flatten(args, kwargs)
        specs = zip(given, compiled.inputs, strict=True)
        tensors = [_checked(x, spec, self._converts) for x, spec in specs]
        source = compiled.source
        if is_training or self._adds_losses() or (source.has_modes and source.base().changes):
            outputs = self._trained(tensors, is_training)
        else:
            outputs = self._as_in_inference(tensors)
        return compiled.source.unflatten(outputs)

    # AutoGraph cannot convert all of it, and need not.
    @tf.autograph.experimental.do_not_convert  # type: ignore[untyped-decorator]
    def fits(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> bool:
        """Whether it takes these arguments."""
        compiled = self.compiled
        try:
            given = compiled.source.flatten(args, self._mode(kwargs)[1])
            specs = zip(given, compiled.inputs, strict=True)
            shapes = [tuple(_checked(x, spec, self._converts).shape) for x, spec in specs]
            compiled.check(tuple(shapes))
        except (TypeError, ValueError):
            return False
        return True

    def _as_in_inference(self, tensors: Sequence[Any]) -> list[Any]:
        if not tf.executing_eagerly():  # with constants, too: variables are read in the graph
            return self._in_graph(tensors)
        return self._recorded(tensors) if could_possibly_record() else self.run(tensors)

    def _mode(self, kwargs: Mapping[str, Any]) -> tuple[bool, Mapping[str, Any]]:
        """Whether a call is one in training, and its keywords without what says so."""
        source = self.compiled.source.base()
        if isinstance(source, TensorFlowSource):
            takes_mode = source.traced.takes_training
        else:
            takes_mode = self._accepts_mode and "training" in kwargs
        if not takes_mode:
            return False, kwargs
        told = kwargs.get("training")
        if tf.is_symbolic_tensor(told):
            raise TypeError(f"{source.name}: training: expected True or False, got a tensor")
        is_training = source.is_training if told is None else bool(told)
        return is_training, {name: one for name, one in kwargs.items() if name != "training"}

    def _adds_losses(self) -> bool:
        """Whether layers add losses in inference, which somebody asks for."""
        source = self.compiled.source.base()
        if self._add_loss is None or not _are_losses_added.get():
            return False
        return isinstance(source, TensorFlowSource) and bool(source.adding_losses)

    def _trained(self, tensors: Sequence[Any], is_training: bool) -> list[Any]:
        """The outputs in training, or in inference with the losses that layers add."""
        source = self.compiled.source
        if not source.has_modes:
            return self._as_in_inference(tensors)
        is_symbolic = not tf.executing_eagerly()
        axes = [
            tuple(f"{spec.name}_{n}" if one is None else one for n, one in enumerate(x.shape))
            for x, spec in zip(tensors, self.compiled.inputs, strict=True)
        ]
        trained = self._trained_for(axes, is_training, is_symbolic)
        if is_symbolic:
            found = trained.in_graph(tensors)
        else:
            found = trained.run(tensors, could_possibly_record())
        count = len(found) - trained.num_losses
        for loss in found[count:]:
            assert self._add_loss is not None
            self._add_loss(loss)
        return found[:count]

    def _trained_for(self, axes: Any, is_training: bool, is_symbolic: bool) -> Trained:
        key: tuple[Any, ...] = (is_training, *self.compiled.source.modes())
        if is_symbolic:
            # Of what a function is traced for the shapes of outputs are told beforehand.
            key = (*key, *axes)
        with self._lock:
            if key not in self._in_training:
                with tf.init_scope():
                    self._in_training[key] = self._made(self.compiled, axes, is_training)
            return self._in_training[key]

    def _made(self, compiled: Compiled, axes: Any, is_training: bool) -> Trained:
        source, variables = compiled.source.base(), self.variables
        if isinstance(source, TensorFlowSource):
            mode = InMode(compiled, axes, is_training, None)
            variables = source.traced.variables()  # those that training alone has among them
        else:
            mode = InMode(compiled, axes, is_training, variables)
        if self._add_loss is None:
            check_losses(mode)
        return Trained(compiled, mode, variables)

    def _training_plans(
        self, compiled: Compiled, shapes: Sequence[tuple[int, ...]]
    ) -> tuple[TrainingPlans, frozenset[str]]:
        """See Part: those of eager calls in training that a tape records."""
        is_training = compiled.source.has_modes
        if is_training or self._adds_losses():
            if compiled is self.compiled:
                trained = self._trained_for(shapes, is_training, False)
            else:
                trained = self._made(compiled, shapes, is_training)
            return trained.plans(shapes)
        variables, first = self._read_variables, len(shapes)
        wrt = _numbers_of_floats([tf.as_dtype(spec.dtype) for spec in compiled.inputs])
        wrt += [first + n for n in _numbers_of_floats([one.dtype for one in variables])]
        every = [*shapes, *(tuple(one.shape) for one in variables)]
        gradients = self._gradients.of(compiled)
        return gradients.plans(every, wrt), frozenset(gradients.weights)

    def forget_training(self) -> None:
        """See Part."""
        with self._lock:
            self._in_training.clear()
        self._gradients.forget()

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
                own = dense(grads)
                found = self._gradient_in_graph(given, own)
                return without_second(compiled.source.name, found, [*given, *own])

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
                own = eager(self.compiled.source.name, grads)
                with stop_recording():
                    found = recorded.backward(own)
                    made = [None if one is None else tensor_of(one) for one in found]
                return without_second(self.compiled.source.name, made, [*given, *own])

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

    def _read(self) -> list[Any]:
        """The elements of the variables, as tapes see them read."""
        return [tf.identity(one) for one in self._read_variables]


def _floats(tensors: Sequence[Any]) -> list[int]:
    """The numbers of tensors that can have gradients."""
    return _numbers_of_floats([one.dtype for one in tensors])


def _numbers_of_floats(dtypes: Sequence[Any]) -> list[int]:
    return [n for n, one in enumerate(dtypes) if one.is_floating]


def _checked(tensor: Any, spec: Any, converts: str) -> Any:
    if isinstance(tensor, tf.Variable):
        tensor = tensor.value()
    if not tf.is_tensor(tensor):
        try:
            tensor = tf.convert_to_tensor(tensor)
        except (TypeError, ValueError) as error:
            kind = type(tensor).__name__
            raise TypeError(
                f"input {spec.name!r}: expected a tensor, got {kind}: {error}"
            ) from None
    if spec.dtype is None or tensor.dtype.name == spec.dtype:
        return tensor
    wanted = tf.as_dtype(spec.dtype)
    if _converts_to(wanted, converts) and _converts_to(tensor.dtype, converts):
        return tf.cast(tensor, wanted)
    raise TypeError(f"input {spec.name!r}: expected {spec.dtype}, got {tensor.dtype.name}")


def _converts_to(dtype: Any, converts: str) -> bool:
    return bool(converts and dtype.is_floating) or (converts == "numbers" and dtype.is_integer)
