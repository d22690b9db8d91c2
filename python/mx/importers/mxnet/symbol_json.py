"""`prefix-symbol.json`: MXNet's graphs as text, of every generation.

Until 0.8 parameters were in "param" and the user's attributes in "attr", auxiliary states were not
written, and entries had two items; from 0.9 on all are in "attr", later in "attrs". What is read is
brought to the form of today, as MXNet does.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import onnx_ir as ir

from mx.graph import GraphError

from .nodes import (
    SUBGRAPHS,
    in_order,
    make_node,
    make_variable,
    note_initializers,
    parameters_of,
)
from .table import TABLE

FIRST_VERSION = 800  # of files that do not tell theirs
VERSION = 10901  # what is written: 1.9.1
# Keys that were the user's before they got underscores.
HIDDEN = ("ctx_group", "lr_mult", "wd_mult", "force_mirroring", "mirror_stage", "profiler_scope")


class _Reader:
    def __init__(self, text: str, file: str) -> None:
        self.file = file
        try:
            graph = json.loads(text)
        except (ValueError, RecursionError) as error:
            raise GraphError(f"{file}: expected JSON, but: {error}") from None
        self.graph = self.typed(graph, dict, "the file")
        self.nodes = self.typed(self.graph.get("nodes"), list, "'nodes'")
        self.version = self.read_version()
        self.values: list[Any] = [None] * len(self.nodes)
        self.outputs = [1] * len(self.nodes)

    def error(self, where: str, expected: str, came: object) -> GraphError:
        return GraphError(f"{self.file}: {where}: expected {expected}, but {came!r:.80} came")

    def typed(self, value: Any, kind: type, where: str) -> Any:
        if not isinstance(value, kind):
            names = {dict: "an object", list: "a list", str: "a text", int: "a whole number"}
            raise self.error(where, names[kind], value)
        return value

    def read_version(self) -> int:
        attributes = self.graph.get("attrs") or {}
        told = attributes.get("mxnet_version") if isinstance(attributes, dict) else None
        if isinstance(told, list) and len(told) == 2 and isinstance(told[1], int):
            return told[1]
        return FIRST_VERSION

    def at(self, i: int) -> str:
        node = self.nodes[i]
        return f"node {i} ({node.get('name')!r}, {node.get('op')!r})"

    def entry(self, entry: Any, where: str) -> tuple[int, int]:
        """What an input or a head is: node and output."""
        self.typed(entry, list, where)
        numbers = [n for n in entry if isinstance(n, int) and not isinstance(n, bool)]
        if len(entry) not in (2, 3) or len(numbers) != len(entry):
            raise self.error(where, "two or three whole numbers", entry)
        node, output = numbers[:2]
        if not 0 <= node < len(self.nodes):
            raise self.error(where, f"a node from 0 to {len(self.nodes) - 1}", node)
        if not 0 <= output < 1 << 16:
            raise self.error(where, "an output from 0 on", output)
        self.outputs[node] = max(self.outputs[node], output + 1)
        return node, output

    def attributes(self, node: dict[str, Any], where: str) -> dict[str, str]:
        found: dict[str, str] = {}
        for key in ("param", "attr", "attrs"):
            for name, value in self.typed(node.get(key) or {}, dict, f"{where}: {key!r}").items():
                found[name] = value if isinstance(value, str) else json.dumps(value)
        return found

    def read(self) -> list[ir.Value]:
        inputs = []
        for i, node in enumerate(self.nodes):
            self.typed(node, dict, f"node {i}")
            for key in ("op", "name"):
                self.typed(node.get(key), str, f"{self.at(i)}: {key!r}")
            listed = self.typed(node.get("inputs", []), list, f"{self.at(i)}: 'inputs'")
            inputs.append([self.entry(e, f"{self.at(i)}: input {k}") for k, e in enumerate(listed)])
        told = self.typed(self.graph.get("heads"), list, "'heads'")
        heads = [self.entry(e, f"head {k}") for k, e in enumerate(told)]
        if not heads:
            raise self.error("'heads'", "one or more", heads)
        for i in self.order(inputs):
            self.make(i, inputs[i])
        return [self.value(i, output, "a head") for i, output in heads]

    def order(self, inputs: list[list[tuple[int, int]]]) -> list[int]:
        """Each node after its inputs, whatever the order in the file is."""
        waiting = [len({n for n, _ in one}) for one in inputs]
        users: list[list[int]] = [[] for _ in inputs]
        for i, one in enumerate(inputs):
            for n in {n for n, _ in one}:
                users[n].append(i)
        ready = [i for i, n in enumerate(waiting) if not n]
        for i in ready:
            for user in users[i]:
                waiting[user] -= 1
                if not waiting[user]:
                    ready.append(user)
        if len(ready) != len(inputs):
            i = next(i for i, n in enumerate(waiting) if n)
            raise self.error(self.at(i), "nodes that do not need themselves", "a cycle")
        return ready

    def value(self, node: int, output: int, where: str) -> ir.Value:
        made = self.values[node]
        if isinstance(made, ir.Value):
            if output:
                raise self.error(where, f"output 0 of the variable {made.name!r}", output)
            return made
        value: ir.Value = made.outputs[output]
        return value

    def make(self, i: int, entries: list[tuple[int, int]]) -> None:
        node, where = self.nodes[i], self.at(i)
        attributes = self.attributes(node, where)
        hidden = {key: attributes.pop(key) for key in list(attributes) if _is_hidden(key)}
        own = {f"__{key}__": value for key, value in hidden.items() if key in HIDDEN}
        if node["op"] == "null":
            if entries:
                raise self.error(where, "a variable without inputs", entries)
            self.values[i] = make_variable(node["name"], {**attributes, **hidden, **own})
            return
        inputs = [self.value(*entry, where) for entry in entries]
        operator = TABLE.get(node["op"])
        known = None if operator is None else {p.name for p in operator.parameters}
        parameters: dict[str, str] = {}
        extra = dict(own)
        for key, value in attributes.items():
            is_parameter = not key.startswith("__") and (known is None or key in known)
            (parameters if is_parameter else extra)[key] = value
        if self.version < 905 and node["op"] in ("argmax", "argmin"):
            if parameters.get("axis") == "-1":  # which once meant all axes
                del parameters["axis"]
        if node.get("subgraphs"):
            extra[SUBGRAPHS] = json.dumps(node["subgraphs"])
        try:
            made = make_node(node["op"], node["name"], parameters, inputs, extra, self.outputs[i])
            if operator is not None:
                self.complete(made, operator.inputs(operator.parse(parameters)), own)
                if self.version < 904:
                    note_initializers(made)
        except GraphError as error:
            raise GraphError(f"{self.file}: {error}") from None
        self.values[i] = made
        for key, value in hidden.items():
            self.give_to_input(made, key, value)

    def complete(self, node: ir.Node, names: Sequence[str], own: dict[str, str]) -> None:
        """Adds the auxiliary states that files before 0.9 do not have."""
        n = len(node.inputs)
        if n < len(names) and self.version < 900:
            node.resize_inputs(len(names))
            for i in range(n, len(names)):
                node.replace_input_with(i, make_variable(f"{node.name}_{names[i]}", own))
        elif n != len(names):
            raise GraphError(
                f"node {node.name!r} ({node.op_type}): expected inputs {', '.join(names)}, but "
                f"{n} came"
            )

    def give_to_input(self, node: ir.Node, key: str, value: str) -> None:
        """`weight_lr_mult` of a node is `__lr_mult__` of the variable that is its weight."""
        operator = TABLE.get(node.op_type)
        if key in HIDDEN:
            return
        last = next(one for one in HIDDEN if key.endswith(f"_{one}"))
        if operator is not None:
            names = operator.inputs(operator.parse(parameters_of(node)))
            name = key.removesuffix(f"_{last}")
            variable = node.inputs[names.index(name)] if name in names else None
            if variable is not None and variable.producer() is None:
                variable.metadata_props[f"__{last}__"] = value
                return
        node.metadata_props[key] = value


def _is_hidden(key: str) -> bool:
    return key in HIDDEN or any(key.endswith(f"_{one}") for one in HIDDEN)


def read_json(text: str, file: str = "<json>") -> list[ir.Value]:
    """The heads of a graph; GraphError where the text is not one of MXNet's graphs."""
    return _Reader(text, file).read()


