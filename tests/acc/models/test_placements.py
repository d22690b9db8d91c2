"""What users are told of nodes that the CPU executes: a warning, summaries, counts and tables."""

from __future__ import annotations

import warnings

import numpy
import pytest

import mx
from mx._cli import main
from mx.graph import PartitionedPlan, Plan, explain
from tests.graph.build import graph_of

from .test_partitioned_plans import MIXED, X, same

# Of which Python executes one node, in which a string is split, and the device another.
IN_PYTHON = """g (float[2] x, string[2] s) => (float[2] y, string[2,M] a, int64[2] b)
{ y = Relu(x) a, b = StringSplit(s) }"""


def run(plan: PartitionedPlan, times: int = 1) -> list[warnings.WarningMessage]:
    """The warnings of runs."""
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        for _ in range(times):
            plan(X)
    return told


def test_the_first_run_warns_once(load_refacc) -> None:
    graph = graph_of(MIXED)
    ctx = load_refacc("told")
    plan = PartitionedPlan(graph, ctx)
    (warning,) = run(plan, 3)
    assert warning.category is mx.AccPlacementWarning and warning.filename == __file__
    assert str(warning.message) == (
        "told does not execute 1 of 7 nodes of the graph, which run on the CPU, with copies: "
        "Trilu x1 (there is no rule for Trilu). mx.graph.explain tells of each"
    )
    # Other shapes are no other model, and who asks where nodes run is told so already.
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        plan(numpy.resize(X, (5, 4)))
        explain(graph, ctx, {"x": (2, 4)})


QUIET = {
    "all on the device": ("g (float[2,4] x) => (float[2,4] y) { y = Relu(x) }", {}),
    "the CPU is asked for": (MIXED, {"fallback": "whole"}),
}


@pytest.mark.parametrize(("text", "options"), QUIET.values(), ids=QUIET)
def test_says_nothing(load_refacc, text, options) -> None:
    assert not run(PartitionedPlan(graph_of(text), load_refacc("told"), **options))


def test_is_switched_off_alone(load_refacc) -> None:
    """As a warning of its own; failures are still told."""
    ctx = load_refacc("told")
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        warnings.simplefilter("ignore", mx.AccPlacementWarning)
        plan = PartitionedPlan(graph_of(MIXED), ctx)
        plan(X)
        assert not told
        ctx.configure(faults="infer@1")
        plan(X)
        ctx.configure(faults="")
    (warning,) = told
    assert warning.category is mx.AccFallbackWarning and "infer failed" in str(warning.message)


def test_what_failed_is_told_once(load_refacc) -> None:
    ctx = load_refacc("told")
    ctx.configure(faults="loadModel")
    told = run(PartitionedPlan(graph_of(MIXED), ctx), 2)
    ctx.configure(faults="")
    texts = [str(one.message) for one in told if one.category is mx.AccPlacementWarning]
    assert len(texts) == 1 and "does not execute 1 of 7 nodes" in texts[0]
    assert any("loadModel failed" in str(one.message) for one in told)


def test_many_operators_are_one_line(load_refacc) -> None:
    operators = [
        "Hardmax",
        "Trilu",
        "Det",
        "Celu",
        "Shrink",
        "NonZero",
        "IsInf",
        "OptionalHasElement",
    ]
    body = " ".join(f"v{n} = {name}(x)" for n, name in enumerate(operators))
    # Twice as many of one as of the others, for one reason each.
    graph = graph_of(
        f"g (float[2,2] x) => (float[2,2] v0, float[2,2] z) {{ {body} z = Trilu(v1) }}"
    )
    ctx = load_refacc("told")
    plan = PartitionedPlan(graph, ctx, optimize=False)
    with pytest.warns(mx.AccPlacementWarning) as told:
        plan(numpy.eye(2, dtype="float32"))
    text = str(told[0].message)
    assert text.count("(there is no rule for") == 4 and ", and 1 more. mx.graph" in text
    assert "copies: Trilu x2 (" in text


