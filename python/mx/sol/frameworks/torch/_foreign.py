"""Optimized models of other frameworks as modules of torch."""

from __future__ import annotations

import keyword
import threading
from collections.abc import Collection, Mapping, Sequence
from typing import Any

import numpy
import torch

from ....importers.torch._tensors import tensor_of
from ..._compiled import Compiled
from ..._training import TrainingPlans
from .._framework import Holder, Weight
from .._gradients import Gradients
from .._in_mode import InMode, check_losses
from .._part import Part
from ._second import without_second
from ._seeds import draw_seed
from ._state import State
from ._surroundings import check_surroundings

_from_dlpack = torch._C._from_dlpack


class ForeignModule(torch.nn.Module):  # type: ignore[misc]
    """A module whose parameters and buffers are a graph's weights.

    They have the names of the weights; those that are joined by dots are in modules inside. The
    module is called as the model was that it was made of, with tensors. In training mode layers do
    what they do in training, where the model says what that is; else what they do in inference,
    which a SolWarning says.
    """

    def __init__(self, compiled: Compiled, like: ForeignModule | None = None) -> None:
        """`like` is a module of the same model whose parameters these become copies of."""
        super().__init__()
        trained = None
        if like is not None:
            trained = {weight for weight, one in like._named().items() if _is_parameter(one)}
        self._names = _add_weights(self, compiled, trained)
        self._state = State(self)
        self._state.add(list(self._names), {})
        compiled.holder = _Weights(self._state, self._names)
        more = compiled.source.weights_of_training()
        self._of_inference = [one for one in self._names.values() if one not in more]
        self._sol = _Part(compiled, self)
        self._gradients = Gradients(compiled, self._of_inference)
        self._in_modes: dict[tuple[bool, ...], InMode] = {}
        self._lock = threading.Lock()  # of these
        self.train(compiled.source.base().is_training)

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """What the model returns for tensors."""
        compiled = self._sol.compiled
        source = compiled.source
        check_surroundings(source.name)
        given = source.flatten(args, kwargs)
        tensors = [_checked(x, spec) for x, spec in zip(given, compiled.inputs, strict=True)]
        if (self.training or source.base().changes) and source.has_modes:
            return source.unflatten(self._in_mode(tensors))
        if self._state.has_changed():
            compiled.refresh()
        if self._records(tensors):
            named = self._named()
            weights = [named[name] for name in self._of_inference]
            outputs = _Call.apply(self._gradients, *tensors, *weights)
        else:
            found = compiled.run([tensor.detach() for tensor in tensors])
            outputs = [_from_dlpack(one.__dlpack__()) for one in found]
        return source.unflatten(outputs)

    def _records(self, tensors: Sequence[Any]) -> bool:
        """Whether autograd would record a call."""
        return torch.is_grad_enabled() and self._state.needs_gradients(tensors)

    def _named(self) -> dict[str, Any]:
        """The parameters and buffers that there are now, by the names of weights."""
        return dict(zip(self._names.values(), self._state.weights(), strict=True))

    def _in_mode(self, tensors: Sequence[Any]) -> list[Any]:
        """The outputs of a call in training, or of one that changes buffers."""
        named = self._named()
        mode = self._mode(self._sol.compiled, [tuple(one.shape) for one in tensors], self.training)
        form, written = mode.form, {*mode.form.writes}
        # What is written below backward reads as it was.
        weights = [named[one].clone() if one in written else named[one] for one in form.weights]
        given = mode.given([*tensors, *weights], draw_seed() if form.has_seed else None)
        if self._records(tensors):
            outputs = list(_Call.apply(mode.gradients, *given))
        else:
            call = mode.gradients.forward([tensor.detach() for tensor in given], [])
            outputs = [_from_dlpack(one.__dlpack__()) for one in call.outputs]
        count = len(outputs) - len(form.writes)
        with torch.no_grad():
            for name, value in zip(form.writes, outputs[count:], strict=True):
                named[name].copy_(value)
            for name, step in form.counters.items():
                named[name].add_(step)
        return outputs[:count]

    def _mode(
        self, compiled: Compiled, shapes: Sequence[tuple[int, ...]], training: bool
    ) -> InMode:
        """The model, or that with other dimensions that vary, in training or not."""
        key = (training, *compiled.source.modes())
        with self._lock:
            kept = self._in_modes if compiled is self._sol.compiled else {}
            if key not in kept:
                made = InMode(compiled, shapes, training, self._named())
                check_losses(made)
                kept[key] = made
            return kept[key]

    def forget_training(self) -> None:
        """See Part."""
        with self._lock:
            self._in_modes.clear()
        self._gradients.forget()

    def training_plans(
        self, compiled: Compiled, shapes: Sequence[tuple[int, ...]]
    ) -> tuple[TrainingPlans, frozenset[str]]:
        """See Part."""
        named, gradients = self._named(), self._gradients.of(compiled)
        every: list[Any] = list(shapes)
        if compiled.source.has_modes:
            mode = self._mode(compiled, shapes, True)
            gradients = mode.gradients
        weights = [named[name] for name in gradients.weights]
        every += [tuple(one.shape) for one in weights]
        if compiled.source.has_modes:
            every = mode.given(every, (2,))  # of the seed
        trained = [one.requires_grad and one.is_floating_point() for one in weights]
        wrt = [len(shapes) + n for n, is_trained in enumerate(trained) if is_trained]
        return gradients.plans(every, wrt), frozenset(gradients.weights)

    def __deepcopy__(self, memo: dict[int, Any]) -> ForeignModule:
        """A module with weights of its own."""
        compiled = self._sol.compiled
        again = ForeignModule(Compiled.with_options(compiled.source, *compiled.options()), self)
        again.load_state_dict(self.state_dict())
        for one, own in zip(again._state.weights(), self._state.weights(), strict=True):
            one.requires_grad_(own.requires_grad)
        again.train(self.training)
        memo[id(self)] = again
        return again

    def __reduce_ex__(self, protocol: Any) -> Any:
        """TypeError: what it was made of is a model of another framework."""
        raise TypeError(
            f"{self._sol.compiled.source.name}: a module that was made of a model of another"
            " framework cannot be pickled: save its state_dict, and optimize the model again"
        )

    def extra_repr(self) -> str:
        """What the module stands for."""
        inputs = ", ".join(map(str, self._sol.compiled.inputs))
        return f"{self._sol.compiled.source.name}, optimized: ({inputs})"


