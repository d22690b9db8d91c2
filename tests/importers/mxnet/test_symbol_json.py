"""`prefix-symbol.json` of every generation, and what is no such file."""

import json
from typing import Any

import numpy as np
import onnx_ir as ir
import pytest

from mx.graph import GraphError
from mx.importers.mxnet.conversion import convert, make_graph, to_onnx
from mx.importers.mxnet.nodes import in_order, parameters_of
from mx.importers.mxnet.symbol_json import read_json, write_json

from .running import run_graph

RNG = np.random.default_rng(5)


def node(op: str, name: str, inputs: list[list[int]], **more: Any) -> dict[str, Any]:
    return {"op": op, "name": name, "inputs": inputs, **more}


def old_model() -> dict[str, Any]:
    """A small network as 0.8 wrote it: parameters apart, entries of two items, no statistics."""
    own = {"backward_source_id": -1}
    conv = {"kernel": "(3,3)", "num_filter": "4", "no_bias": "False", "workspace": "1024"}
    return {
        "nodes": [
            node("null", "data", [], param={}, attr={"lr_mult": "0.5"}, **own),
            node("null", "conv_weight", [], param={}, **own),
            node("null", "conv_bias", [], param={}, **own),
            node(
                "Convolution",
                "conv",
                [[0, 0], [1, 0], [2, 0]],
                param=conv,
                attr={"ctx_group": "one", "weight_lr_mult": "2.0", "note": "first"},
                **own,
            ),
            node("null", "norm_gamma", [], param={}, **own),
            node("null", "norm_beta", [], param={}, **own),
            node(
                "BatchNorm",
                "norm",
                [[3, 0], [4, 0], [5, 0]],
                param={"eps": "0.01", "fix_gamma": "False", "momentum": "0.9"},
                attr={"wd_mult": "0"},
                **own,
            ),
            node("Activation", "act", [[6, 0]], param={"act_type": "relu"}, **own),
            node("Flatten", "flat", [[7, 0]], param={}, **own),
            node("null", "softmax_label", [], param={}, **own),
            node("Softmax", "softmax", [[8, 0], [9, 0]], param={"grad_scale": "1"}, **own),
        ],
        "arg_nodes": [0, 1, 2, 4, 5, 9],
        "heads": [[10, 0]],
    }


def newer_model(key: str, version: int | None) -> dict[str, Any]:
    """The same as later generations wrote it: all attributes under one key, statistics listed."""
    model = old_model()
    for one in model["nodes"]:
        both = one.pop("param") | one.pop("attr", {})
        del one["backward_source_id"]
        if both:
            one[key] = {
                f"__{k}__" if k in ("ctx_group", "lr_mult", "wd_mult") else k: v
                for k, v in both.items()
            }
        one["inputs"] = [[*entry, 0] for entry in one["inputs"]]
    nodes = model["nodes"]
    nodes[3][key].pop("weight_lr_mult")
    nodes[1][key] = {"__lr_mult__": "2.0"}
    statistics = [node("null", f"norm_moving_{kind}", []) for kind in ("mean", "var")]
    nodes += statistics
    nodes[6]["inputs"] += [[11, 0, 1], [12, 0, 1]]
    model["heads"] = [[10, 0, 0]]
    model["arg_nodes"] += [11, 12]
    model["node_row_ptr"] = list(range(14))
    if version is not None:
        model["attrs"] = {"mxnet_version": ["int", version]}
    return model


MODELS = {
    "0.8": old_model(),
    "0.9": newer_model("attr", 903),
    "0.12": newer_model("attr", 1200),
    "1.0": newer_model("attrs", 10000),
    "1.9": newer_model("attrs", 10901),
    "2.0": newer_model("attrs", 20000),
}
ARGUMENTS = ["data", "conv_weight", "conv_bias", "norm_gamma", "norm_beta"]
STATISTICS = ["norm_moving_mean", "norm_moving_var"]


def variables(heads: list[ir.Value]) -> dict[str, ir.Value]:
    return {str(v.name): v for v in in_order(heads) if isinstance(v, ir.Value)}


@pytest.mark.parametrize("generation", MODELS)
def test_generations_are_one_graph(generation: str) -> None:
    heads = read_json(json.dumps(MODELS[generation]), "net-symbol.json")
    found = variables(heads)
    assert list(found) == [*ARGUMENTS, *STATISTICS, "softmax_label"]
    assert found["data"].metadata_props["__lr_mult__"] == "0.5"
    assert found["conv_weight"].metadata_props["__lr_mult__"] == "2.0"
    init = found["norm_moving_var"].metadata_props.get("__init__")
    assert init == ('["one", {}]' if generation in ("0.8", "0.9") else None)
    conv = next(n for n in in_order(heads) if n.name == "conv" and isinstance(n, ir.Node))
    assert parameters_of(conv)["kernel"] == "(3,3)"
    assert conv.metadata_props["__ctx_group__"] == "one" and conv.metadata_props["note"] == "first"
    graph = convert(heads, {"data": (2, 3, 6, 6)})
    assert [spec.name for spec in graph.inputs] == [*ARGUMENTS, *STATISTICS]
    assert graph.inputs[1].shape == (4, 3, 3, 3) and graph.outputs[0].shape == (2, 64)
    assert [n.op_type for n in graph.nodes] == [
        "Conv",
        "BatchNormalization",
        "Relu",
        "Flatten",
        "Softmax",
    ]
    assert [n.metadata_props["mx.module"] for n in graph.nodes] == [
        "conv",
        "norm",
        "act",
        "flat",
        "softmax",
    ]


