"""Graphs: what the library says of their nodes, and the models that it compiles of them."""

from __future__ import annotations

import ctypes
import json
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from .. import abi
from ..onnx_bytes import model_of
from ..plugin import AccError, Array, Memory, tensors
from ..suite import Group, Run

group = Group("graphs", "graphs, and models of them", on_devices=True)

SHAPE = (3, 3)
X = np.linspace(-2, 2, 9, dtype="float32").reshape(SHAPE)
WEIGHT = np.array([[1, 0, 2], [-1, 0.5, 0], [3, -2, 1]], "float32")
THREADS = 4
TURNS = 50
LOADS = 50

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


def _answers(run: Run, chain: Chain, graph: Any = None) -> Any:
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
    found = [name for name in (*UNARY, *BINARY) if _answers(run, Chain([name]))[0].id >= 0]
    if not found:
        run.skip("the library supports none of the operators that are tried")
    return found


@contextmanager
def loaded(run: Run, chain: Chain, graph: Any = None) -> Iterator[abi.MXAccModel]:
    """A model of a chain; unloaded afterwards."""
    model = abi.MXAccModel(ctypes.sizeof(abi.MXAccModel))
    graph = chain.struct() if graph is None else graph
    run.plugin.call(
        "loadModel", run.device, ctypes.byref(graph), None, 0, None, ctypes.byref(model)
    )
    try:
        yield model
    finally:
        if model.unloadModel:
            with run.plugin.guard:
                run.progress.call("unloadModel")
                model.unloadModel(model.state)


def infer(run: Run, model: abi.MXAccModel, x: Array) -> Array:
    """What a model gives; in memory of the device where the library has any."""
    plugin, device = run.plugin, run.device
    if not plugin.has("mx_alloc"):
        out = np.full(SHAPE, np.nan, "float32")
        _call(run, model, x, out, None)
        return out
    memories: list[Memory] = []
    try:
        memories.append(plugin.to_device(x, device))
        memories.append(plugin.empty(SHAPE, dev_id=device))
        if model.workspace_bytes:
            workspace = plugin.empty(model.workspace_bytes, "uint8", device, 0, 4096)
            memories.append(workspace)
        _call(run, model, memories[0], memories[1], memories[2] if len(memories) > 2 else None)
        return plugin.to_host(memories[1])
    finally:
        for memory in memories:
            memory.free()


