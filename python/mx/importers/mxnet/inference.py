"""The shapes and data types of MXNet's graphs: of arguments from each other, of outputs from these.

Outputs are those of what a node expands to in ONNX, so no operator tells them a second time.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from typing import Any

import numpy
import onnx_ir as ir

from mx.graph import GraphError

from .expansion import dtype_name, expand, set_shape, shape_of
from .nodes import in_order, named_inputs, operator_of, parse
from .params import DTYPES
from .table import Operator, Parameters, Shape

# How often shapes may go backwards through the graph.
MOST_WALKS = 16
# Arguments that have to be of the shape that follows; others may be of one that broadcasts.
FIXED = {"weight", "bias", "moving_mean", "moving_var", "parameters", "state", "state_cell"}


def _without_zeros(shape: Sequence[int | str | None]) -> Shape:
    """MXNet writes 0 or -1 for a dimension that is to be found."""
    return tuple(None if n in (0, -1) else n for n in shape)


def _told_shape(variable: ir.Value) -> Shape | None:
    text = variable.metadata_props.get("__shape__")
    if not text:
        return None
    try:
        shape = ast.literal_eval(text)
        return _without_zeros([None if n is None else int(n) for n in shape])
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
        raise GraphError(
            f"variable {variable.name!r}: expected a shape as __shape__, but {text!r:.80} came"
        ) from None


def _told_dtype(variable: ir.Value) -> str | None:
    text = variable.metadata_props.get("__dtype__")
    if text is None or text == "-1":
        return None
    if text in DTYPES:
        return text
    if not text.isdigit() or int(text) >= len(DTYPES):
        raise GraphError(
            f"variable {variable.name!r}: expected a data type as __dtype__, but {text!r:.80} came"
        )
    return DTYPES[int(text)]


def merge(known: Shape | None, found: Shape | None, what: str) -> Shape | None:
    """What two shapes tell together; GraphError where they contradict each other."""
    if known is None or found is None:
        return found if known is None else known
    both = [
        (a, b, a if b is None or isinstance(a, int) else b)
        for a, b in zip(known, found, strict=False)
    ]
    differ = any(isinstance(a, int) and isinstance(b, int) and a != b for a, b, _ in both)
    if len(known) != len(found) or differ:
        raise GraphError(f"{what}: expected shape {found}, but {known} came")
    return tuple(n for _, _, n in both)


def is_whole(shape: Shape | None) -> bool:
    """Whether all dimensions are known."""
    return shape is not None and None not in shape


def _checked(name: str, shape: Any) -> tuple[Any, ...]:
    """A shape that a user has told; TypeError and ValueError where it is none."""
    is_shape = isinstance(shape, Sequence) and not isinstance(shape, (str, bytes))
    if not is_shape or not all(
        extent is None or isinstance(extent, (int, str, numpy.integer)) for extent in shape
    ):
        raise TypeError(
            f"variable {name!r}: expected a shape of numbers and names of extents, got {shape!r}"
        )
    if any(isinstance(extent, (int, numpy.integer)) and extent < 0 for extent in shape):
        raise ValueError(f"variable {name!r}: an extent of {tuple(shape)} is below zero")
    return tuple(shape)


class Inference:
    """What is known of the values of a graph, by the ids of these."""

    def __init__(
        self,
        heads: Sequence[ir.Value],
        shapes: Mapping[str, Sequence[int | str | None]],
        dtypes: Mapping[str, str],
    ) -> None:
        self.order = in_order(heads)
        self.values: dict[int, ir.Value] = {}
        self.has_changed = False
        names = set()
        for item in self.order:
            if isinstance(item, ir.Value):
                names.add(item.name)
                self.begin(item, shapes, dtypes)
        for name in (*shapes, *dtypes):
            if name not in names:
                raise GraphError(
                    f"shapes and types: expected one of the arguments, but {name!r} came"
                )

    def begin(
        self,
        variable: ir.Value,
        shapes: Mapping[str, Sequence[int | str | None]],
        dtypes: Mapping[str, str],
    ) -> None:
        """What is known of a variable before anything is inferred."""
        name = str(variable.name)
        value = ir.Value(name=name, shape=variable.shape, type=variable.type)
        told = _told_shape(variable)
        if name in shapes:
            given = _without_zeros(_checked(name, shapes[name]))
            told = merge(given, told, f"variable {name!r}")
        set_shape(value, merge(shape_of(variable), told, f"variable {name!r}"))
        dtype = dtypes.get(name) or (None if variable.dtype else _told_dtype(variable))
        if dtype is not None:
            value.dtype = ir.DataType[dtype_name(dtype)]
        self.values[id(variable)] = value

    def run(self, is_partial: bool) -> None:
        """Infers all that can be; without `is_partial`, GraphError where a node cannot be."""
        for _ in range(MOST_WALKS):
            self.has_changed = False
            for item in self.order:
                if isinstance(item, ir.Node):
                    self.infer(item, is_partial)
            if not self.has_changed:
                break

    def infer_types(self) -> None:
        """Infers data types where no shapes are known: of arguments from each other, of outputs
        from the first argument, unless a parameter `dtype` tells them."""
        for item in self.order:
            operator = operator_of(item) if isinstance(item, ir.Node) else None
            if operator is None or not isinstance(item, ir.Node):
                continue
            parameters = parse(item, operator)
            inputs = [self.of(value) for value in item.inputs if value is not None]
            self.infer_arguments(
                item, operator, parameters, named_inputs(item, operator, parameters, inputs)
            )
            told = getattr(parameters, "dtype", None) or getattr(parameters, "out_dtype", None)
            dtype = inputs[0].dtype if inputs else ir.DataType.FLOAT
            if operator.dtypes.get("weight") == "dtype":
                dtype = inputs[1].dtype
            elif told is not None:
                dtype = ir.DataType[dtype_name(told)]
            for value in item.outputs:
                if dtype is not None:
                    self.of(value).dtype = dtype

    def of(self, value: ir.Value) -> ir.Value:
        """What is known of a value, as a value with shape and type."""
        found = self.values.get(id(value))
        if found is None:
            found = self.values[id(value)] = ir.Value(name=value.name)
        return found

    def infer(self, node: ir.Node, is_partial: bool) -> None:
        operator = operator_of(node)
        inputs = [self.of(value) for value in node.inputs if value is not None]
        if operator is None or operator.expand is None:
            return
        parameters = parse(node, operator)
        named = named_inputs(node, operator, parameters, inputs)
        self.infer_arguments(node, operator, parameters, named)
        if any(value.shape is None for value in inputs):
            return
        if all(self.of(value).shape is not None for value in node.outputs[:1]):
            if all(is_whole(shape_of(self.of(value))) for value in node.outputs[:1]):
                return
        try:
            _, outputs = expand(operator, str(node.name), parameters, inputs)
        except GraphError:
            if is_partial or not all(is_whole(shape_of(value)) for value in inputs):
                return
            raise
        for value, found in zip(node.outputs, outputs, strict=False):
            known = self.of(value)
            if known.dtype is None or shape_of(known) != shape_of(found):
                self.has_changed = self.has_changed or shape_of(found) is not None
            if found.dtype is not None:
                known.dtype = found.dtype
            set_shape(known, shape_of(found))

    def infer_arguments(
        self,
        node: ir.Node,
        operator: Operator,
        parameters: Parameters,
        inputs: Mapping[str, ir.Value],
    ) -> None:
        """The shapes and types of variables that follow from those of other arguments."""
        typed = [value.dtype for value in inputs.values() if value.dtype is not None]
        for name, value in inputs.items():
            if value.dtype is None:
                own = operator.dtypes.get(name)
                if own is not None:
                    text = getattr(parameters, own) if own == "dtype" else own
                    value.dtype = ir.DataType[dtype_name(text or "float32")]
                elif value.shape is not None or typed or value.producer() is None:
                    value.dtype = typed[0] if typed else ir.DataType.FLOAT
        if operator.shapes is None:
            return
        known = {n: s for n, v in inputs.items() if (s := shape_of(v)) is not None}
        try:
            follows = operator.shapes(parameters, known)
        except (ArithmeticError, LookupError, TypeError, ValueError):
            return  # what is wrong is told where the node is expanded
        for name, shape in follows.items():
            argument = inputs.get(name)
            if argument is None or shape is None:
                continue
            before = shape_of(argument)
            what = f"node {node.name!r} ({node.op_type}): argument {name!r}"
            is_fixed = before is None or name in FIXED
            after = merge(before, shape, what) if is_fixed else before
            if after != before:
                set_shape(argument, after)
                self.has_changed = True
