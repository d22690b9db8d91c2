"""Steps of training of a module of torch: its loss, its gradients, and the optimizer's step."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import replace
from operator import attrgetter
from typing import Any

import torch
from torch.nn.parallel import DataParallel, DistributedDataParallel
from torch.utils import _pytree as pytree

from ....context import Context
from ....graph import GraphError
from ....graph.passes import Pass
from ..._compiled import as_array
from ..._step import StepGraph, step_graph
from ..._step_plan import StepPlan, planned_step
from ...schedule import Memory
from ...tuning import Tuner
from ._autograd import tensor_of
from ._held import ModuleTree, StateArrays
from ._loaded import prepare_training
from ._module import OptimizedModule
from ._optimizer_kinds import KINDS
from ._optimizers import Optimizer
from ._seeds import draw_seed
from ._state import has_hooks
from ._surroundings import prevents
from ._training_graph import TrainingGraph
from .kept import capture_training

_training = attrgetter("training")
_requires_grad = attrgetter("requires_grad")
_increment_version = torch.autograd.graph.increment_version
# Plans that are kept; of more the oldest go.
_MOST = 8
_ALL = ("forward", "loss", "backward", "optimizer")


class WithLoss(torch.nn.Module):  # type: ignore[misc]
    """A model and a loss of what it returns."""

    def __init__(self, model: Any, loss: Any) -> None:
        super().__init__()
        self.model, self.loss = model, loss

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """The loss; the target is the last argument."""
        *inputs, target = args
        return self.loss(self.model(*inputs, **kwargs), target)


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
        self._model, self._loss, self._optimizer = model, loss, optimizer
        is_optimized = isinstance(model, OptimizedModule)
        if is_optimized and memory_limit is None:
            memory_limit = model._sol.compiled.memory_limit
        self._limit = memory_limit
        original = model._sol.source.module if is_optimized else model
        self._whole = WithLoss(original, loss)
        self._original = original
        self._passes = tuple(passes)
        self._tuner = model._sol.compiled.training_tuner() if is_optimized else Tuner.by_config()
        self._is_here = context.device_type == "cpu"
        self._known = Optimizer(optimizer) if type(optimizer) in KINDS else None
        self._plans: dict[Any, _StepPlan | Exception] = {}
        self._look()
        self._lock = threading.Lock()
        self.fused: tuple[str, ...] = ()

    def _look(self) -> None:
        """Takes the modules as they are now."""
        self._tree = ModuleTree(self._whole)
        self._modules = self._tree.modules
        found = [(one._parameters, key) for one in self._modules for key in one._parameters]
        self._dicts, self._keys = [one for one, _ in found], [key for _, key in found]
        self._plans = {}

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """The loss of a step that it does."""
        tensors, key, why = self._looked_at(args, kwargs)
        if why:
            return self._in_torch(args, kwargs, why)
        signature = None if self._known is None else self._known.signature()
        if signature is not None:
            plan = self._plan((*key, signature), args, kwargs, signature)
            if isinstance(plan, Exception):
                return self._in_torch(args, kwargs, str(plan))
            if plan.prepare():
                self.fused = _ALL
                return plan(tensors)
        plan = self._plan((*key, None), args, kwargs, None)
        if isinstance(plan, Exception):
            return self._in_torch(args, kwargs, str(plan))
        self.fused = _ALL[:3]
        return plan(tensors)

    def memory(self, *args: Any, **kwargs: Any) -> Memory:
        """What a step with these arguments takes, known before it is done for the first time.

        It is told by kind and over time, see sol.memory; of what the optimizer keeps with all that
        it will keep. NotImplementedError, with the reason, where torch would do the step, and where
        elements of arrays decide about shapes. MemoryError as of a call.
        """
        _, key, why = self._looked_at(args, kwargs)
        signature = None if why or self._known is None else self._known.signature()
        plan: _StepPlan | Exception | None = None
        if signature is not None:
            plan = self._plan((*key, signature), args, kwargs, signature)
            if isinstance(plan, _StepPlan) and not plan.is_ready():
                plan = None
        if not why and plan is None:
            plan = self._plan((*key, None), args, kwargs, None)
        if not isinstance(plan, _StepPlan):
            raise NotImplementedError(
                f"sol.training_step: memory: torch does the step: {why or plan}"
            )
        return plan.memory()

    def _looked_at(self, args: Any, kwargs: Any) -> tuple[list[Any], tuple[Any, ...], str]:
        """The tensors among the arguments, what the plan for them is kept by, but for what it has
        of the optimizer, and why torch does the step, "" where a plan may do it."""
        if not self._tree.is_same():
            self._look()
        parameters = [one for one in map(dict.get, self._dicts, self._keys) if one is not None]
        leaves, structure = pytree.tree_flatten((args, kwargs))
        tensors = [leaf for leaf in leaves if isinstance(leaf, torch.Tensor)]
        if not args:
            raise TypeError("sol.training_step: expected arguments of the model and a target")
        why = self._why_torch(tensors, parameters)
        if why:
            return tensors, (), why
        updated = [one for group in self._optimizer.param_groups for one in group["params"]]
        others = [leaf for leaf in leaves if not isinstance(leaf, torch.Tensor)]
        key: tuple[Any, ...] = (
            str(structure),
            tuple([(x.shape, x.dtype) for x in tensors]),
            tuple(map(repr, others)),
            tuple(map(_training, self._modules)),
            tuple(map(_requires_grad, parameters)),
            tuple(map(id, parameters)),
            tuple(map(id, updated)),
        )
        return tensors, key, ""

    def _plan(self, key: Any, args: Any, kwargs: Any, signature: Any) -> _StepPlan | Exception:
        """The plan of a key, or why torch does the whole step."""
        plan = self._plans.get(key)
        if plan is None or (isinstance(plan, _StepPlan) and not plan.is_current()):
            with self._lock:
                plan = self._made(key, args, kwargs, signature)
        return plan

    def _why_torch(self, tensors: Sequence[Any], parameters: Sequence[Any]) -> str:
        """Why torch does a step, whatever the model and the loss are; "" where it need not."""
        if not self._is_here:
            return "plans of whole steps are for the CPU"
        if isinstance(self._model, (DistributedDataParallel, DataParallel)):
            return "the model is wrapped for several processes"
        if has_hooks(self._modules, parameters):
            return "modules or parameters have hooks, which only torch calls"
        # Gradients of arguments are for what has computed them.
        if any(
            x.device.type != "cpu" or x.layout != torch.strided or x.requires_grad for x in tensors
        ):
            return "an argument is no dense tensor on the CPU, or needs a gradient"
        return prevents()

    def _made(self, key: Any, args: Any, kwargs: Any, signature: Any) -> _StepPlan | Exception:
        while len(self._plans) >= _MOST:
            del self._plans[next(iter(self._plans))]
        made: _StepPlan | Exception
        try:
            made = self._make(args, kwargs, signature)
        except (GraphError, NotImplementedError) as error:
            # Is it the loss? What is wrong with the model its own call will tell.
            made = error
        self._plans[key] = made
        return made

    def _make(self, args: Any, kwargs: Any, signature: Any) -> _StepPlan:
        training = capture_training(self._whole, args, kwargs)
        loss = training.graph.outputs[0]
        if not training.tree.is_single or loss.shape not in ((), (1,)):
            raise TypeError(
                f"sol.training_step: loss: expected a number, got {loss.dtype} {loss.shape}"
            )
        tensors = dict(self._whole.named_parameters(remove_duplicate=False))
        names = {}
        for name, target in zip(training.state_inputs, training.state, strict=True):
            if target in tensors and tensors[target].requires_grad:
                names[id(tensors[target])] = name
        updated = [one for group in self._optimizer.param_groups for one in group["params"]]
        _check_constants(training.constants.tensors, updated)
        wanted = set(map(id, updated))
        wrt = [name for identity, name in names.items() if identity in wanted]
        known = self._known if signature is not None else None
        updates = {} if known is None else known.updates(names)
        # What is planned for a limit may be thrown away.
        tuner = self._tuner if self._limit is None else None

        def make(memory_limit: int | None, passes: Sequence[Pass]) -> _StepPlan:
            made = step_graph(training.graph, wrt, training.stores, updates, memory_limit)
            return _StepPlan(self._whole, training, made, self._optimizer, known, passes, tuner)

        return planned_step(make, self._passes, self._limit, type(self._original).__name__)

    def _in_torch(self, args: Any, kwargs: Any, why: str) -> Any:
        if self._limit is not None:
            raise NotImplementedError(
                "sol.training_step: memory_limit: torch does the step, whose memory is not known:"
                f" {why}"
            )
        *inputs, target = args
        self._optimizer.zero_grad()
        value = self._loss(self._model(*inputs, **kwargs), target)
        value.backward()
        self._optimizer.step()
        is_optimized = isinstance(self._model, OptimizedModule)
        self.fused = ("forward", "backward") if is_optimized else ()
        return value.detach()


def _check_constants(constants: Sequence[Any], updated: Sequence[Any]) -> None:
    """GraphError where gradients would leave the graph: to what has computed a tensor that the loss
    has from elsewhere, or to a parameter of the optimizer that is none of the modules'.

    torch exports such a parameter detached, with the same memory.
    """
    addresses = {one.data_ptr() for one in updated if one.numel()}
    if any(one.requires_grad or one.data_ptr() in addresses for one in constants):
        raise GraphError("sol.training_step: a tensor that is no argument needs a gradient")


class _StepPlan(StepPlan):
    """A step for arguments of known shapes."""

    def __init__(
        self,
        module: Any,
        training: TrainingGraph,
        made: StepGraph,
        optimizer: Any,
        known: Optimizer | None,
        passes: Sequence[Pass],
        tuner: Tuner | None,
    ) -> None:
        self.is_current = training.constants.is_same
        given = [spec.name for spec in training.graph.inputs]
        state = training.state_inputs
        super().__init__(made, given, state, passes, tuner, made.stores, prepare_training)
        self._optimizer, self._known = optimizer, known
        self._has_seed = training.has_seed
        self._state = StateArrays(module, training.state)
        self._counters = StateArrays(module, list(training.counters))
        self._steps = list(training.counters.values())
        targets = dict(zip(training.state_inputs, training.state, strict=True))
        parameters = dict(module.named_parameters(remove_duplicate=False))
        # Parameters whose gradients are outputs, and those that the plan changes, by their groups.
        self._with_gradients = [parameters[targets[name]] for name in made.gradients]
        updated = {id(parameters[targets[name]]): name for name in made.updated}
        self._groups = [
            [one for one in group["params"] if id(one) in updated]
            for group in optimizer.param_groups
        ]
        # In the order of the inputs of the graph.
        position = {name: i for i, name in enumerate(made.updated)}
        self._updated = sorted(
            ((number, one) for number, group in enumerate(self._groups) for one in group),
            key=lambda item: position[updated[id(item[1])]],
        )
        self._order = list(dict.fromkeys(number for number, _ in self._updated))
        self._arrays: list[Any] = []
        self._seen: list[Any] = []
        self._of_optimizer: list[Any] = []
        written = {training.state.index(one) for one in training.writes}
        written |= {training.state_inputs.index(name) for name in made.updated}
        self._written = sorted(written)

    def memory(self) -> Memory:
        """What a step takes. NotImplementedError where it takes several plans."""
        found = super().memory()
        if self._known is not None:
            return found
        # What torch keeps of its own by now.
        kept = [x for state in self._optimizer.state.values() for x in pytree.tree_leaves(state)]
        own = sum(x.nbytes for x in kept if isinstance(x, torch.Tensor))
        return replace(found, optimizer=own)

    def is_ready(self) -> bool:
        """Whether the plan can do the optimizer's step that comes now."""
        return all(one is not None for one in self._settings())

    def _settings(self) -> list[Any]:
        known = self._known
        assert known is not None
        return [known.settings(number, self._groups[number]) for number in self._order]

    def prepare(self) -> bool:
        """Takes what the optimizer has now; whether the plan can do its step."""
        known = self._known
        assert known is not None
        settings = self._settings()
        is_whole = all(one is not None for one in settings)
        if not is_whole and not known.kind.numbers:
            return False  # torch tells a first step by a state that is missing
        arrays = self._optimizer_arrays(known)
        self._of_optimizer = [*arrays, *settings]
        return is_whole

    def __call__(self, tensors: Sequence[Any]) -> Any:
        """The loss; parameters are changed."""
        given = [x.detach().resolve_conj().resolve_neg() for x in tensors]
        given += self._state.look()
        if self._has_seed:
            given.append(draw_seed())
        given += self._of_optimizer
        known = self._known
        if known is None:
            self._optimizer.zero_grad()  # so that gradients of before make room
        loss, *gradients = map(tensor_of, self.run(given))
        if self._written:
            _increment_version([self._state.tensors[i] for i in self._written])
        if self._steps:
            self._counters.look()
            with torch.no_grad():
                torch._foreach_add_(self._counters.tensors, self._steps)
        if known is not None:
            known.note_step(self._groups)
        else:
            for parameter, gradient in zip(self._with_gradients, gradients, strict=True):
                parameter.grad = gradient
            self._optimizer.step()
        return loss

    def _optimizer_arrays(self, known: Optimizer) -> list[Any]:
        """What the optimizer keeps, as arrays that share its memory."""
        now = [state for number, one in self._updated for state in known.states(number, one)]
        same = len(now) == len(self._seen) and all(
            a is b for a, b in zip(now, self._seen, strict=True)
        )
        if not same:
            self._seen, self._arrays = now, [as_array(one) for one in now]
        return self._arrays
