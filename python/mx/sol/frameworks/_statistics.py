"""Statistics of batch normalization that a file has as one tensor with others.

Who writes files writes equal weights once, as the zeros and ones of layers before training are. In
training statistics become others, and no gradient does it: they have to be tensors of their own.
"""

from __future__ import annotations

import onnx_ir

from ...graph import Graph

_NAMES = {3: "mean", 4: "var"}


def set_apart(graph: Graph) -> None:
    """Gives statistics that are another weight, too, an initializer of their own, in place.

    Layers that share their statistics alone still do.
    """
    inner = graph.model.graph
    norms = [one for one in inner if one.op_type == "BatchNormalization" and not one.domain]
    slots = [(node, index) for node in norms for index in _NAMES]
    # Weights behind an Identity first: what is read by nothing else then need not be apart.
    slots.sort(key=lambda slot: _is_weight(slot[0].inputs[slot[1]]))
    given: dict[onnx_ir.Value, onnx_ir.Value] = {}
    for node, index in slots:
        value = node.inputs[index]
        if value is None:
            continue
        weight, is_alone = _weight_of(value), _is_alone(value, index)
        if not _is_weight(weight) or weight.const_value is None or (weight is value and is_alone):
            continue
        own = given.get(value)
        if own is None:
            # Files of torch have one that is written once as an Identity with its name.
            name = str(value.name) if is_alone else f"{node.outputs[0].name}_{_NAMES[index]}"
            own = _added(inner, weight, value, name)
        if is_alone:
            given[value] = own
        node.replace_input_with(index, own)
        producer = value.producer()
        if producer is not None and not value.uses() and not value.is_graph_output():
            inner.remove(producer, safe=True)


def _is_weight(value: onnx_ir.Value | None) -> bool:
    return value is not None and value.is_initializer()


def _weight_of(value: onnx_ir.Value) -> onnx_ir.Value:
    """What a value is, behind nodes that change nothing."""
    while (node := value.producer()) is not None and node.op_type == "Identity":
        (source,) = node.inputs
        if node.domain or source is None:
            break
        value = source
    return value


def _is_alone(value: onnx_ir.Value, index: int) -> bool:
    """Whether a value is the same statistic of all that read it."""
    found = {(use.node.op_type, use.node.domain, use.idx) for use in value.uses()}
    if not value.is_initializer():
        found.discard(("Identity", "", 0))  # which has a name of its own
    return found == {("BatchNormalization", "", index)}


def _added(
    inner: onnx_ir.Graph, weight: onnx_ir.Value, value: onnx_ir.Value, name: str
) -> onnx_ir.Value:
    """Another weight of the same elements, by the name of the value in whose stead it is read, or
    by another one."""
    if value.name == name:
        value.name = f"{name}_shared"
    while name in inner.initializers:
        name += "_own"
    made = onnx_ir.Value(
        name=name, type=weight.type, shape=weight.shape, const_value=weight.const_value
    )
    inner.register_initializer(made)
    return made
