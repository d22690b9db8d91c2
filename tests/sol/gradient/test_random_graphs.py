"""Random graphs: their gradients are torch's, with and without a limit on memory."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy
import onnx_ir as ir
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mx.graph import OPSET, Graph, GraphError
from mx.importers._builder import Names
from mx.sol.gradient import training
from mx.sol.gradient._writer import Writer

from .test_rules import gradients

torch = pytest.importorskip("torch")

# What writes a node, and what torch does; values are of the shape (4, 3), but for those of rows,
# of the shape (3,).
_UNARY: dict[str, tuple[Callable[..., Any], Callable[..., Any]]] = {
    "relu": (lambda to, x: to.Relu(x), lambda x: torch.relu(x)),
    "tanh": (lambda to, x: to.Tanh(x), lambda x: torch.tanh(x)),
    "sigmoid": (lambda to, x: to.Sigmoid(x), lambda x: torch.sigmoid(x)),
    "softmax": (lambda to, x: to.Softmax(x, axis=-1), lambda x: torch.softmax(x, -1)),
    "gelu": (lambda to, x: to.Gelu(x), lambda x: torch.nn.functional.gelu(x)),
    "row": (
        lambda to, x: to.Sub(x, to.ReduceMean(x, [1], keepdims=1)),
        lambda x: x - x.mean(1, keepdim=True),
    ),
    "turn": (
        lambda to, x: to.Reshape(to.Transpose(x, perm=[1, 0]), [4, 3]),
        lambda x: x.T.reshape(4, 3),
    ),
    "halves": (
        lambda to, x: to.Concat(to.Slice(x, [2], [4]), to.Slice(x, [0], [2]), axis=0),
        lambda x: torch.cat((x[2:4], x[:2])),
    ),
    "gather": (lambda to, x: to.Gather(x, to.ints([3, 3, 0, 1])), lambda x: x[[3, 3, 0, 1]]),
    "detached": (
        lambda to, x: to.Mul(x, to.Floor(x)),
        lambda x: x * torch.floor(x).detach(),
    ),
}
_BINARY: dict[str, tuple[Callable[..., Any], Callable[..., Any]]] = {
    "add": (lambda to, x, y: to.Add(x, y), lambda x, y: x + y),
    "mul": (lambda to, x, y: to.Mul(x, y), lambda x, y: x * y),
    "max": (lambda to, x, y: to.Max(x, y), lambda x, y: torch.maximum(x, y)),
    "square": (
        lambda to, x, y: to.MatMul(x, to.Gemm(y, x, transA=1)),
        lambda x, y: x @ (y.T @ x),
    ),
    "column": (
        lambda to, x, y: to.Div(x, to.Add(to.ReduceSum(to.Mul(y, y), [0]), 1)),
        lambda x, y: x / ((y * y).sum(0, keepdim=True) + 1),
    ),
    "where": (
        lambda to, x, y: to.Where(to.Less(x, y), to.Exp(to.Min(x, 1)), y),
        lambda x, y: torch.where(x < y, torch.exp(torch.clamp(x, max=1)), y),
    ),
}
_STEPS = st.one_of(
    st.tuples(st.sampled_from(sorted(_UNARY)), st.integers(0, 8), st.just(0)),
    st.tuples(st.sampled_from(sorted(_BINARY)), st.integers(0, 8), st.integers(0, 8)),
)


def graph_of(program: list[tuple[str, int, int]]) -> Graph:
    """The graph of a program: each step reads values that are there, counted from the last."""
    values = [
        ir.Value(name=name, type=ir.TensorType(ir.DataType.DOUBLE), shape=ir.Shape((4, 3)))
        for name in ("a", "b")
    ]
    inside = ir.Graph(values, [], nodes=[], opset_imports={"": OPSET}, name="random")
    to = Writer(inside, Names())
    made = list(values)
    for name, first, second in program:
        x, y = made[-1 - first % len(made)], made[-1 - second % len(made)]
        made.append(_UNARY[name][0](to, x) if name in _UNARY else _BINARY[name][0](to, x, y))
    for number, value in enumerate({made[-1]: None, made[len(made) // 2]: None}):
        copy = to.Identity(value)
        copy.name = f"o{number}"
        inside.outputs.append(copy)
    graph = Graph(ir.Model(inside, ir_version=10))
    graph.infer()
    return graph


def by_torch(program: list[tuple[str, int, int]], inputs: list[Any]) -> list[Any]:
    made = list(inputs)
    for name, first, second in program:
        x, y = made[-1 - first % len(made)], made[-1 - second % len(made)]
        made.append(_UNARY[name][1](x) if name in _UNARY else _BINARY[name][1](x, y))
    last, middle = made[-1], made[len(made) // 2]
    return [last] if last is middle else [last, middle]


@settings(max_examples=30, deadline=None, derandomize=True, database=None)
@given(program=st.lists(_STEPS, min_size=1, max_size=10), seed=st.integers(0, 9))
def test_gradients_are_those_of_torch(program: list[tuple[str, int, int]], seed: int) -> None:
    random = numpy.random.default_rng(seed)
    feeds = {name: random.standard_normal((4, 3)) for name in ("a", "b")}
    inputs = [torch.tensor(array, requires_grad=True) for array in feeds.values()]
    outputs = by_torch(program, inputs)
    dy = {f"o{i}": random.standard_normal((4, 3)) for i in range(len(outputs))}
    sum((x * torch.tensor(w)).sum() for x, w in zip(outputs, dy.values(), strict=True)).backward()
    graph = graph_of(program)
    made = training(graph, ["a", "b"])
    limits = [None, made.memory.peak * 9 // 10]
    for limit in limits:
        try:
            found, grads = gradients(graph, feeds, ["a", "b"], dy, memory_limit=limit)
        except GraphError as error:
            assert "memory_limit" in str(error)
            continue
        for array, wanted in zip(found, outputs, strict=True):
            numpy.testing.assert_allclose(array, wanted.detach().numpy(), rtol=1e-6, atol=1e-9)
        for name, value in zip(feeds, inputs, strict=True):
            wanted = torch.zeros_like(value) if value.grad is None else value.grad
            scale = max(1.0, float(wanted.abs().max()))
            numpy.testing.assert_allclose(grads[name] / scale, wanted.numpy() / scale, atol=1e-6)
