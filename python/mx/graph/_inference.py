"""Data types and shapes of all values of a graph, from those of its inputs.

onnx's own inference does most of it, on the graph without its big weights. Where it stops at what
depends on a computed shape, that is computed from constants and known shapes, and it goes on; what
is left then is inferred node by node.
"""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

import onnx
import onnx_ir
from onnx_ir import serde

from ._constants import Array, known_values
from ._errors import GraphError, node_text
from ._proto import known_operator, tensor_of, without_weights
from ._shapes_as_data import is_generated
from ._spec import Dim, dims_of, shape_text
from ._stepwise import finish, graphs_of
from ._symbols import is_known, replace

# How often inference goes on with what could be computed from what it found.
_ROUNDS = 4
_NODE = re.compile(r"\(op_type:[^,)]*, node name: (\d+)\):?\s*")
_MOST_BYTES = 1 << 62


@dataclass(frozen=True)
class Inference:
    """What inference could not find out.

    `unknown` has the values of the main graph with no data type, no shape or an extent of which
    nothing is known, and `unknown_operators` what nodes of it call that onnx does not know.
    """

    unknown: tuple[str, ...]
    unknown_operators: tuple[str, ...]

    def __bool__(self) -> bool:
        """Whether all is known."""
        return not self.unknown

    def __str__(self) -> str:
        if not self.unknown:
            return "all shapes are known"
        first = ", ".join(self.unknown[:8]) + (", ..." if len(self.unknown) > 8 else "")
        text = f"the shapes of {len(self.unknown)} values are unknown: {first}"
        if self.unknown_operators:
            text += f"; operators that onnx does not know: {', '.join(self.unknown_operators)}"
        return text


def infer(model: onnx_ir.Model, file: str, inside: bool = False) -> Inference:
    """Writes data types and shapes into the values of a model; raises GraphError, naming nodes.

    With `inside` also into those of branches and loops that follow from computed shapes, for which
    few ask: plans know the shapes themselves when they execute a branch.
    """
    graph = model.graph
    for value in graph.inputs:
        if value.type is None and not value.is_initializer():
            raise GraphError(f"{file}: the input {value.name!r} has no data type")
    check_sizes(file, graph.inputs)
    _check_batches(model, file)
    recorded = {value: dims_of(value.shape) for value in values_of(graph)}
    constants: dict[onnx_ir.Value, Array] = {}
    unknown: list[str] = []
    for _ in range(_ROUNDS):
        proto, nodes = without_weights(model, constants)
        _take(graph, nodes, _run(proto, nodes, file), constants)
        unknown = _unknown(graph)
        if not unknown:
            break
        before = len(constants)
        known_values(graph, constants, model.opset_imports)
        if len(constants) == before:
            break
    if unknown or (inside and not _are_known_inside(graph)):
        steps = (lambda proto, nodes: _run(proto, nodes, file), _take_graph)
        finish(model, constants, steps, inside)
        _keep_names(recorded)
        _number_names(graph)
        unknown = _unknown(graph)
    check_sizes(file, values_of(graph))
    _check_reshapes(graph, file)
    operators = {
        f"{node.domain}::{node.op_type}" if node.domain else node.op_type
        for node in graph
        if not known_operator(node, model.opset_imports)
    }
    return Inference(tuple(unknown), tuple(sorted(operators)))


def _check_batches(model: onnx_ir.Model, file: str) -> None:
    """GraphError for fewer batches than none, for which onnx reads beyond its memory."""
    for graph in (model.graph, *(one.graph for one in model.functions.values())):
        for node in onnx_ir.traversal.RecursiveGraphIterator(graph):
            if node.op_type != "GatherND" or "batch_dims" not in node.attributes:
                continue
            batches = node.attributes["batch_dims"].value
            if isinstance(batches, int) and batches < 0:
                raise GraphError(
                    f"{file}: {node_text(node)}: attribute 'batch_dims': expected 0 or more,"
                    f" got {batches}"
                )


def values_of(graph: onnx_ir.Graph) -> Iterator[onnx_ir.Value]:
    """The inputs of a graph that are no weights, and what its nodes give."""
    yield from (value for value in graph.inputs if not value.is_initializer())
    for node in graph:
        yield from (value for value in node.outputs if value.name)


def _run(proto: onnx.ModelProto, nodes: list[onnx_ir.Node], file: str) -> onnx.ModelProto:
    """onnx's inference; raises GraphError in its words."""
    try:
        return onnx.shape_inference.infer_shapes(
            proto, check_type=True, strict_mode=True, data_prop=False
        )
    except onnx.shape_inference.InferenceError as error:
        text = str(error).replace("Inference error(s):", "")
        text = re.sub(r"\[\w+Error\]\s*", "", text).strip()
    found = _NODE.search(text)
    if found is None:
        raise GraphError(f"{file}: {text}")
    node = nodes[int(found[1])]
    said = _NODE.sub("", text[found.end() :].split("\n(op_type")[0]).strip()
    raise GraphError(f"{file}: {node_text(node)}: {said}; its inputs are {_inputs_text(node)}")


def _inputs_text(node: onnx_ir.Node) -> str:
    """The inputs of a node as far as they are known."""
    texts = []
    for value in node.inputs:
        if value is None:
            texts.append("none")
            continue
        dtype = "?" if value.dtype is None else value.dtype.name.lower()
        texts.append(f"{value.name}: {dtype} {shape_text(dims_of(value.shape))}")
    return ", ".join(texts) or "none"


