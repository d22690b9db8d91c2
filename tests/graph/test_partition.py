"""Groups of nodes, and graphs as libraries of accelerators get them; no accelerator is loaded."""

import json
import random
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy
import onnx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mx.graph.partition._describe import NotOffered, check_offered, describe, extents_of, onnx_of
from mx.graph.partition._groups import find_groups, in_order
from mx.graph.partition._wiring import Wiring

from .build import graph_of

SCHEMA = Path(__file__).parents[2] / "include" / "mxnet_acc_graph.schema.json"


@st.composite
def questions(draw) -> tuple[list[list[int]], list[int]]:
    """Which nodes each node uses, and a library's answers."""
    count = draw(st.integers(1, 12))
    numbers = draw(st.integers(0, 3))
    inputs = [
        sorted(draw(st.sets(st.integers(0, node - 1), max_size=3))) if node else []
        for node in range(count)
    ]
    answers = draw(st.lists(st.integers(-1, numbers), min_size=count, max_size=count))
    return inputs, answers


def edges_between(inputs: Sequence[Sequence[int]], parts: Sequence[int]) -> dict[int, set[int]]:
    """Which part uses which, where nodes of the same part are one."""
    edges: dict[int, set[int]] = {part: set() for part in parts}
    for node, used in enumerate(inputs):
        edges[parts[node]] |= {parts[source] for source in used} - {parts[node]}
    return edges


def has_cycle(edges: dict[int, set[int]]) -> bool:
    left = dict(edges)
    while left:
        free = [part for part, used in left.items() if not used & left.keys()]
        if not free:
            return True
        for part in free:
            del left[part]
    return False


def parts_of(groups: Sequence[int]) -> list[int]:
    """The group of each node; those of the CPU are one each."""
    return [group if group >= 0 else -1 - node for node, group in enumerate(groups)]


def paths(inputs: Sequence[Sequence[int]]) -> list[set[int]]:
    """All nodes that lead to each."""
    before: list[set[int]] = []
    for used in inputs:
        before.append(set(used).union(*(before[source] for source in used)))
    return before


@given(questions())
def test_groups_are_convex_and_in_no_circle(question) -> None:
    inputs, answers = question
    groups = find_groups(inputs, answers)
    assert [group < 0 for group in groups] == [answer < 0 for answer in answers]
    before = paths(inputs)
    for node, group in enumerate(groups):
        for first in before[node]:
            if group < 0 or groups[first] != group:
                continue
            between = {middle for middle in before[node] if first in before[middle]}
            assert all(groups[middle] == group for middle in between)
    assert not has_cycle(edges_between(inputs, parts_of(groups)))


@given(questions())
def test_groups_without_numbers_are_maximal(question) -> None:
    """No two of them could be one."""
    inputs, answers = question
    groups = find_groups(inputs, [min(answer, 0) for answer in answers])
    for one in range(max(groups) + 1):
        for other in range(one):
            joined = [one if group == other else group for group in groups]
            assert has_cycle(edges_between(inputs, parts_of(joined)))


@given(questions())
def test_numbers_are_kept_apart_and_whole_where_they_can(question) -> None:
    inputs, answers = question
    groups = find_groups(inputs, answers)
    numbers: dict[int, set[int]] = {}
    for answer, group in zip(answers, groups, strict=True):
        if answer > 0:
            numbers.setdefault(group, set()).add(answer)
    assert all(len(found) == 1 for found in numbers.values())
    if 0 not in answers and not has_cycle(edges_between(inputs, parts_of(answers))):
        assert len(numbers) == len({answer for answer in answers if answer > 0})


@given(questions())
def test_the_order_is_one_in_which_all_can_run(question) -> None:
    inputs, answers = question
    groups = find_groups(inputs, answers)
    order = in_order(inputs, groups)
    assert sorted(node for nodes in order for node in nodes) == list(range(len(inputs)))
    done: set[int] = set()
    for nodes in order:
        assert len({groups[node] for node in nodes}) == 1
        for position, node in enumerate(nodes):
            inside = nodes if groups[node] >= 0 else nodes[:position]
            assert set(inputs[node]) <= done | set(inside)
        done |= set(nodes)
    # What the CPU does is never in two pieces one after the other.
    on_cpu = [groups[nodes[0]] < 0 for nodes in order]
    assert not any(first and second for first, second in zip(on_cpu, on_cpu[1:], strict=False))