def write_json(heads: Sequence[ir.Value], version: int = VERSION) -> str:
    """A graph as MXNet 1.x writes it, or as 2.0 does where version is 20000 or more."""
    order = in_order(heads)
    position = {id(item): i for i, item in enumerate(order)}

    def entry(value: ir.Value) -> list[int]:
        return [position[id(value.producer() or value)], value.index() or 0, 0]

    nodes = []
    row_ends = [0]
    for item in order:
        if isinstance(item, ir.Value):
            node = {"op": "null", "name": item.name}
            attributes = dict(item.metadata_props)
            inputs: list[list[int]] = []
            row_ends.append(row_ends[-1] + 1)
        else:
            node = {"op": item.op_type, "name": item.name}
            attributes = parameters_of(item) | item.metadata_props
            inputs = [entry(value) for value in item.inputs if value is not None]
            row_ends.append(row_ends[-1] + len(item.outputs))
        subgraphs = attributes.pop(SUBGRAPHS, None)
        written: dict[str, Any] = dict(node)
        if attributes:
            written["attrs"] = dict(sorted(attributes.items()))
        written["inputs"] = inputs
        if subgraphs is not None:
            written["subgraphs"] = json.loads(subgraphs)
        nodes.append(written)
    attrs: dict[str, Any] = {"mxnet_version": ["int", version]}
    if version >= 20000:
        attrs["is_np_shape"] = ["int", 1]
    graph = {
        "nodes": nodes,
        "arg_nodes": [i for i, item in enumerate(order) if isinstance(item, ir.Value)],
        "node_row_ptr": row_ends,
        "heads": [entry(head) for head in heads],
        "attrs": attrs,
    }
    return json.dumps(graph, indent=2)
