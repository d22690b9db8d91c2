"""Nodes that mean the same in the operator set of graphs are not converted."""

from __future__ import annotations

import onnx
import pytest
from onnx import helper, version_converter

import mx.graph
from mx.graph import OPSET
from mx.importers.onnx import _converting
from mx.importers.onnx._unchanged import _means_the_same, is_unchanged

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
        if _means_the_same(name, version)
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