# What nodes use, the answers, and the groups.
GROUPS = {
    "one": ([[], [0], [1]], [0, 0, 0], [0, 0, 0]),
    "none": ([[], [0]], [-1, -1], [-1, -1]),
    "around the CPU": ([[], [0], [0, 1]], [0, -1, 0], [0, -1, 1]),
    "beside the CPU": ([[], [], [0, 1]], [0, -1, 0], [0, -1, 0]),
    "not connected": ([[], [], [1]], [0, -1, 0], [0, -1, 0]),
    "numbers": ([[], [0], [1]], [1, 2, 2], [0, 1, 1]),
    "a number that is split": ([[], [0], [1]], [1, 2, 1], [0, 1, 2]),
    "with a neighbor": ([[], [0], [1]], [1, 0, 1], [0, 0, 0]),
    "a circle of numbers": ([[], [], [0], [1]], [1, 2, 2, 1], [0, 1, 2, 3]),
}


@pytest.mark.parametrize(("inputs", "answers", "expected"), GROUPS.values(), ids=GROUPS)
def test_groups(inputs, answers, expected) -> None:
    assert find_groups(inputs, answers) == expected


def test_time_is_linear() -> None:
    def seconds(count: int) -> float:
        chooser = random.Random(count)
        inputs = [[node - 1, chooser.randrange(node)] if node else [] for node in range(count)]
        answers = [chooser.randrange(-1, 2) for _ in range(count)]
        begin = time.process_time()
        in_order(inputs, find_groups(inputs, answers))
        return time.process_time() - begin

    few = min(seconds(2_000) for _ in range(3))
    assert seconds(40_000) < 100 * few


MODEL = """g (float[N,4] x, int64[2] s) => (float[N,3] y, float[?,?] z)
<float[4,3] w = {1,2,3,4,5,6,7,8,9,10,11,12}> {
 c = Constant<value = float[3] {1,2,3}>()
 h = Gemm(x, w, c)
 y = Softmax(h)
 z = Reshape(h, s)
}"""


def described(text: str) -> tuple[dict, Wiring]:
    graph = graph_of(text)
    graph.infer()
    wiring = Wiring(graph.model.graph)
    part = wiring.part(range(len(wiring.nodes)))
    ids = {node: number for number, node in enumerate(wiring.nodes, 1)}
    return json.loads(describe(part, ids, graph.model.opset_imports, "g")), wiring


def rejections(value: object, schema: dict, whole: dict, path: str = "graph") -> Iterator[str]:
    """What is wrong with a value, by as much of JSON Schema as the schema uses."""
    if "$ref" in schema:
        schema = whole["$defs"][schema["$ref"].rpartition("/")[2]] | {
            key: item for key, item in schema.items() if key != "$ref"
        }
    kinds = {"object": dict, "array": list, "string": str, "boolean": bool, "number": (int, float)}
    kinds |= {"integer": int, "null": type(None)}
    names = schema.get("type", [])
    names = [names] if isinstance(names, str) else names
    if names and not any(isinstance(value, kinds[name]) for name in names):
        yield f"{path}: expected {names}, got {value!r}"
        return
    if "const" in schema and value != schema["const"]:
        yield f"{path}: expected {schema['const']}, got {value!r}"
    if "enum" in schema and value not in schema["enum"]:
        yield f"{path}: expected one of {schema['enum']}, got {value!r}"
    if "minimum" in schema and isinstance(value, int) and value < schema["minimum"]:
        yield f"{path}: {value} is too small"
    if "anyOf" in schema:
        tried = [list(rejections(value, option, whole, path)) for option in schema["anyOf"]]
        if all(tried):
            yield from tried[0]
    if isinstance(value, list):
        for number, item in enumerate(value):
            yield from rejections(item, schema.get("items", {}), whole, f"{path}[{number}]")
    if isinstance(value, dict):
        yield from (f"{path}: no {key}" for key in schema.get("required", ()) if key not in value)
        others = schema.get("additionalProperties", {})
        for key, item in value.items():
            inside = schema.get("properties", {}).get(key, others)
            yield from rejections(item, inside, whole, f"{path}.{key}")


def test_the_description_is_as_the_schema_says() -> None:
    document, _ = described(MODEL)
    schema = json.loads(SCHEMA.read_text())
    assert list(rejections(document, schema, schema)) == []
    broken = document | {"version": 2, "nodes": [{"id": 0}]}
    assert len(list(rejections(broken, schema, schema))) > 3


