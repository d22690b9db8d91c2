"""Graphs of a few nodes, and the models that a library compiles of them."""

from __future__ import annotations

import ctypes
import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from . import abi
from .guarded import Tensors, Workspace
from .onnx_bytes import model_of
from .plugin import Array, Memory, tensors
from .suite import Run

SHAPE = (3, 3)
X = np.linspace(-2, 2, 9, dtype="float32").reshape(SHAPE)
WEIGHT = np.array([[1, 0, 2], [-1, 0.5, 0], [3, -2, 1]], "float32")
INFER = "Runs it; inputs and outputs are as many as above and in that order."
# Bytes around the tensors of a run: more than a page, aligned to no more than some elements.
MARGIN = 2 * 4096 + 48

# ONNX's operators of one or two matrices, the version of their meaning, and what they compute.
UNARY: dict[str, tuple[int, Callable[[Array], Array]]] = {
    "Relu": (14, lambda x: np.maximum(x, 0)),
    "Neg": (13, np.negative),
    "Abs": (13, np.abs),
    "Tanh": (13, np.tanh),
    "Identity": (25, lambda x: x),
}
BINARY: dict[str, tuple[int, Callable[[Array, Array], Array]]] = {
    "Add": (14, np.add),
    "Sub": (14, np.subtract),
    "Mul": (14, np.multiply),
    "MatMul": (13, np.matmul),
}


class Net:
    """A graph of matrices: inputs, weights, and nodes that take any values before them.

    Values are numbered: inputs, then weights, then what nodes give, each one value.
    """

    def __init__(
        self,
        num_inputs: int,
        weights: Sequence[Array],
        nodes: Sequence[tuple[str, Sequence[int]]],
        outputs: Sequence[int],
        ids: Sequence[int] = (),
    ):
        """`nodes` have an operator and the values that it takes; `outputs` are values of nodes."""
        self.num_inputs, self.nodes, self.outputs = num_inputs, list(nodes), list(outputs)
        self.operators = [operator for operator, _ in nodes]
        self.weights: list[Array] = [weight.copy() for weight in weights]
        self._ids = list(ids) or list(range(1, len(nodes) + 1))
        self.first = num_inputs + len(weights)  # of what nodes give
        roles = ["input"] * num_inputs + ["weight"] * len(weights)
        names = [f"x{number}" for number in range(num_inputs)]
        names += [f"w{number}" for number in range(len(weights))]
        for number in range(len(nodes)):
            names.append(f"v{number}")
            roles.append("output" if self.first + number in self.outputs else "inner")
        self.names = names
        self.document = {
            "version": abi.GRAPH_VERSION,
            "operator_set": 26,
            "entries": [
                {"name": name, "dtype": "float32", "shape": list(SHAPE), "role": role}
                for name, role in zip(names, roles, strict=True)
            ],
            "inputs": list(range(num_inputs)),
            "weights": list(range(num_inputs, self.first)),
            "outputs": self.outputs,
            "nodes": [self._row(number) for number in range(len(nodes))],
        }

    def _row(self, number: int) -> dict[str, Any]:
        operator, taken = self.nodes[number]
        return {
            "id": self._ids[number],
            "operator": operator,
            "version": (BINARY if operator in BINARY else UNARY).get(operator, (1, None))[0],
            "attributes": {},
            "inputs": list(taken),
            "outputs": [self.first + number],
        }

    def values(self, inputs: Sequence[Array]) -> list[Array]:
        """All values for these inputs."""
        found = [*inputs, *self.weights]
        for operator, taken in self.nodes:
            compute = (BINARY if operator in BINARY else UNARY)[operator][1]
            found.append(compute(*(found[value] for value in taken)))
        return found

    def struct(self, text: bytes | None = None, version: int = abi.GRAPH_VERSION) -> Any:
        """An MXAccGraph; what it points to lives as long as it does."""
        empty = np.empty(SHAPE, "float32")
        given = tensors([empty] * self.num_inputs + self.weights, self.names[: self.first])
        for number in range(self.num_inputs):
            given[number].tensor.data = None
        self._info = abi.MXAccTensorInfo(ctypes.sizeof(abi.MXAccTensorInfo))
        self._info.memory = abi.HOST_MEMORY
        for number in range(self.num_inputs, self.first):
            given[number].role = abi.WEIGHT
            given[number].info = ctypes.pointer(self._info)
        names = [self.names[value] for value in self.outputs]
        outputs = tensors([empty] * len(names), names, role=abi.OUTPUT)
        for number in range(len(names)):
            outputs[number].tensor.data = None
        self._kept = (given, outputs, text or json.dumps(self.document).encode())
        self._onnx = model_of(self.document)
        return abi.MXAccGraph(
            ctypes.sizeof(abi.MXAccGraph),
            self._kept[2],
            given,
            self.first,
            len(self.nodes),
            version,
            self.num_inputs,
            outputs,
            len(names),
            0,
            ctypes.cast(ctypes.c_char_p(self._onnx), ctypes.c_void_p),
            len(self._onnx),
        )


