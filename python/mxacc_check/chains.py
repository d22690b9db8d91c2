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


class Chain:
    """A graph in which each operator takes what the one before gives; two-operand ones the weight
    besides."""

    def __init__(self, operators: Sequence[str], ids: Sequence[int] = ()):
        self.operators = list(operators)
        self._ids = list(ids) or list(range(1, len(operators) + 1))
        self.has_weight = any(operator in BINARY for operator in operators)
        names = ["x", *(["w"] if self.has_weight else [])]
        first = len(names)
        names += [f"v{number}" for number in range(len(operators))]
        last = len(names) - 1
        roles = ["input", *["weight"] * (first - 1), *["inner"] * (len(operators) - 1), "output"]
        nodes = []
        for number, operator in enumerate(operators):
            version = (BINARY if operator in BINARY else UNARY).get(operator, (1, None))[0]
            before = 0 if number == 0 else first + number - 1
            nodes.append(
                {
                    "id": self._ids[number],
                    "operator": operator,
                    "version": version,
                    "attributes": {},
                    "inputs": [before, 1] if operator in BINARY else [before],
                    "outputs": [first + number],
                }
            )
        self.document = {
            "version": abi.GRAPH_VERSION,
            "operator_set": 26,
            "entries": [
                {"name": name, "dtype": "float32", "shape": list(SHAPE), "role": role}
                for name, role in zip(names, roles, strict=True)
            ],
            "inputs": [0],
            "weights": [1] if self.has_weight else [],
            "outputs": [last],
            "nodes": nodes,
        }
        self.weight = WEIGHT.copy()

    def expected(self, x: Array) -> Array:
        for operator in self.operators:
            if operator in BINARY:
                x = BINARY[operator][1](x, WEIGHT)
            else:
                x = UNARY[operator][1](x)
        return x

    def struct(self, text: bytes | None = None, version: int = abi.GRAPH_VERSION) -> Any:
        """An MXAccGraph; what it points to lives as long as it does."""
        data = [X, self.weight] if self.has_weight else [X]
        given = tensors(data, ["x", "w"][: len(data)])
        given[0].tensor.data = None
        if self.has_weight:
            self._info = abi.MXAccTensorInfo(ctypes.sizeof(abi.MXAccTensorInfo))
            self._info.memory = abi.HOST_MEMORY
            given[1].role = abi.WEIGHT
            given[1].info = ctypes.pointer(self._info)
        outputs = tensors([np.empty(SHAPE, "float32")], ["out"], role=abi.OUTPUT)
        outputs[0].tensor.data = None
        self._kept = (given, outputs, text or json.dumps(self.document).encode())
        self._onnx = model_of(self.document)
        return abi.MXAccGraph(
            ctypes.sizeof(abi.MXAccGraph),
            self._kept[2],
            given,
            len(data),
            len(self.operators),
            version,
            1,
            outputs,
            1,
            0,
            ctypes.cast(ctypes.c_char_p(self._onnx), ctypes.c_void_p),
            len(self._onnx),
        )


def answers_of(run: Run, chain: Chain, graph: Any = None) -> Any:
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
    run: Run, chain: Chain, graph: Any = None, options: Any = None, num_options: int = 0
) -> Iterator[abi.MXAccModel]:
    """A model of a chain, compiled with these MXAccAttribute; unloaded afterwards."""
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
    """What a model gives; in memory of the device where the library has any.

    It is a finding where the run writes to anything but its output and workspace.
    """
    inputs = Tensors(run, [x], margin)
    outputs = Tensors(run, [np.empty(SHAPE, "float32")], margin, False)
    workspace = Workspace(run, model.workspace_bytes, margin)
    try:
        _call(run, model, inputs.views[0], outputs.views[0], workspace.memory)
        for tensors_ in (inputs, outputs, workspace.tensors):
            tensors_.fetch()
        wrong = "its elements were" if inputs.values(0).tobytes() != x.tobytes() else ""
        wrong = wrong or inputs.written_beside(0)
        run.expect(not wrong, "an input that is left as it is", f"it has changed: {wrong}", INFER)
        for what, written in (
            ("output", outputs.written_beside(0)),
            ("workspace", workspace.written_beside()),
        ):
            run.expect(not written, f"nothing written beside the {what}", written, INFER)
        return outputs.values(0)
    finally:
        for tensors_ in (inputs, outputs, workspace.tensors):
            tensors_.free()


def _call(
    run: Run, model: abi.MXAccModel, x: Memory, out: Memory, workspace: Memory | None
) -> None:
    given, target = tensors([x], ["x"]), tensors([out], ["out"], role=abi.OUTPUT)
    room = None if workspace is None else tensors([workspace])
    with run.plugin.guard:
        run.progress.call("infer")
        status = model.infer(model.state, given, 1, target, 1, room, None, None)
    run.plugin.check("infer", status)


def expect_equal(run: Run, got: Array, expected: Array) -> None:
    close = np.allclose(got, expected, rtol=1e-4 * run.options.tolerance, atol=1e-5)
    run.expect(close, f"{expected.tolist()}", f"{got.tolist()}")
