"""An optimized module: one of the same class that has its state in common with the original."""

from __future__ import annotations

import contextlib
import copy
import functools
import threading
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import torch

from ...._cython.watch import Quick  # type: ignore[import-not-found]
from ....graph import GraphError
from ....importers.torch._exporting import exporting
from ..._compiled import Compiled
from ..._errors import SolWarning
from ..._training import TrainingPlans
from .._part import OTHERS, Part
from ._loaded import beside_openmp
from ._modes import in_mode
from ._source import OtherType, TorchSource, check_tensor
from ._surroundings import PREVENTS, UNLESS, prevents
from ._trainer import NOT_READY, Ready, Trainer

_is_grad_enabled = torch.is_grad_enabled
_to_tensor = torch._C._from_dlpack
# Shapes of inputs for which it is known at once what executes them.
_MOST_READY = 32

# Why torch executes a model, besides what is around a call.
_HOOKS = "modules inside it have hooks, which only torch calls"


class Runner(Part):
    """What an optimized module has beside the original's attributes: the plans, and when they may
    be used."""

    def __init__(self, compiled: Compiled) -> None:
        assert isinstance(compiled.source, TorchSource)
        super().__init__(compiled)
        self.source: TorchSource = compiled.source
        assert self.source.state is not None
        self.state = self.source.state
        self.ready: dict[Any, Callable[[Sequence[Any]], Any]] = {}
        reasons = (_is_grad_enabled, *PREVENTS)
        self.quick = Quick(self.state, self.ready, reasons, UNLESS, torch.Tensor, NOT_READY).run
        self._warned: set[str] = set()
        # Why it cannot be optimized again with weights of other types.
        self._not_converted: dict[Any, str] = {}
        self.kin = _Kin((self.source.args, self.source.kwargs), {}, {}, threading.Lock())
        self._lock = threading.Lock()
        self._refreshed = 0  # how often
        self._planning = threading.RLock()  # of training, by `training_plans`
        self.keywords = tuple(self.source.kwargs)
        outputs = self.source.outputs
        self.is_single = outputs is not None and outputs.is_single
        self.trainer = Trainer(compiled)
        # What the last call in training was executed by.
        self.trains: Ready | None = None

    def carefully(self, module: Any, args: Any, kwargs: Any, hooks: bool) -> Any:
        """What the module returns where something may have to be done besides running a plan."""
        found, why = self._check(), prevents()
        if (found or self.state.was_converted) and not why and self.state.converted():
            return self._convert(module, args, kwargs, hooks)
        if found == "hooks":
            if hooks and self.state.has_outer_hooks():
                return super(OptimizedModule, module).__call__(*args, **kwargs)  # type: ignore[misc]
            if self.state.has_inner_hooks():
                return self._in_torch(_HOOKS, module, args, kwargs)
            found = self.state.check_but_for_hooks()
        if why:
            return self._in_torch(why, module, args, kwargs)
        if self.compiled.is_part and not self._fits(args, kwargs):
            return self._in_torch(OTHERS, module, args, kwargs)
        if found == "training" or (_is_grad_enabled() and self._needs_gradients(args, kwargs)):
            return self._train(module, args, kwargs)
        if found == "changed":
            self.refresh()
        return self.slowly(args, kwargs)

    def _fits(self, args: Any, kwargs: Any) -> bool:
        """Whether a plan takes these arguments; OtherType for what another runner may take."""
        try:
            shapes = [tuple(one.shape) for one in self._tensors(args, kwargs)]
            self.compiled.check(tuple(shapes))
        except OtherType:
            if self.kin.types:
                raise
            return False
        except (TypeError, ValueError):
            return False
        return True

    def is_not_plain(self) -> bool:
        """Whether something may have to be done besides running a plan."""
        return _is_grad_enabled() or prevents() != "" or self._check() != ""

    def _check(self) -> str:
        """What keeps a plan from being used, but for what other threads do to the module for a
        time: torch.export has others in the position of its weights, and `training_plans` has it in
        training."""
        found = self.state.check()
        if found == "changed":
            with exporting:
                found = self.state.check()
        if found == "training":
            with self._planning:
                found = self.state.check()
        return found

    def slowly(self, args: Any, kwargs: Any) -> Any:
        """What a plan gives for arguments of a kind that did not come before; errors name the
        argument."""
        source = self.source
        tensors = [one.resolve_conj().resolve_neg() for one in self._tensors(args, kwargs)]
        if source.changes:
            return self.trainer.version(tensors)(tensors)
        tensors = [tensor.detach() for tensor in tensors]
        refreshed = self._refreshed
        run = self._run_for(tensors)
        result = run(tensors)
        with self._lock:
            # Another thread may have seen other weights in the meantime.
            is_latest = refreshed == self._refreshed
            if is_latest and source.is_flat and tuple(kwargs) == self.keywords:
                while len(self.ready) >= _MOST_READY:
                    del self.ready[next(iter(self.ready))]
                self.ready[tuple([tensor.shape for tensor in tensors])] = run
        return result

    def _run_for(self, tensors: Sequence[Any]) -> Callable[[Sequence[Any]], Any]:
        """What gives what the module returns for tensors of these shapes and types."""
        unflatten = self.source.unflatten
        plan = self.compiled.compiled_plan(tensors)
        if plan is None:
            compiled = self.compiled
            return lambda args: unflatten([_tensor_of(one) for one in compiled.run(args)])
        beside_openmp(plan)
        run_one, run_all = _runs_of(plan.__class__)
        if self.is_single:
            return functools.partial(run_one, plan)
        return lambda args: unflatten(run_all(plan, args))

    def _tensors(self, args: Any, kwargs: Any) -> list[Any]:
        """The tensors among the arguments; errors name those that do not fit."""
        tensors = self.source.flatten(args, kwargs)
        for spec, tensor, example in zip(
            self.compiled.inputs, tensors, self.source.example, strict=True
        ):
            check_tensor(spec.name, tensor, example)
        return tensors

    def _train(self, module: Any, args: Any, kwargs: Any) -> Any:
        """What the module returns in training, or where gradients are required."""
        tensors = [one.resolve_conj().resolve_neg() for one in self._tensors(args, kwargs)]
        if not self.compiled.fallback:
            version = self.trainer.version(tensors)
        else:
            found = self.trainer.version_or_reason(tensors)
            if isinstance(found, str):
                return self._in_torch(found, module, args, kwargs, 5)
            version = found
        source = self.source
        if source.is_flat and not kwargs and not self.keywords:
            self.trains = self.trainer.ready(version, tensors)
        return version(tensors)

    def _training_plans(
        self, compiled: Compiled, shapes: Sequence[tuple[int, ...]]
    ) -> tuple[TrainingPlans, frozenset[str]]:
        """See Part. A module of which none is in training is looked at as if all were."""
        given = zip(self.source.tensors, shapes, strict=True)
        tensors = [x if x.shape == shape else x.new_empty(shape) for x, shape in given]
        with self._planning, torch.enable_grad(), in_mode(self.source.module, True):
            if compiled is self.compiled:
                version = self.trainer.version(tensors)
            else:
                version = Trainer(compiled).made(tensors)
        return version.plans, version.state_inputs

    def forget_training(self) -> None:
        """Has the next call in training have its plans made anew."""
        self.trainer.forget()
        self.trains = None

    def forget(self) -> None:
        """Has the next call ask for its plan, as there is another one."""
        with self._lock:
            self._refreshed += 1
            self.ready.clear()

    def refresh(self) -> None:
        """Has the plans made anew of the weights as they are now."""
        self.compiled.refresh()
        self.forget()  # whoever has the plans before is not the last one by then

    def _convert(self, module: Any, args: Any, kwargs: Any, hooks: bool) -> Any:
        """What the module returns after `module.to(dtype)` gave its weights other types."""
        again = self.converted(module)
        if again is self:
            dtypes = tuple(self.state.converted().items())
            why = self._not_converted.get(dtypes, "its weights have other types")
            return self._in_torch(why, module, args, kwargs, 5)
        return again.carefully(module, args, kwargs, hooks)

    def converted(self, module: Any) -> Runner:
        """What the module has beside it after it has been optimized again for weights of other
        types; this one where `fallback` lets torch execute those."""
        with self.kin.lock:
            dtypes = tuple(self.state.converted().items())
            if module._sol is self and dtypes not in self._not_converted:
                try:
                    again = _made_for(
                        self.source.module, self.kin.first, self.types(), self.compiled.options()
                    )
                except (GraphError, NotImplementedError) as error:
                    if not self.compiled.fallback:
                        raise
                    self._not_converted[dtypes] = str(error).split("\n")[0]
                else:
                    again.kin.lock = self.kin.lock
                    object.__setattr__(module, "_sol", again)
        found: Runner = module._sol
        return found

    def types(self) -> dict[Any, Any]:
        """The types that the weights have now, by those that they had at first."""
        given, known = self.state.converted(), self.kin.types
        now = {old: given.get(new, new) for old, new in known.items()}
        now.update((old, new) for old, new in given.items() if old not in known.values())
        return now

    def of_other_types(
        self, module: Any, args: Any, kwargs: Any, hooks: bool, error: OtherType
    ) -> Any:
        """What the module returns for arguments of other types than expected, as `error` says.

        After its weights were given other types, arguments may be of these or of those that the
        example had: a module that converts its arguments takes both.
        """
        given, kin = _dtypes_of((args, kwargs)), self.kin
        with kin.lock:
            examples = [kin.first, _converted_to(kin.first, kin.types)]
            known = [one for one in examples if kin.types and _dtypes_of(one) == given]
            if known and given not in kin.runners:
                kin.runners[given] = None
                if _is_taken(self.source.module, known[0]):
                    with contextlib.suppress(GraphError, NotImplementedError):
                        other = Runner(
                            _compiled(self.source.module, *known[0], *self.compiled.options())
                        )
                        other.kin = kin
                        kin.runners[given] = other
            found = kin.runners.get(given) if known else None
        if found is None:
            if self.compiled.is_part:
                return self._in_torch(OTHERS, module, args, kwargs, 5)
            raise TypeError(str(error)) from None
        object.__setattr__(module, "_sol", found)
        return found.carefully(module, args, kwargs, hooks)

    def _needs_gradients(self, args: Any, kwargs: Any) -> bool:
        inputs = torch.utils._pytree.tree_leaves((args, kwargs))
        return self.state.needs_gradients([x for x in inputs if isinstance(x, torch.Tensor)])

    def _in_torch(self, why: str, module: Any, args: Any, kwargs: Any, depth: int = 4) -> Any:
        if why not in self._warned:
            self._warned.add(why)
            text = f"{self.source.name} is executed by torch: {why}"
            warnings.warn(text, SolWarning, stacklevel=depth)
        return super(OptimizedModule, module).forward(*args, **kwargs)  # type: ignore[misc]