def _call(
    run: Run,
    model: abi.MXAccModel,
    x: Array | Memory,
    out: Array | Memory,
    workspace: Memory | None,
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


@group.check("answers", "Says of each of graph->num_nodes nodes whether it runs here.")
def answers(run: Run) -> None:
    """Each node gets a group or a reason code that there is, an operator nobody knows none"""
    run.need("supportedOps", "loadModel")
    chain = Chain(["Relu", "Add", "NoSuchOperator", "MatMul", "Tanh"])
    with run.step(" -> ".join(chain.operators)):
        for node, operator in zip(_answers(run, chain), chain.operators, strict=True):
            run.expect(node.id >= abi.NODE_UNSUPPORTED, "an id of at least -1", node.id)
            if node.id == abi.NODE_UNSUPPORTED:
                run.expect(0 <= node.why <= 9, "one of kMXAccWhy...", node.why)
            costs = (node.cost, node.group_cost, node.byte_cost)
            run.expect(all(cost >= 0 for cost in costs), "costs of at least 0", costs)
            if operator == "NoSuchOperator":
                run.expect(node.id == abi.NODE_UNSUPPORTED, "kMXAccNodeUnsupported", node.id)


@group.check("results", "Runs it; inputs and outputs are as many as above and in that order.")
def results(run: Run) -> None:
    """What models compute is what ONNX says, of one operator and of chains"""
    found = supported(run)
    chains = [Chain([name]) for name in found]
    chains += [Chain([found[(first + step) % len(found)] for step in range(4)]) for first in (0, 2)]
    for chain in chains:
        with run.step(" -> ".join(chain.operators)):
            if any(node.id < 0 for node in _answers(run, chain)):
                continue
            with loaded(run, chain) as model:
                told = (model.num_in, model.num_out, bool(model.infer))
                if run.expect(told == (1, 1, True), "1 input, 1 output and infer", told):
                    for x in (X, X[::-1].copy()):
                        expect_equal(run, infer(run, model, x), chain.expected(x))


@group.check("ids", "of supportedOps and loadModel: id of the node that is at fault; or 0")
def ids(run: Run) -> None:
    """Ids of nodes that are not their positions change nothing"""
    names = supported(run)[:2]
    chain = Chain(names, [1000 - number for number in range(len(names))])
    with run.step("ids from 1000 down"):
        if all(node.id >= 0 for node in _answers(run, chain)):
            with loaded(run, chain) as model:
                expect_equal(run, infer(run, model, X), chain.expected(X))


@group.check("weights", "valid until the call returns, but see MXAccRuntime::retain_weight")
def weights(run: Run) -> None:
    """Weights and descriptions that are gone when loadModel has returned"""
    found = [name for name in supported(run) if name in BINARY]
    if not found:
        run.skip("the library supports no operator with two operands")
    chain = Chain(found[:1])
    with run.step(found[0]):
        graph = chain.struct()
        with loaded(run, chain, graph) as model:
            # Only what it was told that it may keep stays: nothing, as there is no retain_weight.
            chain.weight[:] = 77
            graph.json = b"{}"
            expect_equal(run, infer(run, model, X), chain.expected(X))


@group.check("wrong", "one that is too new is kMXAccUnsupported")
def wrong(run: Run) -> None:
    """Versions that are too new, texts that are no graph, and options that there are not"""
    name = supported(run)[0]
    chain = Chain([name])
    cases: dict[str, tuple[bytes | None, int]] = {
        "a version": (None, 99),
        "no JSON": (b"{", abi.GRAPH_VERSION),
        "another JSON": (b'{"version": 1}', abi.GRAPH_VERSION),
    }
    for case, (text, version) in cases.items():
        with run.step(case):
            code = _code(run, chain, chain.struct(text, version))
            run.expect(code is not None, "an error", "success")
            if case == "a version":
                run.expect(code == "unsupported", "kMXAccUnsupported", code)


def _code(run: Run, chain: Chain, graph: Any) -> str | None:
    """The code of the error that loadModel gives."""
    try:
        with loaded(run, chain, graph):
            return None
    except AccError as error:
        return error.code


@group.check("threads", "One executor or one model is run by one thread at a time")
def threads(run: Run) -> None:
    """Several models are run at once, and one where its flags say so"""
    if run.plugin.has("getDeviceInfo") and run.plugin.info(run.device).flags & abi.ONE_THREAD:
        run.plugin.one_at_a_time()
    chain = Chain(supported(run)[:1])
    failed: list[str] = []

    def work(model: abi.MXAccModel, number: int) -> None:
        x = X + number
        try:
            for _ in range(TURNS):
                if not np.allclose(infer(run, model, x), chain.expected(x), rtol=1e-3, atol=1e-4):
                    failed.append("another result")
                    return
        except AccError as error:
            failed.append(str(error))

    with (
        run.step(f"{THREADS} threads"),
        loaded(run, chain) as first,
        loaded(run, chain) as second,
    ):
        shared = bool(first.flags & abi.MODEL_CONCURRENT)
        models = [first if shared else (first, second)[turn] for turn in range(2)]
        models = models * (THREADS // 2) if shared else models
        workers = [
            threading.Thread(target=work, args=(model, number))
            for number, model in enumerate(models)
        ]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
        run.expect(not failed, "the same results as alone", failed[:1])


@group.check("again", "Frees state; no infer is under way, in a stream neither.")
def again(run: Run) -> None:
    """Models that are loaded and unloaded many times"""
    chain = Chain(supported(run)[:2])
    if any(node.id < 0 for node in _answers(run, chain)):
        chain = Chain(chain.operators[:1])
    with run.step(f"{LOADS} times"):
        for _ in range(LOADS):
            with loaded(run, chain) as model:
                infer(run, model, X)
