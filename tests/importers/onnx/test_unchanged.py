"""Nodes that mean the same in the operator set of graphs are not converted."""

from __future__ import annotations

import numpy
import onnx
import pytest
from onnx import helper, version_converter

import mx.graph
from mx.graph import OPSET
from mx.graph._oldest import means_the_same
from mx.importers.onnx import _converting
from mx.importers.onnx._unchanged import is_unchanged
from tests.graph.build import graph_of

DUMMIES = {
    "INT": 1,
    "INTS": [1],
    "FLOAT": 1.0,
    "FLOATS": [1.0],
    "STRING": "a",
    "STRINGS": ["a"],
    "TENSOR": helper.make_tensor("t", onnx.TensorProto.FLOAT, [1], [0.0]),
    "GRAPH": helper.make_graph([], "inside", [], []),
}
FLOATS = helper.make_tensor_type_proto(onnx.TensorProto.FLOAT, None)


def model_of(nodes, names, version) -> onnx.ModelProto:
    inputs = [helper.make_value_info(name, FLOATS) for name in names]
    graph = helper.make_graph(nodes, "g", inputs, [])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", version)])


def node_of(schema: onnx.defs.OpSchema) -> onnx.NodeProto:
    """A node with all that it must have."""
    attributes = {
        name: DUMMIES[one.type.name] for name, one in schema.attributes.items() if one.required
    }
    inputs = [f"{schema.name}_{number}" for number in range(max(1, schema.min_input))]
    outputs = [f"{schema.name}_out{number}" for number in range(max(1, schema.min_output))]
    return helper.make_node(
        schema.name, inputs[: schema.max_input], outputs, name=schema.name, **attributes
    )


@pytest.mark.parametrize("version", range(1, OPSET))
def test_the_converter_changes_nothing_of_them(version) -> None:
    every = {one.name for one in onnx.defs.get_all_schemas_with_history() if not one.domain}
    there = sorted(name for name in every if onnx.defs.has(name, version, ""))
    nodes = [
        node_of(onnx.defs.get_schema(name, version, ""))
        for name in there
        if means_the_same(name, version)
    ]
    assert nodes
    model = model_of(nodes, {name for node in nodes for name in node.input}, version)
    converted = version_converter.convert_version(model, OPSET)
    for before, now in zip(nodes, converted.graph.node, strict=True):
        assert sorted(map(str, before.attribute)) == sorted(map(str, now.attribute)), before
        for field in ("op_type", "input", "output"):
            assert getattr(before, field) == getattr(now, field), before


# Operators of a version, and whether all mean the same in OPSET.
MODELS = {
    "the newest": (OPSET, ["Add", "Relu"], True),
    "more types": (13, ["Add", "Relu", "Abs"], True),
    "other default": (12, ["Relu", "Softmax"], False),
    "axes as an input": (17, ["ReduceMean"], False),
    "other names of modes": (16, ["GridSample"], False),
    "fewer types": (18, ["ReduceLogSum"], False),
    "nobody knows it": (13, ["Relu", "Nonsense"], True),
    "newer than the set": (13, ["Relu", "Gelu"], True),
    "given up": (9, ["Upsample"], False),
}


@pytest.mark.parametrize(("version", "operators", "expected"), MODELS.values(), ids=MODELS)
def test_which_are_unchanged(version, operators, expected) -> None:
    nodes = [helper.make_node(name, ["x"], [f"y{i}"]) for i, name in enumerate(operators)]
    model = model_of(nodes, ["x"], version)
    assert is_unchanged(model, version, "file") is expected


def test_what_is_within_a_node_counts() -> None:
    inside = helper.make_graph(
        [helper.make_node("Softmax", ["x"], ["z"])],
        "inside",
        [],
        [helper.make_value_info("z", FLOATS)],
    )
    node = helper.make_node("If", ["c"], ["y"], then_branch=inside, else_branch=inside)
    assert not is_unchanged(model_of([node], "cx", 12), 12, "file")
    assert is_unchanged(model_of([node], "cx", 13), 13, "file")


def test_a_model_stays_and_is_of_the_set_then() -> None:
    node = helper.make_node("Relu", ["x"], ["y"], name="r", doc_string="why")
    model = model_of([node], ["x"], 13)
    model.graph.output.append(helper.make_value_info("y", FLOATS))
    converted, reason = _converting.convert(
        onnx.ModelProto.FromString(model.SerializeToString()), ""
    )
    assert reason is None and _converting.version_of(converted) == OPSET
    assert converted.graph == model.graph
    graph = mx.graph.load(model.SerializeToString())
    assert graph.model.opset_imports[""] == OPSET


# Graphs of OPSET, and the set that they are saved in.
SAVED = {
    "old operators": ("g (float[N] x) => (float[N] y) { y = Relu(x) }", 21),
    "more types since": ("g (float[N] x) => (int32[N] y) { y = Cast<to=6>(x) }", 21),
    "a newer type": ("g (bfloat16[N,3,4,4] x, bfloat16[2,3,1,1] w) => (bfloat16[N,2,4,4] y)"
                     " { y = Conv(x, w) }", 22),
    "a newer operator": ("g (float[N,4] x, float[4] s) => (float[N,4] y)"
                         " { y = RMSNormalization(x, s) }", 23),
    "a default that is told": ("g (float[N] x) => (float[N] y)"
                               ' { y = Cast<to=1, round_mode="up">(x) }', 24),
    "remainders of integers": ("g (int32[N] x) => (int32[N] y) { y = Mod(x, x) }", 21),
    "remainders of floats": ("g (float[N] x) => (float[N] y) { y = Mod(x, x) }", OPSET),
    "no known types": ("g (float[N] x) => (y) { z = Relu(x) y = Transpose(z) }", 25),
    "within": ("g (bool c, float[N] x) => (float[N] y) { y = If(c) <then_branch ="
               " t () => (float[N] a) { a = Relu(x) }, else_branch ="
               " e () => (float[N] b) { b = Swish(x) }> }", 24),
}  # fmt: skip


@pytest.mark.parametrize("name", SAVED)
def test_saves_in_the_oldest_set(name, tmp_path) -> None:
    text, version = SAVED[name]
    graph = graph_of(text)
    before = [(node.op_type, dict(node.attributes)) for node in graph.nodes]
    graph.save(tmp_path / "model.onnx")
    assert graph.opset == OPSET
    saved = onnx.load(tmp_path / "model.onnx")
    assert _converting.version_of(saved) == version
    assert saved.ir_version == graph.model.ir_version == 10
    if name != "no known types":
        onnx.checker.check_model(saved, full_check=version < OPSET)
    again = mx.graph.load(tmp_path / "model.onnx")
    assert again.opset == OPSET
    assert [node.op_type for node in again.nodes] == [operator for operator, _ in before]


def test_others_run_what_is_saved(tmp_path) -> None:
    onnxruntime = pytest.importorskip("onnxruntime")
    graph = graph_of(
        "g (float[N,4] x, int64[2] i) => (float[2,2] y)"
        " { z = Gather<axis=1>(x, i) s = Softmax(z) y = Reshape(s, i) }"
    )
    graph.infer()
    graph.save(tmp_path / "model.onnx")
    given = {"x": numpy.eye(2, 4, dtype="float32"), "i": numpy.array([2, 2])}
    (result,) = onnxruntime.InferenceSession(tmp_path / "model.onnx").run(None, given)
    numpy.testing.assert_allclose(result, numpy.full((2, 2), 0.5))