class _Part(Part):
    """The module as reports see it."""

    def __init__(self, compiled: Compiled, module: ForeignModule) -> None:
        super().__init__(compiled)
        self._module = module

    def forget_training(self) -> None:
        """See Part."""
        self._module.forget_training()

    def _training_plans(
        self, compiled: Compiled, shapes: Sequence[tuple[int, ...]]
    ) -> tuple[TrainingPlans, frozenset[str]]:
        return self._module.training_plans(compiled, shapes)


class _Call(torch.autograd.Function):  # type: ignore[misc]
    """A call that autograd records."""

    @staticmethod
    def forward(ctx: Any, gradients: Gradients, *tensors: Any) -> Any:
        wrt = [
            n
            for n, needed in enumerate(ctx.needs_input_grad[1:])
            if needed and tensors[n].is_floating_point()
        ]
        ctx.name = gradients.compiled.source.name
        ctx.call = gradients.forward([tensor.detach() for tensor in tensors], wrt)
        outputs = tuple(_from_dlpack(one.__dlpack__()) for one in ctx.call.outputs)
        # autograd rejects the backward of a call after which one of these was written.
        ctx.save_for_backward(*tensors, *(outputs[n] for n in ctx.call.read_outputs))
        ctx.set_materialize_grads(False)
        known = zip(outputs, ctx.call.differentiable, strict=True)
        ctx.mark_non_differentiable(*(one for one, is_known in known if not is_known))
        return outputs

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> tuple[Any, ...]:
        saved = ctx.saved_tensors  # which has the check of what was written
        given = [None if one is None else one.detach().contiguous() for one in grads]
        made = ctx.call.backward(given)
        found = [None if one is None else torch.from_dlpack(one) for one in made]
        if torch.is_grad_enabled():
            found = without_second(ctx.name, found, [*grads, *saved])
        return None, *found


class _Weights(Holder):
    """The parameters and buffers of a module as what has the weights."""

    def __init__(self, state: State, names: Mapping[str, str]) -> None:
        self._state, self._names = state, names

    def weights(self) -> dict[str, Weight]:
        """The elements that the tensors have now."""
        return {
            self._names[name]: tensor_of(tensor, self._names[name])
            for name, tensor in self._state.current().items()
        }

    def has_changed(self) -> bool:
        """Whether a tensor has been written or replaced."""
        return self._state.has_changed()

    def look(self) -> None:
        """See Holder."""
        self._state.look()


def _is_parameter(tensor: Any) -> bool:
    return isinstance(tensor, torch.nn.Parameter)


def _add_weights(
    module: Any, compiled: Compiled, trained: Collection[str] | None = None
) -> dict[str, str]:
    """Gives a module the weights of a graph; what each is called there, and in the graph. Those
    that are `trained` become parameters, by default what the model trains now."""
    names: dict[str, str] = {}
    own = {name: (one, False) for name, one in compiled.source.weights_of_training().items()}
    for weight, (tensor, is_trained) in (compiled.weights() | own).items():
        array = numpy.array(tensor.numpy())  # its own: training writes it
        owner, key = _owner_of(module, weight)
        if is_trained if trained is None else weight in trained:
            owner.register_parameter(key, torch.nn.Parameter(_tensor_of(array)))
        else:
            owner.register_buffer(key, _tensor_of(array))
        path = [one for one, inner in module.named_modules() if inner is owner][0]
        names[f"{path}.{key}" if path else key] = weight
    return names


def _owner_of(module: Any, name: str) -> tuple[Any, str]:
    """The module inside that a weight belongs to, and what it is called there."""
    *path, key = [part or "_" for part in name.split(".")]
    for part in path:
        inner = module._modules.get(part)
        if inner is None:
            if hasattr(module, part) or keyword.iskeyword(part):
                part += "_"
            inner = module._modules.get(part) or torch.nn.Module()
            module._modules[part] = inner
        module = inner
    while hasattr(module, key):
        key += "_"
    return module, key


def _tensor_of(array: Any) -> Any:
    if array.dtype.isbuiltin == 1:
        return torch.from_numpy(array)
    bits = array.view(f"u{array.dtype.itemsize}")
    return torch.from_numpy(bits).view(getattr(torch, array.dtype.name))


def _checked(tensor: Any, spec: Any) -> Any:
    if not isinstance(tensor, torch.Tensor):
        raise TypeError(f"input {spec.name!r}: expected a tensor, got {type(tensor).__name__}")
    if tensor.device.type != "cpu" or tensor.layout != torch.strided:
        raise ValueError(
            f"input {spec.name!r}: expected a dense tensor on the CPU, got {tensor.layout} on"
            f" {tensor.device}"
        )
    name = str(tensor.dtype).removeprefix("torch.")
    if spec.dtype is not None and name != spec.dtype:
        raise TypeError(f"input {spec.name!r}: expected {spec.dtype}, got {name}")
    return tensor.resolve_conj().resolve_neg()
