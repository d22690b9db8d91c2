"""What mx.importers.torch.load takes and gives: names, notes, weights, dimensions, errors."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import onnx_ir as ir
import pytest
import torch
import torch.nn.functional as F
from torch import nn
from torch.utils import _pytree as pytree

import mx
from mx.graph import GraphError

from .running import Call, array_of, check, compare, floats, ints, run

load = mx.importers.torch.load
A = torch.ops.aten


class Net(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.first = nn.Linear(4, 3)
        self.blocks = nn.Sequential(nn.ReLU(), nn.Linear(3, 2))
        self.register_buffer("scale", torch.ones(2))
        self.unused = nn.Parameter(torch.zeros(7))

    def forward(self, x: torch.Tensor, factor: torch.Tensor) -> dict[str, Any]:
        y = self.blocks(self.first(x))
        return {"scaled": y * factor, "both": [y, y * self.scale], "x": x}


def names(values: Any) -> list[str]:
    return [value.name for value in values]


def test_names() -> None:
    net = Net()
    graph = load(net, (floats(5, 4), floats(1))).model.graph
    assert names(graph.inputs) == ["x", "factor"]
    assert names(graph.outputs) == ["scaled", "both_0", "both_1", "x_1"]
    weights = ["first.weight", "first.bias", "blocks.1.weight", "blocks.1.bias", "scale"]
    assert sorted(graph.initializers) == sorted(weights)
    assert graph.initializers["scale"].metadata_props == {"mx.role": "auxiliary"}
    named = [value.name for node in graph for value in node.outputs]
    assert len(set(named)) == len(named) and {"linear", "relu"} <= set(named)


def test_one_tensor_as_two_arguments() -> None:
    class Difference(nn.Module):
        def forward(self, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
            return x - 2 * y

    x, y = torch.ones(2), torch.zeros(2)
    graph = mx.importers.torch.load(Difference(), (x, x))
    assert mx.graph.Plan(graph)(x.numpy(), y.numpy())[0].tolist() == [1, 1]


def test_result_is_checked_by_onnx() -> None:
    import onnx

    model = ir.to_proto(load(Net(), (floats(5, 4), floats(1))).model)
    onnx.checker.check_model(model, full_check=True)
    assert model.opset_import[0].version == mx.graph.OPSET


def test_structure_of_outputs() -> None:
    net = Net()
    inputs = (floats(5, 4), floats(1))
    graph = load(net, inputs)
    spec = pytree.treespec_loads(graph.model.metadata_props["mx.torch.outputs"])
    result = pytree.tree_unflatten(run(graph, inputs), spec)
    compare(result["both"][1], net(*inputs)["both"][1].detach())


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float16, torch.float64])
def test_weights_share_memory(dtype: torch.dtype) -> None:
    linear = nn.Linear(3, 2).to(dtype)
    weights = load(linear, (floats(1, 3).to(dtype),)).model.graph.initializers
    with torch.no_grad():
        linear.weight[0, 0] = 42
    found = weights["weight"].const_value.numpy()
    assert found[0, 0] == 42 and found.dtype == array_of(linear.weight).dtype


def test_shared_weights_are_one() -> None:
    net = nn.Sequential(nn.Linear(3, 3), nn.Linear(3, 3))
    net[1].weight = net[0].weight
    graph = load(net, (floats(1, 3),)).model.graph
    assert len([name for name in graph.initializers if "weight" in name]) == 1


def test_nodes_note_where_they_come_from() -> None:
    graph = load(Net(), (floats(5, 4), floats(1))).model.graph
    notes = {node.outputs[0].name: node.metadata_props for node in graph}
    assert notes["linear"]["mx.module"] == "first"
    assert notes["both_0"]["mx.module"] == "blocks.1"
    assert "mx.module" not in notes["both_1"]
    lines = Path(__file__).read_text().splitlines()
    for name, text in (("linear", "self.first(x)"), ("scaled", "y * factor")):
        file, line = notes[name]["mx.source"].rsplit(":", 1)
        assert file == __file__ and text in lines[int(line) - 1]


def test_mode_of_modules_stays() -> None:
    net = nn.Sequential(nn.Linear(3, 3), nn.Dropout(0.5), nn.BatchNorm1d(3))
    net[2].eval()
    graph = load(net, (floats(4, 3),))
    assert [one.training for one in net.modules()] == [True, True, True, False]
    assert not {"Dropout"} & {node.op_type for node in graph.model.graph}


class Counter(nn.Module):
    """Changes its buffers, and normalizes by the batch where it trains."""

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("calls", torch.zeros((), dtype=torch.int64))
        self.norm = nn.BatchNorm1d(3)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        self.calls += 1
        return self.norm(x) * self.calls


@pytest.mark.parametrize("training", [False, True])
def test_changed_buffers_are_outputs(training: bool) -> None:
    counter, x = Counter().train(training), floats(6, 3)
    program = torch.export.export(counter, (x,))
    graph = load(program if training else counter, () if training else (x,))
    results = dict(zip(names(graph.model.graph.outputs), run(graph, [x]), strict=True))
    wanted = counter(x).detach()
    buffers = ["calls"]
    if training:
        buffers += ["norm.running_mean", "norm.running_var", "norm.num_batches_tracked"]
    for value in graph.model.graph.outputs:
        target = value.metadata_props.get("mx.mutation")
        compare(results[value.name], counter.get_buffer(target) if target else wanted)
    assert set(results) == {"output", *(f"{name}.new" for name in buffers)}


# Dimensions ------------------------------------------------------------------------------------


def test_names_of_dimensions() -> None:
    def function(x: torch.Tensor, y: list[torch.Tensor]) -> torch.Tensor:
        return torch.cat([x, y[0]], 1).flatten()

    class Model(nn.Module):
        def forward(self, x: torch.Tensor, y: list[torch.Tensor]) -> torch.Tensor:
            return function(x, y)

    dynamic = {"x": {0: "rows", -1: "left"}, "y": [("rows", "right")]}
    graph = load(Model(), (floats(1, 3), [floats(1, 1)]), dynamic=dynamic).model.graph
    shapes = [[str(one) for one in value.shape] for value in graph.inputs]
    assert shapes == [["rows", "left"], ["rows", "right"]]
    assert str(graph.outputs[0].shape[0]) == "rows*(left + right)"
    assert set(json.loads(graph.metadata_props["mx.dimensions"])) == {"rows", "left", "right"}
    inputs = [floats(4, 5), [floats(4, 2)]]
    (result,) = run(
        mx.graph.Graph(load(Model(), (floats(1, 3), [floats(1, 1)]), dynamic=dynamic).model), inputs
    )
    compare(result, function(*inputs))


def sized(x: torch.Tensor) -> Any:
    """Numbers made of lengths."""
    rows, columns = x.shape
    half = (rows + 1) // 2
    return (
        x.reshape(columns, rows) * rows,
        x[:half],
        torch.arange(rows * 2),
        torch.zeros(rows, columns + 1),
        x.new_full((rows % 3 + 1,), rows / columns),
        torch.ones(max(rows, columns)),
        x.sum() / rows,
        x.mean(0).expand(rows, columns),
        x.roll(1, 0),
        x.flatten().unfold(0, 2, 2),
        x.diff(dim=0),
        x.var(0),
        x.repeat(rows, 1),
        x.sort(0),
        x.flip(0),
        F.pad(x, (0, rows)),
        F.interpolate(x[None, None], (rows * 2, columns), mode="nearest"),
        x.select_scatter(x[0], 0, -1),
        x.chunk(2, 0)[0],
        x.median(0),
        x.cumsum(0)[-1],
        torch.where(torch.arange(rows)[:, None] < half, x, 0),
        rows,
    )


def test_numbers_made_of_lengths() -> None:
    check(sized, [floats(5, 4)], [floats(9, 4)], dynamic={"inputs": [("rows", None)]})


def test_pools_of_any_size() -> None:
    def pools(x: torch.Tensor) -> Any:
        return (
            F.max_pool2d(x, 2, return_indices=True),
            F.adaptive_avg_pool2d(x, 1),
            F.unfold(x, 2, stride=2),
            F.interpolate(x, scale_factor=1.5, mode="bilinear", align_corners=True),
            F.interpolate(x, scale_factor=(0.7, 1.4)),
            F.interpolate(x, (x.shape[2] * 3 // 2, x.shape[3] + 1), mode="nearest-exact"),
            F.pixel_shuffle(x, 2),
            F.pixel_unshuffle(F.pixel_shuffle(x, 2), 2),
            F.group_norm(x, 2),
            F.instance_norm(x),
            A.native_group_norm(x, None, None, x.shape[0], 4, x.shape[2] * x.shape[3], 2, 1e-5),
        )

    names = {"inputs": [("n", None, "h", "w")]}
    check(pools, [floats(2, 4, 6, 8)], [floats(1, 4, 5, 7)], dynamic=names)


def test_rolls_of_any_length() -> None:
    """Also by more than there are elements."""

    def rolls(x: torch.Tensor) -> Any:
        return x.roll(3, 1), x.roll(-7, 1), x.roll((5, -4), (0, 1)), x.roll(9), x.roll(0, 1)

    others = [[floats(*shape)] for shape in ((2, 2), (3, 3), (1, 1), (9, 4))]
    names = {"inputs": [("rows", "columns")]}
    graph = check(rolls, [floats(3, 8)], *others, dynamic=names)
    empty = torch.zeros(2, 0)
    assert [one.shape for one in run(graph, [empty])] == [(2, 0)] * 5


def test_shapes_that_data_decides() -> None:
    def function(x: torch.Tensor, i: torch.Tensor) -> Any:
        found = x.nonzero()
        return (
            found,
            found.shape[0],
            x[x > 0],
            x.masked_select(x > 0.5),
            x[:, i > 1],
            torch.full((2,), i.max().item()),
            torch.where(x > 0)[1],
        )

    check(function, [floats(3, 4), ints(4)], [floats(3, 4), ints(4)])


# Branches and loops ------------------------------------------------------------------------------


def test_branches() -> None:
    offset = floats(3)

    class Model(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.linear = nn.Linear(3, 3)

        def forward(self, x: torch.Tensor) -> Any:
            return torch.cond(
                x.sum() > 0, lambda x: (self.linear(x), x * 3), lambda x: (x - offset, x * 2), (x,)
            )

    graph = check(Model(), [floats(2, 3).abs()], [-floats(2, 3).abs()])
    assert "If" in {node.op_type for node in graph.model.graph}


def test_branches_of_any_size() -> None:
    def function(x: torch.Tensor) -> Any:
        return torch.cond(
            x.sum() > 0, lambda x: x.reshape(-1) * x.shape[0], lambda x: -x.flatten(), (x,)
        )

    names = {"inputs": [("rows", None)]}
    check(function, [floats(2, 3).abs()], [-floats(4, 3).abs()], dynamic=names)


def test_loops() -> None:
    from torch._higher_order_ops.while_loop import while_loop

    def function(x: torch.Tensor, n: torch.Tensor) -> Any:
        return while_loop(
            lambda i, y: i < n,
            lambda i, y: (i + 1, y * 2 + x),
            (torch.zeros((), dtype=torch.int64), x * 1),
        )

    graph = check(function, [floats(2, 3), torch.tensor(3)], [floats(2, 3), torch.tensor(0)])
    assert "Loop" in {node.op_type for node in graph.model.graph}


def test_gradients_are_left_out() -> None:
    def function(x: torch.Tensor) -> torch.Tensor:
        with torch.no_grad():
            y = x * 2
        return y + x

    program = torch.export.export(Call(function), (floats(3),))
    x = floats(3)
    compare(run(load(program), [x])[0], function(x))


def test_random_numbers() -> None:
    def function(x: torch.Tensor) -> Any:
        rows = x.shape[0]
        return (
            torch.rand(rows, 3),
            torch.randn_like(x),
            torch.randperm(5),
            torch.rand_like(x),
            torch.randn(2, rows),
            F.dropout(x, 0.5, training=True),
        )

    graph = load(Call(function), (floats(4, 3),), dynamic={"inputs": [{0: "rows"}]})
    results = run(graph, [floats(6, 3)])
    shapes = [(6, 3), (6, 3), (5,), (6, 3), (2, 6), (6, 3)]
    assert [result.shape for result in results] == shapes
    assert sorted(results[2].tolist()) == list(range(5))
    assert 0 <= results[0].min() and results[0].max() < 1 and len(np.unique(results[1])) == 18


# Errors ----------------------------------------------------------------------------------------


class Missing(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.inner = Call(lambda x: torch.special.i0(x) + torch.lgamma(x))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.digamma(self.inner(x))


def test_all_missing_rules_are_named() -> None:
    with pytest.raises(GraphError) as caught:
        load(Missing(), (floats(3),))
    message = str(caught.value)
    assert "no rule for 3 operators" in message
    for operator in ("i0", "lgamma", "digamma"):
        (line,) = [one for one in message.splitlines() if f"aten.{operator}.default" in one]
        assert ("in module 'inner'" in line) == (operator != "digamma")
        assert f"{__file__}:" in line or "running.py:" in line


def test_all_unsupported_arguments_are_named() -> None:
    def function(x: torch.Tensor) -> Any:
        return F.max_pool2d(x, 2), F.avg_pool2d(x, 3, 1, 1, True, divisor_override=2), x.int() << x

    def ints_pooled(x: torch.Tensor) -> Any:
        return (
            A.max_pool2d_with_indices(x.int(), [2]),
            A._embedding_bag(x[0, 0], x[0, 0, 0].long(), x[0, 0, 0].long())[1],
            F.avg_pool2d(x.long(), 2),
        )

    with pytest.raises(GraphError, match="max_pool2d_with_indices.*\n?.*elements of int32") as one:
        load(Call(ints_pooled), (floats(1, 1, 8, 8),))
    assert "3 calls of operators" in str(one.value)
    assert "averages of integers" in str(one.value)
    assert "result 1 of it has no ONNX operator" in str(one.value)


def linear() -> nn.Module:
    return nn.Linear(3, 2)


MISUSES = {
    "no model": (lambda: load(3), TypeError, "expected a torch.nn.Module .* got int"),
    "arguments of a program": (
        lambda: load(torch.export.export(linear(), (floats(1, 3),)), (floats(1, 3),)),
        TypeError,
        "takes no args",
    ),
    "dynamic": (lambda: load(linear(), (floats(1, 3),), dynamic=7), TypeError, "dynamic: .* got 7"),
    "an unknown argument": (
        lambda: load(linear(), (floats(1, 3),), dynamic={"x": {0: "n"}}),
        GraphError,
        "dynamic names x; the arguments are input",
    ),
    "an unknown axis": (
        lambda: load(linear(), (floats(1, 3),), dynamic={"input": {2: "n"}}),
        GraphError,
        r"dynamic for input: expected axes from -2 to 1 .* got \{2: 'n'\}",
    ),
    "too few axes": (
        lambda: load(linear(), (floats(1, 3),), dynamic={"input": ("n",)}),
        GraphError,
        "expected a mapping of axes to names, or 2 names",
    ),
    "a fixed dimension": (
        lambda: load(linear(), (floats(1, 3),), dynamic={"input": ("n", "features")}),
        GraphError,
        "dimension 'features', axis 1 of input, cannot vary: the model makes it 3",
    ),
    "a list of another length": (
        lambda: load(Call(lambda x: x), (floats(3),), dynamic={"inputs": [None, None]}),
        GraphError,
        r"dynamic for inputs: expected a list of 1",
    ),
    "missing arguments": (lambda: load(linear()), TypeError, "missing a required argument"),
}


@pytest.mark.parametrize("name", MISUSES)
def test_misuse(name: str) -> None:
    call, kind, message = MISUSES[name]
    with pytest.raises(kind, match=message):
        call()


def test_missing_torch() -> None:
    program = """