@dataclass
class _Kin:
    """What the runners of a module have in common that have the same weights, and differ in the
    types of arguments."""

    # The arguments that the model was optimized with at first, and the types that its weights have
    # had since, by those they had then.
    first: Any
    types: dict[Any, Any]
    # By the types of arguments; None where nothing executes those.
    runners: dict[Any, Runner | None]
    lock: threading.Lock


def _made_for(module: Any, first: Any, types: dict[Any, Any], options: Any) -> Runner:
    """What executes a module whose weights have other types than those it was optimized with.

    Arguments are of the types of the weights, or those that it was optimized with where it does not
    take these.
    """
    converted = _converted_to(first, types)
    try:
        made = Runner(_compiled(module, *converted, *options))
    except (GraphError, NotImplementedError):
        if _dtypes_of(first) == _dtypes_of(converted) or not _is_taken(module, first):
            raise
        made = Runner(_compiled(module, *first, *options))
    made.kin.first, made.kin.types = first, types
    made.kin.runners[_dtypes_of((made.source.args, made.source.kwargs))] = made
    return made


def _is_taken(module: Any, example: Any) -> bool:
    """Whether torch executes a module with these arguments: what torch exports takes factors of
    several types, too."""
    buffers = {name: one.clone() for name, one in module.named_buffers()}
    try:
        with torch.no_grad(), torch.random.fork_rng(devices=[]):
            torch.func.functional_call(module, buffers, *example)
    except Exception:  # whatever the module raises
        return False
    return True