def _take(
    graph: onnx_ir.Graph,
    nodes: list[onnx_ir.Node],
    proto: onnx.ModelProto,
    constants: Mapping[onnx_ir.Value, Array],
) -> None:
    """Writes what inference found into the values of the graph, and of those in its nodes."""
    _take_graph(graph, nodes, proto.graph)
    for node in graph:
        for value in node.outputs:
            array = constants.get(value)
            if array is not None:
                value.type = onnx_ir.TensorType(tensor_of(array).dtype)
                value.shape = onnx_ir.Shape(array.shape)


def _take_graph(graph: onnx_ir.Graph, nodes: list[onnx_ir.Node], proto: onnx.GraphProto) -> None:
    types = {info.name: info.type for info in (*proto.value_info, *proto.output)}
    outputs = {value.name for value in graph.outputs}
    for node, serialized in zip(nodes, proto.node, strict=True):
        for value in node.outputs:
            found = types.get(value.name or "")
            if found is not None and found.WhichOneof("value") is not None:
                _take_type(value, found)
        if node.op_type == "Attention" and not node.domain:
            _forget_no_elements(node)
        for attribute in serialized.attribute:
            if attribute.HasField("g"):
                inside = node.attributes[attribute.name].as_graph()
                _take_graph(inside, list(inside), attribute.g)
    if outputs:
        for value in graph.inputs:
            if value.type is None and value.name in types:
                _take_type(value, types[value.name])


def _forget_no_elements(node: onnx_ir.Node) -> None:
    """Corrects attention of heads in a row, of which onnx takes an extent that varies for 0."""
    value = node.inputs[2] if len(node.inputs) > 2 else None
    given = None if value is None else dims_of(value.shape)
    made = dims_of(node.outputs[0].shape)
    if made and given and len(given) == 3 and made[-1] == 0 and not isinstance(given[-1], int):
        node.outputs[0].shape = onnx_ir.Shape((*made[:-1], None))


def _take_type(value: onnx_ir.Value, found: onnx.TypeProto) -> None:
    """Gives a value a type; keeps a shape where none was found."""
    type_and_shape = serde.deserialize_type_proto_for_type(found)
    shape = serde.deserialize_type_proto_for_shape(found)
    if type_and_shape is not None:
        value.type = type_and_shape
    if shape is not None:
        value.shape = shape


def _keep_names(recorded: Mapping[onnx_ir.Value, tuple[Dim, ...] | None]) -> None:
    """Names extents of which onnx knows nothing as the model did, where it did."""
    names: dict[str, Dim] = {}
    for value, dims in recorded.items():
        now = dims_of(value.shape)
        if now is None or dims is None or len(now) != len(dims):
            continue
        for dim, old in zip(now, dims, strict=True):
            if isinstance(dim, str) and is_generated(dim):
                if old is not None and not is_generated(old):
                    names.setdefault(dim, old)
    for value, dims in recorded.items():
        now = dims_of(value.shape)
        if now is None:
            value.shape = None if dims is None else onnx_ir.Shape(dims)
        else:
            replace(value, names)


def _number_names(graph: onnx_ir.Graph) -> None:
    """Numbers the names of extents of which nothing is known in the order in which they come."""
    taken = {dim for value in graph.inputs for dim in dims_of(value.shape) or ()}
    values = [
        value for node in onnx_ir.traversal.RecursiveGraphIterator(graph) for value in node.outputs
    ]
    fresh = (f"unk__{number}" for number in itertools.count())
    names: dict[str, Dim] = {}
    for value in values:
        for dim in dims_of(value.shape) or ():
            if isinstance(dim, str) and is_generated(dim) and dim not in taken | names.keys():
                names[dim] = next(name for name in fresh if name not in taken)
    for value in values:
        replace(value, names)


def _unknown(graph: onnx_ir.Graph) -> list[str]:
    """The values of which not everything is known."""
    return [value.name or "" for value in values_of(graph) if not is_known(value)]


def _are_known_inside(graph: onnx_ir.Graph) -> bool:
    """Whether everything is known of what nodes of the graphs in nodes give."""
    return all(
        is_known(value)
        for node in graph
        for inside in graphs_of(node)
        for one in onnx_ir.traversal.RecursiveGraphIterator(inside)
        for value in one.outputs
        if value.name
    )


def _check_reshapes(graph: onnx_ir.Graph, file: str) -> None:
    """Raises GraphError for a Reshape to another number of elements, of which onnx says nothing."""
    for node in graph:
        if node.op_type != "Reshape" or node.domain or not node.inputs or node.inputs[0] is None:
            continue
        given, made = node.inputs[0].shape, node.outputs[0].shape
        if given is None or made is None or not (given.is_static() and made.is_static()):
            continue
        count = math.prod(given.numpy())
        if count != math.prod(made.numpy()):
            raise GraphError(
                f"{file}: {node_text(node)}: {count:,} elements do not make the shape "
                f"{shape_text(dims_of(made))}"
            )


def check_sizes(file: str, values: Iterable[onnx_ir.Value]) -> None:
    """Raises GraphError for a tensor of more bytes than a number of 64 bits can tell."""
    for value in values:
        dims = dims_of(value.shape)
        size = 16
        for dim in dims or ():
            if isinstance(dim, int):
                if dim < 0:
                    raise GraphError(f"{file}: {value.name!r} has a negative extent: {dims}")
                size *= max(dim, 1)
        if size > _MOST_BYTES:
            raise GraphError(
                f"{file}: {value.name!r} is of shape {shape_text(dims)}, more than any memory has"
            )