def test_generations_compute_the_same() -> None:
    shapes = {"data": (2, 3, 6, 6), "conv_weight": (4, 3, 3, 3)}
    feeds = {
        name: RNG.random(shapes.get(name, (4,)), "float32") for name in [*ARGUMENTS, *STATISTICS]
    }
    outputs = []
    for model in MODELS.values():
        heads = read_json(json.dumps(model))
        outputs += run_graph(convert(heads, {"data": (2, 3, 6, 6)}), feeds)
        params = {name: array for name, array in feeds.items() if name != "data"}
        graph = convert(heads, {"data": ("n", 3, 6, 6)}, params=params)
        assert [spec.name for spec in graph.inputs] == ["data"]
        outputs += run_graph(graph, feeds)
    for out in outputs[1:]:
        np.testing.assert_allclose(out, outputs[0], rtol=1e-6)


@pytest.mark.parametrize("version", [10901, 20000])
@pytest.mark.parametrize("generation", MODELS)
def test_written_and_read_again(generation: str, version: int) -> None:
    text = write_json(read_json(json.dumps(MODELS[generation])), version)
    graph = json.loads(text)
    assert graph["attrs"]["mxnet_version"] == ["int", version]
    assert ("is_np_shape" in graph["attrs"]) == (version == 20000)
    names = [graph["nodes"][i]["name"] for i in graph["arg_nodes"]]
    assert names == [*ARGUMENTS, *STATISTICS, "softmax_label"]
    assert graph["node_row_ptr"][-1] == 15  # the norm has three outputs
    assert write_json(read_json(text), version) == text


def test_the_auxiliary_states_are_marked() -> None:
    graph = make_graph(read_json(json.dumps(MODELS["1.9"])), {"data": (1, 3, 6, 6)})
    roles = {v.name: v.metadata_props.get("mx.role") for v in graph.model.graph.inputs}
    assert [name for name, role in roles.items() if role == "auxiliary"] == STATISTICS
    assert graph.nodes[0].domain == "mxnet"
    assert graph.nodes[0].outputs[0].shape == (1, 4, 4, 4)
    again = to_onnx(make_graph(read_json(json.dumps(MODELS["1.9"])), {"data": (1, 3, 6, 6)}))
    assert again.nodes[0].op_type == "Conv"


def test_argmax_of_all_axes_before_0_9_5() -> None:
    model = {
        "nodes": [
            node("null", "x", []),
            node("argmax", "top", [[0, 0, 0]], attr={"axis": "-1"}),
        ],
        "heads": [[1, 0, 0]],
        "attrs": {"mxnet_version": ["int", 904]},
    }
    x = RNG.random((2, 3), "float32")
    (out,) = run_graph(convert(read_json(json.dumps(model)), {"x": (2, 3)}), {"x": x})
    assert out.tolist() == [x.argmax()]
    model["attrs"] = {"mxnet_version": ["int", 905]}
    (out,) = run_graph(convert(read_json(json.dumps(model)), {"x": (2, 3)}), {"x": x})
    assert out.tolist() == x.argmax(-1).tolist()


def test_nodes_in_any_order_variables_twice_and_several_heads() -> None:
    model = {
        "nodes": [
            node("elemwise_add", "sum", [[2, 0], [3, 0]]),
            node("SliceChannel", "cut", [[0, 0]], attrs={"num_outputs": "2"}),
            node("null", "x", []),
            node("null", "x", []),
        ],
        "heads": [[1, 1], [0, 0], [1, 1], [2, 0]],
        "attrs": {"mxnet_version": ["int", 10500]},
    }
    x = RNG.random((2, 4), "float32")
    heads = read_json(json.dumps(model))
    outputs = run_graph(convert(heads, {"x": (2, 4)}), {"x": x})
    expected = [2 * x[:, 2:], 2 * x, 2 * x[:, 2:], x]
    for out, want in zip(outputs, expected, strict=True):
        np.testing.assert_allclose(out, want)
    assert json.loads(write_json(heads))["heads"] == [[3, 1, 0], [2, 0, 0], [3, 1, 0], [0, 0, 0]]


