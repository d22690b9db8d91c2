"""Expands one MXNet node into nodes of ONNX, whose shapes and types are inferred as they are made.

So a rule can ask for the shape of anything it has made so far, and a whole graph that starts from
known shapes has them everywhere.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cache
from typing import Any

import numpy as np
import onnx
import onnx_ir as ir
from onnx import helper
from onnx_ir import serde

from mx.graph import OPSET, GraphError

from .table import Operator, Parameters, Shape

# Larger constants do not tell shapes.
MOST_ELEMENTS_OF_SHAPES = 1024


def shape_of(value: ir.Value) -> Shape | None:
    """The shape of a value as numbers, names and None; None where not even the rank is known."""
    if value.shape is None:
        return None
    return tuple(n if isinstance(n, int) else n.value for n in value.shape)


def set_shape(value: ir.Value, shape: Sequence[int | str | None] | None) -> None:
    """Says what the shape of a value is."""
    value.shape = None if shape is None else ir.Shape(shape)


@cache
def _schema(op_type: str) -> Any:
    return onnx.defs.get_schema(op_type, OPSET)


_IMPORTS = [helper.make_opsetid("", OPSET)]


def _type_proto(value: ir.Value) -> onnx.TypeProto:
    assert value.dtype is not None
    return helper.make_tensor_type_proto(value.dtype.value, shape_of(value))


def infer_types(node: ir.Node) -> None:
    """Writes down what ONNX infers of the outputs of a node."""
    inputs = [value for value in node.inputs if value is not None]
    if any(value.dtype is None for value in inputs):
        return
    names = {id(value): f"i{i}" for i, value in enumerate(inputs)}
    proto = onnx.NodeProto(
        op_type=node.op_type,
        input=["" if value is None else names[id(value)] for value in node.inputs],
        output=[f"o{i}" for i in range(len(node.outputs))],
        attribute=[serde.serialize_attribute(one) for one in node.attributes.values()],
    )
    data = {
        names[id(value)]: serde.serialize_tensor(value.const_value)
        for value in inputs
        if value.const_value is not None and value.const_value.size <= MOST_ELEMENTS_OF_SHAPES
    }
    types = onnx.shape_inference.infer_node_outputs(
        _schema(node.op_type),
        proto,
        {names[id(value)]: _type_proto(value) for value in inputs},
        data,
        opset_imports=_IMPORTS,
    )
    for i, value in enumerate(node.outputs):
        told = types.get(f"o{i}")
        if told is None or not told.HasField("tensor_type"):
            continue
        tensor = told.tensor_type
        value.dtype = ir.DataType(tensor.elem_type)
        if tensor.HasField("shape"):
            set_shape(
                value,
                [
                    d.dim_value if d.HasField("dim_value") else d.dim_param or None
                    for d in tensor.shape.dim
                ],
            )


class Expansion:
    """One node that a rule expands: its parameters are attributes, `inputs` its inputs."""

    def __init__(
        self,
        operator: Operator,
        node: str,
        parameters: Parameters,
        inputs: Sequence[ir.Value],
        stops: bool = False,
    ) -> None:
        # Whether what ends gradients is a node of the domain mxffi.sol, and what only training does
        # one of ONNX, which does nothing in inference.
        self.stops = stops
        self.operator, self.node = operator, node
        self.p = parameters
        self.inputs = list(inputs)
        self.nodes: list[ir.Node] = []

    def error(self, message: str) -> GraphError:
        """What to raise where the node cannot be expanded."""
        return GraphError(f"node {self.node!r} ({self.operator.name}): {message}")

    def op(self, op_type: str, *inputs: ir.Value | None, **attributes: Any) -> ir.Value:
        """The only output of a new node."""
        (value,) = self.ops(op_type, 1, *inputs, **attributes)
        return value

    def ops(
        self, op_type: str, outputs: int, *inputs: ir.Value | None, **attributes: Any
    ) -> Sequence[ir.Value]:
        """All outputs of a new node. Attributes that are None are left out."""
        given = {name: value for name, value in attributes.items() if value is not None}
        node = ir.node(op_type, inputs, given, num_outputs=outputs)
        try:
            infer_types(node)
        except Exception as error:  # onnx raises classes of its own, none of them documented
            text = str(error).strip().splitlines()[-1:]
            shapes = [shape_of(value) for value in inputs if value is not None]
            raise self.error(
                f"expected inputs that {op_type} takes, but shapes {shapes} came: {text}"
            ) from error
        self.nodes.append(node)
        return node.outputs

    def stop(self, value: ir.Value) -> ir.Value:
        """The value, through which no gradient goes."""
        node = ir.node("StopGradient", [value], domain="mxffi.sol")
        (made,) = node.outputs
        made.type, made.shape = value.type, value.shape
        self.nodes.append(node)
        return made

    def drop(self, value: ir.Value, ratio: float) -> ir.Value:
        """The value, of which training drops elements."""
        if not self.stops or ratio <= 0:
            return value
        return self.op("Dropout", value, self.constant(ratio, ir.DataType.FLOAT))

    def constant(self, value: Any, dtype: ir.DataType | str) -> ir.Value:
        """A constant of a data type."""
        if isinstance(dtype, str):
            dtype = ir.DataType[dtype_name(dtype)]
        array = np.asarray(value)
        if dtype.numpy().kind in "iu" and array.dtype.kind == "f":
            if np.isnan(array).any():
                raise self.error(f"expected a number that {dtype} has, but {value} came")
            array = np.clip(array, np.iinfo(dtype.numpy()).min, np.iinfo(dtype.numpy()).max)
        with np.errstate(over="ignore", invalid="ignore"):
            tensor = ir.Tensor(array.astype(dtype.numpy()), dtype=dtype)
        node = ir.Node("", "Constant", (), [ir.AttrTensor("value", tensor)], num_outputs=1)
        (out,) = node.outputs
        out.const_value, out.dtype, out.shape = tensor, dtype, ir.Shape(array.shape)
        self.nodes.append(node)
        return out

    def ints(self, *values: int) -> ir.Value:
        """A one-dimensional constant, as ONNX takes shapes, axes and the like."""
        return self.constant(np.array(values, np.int64), ir.DataType.INT64)

    def number(self, value: float, like: ir.Value) -> ir.Value:
        """A 0-d constant of the data type of another value."""
        if like.dtype is not None:
            return self.constant(value, like.dtype)
        return self.op("CastLike", self.constant(value, ir.DataType.FLOAT), like)

    def shape(self, value: ir.Value) -> Shape:
        """The shape, whose rank at least has to be known."""
        shape = shape_of(value)
        if shape is None:
            raise self.error("expected an input of known rank: tell the shapes of the inputs")
        return shape

    def rank(self, value: ir.Value) -> int:
        return len(self.shape(value))

    def axis(self, axis: int, value: ir.Value) -> int:
        """An axis counted from the front."""
        rank = self.rank(value)
        if not -rank <= axis < rank:
            raise self.error(f"expected an axis of {rank}, but {axis} came")
        return axis % rank

    def dimension(self, value: ir.Value, axis: int) -> int:
        """One dimension, which has to be known."""
        n = self.shape(value)[self.axis(axis, value)]
        if not isinstance(n, int):
            raise self.error(
                f"expected a known dimension {axis} of shape {self.shape(value)}: tell the "
                "shapes of the inputs"
            )
        return n

    def dimensions(self, value: ir.Value) -> tuple[int, ...]:
        """The shape, all of which has to be known."""
        return tuple(self.dimension(value, axis) for axis in range(self.rank(value)))

    def is_floating(self, value: ir.Value) -> bool:
        """Whether a value is of a floating-point type, as far as is known."""
        return value.dtype is None or value.dtype.is_floating_point()

    def cast(self, value: ir.Value, dtype: ir.DataType | str | None) -> ir.Value:
        """The value in another data type; itself where it has that."""
        if isinstance(dtype, str):
            dtype = ir.DataType[dtype_name(dtype)]
        if dtype is None or value.dtype == dtype:
            return value
        return self.op("Cast", value, to=dtype.value)

    def reshape(self, value: ir.Value, shape: Iterable[int]) -> ir.Value:
        """The value in a shape of ONNX's: 0 is the same dimension, -1 what is left."""
        return self.op("Reshape", value, self.ints(*shape))

    def transpose(self, value: ir.Value, axes: Sequence[int]) -> ir.Value:
        if list(axes) == list(range(len(axes))):
            return value
        return self.op("Transpose", value, perm=list(axes))

    def unsqueeze(self, value: ir.Value, *axes: int) -> ir.Value:
        return self.op("Unsqueeze", value, self.ints(*axes))

    def squeeze(self, value: ir.Value, *axes: int) -> ir.Value:
        return self.op("Squeeze", value, self.ints(*axes))

    def slice(
        self,
        value: ir.Value,
        starts: Sequence[int],
        ends: Sequence[int],
        axes: Sequence[int],
        steps: Sequence[int] | None = None,
    ) -> ir.Value:
        more = () if steps is None else (self.ints(*steps),)
        return self.op(
            "Slice", value, self.ints(*starts), self.ints(*ends), self.ints(*axes), *more
        )

    def size_along(self, value: ir.Value, axis: int) -> ir.Value:
        """A dimension as a one-element constant or what `Shape` gives of it."""
        shape = shape_of(value)
        n = shape[axis] if shape is not None else None
        if isinstance(n, int):
            return self.ints(n)
        return self.op("Shape", value, start=axis, end=axis + 1 if axis != -1 else None)


