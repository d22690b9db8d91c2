"""Graphs: what the library says of their nodes, and the models that it compiles of them."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from typing import Any

import numpy as np

from .. import abi
from ..chains import (
    BINARY,
    INFER,
    MARGIN,
    SHAPE,
    Chain,
    X,
    answers_of,
    expect_equal,
    infer,
    infer_all,
    loaded,
    supported,
)
from ..plugin import AccError, Array, attribute_structs, data_type
from ..random_nets import Part, random_net, random_parts
from ..suite import Group, Run

group = Group("graphs", "graphs, and models of them", on_devices=True)

OPTIONS = "Options that are not among those of listOptions are kMXAccBadArgument"
THREADS = 4
TURNS = 50
LOADS = 50
GRAPHS = 100


@group.check("answers", "Says of each of graph->num_nodes nodes whether it runs here.")
def answers(run: Run) -> None:
    """Each node gets a group or a reason code that there is, an operator nobody knows none"""
    run.need("supportedOps", "loadModel")
    chain = Chain(["Relu", "Add", "NoSuchOperator", "MatMul", "Tanh"])
    with run.step(" -> ".join(chain.operators)):
        for node, operator in zip(answers_of(run, chain), chain.operators, strict=True):
            run.expect(node.id >= abi.NODE_UNSUPPORTED, "an id of at least -1", node.id)
            if node.id == abi.NODE_UNSUPPORTED:
                run.expect(0 <= node.why <= 9, "one of kMXAccWhy...", node.why)
            costs = (node.cost, node.group_cost, node.byte_cost)
            run.expect(all(cost >= 0 for cost in costs), "costs of at least 0", costs)
            if operator == "NoSuchOperator":
                run.expect(node.id == abi.NODE_UNSUPPORTED, "kMXAccNodeUnsupported", node.id)


@group.check("results", INFER)
def results(run: Run) -> None:
    """What models compute is what ONNX says, of one operator and of chains"""
    found = supported(run)
    chains = [Chain([name]) for name in found]
    chains += [Chain([found[(first + step) % len(found)] for step in range(4)]) for first in (0, 2)]
    for chain in chains:
        with run.step(" -> ".join(chain.operators)):
            if any(node.id < 0 for node in answers_of(run, chain)):
                continue
            with loaded(run, chain) as model:
                told = (model.num_in, model.num_out, bool(model.infer))
                if run.expect(told == (1, 1, True), "1 input, 1 output and infer", told):
                    # The second time elsewhere: data and byte_offset are those of the call.
                    for x, margin in ((X, 0), (X[::-1].copy(), MARGIN)):
                        expect_equal(run, infer(run, model, x, margin), chain.expected(x))


@group.check("random", INFER)
def random(run: Run) -> None:
    """Random graphs, with branches and several inputs and outputs, in parts cut at random"""
    operators = supported(run)
    done = 0
    seeds = range(run.options.seed, run.options.seed + (GRAPHS // 4 if run.quick else GRAPHS))
    for seed in seeds:
        net, inputs = random_net(seed, operators)
        expected = net.values(inputs)
        largest = max(float(np.abs(value).max()) for value in expected)
        for number, part in enumerate(random_parts(seed, net)):
            with run.step(f"seed {seed}, part {number}: {_text(part)}"):
                given = [expected[value] for value in part.inputs]
                for value, got in zip(part.outputs, _computed(run, part, given), strict=False):
                    done += 1
                    expect_equal(run, got, expected[value], largest)
    if not done:
        run.skip(f"the library takes no part of the graphs of the seeds {seeds[0]} to {seeds[-1]}")


def _computed(run: Run, part: Part, given: list[Array]) -> list[Array]:
    """What the library gives for a part; nothing where it does not execute that."""
    if any(node.id < 0 for node in answers_of(run, part.net)):
        return []
    try:
        with loaded(run, part.net) as model:
            counts = (model.num_in, model.num_out)
            wanted = (len(part.inputs), len(part.outputs))
            if run.expect(counts == wanted, f"{wanted} inputs and outputs", counts):
                return infer_all(run, model, given, len(part.outputs))
    except AccError as error:
        if error.code != "unsupported" or error.function != "loadModel":
            raise
        run.rejected(_text(part), error.message or "")
    return []


def _text(part: Part) -> str:
    """A graph of a few nodes in a line: x0, w0 -> v0 = Add(x0, w0), v1 = Relu(v0)."""
    names = part.net.names
    rows = [
        f"{names[part.net.first + number]} = {operator}({', '.join(names[v] for v in taken)})"
        for number, (operator, taken) in enumerate(part.net.nodes)
    ]
    return f"{', '.join(rows)} -> {', '.join(names[value] for value in part.net.outputs)}"


@group.check("tensors", "These belong to the model")
def tensors(run: Run) -> None:
    """What a model says of its inputs and outputs, when the graph that it was made of is gone"""
    chain = Chain(supported(run)[:1])
    graph = chain.struct()
    with run.step(chain.operators[0]), loaded(run, chain, graph) as model:
        for tensor in (*graph.data[: graph.num_data], graph.outputs[0]):
            for axis in range(len(SHAPE)):
                tensor.tensor.shape[axis] = tensor.tensor.strides[axis] = 77
        if model.num_in == model.num_out == 1 and model.infer:
            for what, told in (("input", model.inputs), ("output", model.outputs)):
                if run.expect(bool(told), f"an {what}", "NULL"):
                    _look_at(run, told[0].tensor, what)
            expect_equal(run, infer(run, model, X), chain.expected(X))


def _look_at(run: Run, tensor: abi.MXAccDLTensor, what: str) -> None:
    """Its type and extents, of which any may be told later."""
    told, known = tensor.dtype, data_type(X.dtype)
    came = (told.code, told.bits, told.lanes)
    run.expect(came == (known.code, known.bits, known.lanes), f"an {what} of float32", came)
    shape = [tensor.shape[axis] for axis in range(min(tensor.ndim, abi.MAX_DIMS))]
    right = tensor.ndim < 0 or len(shape) == len(SHAPE)
    right = right and all(e in (-1, extent) for e, extent in zip(shape, SHAPE, strict=False))
    run.expect(right, f"an {what} of the shape {SHAPE}", tuple(shape))


@group.check("ids", "of supportedOps and loadModel: id of the node that is at fault; or 0")
def ids(run: Run) -> None:
    """Ids of nodes that are not their positions change nothing"""
    names = supported(run)[:2]
    chain = Chain(names, [1000 - number for number in range(len(names))])
    with run.step("ids from 1000 down"):
        if all(node.id >= 0 for node in answers_of(run, chain)):
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
    with run.step("an option"):
        code = _code(run, chain, chain.struct(), {"no_such_option": "1"})
        run.expect(code == "bad_argument", "kMXAccBadArgument", code or "success", OPTIONS)


def _code(
    run: Run, chain: Chain, graph: Any, options: Mapping[str, str] | None = None
) -> str | None:
    """The code of the error that loadModel gives; options are JSON."""
    given = attribute_structs(options) if options else None
    try:
        with loaded(run, chain, graph, given, len(options or ())):
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
    if any(node.id < 0 for node in answers_of(run, chain)):
        chain = Chain(chain.operators[:1])
    with run.step(f"{LOADS} times"):
        for _ in range(LOADS):
            with loaded(run, chain) as model:
                infer(run, model, X)
