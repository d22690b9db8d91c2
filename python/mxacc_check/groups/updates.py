"""Weights of compiled models that change.

These checks belong to the group of graphs.
"""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Mapping, Sequence

import numpy as np

from .. import abi
from ..chains import BINARY, SHAPE, WEIGHT, Net, X, expect_equal, infer, loaded, supported
from ..plugin import AccError, Array, tensors
from ..suite import Run
from .graphs import group
from .models import key_of
from .pieces import exported, imported

SAME = "each found by its name there and of the same type and shape; the others stay as they are."
TURNS = 50


def _net(run: Run) -> Net:
    """A graph with two weights."""
    binary = [name for name in supported(run) if name in BINARY]
    if not binary:
        run.skip("the library supports no operator with two operands")
    nodes = [(binary[0], [0, 1]), (binary[-1], [3, 2])]
    return Net(1, [WEIGHT, WEIGHT.T], nodes, [4])


def _need_updates(run: Run, model: abi.MXAccModel) -> None:
    if not model.updateWeights:
        run.skip("models have no updateWeights")


def _update(run: Run, model: abi.MXAccModel, weights: Mapping[str, Array]) -> Sequence[Array]:
    """Gives a model weights by their names. What has their elements is returned: of a model that
    keeps none they have to stay, and all else is gone."""
    info = abi.MXAccTensorInfo(ctypes.sizeof(abi.MXAccTensorInfo))
    info.memory = abi.HOST_MEMORY
    arrays = [np.ascontiguousarray(weight).copy() for weight in weights.values()]
    given = tensors(arrays, list(weights), role=abi.WEIGHT)
    for number in range(len(arrays)):
        given[number].info = ctypes.pointer(info)
    with run.plugin.guard:
        run.progress.call("updateWeights")
        status = model.updateWeights(model.state, given, len(arrays))
    run.plugin.check("updateWeights", status)
    for number in range(len(arrays)):
        for axis in range(len(SHAPE)):
            given[number].tensor.shape[axis] = given[number].tensor.strides[axis] = 77
    if model.flags & abi.MODEL_KEEPS_WEIGHTS:
        for array in arrays:
            array[:] = 77
    return arrays


def _taken(
    run: Run, model: abi.MXAccModel, net: Net, weights: Mapping[str, Array]
) -> Sequence[Array]:
    """The same where the model takes them; else the check is skipped. The graph has them then."""
    try:
        kept = _update(run, model, weights)
    except AccError as error:
        if error.code != "unsupported":
            raise
        run.skip(f"the model takes no other weights: {error.message}")
    for name, weight in weights.items():
        net.weights[net.names.index(name) - net.num_inputs] = weight.copy()
    return kept


def _expect(run: Run, model: abi.MXAccModel, net: Net) -> None:
    for x in (X, X[::-1].copy()):
        expect_equal(run, infer(run, model, x), net.values([x])[-1], 10)


@group.check("updates", SAME)
def updates(run: Run) -> None:
    """Some weights or all of them, in any order; a run behind each has the new ones"""
    net = _net(run)
    kept = []
    with loaded(run, net) as model:
        _need_updates(run, model)
        cases: dict[str, dict[str, Array]] = {
            "before a run": {"w0": WEIGHT + 1},
            "the second": {"w1": WEIGHT - 1},
            "the first": {"w0": WEIGHT * 2},
            "both, the second before the first": {"w1": WEIGHT * 3, "w0": WEIGHT * -1},
            "what they are already": {"w0": WEIGHT * -1},
            "both again": {"w0": WEIGHT, "w1": WEIGHT.T},
        }
        for case, weights in cases.items():
            with run.step(case):
                kept.append(_taken(run, model, net, weights))
                _expect(run, model, net)


@group.check("updates_apart", SAME)
def updates_apart(run: Run) -> None:
    """Of two models of one graph one gets other weights while a thread runs the other"""
    if run.plugin.has("getDeviceInfo") and run.plugin.info(run.device).flags & abi.ONE_THREAD:
        run.plugin.one_at_a_time()
    net, others = _net(run), _net(run)
    failed: list[str] = []
    is_over = threading.Event()
    kept = []
    with loaded(run, net) as model, loaded(run, others) as other:
        _need_updates(run, model)
        expected = others.values([X])[-1]

        def work() -> None:
            try:
                while not is_over.is_set():
                    got = infer(run, other, X)
                    if not np.allclose(got, expected, rtol=1e-3, atol=1e-3):
                        failed.append(f"{got.tolist()}")
                        return
            except AccError as error:
                failed.append(str(error))

        worker = threading.Thread(target=work)
        worker.start()
        try:
            with run.step(f"{TURNS} times"):
                for number in range(TURNS):
                    kept.append(_taken(run, model, net, {"w0": WEIGHT * number}))
                    _expect(run, model, net)
        finally:
            is_over.set()
            worker.join()
        run.expect(not failed, f"{expected.tolist()} of the other", failed[:1])


@group.check("wrong_updates", SAME)
def wrong_updates(run: Run) -> None:
    """Names that the graph does not have, other types and other shapes are errors"""
    cases: dict[str, dict[str, Array]] = {
        "another name": {"no_such_weight": WEIGHT},
        "the name of an input": {"x0": WEIGHT},
        "another shape": {"w0": np.zeros((2, 7), "float32")},
        "more axes": {"w0": np.zeros((1, *SHAPE), "float32")},
        "another type": {"w0": np.zeros(SHAPE, "int8")},
        "a right one, then another name": {"w0": WEIGHT, "no_such_weight": WEIGHT},
    }
    for case, weights in cases.items():
        with run.step(case), loaded(run, _net(run)) as model:
            _need_updates(run, model)
            code = None
            try:
                _update(run, model, weights)
            except AccError as error:
                code = error.code
            # Nothing but unloading follows.
            run.expect(code is not None, "an error", "success")


@group.check("updates_exported", "and exportModel gives them.")
def updates_exported(run: Run) -> None:
    """What is exported after an update has the new weights"""
    run.need("importModel", "modelKey", "checkModel")
    net = _net(run)
    with loaded(run, net) as model:
        _need_updates(run, model)
        kept = _taken(run, model, net, {"w1": WEIGHT * 5})
        pieces = exported(run, model, 1)
        _expect(run, model, net)
    with imported(run, key_of(run), pieces, []) as again:
        _expect(run, again, net)
    del kept
