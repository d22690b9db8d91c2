"""Runs imported graphs with ONNX's reference evaluator and compares them with torch."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import onnx_ir as ir
import torch
from onnx.reference import ReferenceEvaluator
from onnx.reference.ops import op_conv_transpose
from onnx.reference.ops.op_rnn import RNN_14
from torch.utils import _pytree as pytree

import mx.importers.torch

Function = Callable[..., Any]
# Of each type: relative and absolute.
TOLERANCES = {
    torch.float16: (4e-3, 4e-3),
    torch.bfloat16: (3e-2, 3e-2),
    torch.float32: (2e-5, 2e-6),
    torch.float64: (1e-9, 1e-9),
}


class RNN(RNN_14):
    """With the activation that the reference lacks."""

    def choose_act(self, name: str, alpha: Any, beta: Any) -> Any:
        return (
            (lambda x: np.maximum(x, 0))
            if name == "Relu"
            else super().choose_act(name, alpha, beta)
        )


class ConvTranspose(op_conv_transpose.ConvTranspose):
    """With groups, which the reference takes from the wrong axis of the weight."""

    def _run(self, x: np.ndarray, w: np.ndarray, *rest: Any, group: int = 1, **kwargs: Any) -> Any:
        parts = [
            super(ConvTranspose, self)._run(own, weight, *rest, group=1, **kwargs)[0]
            for own, weight in zip(np.split(x, group, 1), np.split(w, group, 0), strict=True)
        ]
        return (np.concatenate(parts, 1),)


MENDED = [RNN, ConvTranspose]


@dataclass
class Case:
    """A function of tensors, and an example of its arguments."""

    name: str
    function: Function
    inputs: Sequence[Any]


class Call(torch.nn.Module):
    """A function as a module, for torch.export takes only these."""

    def __init__(self, function: Function) -> None:
        super().__init__()
        self.function = function

    def forward(self, *inputs: Any) -> Any:
        return self.function(*inputs)


class Calls(torch.nn.Module):
    """Many functions, each of its own inputs, in one program: torch exports it in one go."""

    def __init__(self, functions: Sequence[Function]) -> None:
        super().__init__()
        self.functions = functions

    def forward(self, inputs: Any) -> Any:
        return [function(*one) for function, one in zip(self.functions, inputs, strict=True)]


def tensors(tree: Any) -> list[torch.Tensor]:
    """The tensors and numbers of a structure, in torch's order."""
    leaves = pytree.tree_leaves(tree)
    return [torch.as_tensor(leaf) for leaf in leaves if leaf is not None]


def array_of(tensor: torch.Tensor) -> np.ndarray:
    return mx.importers.torch._tensors.tensor_of(tensor, "input").numpy()


def run(graph: mx.graph.Graph, inputs: Sequence[Any]) -> list[np.ndarray]:
    """What a graph gives for what a model was called with."""
    model = ir.to_proto(graph.model)
    names = [value.name for value in model.graph.input]
    # Numbers of Python are constants of what torch exports.
    given = [leaf for leaf in pytree.tree_leaves(inputs) if isinstance(leaf, torch.Tensor)]
    arrays = [array_of(tensor) for tensor in given]
    # What is computed of infinities and beyond the range of a type is compared.
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        return ReferenceEvaluator(model, new_ops=MENDED).run(
            None, dict(zip(names, arrays, strict=True))
        )


def compare(got: np.ndarray, wanted: torch.Tensor, tolerance: float = 1) -> None:
    """The same data type, shape and, up to what a type can tell, elements."""
    expected = array_of(wanted)
    assert np.asarray(got).dtype == expected.dtype
    assert np.shape(got) == expected.shape
    relative, absolute = TOLERANCES.get(wanted.dtype, (0, 0))
    if wanted.dtype == torch.bfloat16:
        got, expected = got.astype(np.float32), expected.astype(np.float32)
    np.testing.assert_allclose(got, expected, rtol=relative * tolerance, atol=absolute * tolerance)


def check(
    model: torch.nn.Module | Function,
    inputs: Sequence[Any],
    *others: Sequence[Any],
    dynamic: Any = None,
    tolerance: float = 1,
) -> mx.graph.Graph:
    """Imports a model with one example and compares it for that and others."""
    if not isinstance(model, torch.nn.Module):
        model = Call(model)
    graph = mx.importers.torch.load(model, tuple(inputs), dynamic=dynamic)
    training = model.training
    model.eval()
    with torch.no_grad():
        for example in (inputs, *others):
            wanted = tensors(model(*example))
            results = run(graph, example)
            assert len(results) >= len(wanted)
            for got, one in zip(results, wanted, strict=False):
                compare(got, one, tolerance)
    model.train(training)
    return graph


class Batch:
    """Cases that are exported, imported and run together, or alone where that fails."""

    def __init__(self, cases: Sequence[Case]) -> None:
        self.cases = cases

    @cached_property
    def _results(self) -> list[list[np.ndarray]] | None:
        inputs = [list(case.inputs) for case in self.cases]
        model = Calls([case.function for case in self.cases]).eval()
        try:
            graph = mx.importers.torch.load(model, (inputs,))
            flat = run(graph, [inputs])
        except Exception:
            return None
        parts = []
        for case in self.cases:
            count = len(tensors(case.function(*case.inputs)))
            parts.append(flat[:count])
            flat = flat[count:]
        return parts

    def check(self, index: int) -> None:
        case = self.cases[index]
        if self._results is None:
            check(case.function, case.inputs)
            raise AssertionError("passes alone: another case of the table fails to be imported")
        for got, wanted in zip(
            self._results[index], tensors(case.function(*case.inputs)), strict=True
        ):
            compare(got, wanted)


_generator = torch.Generator().manual_seed(5)


def floats(*shape: int, dtype: torch.dtype = torch.float32) -> torch.Tensor:
    """Normally distributed numbers."""
    return torch.randn(shape, generator=_generator).to(dtype)


def positive(*shape: int, dtype: torch.dtype = torch.float32) -> torch.Tensor:
    """Numbers from 0.1 to 0.9."""
    return (torch.rand(shape, generator=_generator) * 0.8 + 0.1).to(dtype)


def ints(*shape: int, low: int = -9, high: int = 9, dtype: Any = torch.int64) -> torch.Tensor:
    """Integers from `low` to before `high`."""
    return torch.randint(low, high, shape, generator=_generator).to(dtype)


def bools(*shape: int) -> torch.Tensor:
    """Truth values."""
    return torch.rand(shape, generator=_generator) > 0.5