class Chain(Net):
    """A graph in which each operator takes what the one before gives; two-operand ones the weight
    besides."""

    def __init__(self, operators: Sequence[str], ids: Sequence[int] = ()):
        self.has_weight = any(operator in BINARY for operator in operators)
        first = 1 + self.has_weight
        nodes = []
        for number, operator in enumerate(operators):
            before = first + number - 1 if number else 0
            nodes.append((operator, [before, 1] if operator in BINARY else [before]))
        weights = [WEIGHT] if self.has_weight else []
        super().__init__(1, weights, nodes, [first + len(nodes) - 1], ids)

    @property
    def weight(self) -> Array:
        return self.weights[0]

    def expected(self, x: Array) -> Array:
        weights = [WEIGHT] if self.has_weight else []
        result: Array = Net(1, weights, self.nodes, self.outputs).values([x])[-1]
        return result


def answers_of(run: Run, chain: Net, graph: Any = None) -> Any:
    """What supportedOps says of the nodes of a graph."""
    count = len(chain.operators)
    nodes = (abi.MXAccNodeSupport * count)(
        *[abi.MXAccNodeSupport(ctypes.sizeof(abi.MXAccNodeSupport), -1)] * count
    )
    graph = chain.struct() if graph is None else graph
    run.plugin.call("supportedOps", run.device, ctypes.byref(graph), nodes)
    return nodes


def supported(run: Run) -> list[str]:
    """The operators that the library executes; the check is skipped where there is none."""
    run.need("supportedOps", "loadModel")
    found = [name for name in (*UNARY, *BINARY) if answers_of(run, Chain([name]))[0].id >= 0]
    if not found:
        run.skip("the library supports none of the operators that are tried")
    return found


@contextmanager
def loaded(
    run: Run, chain: Net, graph: Any = None, options: Any = None, num_options: int = 0
) -> Iterator[abi.MXAccModel]:
    """A model of a graph, compiled with these MXAccAttribute; unloaded afterwards."""
    model = abi.MXAccModel(ctypes.sizeof(abi.MXAccModel))
    graph = chain.struct() if graph is None else graph
    run.plugin.call(
        *("loadModel", run.device, ctypes.byref(graph), options, num_options, None),
        ctypes.byref(model),
    )
    try:
        yield model
    finally:
        if model.unloadModel:
            with run.plugin.guard:
                run.progress.call("unloadModel")
                model.unloadModel(model.state)


def infer(run: Run, model: abi.MXAccModel, x: Array, margin: int = MARGIN) -> Array:
    """What a model of one input and one output gives; see infer_all."""
    return infer_all(run, model, [x], 1, margin)[0]


def infer_all(
    run: Run, model: abi.MXAccModel, given: Sequence[Array], num_out: int, margin: int = MARGIN
) -> list[Array]:
    """What a model gives; in memory of the device where the library has any.

    It is a finding where the run writes to anything but its outputs and workspace.
    """
    inputs = Tensors(run, given, margin)
    outputs = Tensors(run, [np.empty(SHAPE, "float32")] * num_out, margin, False)
    workspace = Workspace(run, model.workspace_bytes, margin)
    try:
        _call(run, model, inputs.views, outputs.views, workspace.memory)
        for tensors_ in (inputs, outputs, workspace.tensors):
            tensors_.fetch()
        for number, x in enumerate(given):
            wrong = "its elements were" if inputs.values(number).tobytes() != x.tobytes() else ""
            wrong = wrong or inputs.written_beside(number)
            wrong = f"it has changed: {wrong}" if wrong else ""
            run.expect(not wrong, "an input that is left as it is", wrong, INFER)
        beside = [("output", outputs.written_beside(number)) for number in range(num_out)]
        for what, written in (*beside, ("workspace", workspace.written_beside())):
            run.expect(not written, f"nothing written beside the {what}", written, INFER)
        return [outputs.values(number) for number in range(num_out)]
    finally:
        for tensors_ in (inputs, outputs, workspace.tensors):
            tensors_.free()


def _call(
    run: Run,
    model: abi.MXAccModel,
    given: Sequence[Memory],
    made: Sequence[Memory],
    workspace: Memory | None,
) -> None:
    inputs = tensors(given, [f"x{number}" for number in range(len(given))])
    outputs = tensors(made, [f"out{number}" for number in range(len(made))], role=abi.OUTPUT)
    room = None if workspace is None else tensors([workspace])
    with run.plugin.guard:
        run.progress.call("infer")
        status = model.infer(model.state, inputs, len(given), outputs, len(made), room, None, None)
    run.plugin.check("infer", status)


def expect_equal(run: Run, got: Array, expected: Array, largest: float = 1.0) -> None:
    """A finding where elements differ; `largest` is that of what may have been added up."""
    close = np.allclose(
        got, expected, rtol=1e-4 * run.options.tolerance, atol=1e-5 * max(largest, 1.0)
    )
    run.expect(close, f"{expected.tolist()}", f"{got.tolist()}")