class OptimizedModule:
    """What is mixed into the class of an optimized module.

    Its attributes are the original's: parameters, buffers, modules, hooks and the mode are one
    thing, seen through two objects.
    """

    __slots__ = ()

    _sol: Runner

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        # The way of most calls: each call of a function in Python costs as much as a tenth of a
        # tiny model.
        sol = self._sol
        if kwargs or sol.keywords:
            if tuple(kwargs) == sol.keywords:
                result = sol.quick(args + tuple(kwargs.values()))
                if result is not NOT_READY:
                    return result
        else:
            result = sol.quick(args)
            if result is not NOT_READY:
                return result
        trains = sol.trains
        if trains is not None and not kwargs and sol.is_not_plain():
            result = trains(args)
            if result is not NOT_READY:
                return result
        try:
            return sol.carefully(self, args, kwargs, hooks=True)
        except OtherType as error:
            return self._sol.of_other_types(self, args, kwargs, True, error)

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """What the original returns, executed by its plan where no gradients are required."""
        try:
            return self._sol.carefully(self, args, kwargs, hooks=False)
        except OtherType as error:
            return self._sol.of_other_types(self, args, kwargs, False, error)

    def __deepcopy__(self, memo: dict[int, Any]) -> Any:
        """A copy of the original, optimized in the same way."""
        return _again(copy.deepcopy(self._sol.source.module, memo), *_recipe(self._sol))

    def __reduce_ex__(self, protocol: Any) -> Any:
        """The original, which is optimized again where the pickle is read."""
        return _again, (self._sol.source.module, *_recipe(self._sol))