import sys
sys.modules["torch"] = None
import mx
try:
    mx.importers.torch.load(3)
except ImportError as error:
    print(error)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert (
        done.stdout.strip() == "mx.importers.torch.load needs the package torch: pip install torch"
    )


def test_rules_of_ones_own(monkeypatch: pytest.MonkeyPatch) -> None:
    from mx.importers.torch import _rule

    # Graphs of modules are kept only where all rules are the package's own.
    monkeypatch.setattr(_rule, "_rules", dict(_rule._rules))
    library = torch.library.Library("mxffi_tests", "DEF")
    library.define("twice(Tensor x) -> Tensor")
    torch.library.register_fake("mxffi_tests::twice", lambda x: x.new_empty(x.shape), lib=library)

    @mx.importers.torch.rule("mxffi_tests.twice.default")
    def twice(b: Any, x: ir.Value) -> ir.Value:
        return b.Add(x, x)

    x = floats(3)
    graph = load(Call(lambda x: torch.ops.mxffi_tests.twice(x)), (x,))
    compare(run(graph, [x])[0], x * 2)
    with pytest.raises(ValueError, match="has two rules"):
        mx.importers.torch.rule("mxffi_tests.twice.default")(twice)


def test_rules_are_of_operators() -> None:
    """A misspelled operator would be a rule that nobody asks for."""
    from mx.importers.torch import _rule

    load(linear(), (floats(1, 3),))
    for key in _rule.rules():
        if isinstance(key, str) and key.split(".")[0] not in ("higher_order", "torch"):
            library, name, overload = key.split(".")
            if library != "mxffi_tests":
                operator = getattr(getattr(torch.ops, library), name)
                assert overload in operator.overloads(), key


# Of core ATen, what has no rule: gradients, and what the others say.
WITHOUT = {
    "_fft_c2r.default": "complex numbers",
    "_fft_r2c.default": "complex numbers",
    "atan2.out": "writes into its argument",
    "resize_.default": "writes into its argument",
    "sym_is_contiguous.default": "asked while torch exports",
}


def test_core_operators() -> None:
    from mx.importers.torch import _rule

    load(linear(), (floats(1, 3),))
    missing = set()
    for full in torch._C._dispatch_get_all_op_names():
        library, _, name = full.partition("::")
        if library != "aten":
            continue
        packet, _, overload = name.partition(".")
        try:
            operator = getattr(getattr(torch.ops.aten, packet), overload or "default")
        except AttributeError:
            continue
        if torch.Tag.core in operator.tags and not _rule.has_rule(operator):
            missing.add(str(operator).removeprefix("aten."))
    assert {name for name in missing if "backward" not in name} == set(WITHOUT)
