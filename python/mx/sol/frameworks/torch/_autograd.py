"""One call of an optimized module as a node of torch's autograd."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch

from ..._compiled import as_array, on_host
from ..._training import TrainingPlans
from ._held import StateArrays, keep, kept_by
from ._seeds import draw_seed
from ._training_graph import TrainingGraph

_from_dlpack = torch._C._from_dlpack
_is_grad_enabled = torch.is_grad_enabled


class Call(torch.autograd.Function):  # type: ignore[misc]
    """What autograd records of a call."""

    @staticmethod
    def forward(
        ctx: Any, version: Version, given: list[Any], checked: list[Any], *wrt: Any
    ) -> tuple[Any, ...]:
        """Runs the forward plan on the inputs that are given; `wrt` are those with gradients."""
        outputs = version.plans.run(given)
        kept = [*outputs[version.plans.num_outputs :], *[given[i] for i in version.needed]]
        for i in version.copied:
            kept[i] = as_array(torch.from_dlpack(kept[i]).clone())
        results = version.finish(outputs)
        ctx.version = version
        # autograd rejects the backward of a call after whose forward one of these was written.
        ctx.save_for_backward(keep(kept), *checked)
        ctx.set_materialize_grads(False)
        if version.constant:
            ctx.mark_non_differentiable(*[results[i] for i in version.constant])
        return tuple(results)

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> tuple[Any, ...]:
        """Runs the backward plan."""
        version = ctx.version
        kept = kept_by(ctx.saved_tensors[0])
        given = [kept[i] if is_kept else grads[i] for is_kept, i in version.sources]
        for n, (is_kept, i) in enumerate(version.sources):
            if not is_kept and given[n] is None:
                given[n] = version.zeros(i)
        made = version.plans.backward(given)
        found = [None if i is None else _tensor_of(made[i]) for i in version.grads]
        if _is_grad_enabled():
            found = _without_second(version.name, found)
        return (None, None, None, *found)


def _without_second(name: str, grads: Sequence[Any]) -> list[Any]:
    """Gradients that raise where gradients of themselves are asked for."""
    text = f"{name}: an optimized model has no second gradients: differentiate the original"
    known = [grad for grad in grads if grad is not None]
    given = [grad.requires_grad_() for grad in known]
    delayed = iter(torch._C._functions.DelayedError(text, len(known))(*given))
    return [None if grad is None else next(delayed) for grad in grads]


# torch.autograd.Function.apply without what that does in Python.
_apply = super(torch.autograd.Function, Call).apply


class Version:
    """A module in one mode, for arguments of known shapes, of which some need gradients."""

    def __init__(
        self,
        module: Any,
        training: TrainingGraph,
        plans: TrainingPlans,
        wrt: Sequence[str],
    ) -> None:
        self.name = type(module).__name__
        self.plans, self.tree = plans, training.tree
        self.num_results = training.num_results
        self.has_seed = training.has_seed
        self.state = StateArrays(module, training.state)
        self._written = StateArrays(module, training.writes)
        self._counters = StateArrays(module, list(training.counters))
        self._steps = list(training.counters.values())
        self._num_outputs = plans.num_outputs
        self._wrt = [plans.inputs.index(name) for name in wrt]
        if wrt:
            self._prepare_backward(training)

    def _prepare_backward(self, training: TrainingGraph) -> None:
        plans, inputs = self.plans, {name: i for i, name in enumerate(self.plans.inputs)}
        results = [spec.name for spec in training.graph.outputs[: self.num_results]]
        # Where backward has each of its inputs from: gradients of outputs, then what is kept.
        needed = [name for name in plans.backward_inputs if name in inputs]
        kept = {name: i for i, name in enumerate([*plans.saved, *needed])}
        self.sources = [
            (True, kept[name]) if name in kept else (False, results.index(name[len("grad.") :]))
            for name in plans.backward_inputs
        ]
        self.needed = [inputs[name] for name in needed]
        state = dict(zip(training.state_inputs, training.state, strict=True))
        is_written = [state.get(name) in training.writes for name in needed]
        self.copied = [len(plans.saved) + i for i, written in enumerate(is_written) if written]
        self._checked = [
            i
            for i, written in zip(self.needed, is_written, strict=True)
            if not written and i < len(training.arguments) + len(training.state)
        ]
        made = [spec.name for spec in plans.backward_graph.outputs]  # type: ignore[union-attr]
        names = [plans.inputs[i] for i in self._wrt]
        self.grads = [
            made.index(plans.grads[name]) if name in plans.grads else None for name in names
        ]
        self.constant = [i for i, name in enumerate(results) if name not in plans.differentiable]
        self._specs = [(spec.shape, spec.dtype) for spec in training.graph.outputs]

    def zeros(self, output: int) -> Any:
        """The gradient of an output that nothing depends on."""
        shape, dtype = self._specs[output]
        return torch.zeros((), dtype=getattr(torch, str(dtype))).expand(shape)

    def __call__(self, tensors: Sequence[Any]) -> list[Any]:
        """The module's outputs for its tensors."""
        given = [x.detach() if x.requires_grad else x for x in tensors]
        given += self.state.look()
        if self.has_seed:
            given.append(draw_seed())
        if not self._wrt:
            return self.finish(self.plans.run(given))
        every = [*tensors, *self.state.tensors]
        checked = [every[i] for i in self._checked]
        return list(_apply(self, given, checked, *[every[i] for i in self._wrt]))

    def finish(self, outputs: Sequence[Any]) -> list[Any]:
        """The module's results among the outputs; its buffers get theirs."""
        first, end = self.num_results, self._num_outputs
        results = [_tensor_of(output) for output in outputs[:first]]
        with torch.no_grad():
            if end > first:
                self._written.look()
                new = [_tensor_of(output) for output in outputs[first:end]]
                torch._foreach_copy_(self._written.tensors, new)
            if self._steps:
                self._counters.look()
                torch._foreach_add_(self._counters.tensors, self._steps)
        return results


def _tensor_of(output: Any) -> Any:
    return _from_dlpack(on_host(output).__dlpack__())