def test_an_output_that_is_left_out_before_another() -> None:
    graph = graph_of("""g (float[3,2,4] x, float[1,20,4] w, float[1,20,5] r) => (float[1,2,5] h) {
     a, h = LSTM<hidden_size = 5>(x, w, r)
    }""")
    (node,) = graph.nodes
    node.outputs[0].name = ""
    check_offered(node, graph.model.opset_imports)
    wiring = Wiring(graph.model.graph)
    document = json.loads(describe(wiring.part([0]), {node: 1}, graph.model.opset_imports, "g"))
    schema = json.loads(SCHEMA.read_text())
    assert list(rejections(document, schema, schema)) == []
    assert document["nodes"][0]["outputs"] == [None, *document["outputs"]]


def test_the_description() -> None:
    document, wiring = described(MODEL)
    names = [entry["name"] for entry in document["entries"]]
    assert [names[entry] for entry in document["inputs"]] == ["x", "s"]
    assert [names[entry] for entry in document["weights"]] == ["w", "c"]
    assert [names[entry] for entry in document["outputs"]] == ["y", "z"]
    gemm, softmax, reshape = document["nodes"]
    assert (gemm["id"], gemm["operator"], gemm["version"]) == (1, "Gemm", 13)
    assert gemm["attributes"] == {"alpha": 1.0, "beta": 1.0, "transA": 0, "transB": 0}
    assert gemm["input_names"] == ["A", "B", "C"]
    assert softmax["attributes"] == {"axis": -1} and reshape["inputs"][0] == gemm["outputs"][0]
    assert document["entries"][0]["shape"] == ["N", 4] and "N" in document["symbols"]
    assert extents_of(wiring.nodes[0].inputs[0]) == ([-1, 4], ["N", ""])
    constant = wiring.elements(wiring.nodes[0].inputs[2])
    numpy.testing.assert_array_equal(constant, [1, 2, 3])


def test_onnx_without_weights() -> None:
    _, wiring = described(MODEL)
    proto = onnx.ModelProto()
    proto.ParseFromString(onnx_of(wiring.part([0, 1]), {"": 27}, "g"))
    assert [node.op_type for node in proto.graph.node] == ["Gemm", "Softmax"]
    assert [tensor.name for tensor in proto.graph.initializer] == ["w", "c"]
    assert all(not tensor.raw_data and not tensor.float_data for tensor in proto.graph.initializer)
    assert [list(tensor.dims) for tensor in proto.graph.initializer] == [[4, 3], [3]]
    assert [value.name for value in proto.graph.output] == ["h", "y"]


# Nodes that libraries are not asked about, and why.
NOT_OFFERED = {
    "subgraphs": (
        """g (bool c, float[2] x) => (float[2] y) {
         y = If(c) <then_branch = t () => (float[2] a) { a = Neg(x) },
                    else_branch = e () => (float[2] b) { b = Abs(x) }>
        }""",
        "it has subgraphs",
    ),
    "texts": ("g (string[2] x) => (string[2] y) { y = Identity(x) }", "is of texts"),
    "a sequence": (
        "g (float[2] x) => (seq(float[2]) y) { y = SequenceConstruct(x) }",
        "is no tensor",
    ),
    "float8": ("g (float[2] x) => (float8e4m3fn[2] y) { y = Cast<to = 17>(x) }", "do not have"),
}


@pytest.mark.parametrize(("text", "reason"), NOT_OFFERED.values(), ids=NOT_OFFERED)
def test_what_is_not_offered(text, reason) -> None:
    graph = graph_of(text)
    graph.infer()
    with pytest.raises(NotOffered, match=reason):
        check_offered(graph.nodes[-1], graph.model.opset_imports)


def test_a_part_has_what_subgraphs_take_from_around_them() -> None:
    graph = graph_of(
        """g (bool c, float[2] x) => (float[2] y) {
         n = Neg(x)
         y = If(c) <then_branch = t () => (float[2] a) { a = Neg(n) },
                    else_branch = e () => (float[2] b) { b = Abs(x) }>
        }"""
    )
    wiring = Wiring(graph.model.graph)
    assert wiring.sources() == [[], [0]]
    names = [value.name for value in wiring.part([1]).inputs]
    assert sorted(names) == ["c", "n", "x"]
    assert [value.name for value in wiring.part([0]).outputs] == ["n"]