def test_operators_without_a_rule_stay() -> None:
    model = {
        "nodes": [
            node("null", "x", []),
            node("MyOwn", "mine", [[0, 0, 0]], attrs={"depth": "3", "__note__": "kept"}),
            node("_foreach", "loop", [[1, 1, 0]], subgraphs=[{"nodes": [], "heads": []}]),
        ],
        "heads": [[2, 0, 0]],
        "attrs": {"mxnet_version": ["int", 10500]},
    }
    heads = read_json(json.dumps(model))
    written = json.loads(write_json(heads))["nodes"]
    assert written[1]["attrs"] == {"__note__": "kept", "depth": "3"}
    assert written[2]["subgraphs"] == [{"nodes": [], "heads": []}]
    with pytest.raises(GraphError, match="'mine': expected an operator with a rule .* MyOwn came"):
        convert(heads, {"x": (2,)})


def test_outputs_of_training_alone() -> None:
    model = json.loads(changed("nodes.7.inputs", [[6, 2, 0]]))
    with pytest.raises(GraphError, match="'norm' .* inference has, but 'norm_var' is"):
        convert(read_json(json.dumps(model)), {"data": (2, 3, 6, 6)})


def changed(path: str, value: object) -> str:
    model = json.loads(json.dumps(MODELS["1.9"]))
    *way, last = path.split(".")
    target = model
    for step in way:
        target = target[int(step)] if isinstance(target, list) else target[step]
    if isinstance(target, list):
        target[int(last)] = value
    else:
        target[last] = value
    return json.dumps(model)


HOSTILE = {
    "empty": ("", "expected JSON"),
    "deep": ("[" * 100_000, "expected JSON"),
    "list": ("[]", "the file: expected an object"),
    "no nodes": ("{}", "'nodes': expected a list"),
    "no heads": (changed("heads", []), "'heads': expected one or more"),
    "head": (changed("heads", [[99, 0, 0]]), "head 0: expected a node from 0 to 12, but 99 came"),
    "negative": (changed("heads", [[-1, 0]]), "expected a node from 0 to 12"),
    "text": (changed("heads", [["1", 0]]), "two or three whole numbers"),
    "output": (changed("heads", [[3, 1, 0]]), "expected 1 outputs, but output 1 is used"),
    "many outputs": (changed("heads", [[3, 1 << 40, 0]]), "expected an output from 0 on"),
    "output of a variable": (changed("heads", [[0, 1]]), "output 0 of the variable 'data'"),
    "node": (changed("nodes.3", []), "node 3: expected an object"),
    "op": (changed("nodes.3.op", 4), "'op': expected a text"),
    "name": (changed("nodes.3.name", None), "'name': expected a text"),
    "inputs": (changed("nodes.3.inputs", [[0, 0]]), "expected inputs data, weight, bias, but 1"),
    "entry": (changed("nodes.3.inputs", [3]), "input 0: expected a list"),
    "cycle": (changed("nodes.3.inputs.0", [7, 0, 0]), "expected nodes that do not need themselves"),
    "itself": (changed("nodes.3.inputs.0", [3, 0, 0]), "node 3 ('conv', 'Convolution')"),
    "attributes": (changed("nodes.3.attrs", [1]), "'attrs': expected an object"),
    "parameter": (
        changed("nodes.3.attrs", {"kernel": "(3,3)", "num_filter": "many"}),
        "node 'conv' (Convolution): parameter num_filter: expected a whole number, but 'many'",
    ),
    "inputs of a variable": (changed("nodes.0.inputs", [[1, 0]]), "a variable without inputs"),
}


@pytest.mark.parametrize("case", HOSTILE)
def test_what_is_no_graph(case: str) -> None:
    text, message = HOSTILE[case]
    with pytest.raises(GraphError) as caught:
        read_json(text, "bad-symbol.json")
    assert "bad-symbol.json: " in str(caught.value) and message in str(caught.value)


def test_a_chain_of_ten_thousand_nodes() -> None:
    nodes = [node("null", "x", [])]
    nodes += [node("_plus_scalar", f"n{i}", [[i, 0]], attrs={"scalar": "1"}) for i in range(10_000)]
    graph = {"nodes": nodes, "heads": [[10_000, 0]], "attrs": {"mxnet_version": ["int", 10500]}}
    heads = read_json(json.dumps(graph))
    assert len(in_order(heads)) == 10_001
    assert len(json.loads(write_json(heads))["nodes"]) == 10_001


ODD = [None, -1, 1, 99, 1 << 40, "", "x", "(3,3)", "(0,0)", [], {}, True, [[0, 0]], [0, 0], "RNN"]


def positions(part: Any, way: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """The ways to everything in a JSON value."""
    keys = part if isinstance(part, dict) else range(len(part)) if isinstance(part, list) else ()
    return [p for key in keys for p in [(*way, key), *positions(part[key], (*way, key))]]


def test_changed_graphs_are_read_or_rejected() -> None:
    for _ in range(300):
        model = json.loads(json.dumps(list(MODELS.values())[RNG.integers(len(MODELS))]))
        ways = positions(model)
        *way, last = ways[RNG.integers(len(ways))]
        target = model
        for step in way:
            target = target[step]
        target[last] = ODD[RNG.integers(len(ODD))]
        try:
            heads = read_json(json.dumps(model))
            write_json(heads)
            convert(heads, {"data": (2, 3, 6, 6)})
        except GraphError as error:
            assert ": " in str(error)
