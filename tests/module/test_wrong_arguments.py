"""What users get for arguments that cannot be right: an error that names function and argument."""

import numpy
import pytest

import mx
from mx.graph import GraphError, PartitionedPlan, Plan, explain

DATA = mx.sym.var("data")
NET = mx.sym.FullyConnected(DATA, num_hidden=3, name="fc")
ARRAYS = {"fc_weight": numpy.ones((3, 4), "float32"), "fc_bias": numpy.ones(3, "float32")}
GRAPH = NET.to_graph({"data": ("n", 4)}, params=ARRAYS)
CPU = mx.cpu()


def save(arguments, states=None):
    mx.model.save_checkpoint("never-written", 0, NET, arguments, states)


WRONG = [
    (lambda: save(None, {}), TypeError, "save_checkpoint: arg_params: expected arrays by name"),
    (lambda: save({1: numpy.ones(2)}, {}), TypeError, "arg_params: expected arrays by name"),
    (lambda: save({}, [1]), TypeError, "save_checkpoint: aux_params: expected arrays by name"),
    (lambda: mx.model.from_graph(NET), TypeError, "from_graph: graph: expected a Graph"),
    (
        lambda: mx.mod.Module(NET, context="cpu"),
        TypeError,
        "context: expected a Context or a list of those, got",
    ),
    (
        lambda: mx.mod.Module(NET, context=3),
        TypeError,
        "context: expected a Context or a list of those, got 3",
    ),
    (
        lambda: mx.mod.Module(NET).bind([("data", (1.5, 4))]),
        TypeError,
        r"expected pairs of name and shape, got \('data', \(1.5, 4\)\)",
    ),
    (lambda: mx.mod.Module(NET).bind([("data", (-1, 4))]), ValueError, "'data': .* is below zero"),
    (lambda: NET.to_graph(3), TypeError, "to_graph: shapes: expected a mapping of names, got int"),
    (lambda: NET.to_graph(params=3), TypeError, "to_graph: params: expected a mapping of names"),
    (
        lambda: NET.to_graph({"data": (2, 4)}, params={"fc_weight": "abc"}),
        GraphError,
        "parameter 'fc_weight': expected an array of numbers",
    ),
    (lambda: NET.infer_shape(data="abc"), TypeError, "variable 'data': expected a shape"),
    (lambda: NET.infer_shape(data=3), TypeError, "variable 'data': expected a shape"),
    (lambda: NET.infer_shape(data=(1.5, 2)), TypeError, "variable 'data': expected a shape"),
    (lambda: NET.infer_shape(data=(-2, 3)), ValueError, "variable 'data': .* is below zero"),
    (lambda: Plan(None), TypeError, "Plan: graph: expected a Graph, got NoneType"),
    (lambda: Plan("model.onnx"), TypeError, "Plan: graph: expected a Graph, got str"),
    (lambda: Plan(NET), TypeError, "Plan: graph: expected a Graph, got Symbol"),
    (lambda: Plan(GRAPH).run(None), TypeError, "inputs: expected a mapping"),
    (lambda: Plan(GRAPH).run([1]), TypeError, "inputs: expected a mapping"),
    (lambda: Plan(GRAPH).profile(None), TypeError, "inputs: expected a mapping"),
    (lambda: PartitionedPlan(None, CPU), TypeError, "PartitionedPlan: graph: expected a Graph"),
    (lambda: PartitionedPlan(GRAPH, "cpu"), TypeError, "ctx: expected a Context, got str"),
    (lambda: PartitionedPlan(GRAPH, CPU), ValueError, "is no device of an accelerator"),
    (lambda: PartitionedPlan(GRAPH, CPU, options="x"), TypeError, "options: expected a mapping"),
    (lambda: PartitionedPlan(GRAPH, CPU, verify="x"), TypeError, "verify: expected a bool, or"),
    (lambda: PartitionedPlan(GRAPH, CPU, verify=(1,)), TypeError, "verify: expected a bool"),
    (lambda: explain(None, CPU), TypeError, "explain: graph: expected a Graph, got NoneType"),
    (lambda: GRAPH.infer("x"), TypeError, "Graph.infer: shapes: expected a mapping, got str"),
    (lambda: GRAPH.bind(3), TypeError, "Graph.bind: dims: expected a mapping, got int"),
    (lambda: GRAPH.picture(3), TypeError, "Graph.picture: placement: expected a mapping, got int"),
    (lambda: GRAPH.summary(3), TypeError, "Graph.summary: placement: expected a mapping, got int"),
]


@pytest.mark.parametrize(("act", "error", "text"), WRONG, ids=lambda value: str(value)[:60])
def test_wrong_arguments(act, error, text, tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(error, match=text):
        act()
    assert not list(tmp_path.iterdir())
