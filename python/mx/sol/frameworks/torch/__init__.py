"""Modules of torch: parsed by torch.export, and optimized modules as modules of torch."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from inspect import Parameter, signature
from typing import TYPE_CHECKING, Any

from ....context import Context
from ....graph.passes import Pass
from .._framework import Framework, Source

if TYPE_CHECKING:
    from ..._compiled import Compiled


class Torch(Framework):
    """PyTorch. Nothing of it is imported before a model of it comes."""

    name = "torch"
    models = "a torch.nn.Module or a torch.export.ExportedProgram"
    target = "torch"

    def reads(self, model: object) -> bool:
        """Whether it is a module of torch, or a program that it exported."""
        torch = sys.modules.get("torch")
        if torch is None:
            return False
        return isinstance(model, (torch.nn.Module, torch.export.ExportedProgram))

    def parse(self, model: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Source:
        """What torch.export makes of a module and an example, which programs have."""
        from ._loaded import use_libraries
        from ._source import TorchSource

        use_libraries()
        if not args and not kwargs:
            args, kwargs = getattr(model, "example_inputs", None) or ((), {})
        return TorchSource(_module_of(model), tuple(args), dict(kwargs))

    def executes_training(self) -> bool:
        """They do, in the module's mode."""
        return True

    def wrap(self, compiled: Compiled, model: Any) -> Any:
        """A module of the same class and with the same state; for models of other frameworks, and
        with other conventions, a module with the weights of the graph."""
        from ._loaded import use_libraries
        from ._module import optimized
        from ._source import TorchSource

        use_libraries()
        if not isinstance(compiled.source, TorchSource):
            from ._foreign import ForeignModule

            return ForeignModule(compiled)
        return optimized(compiled)

    def fall_back(
        self, model: Any, args: Sequence[Any], kwargs: Mapping[str, Any], how: Any, error: Exception
    ) -> Any:
        """A module of which torch executes what cannot be optimized, and plans the parts."""
        from ._fallback import in_parts

        return in_parts(_module_of(model), args, kwargs, how, error)

    def training_step(
        self,
        model: Any,
        loss: Any,
        optimizer: Any,
        context: Context,
        passes: Sequence[Pass],
        memory_limit: int | None,
    ) -> Any:
        """A function that does a step."""
        import torch

        from ._step import TrainingStep

        if not callable(loss):
            raise TypeError(f"sol.training_step: loss: expected a function, got {loss!r}")
        if not isinstance(optimizer, torch.optim.Optimizer):
            raise TypeError(
                "sol.training_step: optimizer: expected a torch.optim.Optimizer, got"
                f" {type(optimizer).__name__}"
            )
        step = signature(type(optimizer).step)
        if "closure" in step.parameters and step.parameters["closure"].default is Parameter.empty:
            raise TypeError(
                f"sol.training_step: optimizer: {type(optimizer).__name__}: expected one whose step"
                " needs no closure"
            )
        return TrainingStep(model, loss, optimizer, context, passes, memory_limit)

    def parts(self, model: Any) -> list[tuple[str, Any]] | None:
        """The module, or modules inside it."""
        torch = sys.modules.get("torch")
        if torch is None or not isinstance(model, torch.nn.Module):
            return None
        from ._foreign import ForeignModule
        from ._module import OptimizedModule, runner_of
        from ._runs import runs_of

        def part(module: Any) -> Any:
            return runner_of(module) if isinstance(module, OptimizedModule) else module._sol

        kinds = (OptimizedModule, ForeignModule)
        if isinstance(model, kinds):
            return [("", part(model))]
        found: list[tuple[str, Any]] = []
        for name, one in model.named_modules():
            found += [(name, one)] if isinstance(one, kinds) else runs_of(one, name)
        return [(name, part(one)) for name, one in found]

    def missing(self) -> str:
        """What to install."""
        return "" if find_spec("torch") else "pip install torch"


def _module_of(model: Any) -> Any:
    """A module: the one that a program is of."""
    import torch

    return model.module() if isinstance(model, torch.export.ExportedProgram) else model


FRAMEWORK = Torch()