def test_counts(load_refacc) -> None:
    """A node that the CPU executes is a call, in each run."""
    ctx = load_refacc("told")
    plan = PartitionedPlan(graph_of(MIXED), ctx)
    mx.acc_stats(reset=True)
    run(plan, 3)
    (row,) = mx.acc_stats()
    assert (row.accelerator, row.operator, row.on_accelerator, row.on_cpu) == (
        "told",
        "Trilu",
        0,
        3,
    )
    assert row.reasons == {"there is no rule for Trilu": 3}
    assert "there is no rule for Trilu" in repr(mx.acc_stats(reset=True))
    ctx.configure(faults="infer@1")
    run(plan)
    ctx.configure(faults="")
    found = {row.operator: row for row in mx.acc_stats(reset=True)}
    assert sorted(found) == ["Abs", "Gemm", "Relu", "Trilu"]
    assert all("infer failed" in reason for reason in found["Gemm"].reasons)
    run(PartitionedPlan(graph_of(MIXED), ctx, fallback="whole"))
    counts = {row.operator: (row.on_cpu, row.reasons) for row in mx.acc_stats(reset=True)}
    assert counts["Mul"] == (1, {"the fallback is 'whole'": 1}) and len(counts) == 7


@pytest.mark.parametrize("wrong", [0, -1])
def test_counts_are_above_zero(load_refacc, wrong) -> None:
    import ffi

    count = ffi.get_global_func("mx.acc.count_fallbacks")
    with pytest.raises(ValueError, match=f"argument 3: expected a number above 0, got {wrong}"):
        count(load_refacc("told"), "Relu", "why", wrong)
    with pytest.raises(ValueError, match="expected a context of an accelerator"):
        count(mx.cpu(), "Relu", "why", 1)


def test_what_python_executes(load_refacc) -> None:
    graph = graph_of(IN_PYTHON)
    plan = PartitionedPlan(graph, load_refacc("told"))
    given = (numpy.ones(2, "float32"), numpy.array(["a b", "c d"], object))
    plan(*given)
    expected = "told: 1 of 2 nodes; on cpu: StringSplit x1; in Python: StringSplit x1"
    assert plan.summary() == expected
    cpu = Plan(graph)
    cpu(*given)
    assert cpu.summary().endswith("; in Python: StringSplit x1")


def test_explanations(load_refacc) -> None:
    graph = graph_of(MIXED)
    ctx = load_refacc("told")
    plan = PartitionedPlan(graph, ctx)
    plan(X)
    assert plan.explain() == explain(graph, ctx, {"x": (2, 4)})
    assert plan.explain().summary == plan.summary()
    same(plan(X), Plan(graph)(X))


# What a command is given besides a model and the device, how it ends, and what it says.
COMMANDS = {
    "run": (["run"], 0, "told: 2 of 3 nodes; on cpu: Trilu x1"),
    "verified": (["run", "--verify"], 0, "told: 2 of 3 nodes"),
    "another result": (["run", "--verify"], 1, "run: node 'r' (Relu) on told: output 'b' differs"),
    "nothing there": (["run", "--fallback", "whole"], 0, "told: 0 of 3 nodes"),
    "all there": (["run", "--fallback", "error"], 1, "does not execute 1 of 3 nodes: node 't'"),
    "explain": (["explain"], 0, "t     Trilu     cpu     there is no rule for Trilu"),
    "explain nothing": (["explain", "--fallback", "whole"], 0, "the fallback is 'whole'"),
    "explain all": (["explain", "--fallback", "error"], 1, "does not execute 1 of 3 nodes"),
    "bench": (["bench", "--seconds", "0", "--fallback", "whole", "--keep-nan"], 0, "of 1 runs"),
}


@pytest.mark.parametrize(("words", "status", "text"), COMMANDS.values(), ids=COMMANDS)
def test_commands(load_refacc, request, tmp_path, capsys, words, status, text) -> None:
    wrong = {"WRONG": "Relu"} if "another result" in request.node.name else {}
    load_refacc("told", **wrong)
    model = tmp_path / "model.onnx"
    graph_of(
        """g (float[2,2] x) => (float[2,2] y)
        { [t] a = Trilu(x) [r] b = Relu(a) [e] y = Exp(b) }"""
    ).save(model)
    command, *more = words
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if status == 0:
            assert not main([command, str(model), "--ctx", "told(0)", *more])
        else:
            with pytest.raises(SystemExit) as ended:
                main([command, str(model), "--ctx", "told(0)", *more])
            assert ended.value.code == status
    assert text in "".join(capsys.readouterr())
