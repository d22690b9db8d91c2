"""Nodes that no backend has a kernel for, by the reference implementations of the onnx package.

They work on NumPy's arrays and on what ONNX has besides tensors: lists for sequences, None for an
optional that holds nothing.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy
import onnx
import onnx_ir

from .._by_numpy import attributes_by_name, by_numpy
from .._custom import find
from .._errors import GraphError
from .._opset import OPSET
from ._constant import Constant
from ._node import attributes_of, describe, since_version
from ._value import Declined, Value
from .checks import check_node

# The activations that the reference evaluator has, whatever a node says; of RNN it has others.
_USUAL = {
    "RNN": ["tanh"],
    "GRU": ["sigmoid", "tanh"],
    "LSTM": ["sigmoid", "tanh", "tanh"],
}
# Names that version 16 has for what are others now.
_MODES = {b"bilinear": b"linear", b"bicubic": b"cubic"}
# What the reference evaluator does not have, and what means the same.
_RENAMED = {"Scatter": ("ScatterElements", 11)}


class HostNode:
    """A node, as the reference evaluator executes it. `opset` has the versions by domain."""

    def __init__(self, node: onnx_ir.Node, opset: Mapping[str, int]) -> None:
        self.node = node
        self.opset = {"": OPSET, node.domain: 1, **opset}
        if node.op_type in _RENAMED and node.domain == "":
            self.opset[""] = _RENAMED[node.op_type][1]
        self._evaluator: Any = None

    @functools.cached_property
    def proto(self) -> onnx.NodeProto:
        """The node, with inputs i0, i1 and outputs o0, o1."""
        node, proto = self.node, onnx.NodeProto()
        proto.op_type, proto.domain = node.op_type, node.domain
        if node.op_type in _RENAMED and node.domain == "":
            proto.op_type = _RENAMED[node.op_type][0]
        proto.input.extend("" if value is None else f"i{i}" for i, value in enumerate(node.inputs))
        proto.output.extend(f"o{i}" if value.name else "" for i, value in enumerate(node.outputs))
        proto.attribute.extend(
            onnx_ir.serde.serialize_attribute(attribute) for attribute in node.attributes.values()
        )
        if node.op_type == "GridSample" and not node.domain:
            for attribute in proto.attribute:
                attribute.s = _MODES.get(attribute.s, attribute.s)
        proto.attribute.extend(
            one for one in self._defaults(proto.op_type) if one.name not in node.attributes
        )
        return proto

    def _defaults(self, operator: str) -> Iterator[onnx.AttributeProto]:
        """What attributes are that are not given: the evaluator has those of the newest version."""
        version = self.opset[self.node.domain]
        if not onnx.defs.has(operator, version, self.node.domain):
            return
        if operator == "RoiAlign" and version < 16 and not self.node.domain:
            yield onnx.helper.make_attribute("coordinate_transformation_mode", "output_half_pixel")
        if operator == "GridSample":
            return  # of one meaning, with two names
        newest = onnx.defs.get_schema(operator, domain=self.node.domain).attributes
        own = onnx.defs.get_schema(operator, version, self.node.domain).attributes
        for name, attribute in own.items():
            if attribute.default_value.name and name in newest:
                if attribute.default_value != newest[name].default_value:
                    yield attribute.default_value

    def run(self, inputs: Sequence[Any]) -> list[Any]:
        """The outputs; GraphError where the reference implementation fails, with its reason."""
        self.check(inputs)
        feeds = {name: value for name, value in zip(self.proto.input, inputs, strict=True) if name}
        try:
            custom = find(self.node.domain, self.node.op_type)
            if custom is not None:
                given = {**custom.attributes, **attributes_of(self.node)}
                with numpy.errstate(all="ignore"):
                    made = custom.reference(*inputs, **given)
                return [numpy.asarray(one) for one in made[: len(self.proto.output)]]
            if self.node.op_type == "Optional":  # of which the evaluator makes a list of one
                return [inputs[0] if inputs else None]
            computed = self.by_numpy(inputs)
            if computed is not None:
                return computed
            self._check_ignored(inputs)
            if self._evaluator is None:
                self._evaluator = self._make()
            with numpy.errstate(all="ignore"):
                results = self._evaluator.run(None, feeds)
        except MemoryError:
            raise
        except Exception as error:
            # The evaluator says of some errors no more than which types there are.
            cause = error.__cause__ if isinstance(error, TypeError) else None
            text = str(cause or error) or type(error).__name__
            raise GraphError(f"{describe(self.node)}: {text}") from error
        named = map(_with_objects, results)
        found = [next(named, None) if name else None for name in self.proto.output]
        if len(results) < sum(map(bool, self.proto.output)):
            raise GraphError(
                f"{describe(self.node)}: it gives {len(results)} of {len(found)} outputs"
            )
        return found

    def by_numpy(self, inputs: Sequence[Any]) -> list[Any] | None:
        """The outputs where NumPy has a function for the node; None where not."""
        attributes = attributes_by_name(self.node)
        if (
            self.node.domain
            or attributes is None
            or not all(value.name for value in self.node.outputs)
        ):
            return None
        count = len(self.node.outputs)
        return by_numpy(self.node.op_type, attributes, inputs, count, self.opset[""])

    def check(self, inputs: Sequence[Any]) -> None:
        """GraphError for inputs that cannot be right."""
        since = since_version(self.node, self.opset[self.node.domain])
        check_node(self.node, since, [_as_value(one) for one in inputs])

    def _check_ignored(self, inputs: Sequence[Any]) -> None:
        """ValueError for what no backend has, and the reference evaluator would leave out."""
        usual = _USUAL.get(self.node.op_type)
        if usual is None or self.node.domain:
            return
        given = attributes_of(self.node)
        functions = list(given.get("activations") or usual)
        lowered = [name.lower() for name in functions]
        if self.node.op_type != "RNN" and lowered != usual * (len(functions) // len(usual)):
            raise ValueError(f"attribute 'activations': expected {usual}, got {functions}")
        for attribute in ("clip", "input_forget"):
            if given.get(attribute):
                raise ValueError(f"attribute {attribute!r}: expected none, got {given[attribute]}")
        steps = inputs[0].shape[1 if given.get("layout") else 0]
        lengths = inputs[4] if len(inputs) > 4 else None
        if lengths is not None and (numpy.asarray(lengths) != steps).any():
            raise ValueError(f"input 'sequence_lens': expected {steps} alone, got {lengths}")

    def _make(self) -> Any:
        # Few models need it, and it takes longer to import than all else.
        from onnx.reference import ReferenceEvaluator

        from .._reference import OPERATORS

        graph = onnx.GraphProto()
        graph.node.append(self.proto)
        graph.name = self.node.op_type
        for name in filter(None, self.proto.input):
            graph.input.add().name = name
        for name in filter(None, self.proto.output):
            graph.output.add().name = name
        return ReferenceEvaluator(graph, opsets=self.opset, new_ops=OPERATORS)

    def infer(self, inputs: Sequence[Value | None]) -> list[tuple[tuple[int, ...], str]]:
        """Shapes and element types of the outputs. Declined where elements decide them."""
        if self.node.op_type == "STFT" and not self.node.domain:
            raise Declined("what onnx infers is not what its reference gives")
        try:
            version = self.opset[self.node.domain]
            schema = onnx.defs.get_schema(self.proto.op_type, version, self.node.domain)
        except onnx.defs.SchemaError as error:
            raise Declined(f"no operator of that name: {error}") from error
        types, data = {}, {}
        for name, value in zip(self.proto.input, inputs, strict=True):
            if value is None:
                continue
            kind = onnx_ir.DataType.from_numpy(numpy.dtype(value.dtype))
            types[name] = onnx.helper.make_tensor_type_proto(int(kind), value.shape)
            if value.known is not None and value.size <= 1024:
                data[name] = onnx.numpy_helper.from_array(value.known.elements)
        opsets = [onnx.helper.make_opsetid(*item) for item in self.opset.items()]
        try:
            found = onnx.shape_inference.infer_node_outputs(
                schema, self.proto, types, data, opset_imports=opsets
            )
        except Exception as error:
            raise Declined(f"its outputs cannot be inferred: {error}") from error
        return [_spec(found.get(name), name) for name in self.proto.output]


def _as_value(content: Any) -> Value | list[Any] | None:
    """What a node is given, as checks take it: a tensor, a sequence or nothing."""
    if content is None or isinstance(content, list):
        return content
    elements = numpy.asarray(content)
    return Value(elements.shape, str(elements.dtype), known=Constant(elements))


def _with_objects(result: Any) -> Any:
    """A result of the evaluator; strings as Python's, as NumPy's are of fixed length."""
    if isinstance(result, (numpy.ndarray, numpy.generic)) and result.dtype.kind == "U":
        return numpy.asarray(result).astype(object)
    return result


def _spec(proto: Any, name: str) -> tuple[tuple[int, ...], str]:
    if not name:
        return (), "float32"
    if proto is None or proto.WhichOneof("value") != "tensor_type":
        raise Declined("an output is no tensor, or of a type that is not known")
    tensor = proto.tensor_type
    if not tensor.HasField("shape") or not all(
        extent.HasField("dim_value") for extent in tensor.shape.dim
    ):
        raise Declined("elements decide the shape of an output")
    if any(extent.dim_value < 0 for extent in tensor.shape.dim):
        raise Declined("an extent of an output would be below zero")
    dtype = onnx_ir.DataType(tensor.elem_type).numpy()
    return tuple(extent.dim_value for extent in tensor.shape.dim), str(dtype)
