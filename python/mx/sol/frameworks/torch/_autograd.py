"""One call of an optimized module as a node of torch's autograd."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch

from ..._compiled import as_array
from ..._training import TrainingPlans
from ._held import StateArrays, give_up, keep, kept_by
from ._second import link, without_second
from ._seeds import draw_seed
from ._training_graph import TrainingGraph

_from_dlpack = torch._C._from_dlpack
_is_grad_enabled = torch.is_grad_enabled
_increment_version = torch.autograd.graph.increment_version
_is_batched = torch._C._functorch.is_legacy_batchedtensor
# Whether what a backward pass has read may be read again: by retain_graph.
_keeps_graph = torch._C._autograd._get_current_graph_task_keep_graph


class Call(torch.autograd.Function):  # type: ignore[misc]
    """What autograd records of a call."""

    @staticmethod
    def forward(
        ctx: Any,
        version: Version,
        given: list[Any],
        tensors: list[Any],
        links: list[Any],
        *wrt: Any,
    ) -> tuple[Any, ...]:
        """Runs the forward plan on the inputs that are given, which share memory with `tensors`.

        `wrt` are those of them that need gradients, and `links` stand for those that are computed
        and that backward does not read.
        """
        inputs = given
        if version.rewritten:
            inputs = list(given)
            for i in version.rewritten:
                inputs[i] = as_array(tensors[i].detach().clone())
        outputs = version.plans.forward(given)
        results = version.finish(outputs)
        # autograd rejects the backward of a call after which one of these was written.
        saved = [tensors[i] for i in version.read] + [results[i] for i in version.read_results]
        if version.kept:
            every = (outputs, inputs)
            saved.append(keep([every[is_input][i] for is_input, i in version.kept]))
        ctx.version, ctx.links = version, links
        ctx.save_for_backward(*saved)
        ctx.set_materialize_grads(False)
        if version.constant:
            ctx.mark_non_differentiable(*[results[i] for i in version.constant])
        return tuple(results)

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> tuple[Any, ...]:
        """Runs the backward plan."""
        version, saved = ctx.version, ctx.saved_tensors
        is_second, every = _is_grad_enabled(), grads
        if is_second:
            grads = tuple(grad if grad is None else grad.detach() for grad in grads)
        kept = kept_by(saved[-1]) if version.kept else ()
        sources = (grads, saved, kept)
        given = [sources[kind][i] for kind, i in version.sources]
        for n, i in version.grads_at:
            if given[n] is None:
                given[n] = version.zeros(i)
        for n in version.with_grads:
            given[n] = given[n].detach()
        run = version.plans.last_backward
        if run is None or not version.kept or _keeps_graph():
            run = version.plans.backward
        else:
            give_up(saved[-1])
        try:
            made = run(given)
        except RuntimeError:
            if any(grad is not None and _is_batched(grad) for grad in grads):
                raise RuntimeError(
                    f"{version.name}: an optimized model has no gradients of several outputs at"
                    " once, as is_grads_batched and vectorize ask for: compute them one by one"
                ) from None
            raise
        found = [None if i is None else _from_dlpack(made[i].__dlpack__()) for i in version.grads]
        if is_second:
            leaves = [getattr(node, "variable", None) for node, _ in ctx.next_functions]
            found = without_second(version.name, found, [*every, *saved, *leaves, *ctx.links])
        return (None, None, None, None, *found)


# torch.autograd.Function.apply without what that does in Python.
_apply = super(torch.autograd.Function, Call).apply


class Version:
    """A module in one mode, for arguments of known shapes, of which some need gradients."""

    def __init__(
        self, module: Any, training: TrainingGraph, plans: TrainingPlans, wrt: Sequence[str]
    ) -> None:
        self.name = type(module).__name__
        self.plans, self.tree = plans, training.tree
        self.is_current = training.constants.is_same
        self.state_inputs = frozenset(training.state_inputs)
        self._has_seed = training.has_seed
        self._num_results = len(plans.outputs)
        self._is_single = training.tree.is_single
        self._state = StateArrays(module, training.state)
        self._written = [training.state.index(name) for name in training.writes]
        self._counters = StateArrays(module, list(training.counters))
        self._steps = list(training.counters.values())
        self._wrt = [plans.inputs.index(name) for name in wrt]
        self._unread: list[int] = []
        if wrt:
            self._prepare_backward(training)

    def _prepare_backward(self, training: TrainingGraph) -> None:
        """Finds out where backward has each of its inputs from."""
        plans, first = self.plans, len(training.arguments)
        inputs = {name: i for i, name in enumerate(plans.inputs)}
        results = [spec.name for spec in plans.outputs]
        outputs = {name: i for i, name in enumerate([*results, *plans.saved])}
        num_tensors = first + len(training.state)
        written = {first + i for i in self._written}
        # Tensors and results that autograd saves as they are; the others are arrays, kept at once.
        self.read: list[int] = []
        self.read_results: list[int] = []
        self.kept: list[tuple[bool, int]] = []
        # Whether it is a gradient, a tensor that autograd has saved, or an array that is kept.
        sources: list[tuple[int, int]] = []
        names = plans.backward_inputs
        self.read = [
            inputs[n]
            for n in names
            if inputs.get(n, num_tensors) < num_tensors and inputs[n] not in written
        ]
        for name in names:
            if name in inputs and inputs[name] in self.read:
                sources.append((1, self.read.index(inputs[name])))
            elif name in inputs:
                sources.append((2, len(self.kept)))
                self.kept.append((True, inputs[name]))
            elif name in outputs and outputs[name] < len(results):
                sources.append((1, len(self.read) + len(self.read_results)))
                self.read_results.append(outputs[name])
            elif name in outputs:
                sources.append((2, len(self.kept)))
                self.kept.append((False, outputs[name]))
            else:
                sources.append((0, results.index(name[len("grad.") :])))
        self._unread = [i for i in self._wrt if i not in self.read]
        self.sources = sources
        self.grads_at = [(n, i) for n, (kind, i) in enumerate(sources) if kind == 0]
        # What of it autograd gives as tensors with gradients, which plans do not take.
        self.with_grads = [n for n, (kind, _) in enumerate(sources) if kind == 1]
        self.rewritten = [i for is_input, i in self.kept if is_input and i in written]
        made = plans.gradients
        wanted = [plans.grads.get(plans.inputs[i]) for i in self._wrt]
        self.grads = [None if name is None else made.index(name) for name in wanted]
        self.constant = [i for i, name in enumerate(results) if name not in plans.differentiable]

    def zeros(self, output: int) -> Any:
        """The gradient of an output that nothing depends on."""
        spec = self.plans.outputs[output]
        return torch.zeros((), dtype=getattr(torch, str(spec.dtype))).expand(spec.shape)

    def __call__(self, tensors: Sequence[Any]) -> Any:
        """What the module returns for its tensors."""
        given = [x.detach() if x.requires_grad else x for x in tensors]
        given += self._state.look()
        if self._has_seed:
            given.append(draw_seed())
        if self._wrt:
            every = [*tensors, *self._state.tensors]
            links = [link(every[i]) for i in self._unread if not every[i].is_leaf]
            results = _apply(self, given, every, links, *[every[i] for i in self._wrt])
        else:
            results = self.finish(self.plans.forward(given))
        return results[0] if self._is_single else self.tree.unflatten(results)

    def finish(self, outputs: Sequence[Any]) -> list[Any]:
        """The module's results among the outputs; notes what the plan has written."""
        if self._written:
            _increment_version([self._state.tensors[i] for i in self._written])
        if self._steps:
            self._counters.look()
            with torch.no_grad():
                torch._foreach_add_(self._counters.tensors, self._steps)
        return [_from_dlpack(output.__dlpack__()) for output in outputs[: self._num_results]]


def tensor_of(output: Any) -> Any:
    """An array of mx on the CPU as a tensor that shares its memory."""
    return _from_dlpack(output.__dlpack__())