def runner_of(module: Any) -> Runner:
    """What an optimized module has beside it, for the types that its weights have now."""
    runner: Runner = module._sol
    return runner.converted(module) if runner.state.converted() else runner


def optimized(compiled: Compiled) -> Any:
    """An optimized module."""
    return _module_of(Runner(compiled))


def _module_of(runner: Runner) -> Any:
    source = runner.source
    base: Any = type(source.module)
    module: Any = object.__new__(_class_of(base))
    object.__setattr__(module, "__dict__", source.module.__dict__)
    object.__setattr__(module, "_sol", runner)
    return module


@functools.lru_cache(maxsize=256)
def _class_of(base: Any) -> Any:
    names = {
        "__slots__": ("_sol",),
        "__module__": base.__module__,
        "__qualname__": base.__qualname__,
        "__doc__": base.__doc__,
    }
    return type(base)(base.__name__, (OptimizedModule, base), names)


@functools.cache
def _runs_of(plan: Any) -> tuple[Any, Any]:
    """What runs plans of a class: for one output, and for a tuple of all."""
    return plan.run_one.returning(torch.Tensor), plan.run_as_tuple.returning(torch.Tensor)


def _recipe(runner: Runner) -> tuple[Any, ...]:
    *options, is_part = runner.compiled.options()
    return *runner.kin.first, *options, runner.types(), is_part


def _converted_to(example: Any, types: dict[Any, Any]) -> Any:
    """An example whose tensors have other types."""
    return torch.utils._pytree.tree_map_only(
        torch.Tensor, lambda x: x.to(types.get(x.dtype, x.dtype)), example
    )


def _dtypes_of(arguments: Any) -> tuple[Any, ...]:
    leaves = torch.utils._pytree.tree_leaves(arguments)
    return tuple(leaf.dtype for leaf in leaves if isinstance(leaf, torch.Tensor))


def _again(
    module: Any,
    args: Any,
    kwargs: Any,
    vdims: Any,
    context: Any,
    passes: Sequence[str],
    fallback: bool,
    memory_limit: int | None = None,
    types: dict[Any, Any] | None = None,
    is_part: bool = False,
) -> Any:
    options = vdims, context, passes, fallback, memory_limit, is_part
    return _module_of(_made_for(module, (args, kwargs), types or {}, options))


def _compiled(module: Any, args: Any, kwargs: Any, *options: Any) -> Compiled:
    return Compiled.with_options(TorchSource(module, args, kwargs), *options)


def _tensor_of(output: Any) -> Any:
    if isinstance(output, torch.Tensor):
        return output
    return _to_tensor(output.__dlpack__()) if hasattr(output, "__dlpack__") else output
