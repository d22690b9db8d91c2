"""The samples that torch tests its own modules and operators with."""

from __future__ import annotations

import random
import warnings
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch
from torch import nn
from torch.utils import _pytree as pytree

# How many parts the samples are in, of which a run of the tests takes one.
TURNS = 20


@dataclass
class Sample:
    """A module and the arguments of a call."""

    name: str
    module: nn.Module
    args: Sequence[Any]
    kwargs: dict[str, Any] = field(default_factory=dict)


class Applies(nn.Module):
    """An operator whose arguments are those of the call where they are tensors, else fixed."""

    def __init__(self, operator: Any, structure: Any, fixed: Sequence[Any]) -> None:
        super().__init__()
        self.operator, self.structure, self.fixed = operator, structure, fixed

    def forward(self, *tensors: torch.Tensor) -> Any:
        given = iter(tensors)
        leaves = [next(given) if leaf is torch.Tensor else leaf for leaf in self.fixed]
        args, kwargs = pytree.tree_unflatten(leaves, self.structure)
        return self.operator(*args, **kwargs)


def is_turn(name: str, turn: int | None) -> bool:
    """Whether an operator or module is tested in a turn; in None all are."""
    return turn is None or zlib.crc32(name.encode()) % TURNS == turn


def _some(samples: Sequence[Any], most: int) -> list[tuple[int, Any]]:
    """At most so many, of the first to the last."""
    count = min(most, len(samples))
    chosen = sorted({round(i * (len(samples) - 1) / max(count - 1, 1)) for i in range(count)})
    return [(i, samples[i]) for i in chosen]


def operators(turn: int | None, most: int) -> Iterator[tuple[str, list[Sample]]]:
    """Names of operators, each with at most so many samples that have a tensor."""
    from torch.testing._internal.common_methods_invocations import op_db

    for info in op_db:
        variant = info.variant_test_name
        name = f"{info.name}.{variant}" if variant else info.name
        types = (torch.float32, torch.int64, torch.bool)
        dtype = next((one for one in types if one in info.dtypes), None)
        if dtype is None or not is_turn(name, turn):
            continue
        _seed()
        found = [_applied(info.op, one) for one in info.sample_inputs("cpu", dtype)]
        chosen = _some([one for one in found if one[1]], most)
        yield name, [Sample(f"{name} {i}", module, args) for i, (module, args) in chosen]


def _applied(operator: Any, sample: Any) -> tuple[nn.Module, list[torch.Tensor]]:
    leaves, structure = pytree.tree_flatten(((sample.input, *sample.args), dict(sample.kwargs)))
    fixed = [torch.Tensor if isinstance(leaf, torch.Tensor) else leaf for leaf in leaves]
    tensors = [leaf for leaf in leaves if isinstance(leaf, torch.Tensor)]
    return Applies(operator, structure, fixed).eval(), tensors


def modules(turn: int | None, most: int) -> Iterator[tuple[str, list[Sample]]]:
    """Names of modules, each with at most so many samples in eval mode, and in training."""
    from torch.testing._internal.common_modules import module_db

    for info in module_db:
        if not is_turn(info.name, turn):
            continue
        samples = []
        for training in (False, True):
            _seed()
            inputs = info.module_inputs_func(
                info, device="cpu", dtype=torch.float32, requires_grad=False, training=training
            )
            for i, one in _some(list(inputs), most):
                made, call = one.constructor_input, one.forward_input
                if call is None:
                    continue
                module = info.module_cls(*made.args, **made.kwargs).float().train(training)
                name = f"{info.name} {i}{' in training' if training else ''}"
                samples.append(Sample(name, module, call.args, dict(call.kwargs)))
        yield info.name, samples


def _seed() -> None:
    warnings.simplefilter("ignore")
    torch.manual_seed(0)
    np.random.seed(0)
    random.seed(0)