def expand(
    operator: Operator,
    node: str,
    parameters: Parameters,
    inputs: Sequence[ir.Value],
    stops: bool = False,
) -> tuple[list[ir.Node], list[ir.Value]]:
    """The nodes that one of MXNet's becomes, and its outputs; GraphError where it cannot."""
    expansion = Expansion(operator, node, parameters, inputs, stops)
    if operator.expand is None:
        raise expansion.error("expected an operator with a rule for ONNX")
    try:
        found = operator.expand(expansion)
    except GraphError:
        raise
    except (ArithmeticError, LookupError, TypeError, ValueError) as error:
        # Files can have any parameters, and rules check those that have a meaning of their own.
        shapes = [shape_of(value) for value in inputs]
        raise expansion.error(
            f"expected parameters that fit each other and shapes {shapes}, but "
            f"{vars(parameters)} came ({error})"
        ) from error
    return expansion.nodes, [found] if isinstance(found, ir.Value) else list(found)


def dtype_name(name: str) -> str:
    """ONNX's name of a data type that has NumPy's."""
    return {"float32": "FLOAT", "float64": "DOUBLE"}.get(name, name.upper())


def numpy_name(dtype: ir.DataType) -> str:
    """NumPy's name of a data type of ONNX."""
    return str(dtype.numpy())
