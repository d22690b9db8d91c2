"""What rules of importers write ONNX nodes with."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, TypeVar

import numpy as np
import onnx_ir as ir

from ._rules import Unsupported
from ._training import Training

Number = bool | int | float
# A number that is known, or one that the model computes: a 0-d value.
Size = int | ir.Value
Operand = ir.Value | Number | Sequence[int] | None

_BOOL = frozenset(
    "And Equal Greater GreaterOrEqual IsInf IsNaN Less LessOrEqual Not Or Xor".split()
)
_INT64 = frozenset("ArgMax ArgMin NonZero Shape Size".split())
# The number of the input whose data type the output has, where it is not the first.
_LIKE = {"Where": 1, "OneHot": 2, "ConstantOfShape": -1}


class Names:
    """Names of a graph's values and nodes, each given once."""

    def __init__(self) -> None:
        self._taken: dict[str, int] = {}

    def new(self, name: str) -> str:
        """The name, with a number behind it if it is taken."""
        if name not in self._taken:
            self._taken[name] = 0
            return name
        while True:
            self._taken[name] += 1
            numbered = f"{name}_{self._taken[name]}"
            if numbered not in self._taken:
                self._taken[numbered] = 0
                return numbered


B = TypeVar("B", bound="Builder")


class Builder:
    """Writes nodes at the end of a graph: `b.Add(x, 1)` writes one and gives its output.

    Any operator of ONNX is a method. Its arguments are values of the graph, numbers (constants of
    the data type of the first value) and lists of integers (constants of int64); keywords are
    attributes, and None leaves an input or an attribute out.
    """

    def __init__(
        self, graph: ir.Graph, names: Names, parent: Builder | None = None, prefix: str = ""
    ) -> None:
        self.graph = graph
        self.names = names
        # Of the operator that is being imported.
        self.prefix = prefix
        self.metadata: dict[str, str] = {}
        self._parent = parent
        # Whether gradients of the graph are wanted: then what ends them is a node.
        self.stops: bool = parent is not None and parent.stops
        # None where the graph is imported for inference.
        self.training: Training | None = parent.training if parent else None
        self._constants: dict[tuple[Any, ...], ir.Value] = {}

    def __getattr__(self, operator: str) -> Callable[..., ir.Value]:
        if not operator[:1].isupper():
            raise AttributeError(operator)

        def write(*inputs: Operand, dtype: ir.DataType | None = None, **attributes: Any) -> Any:
            return self.op(operator, *inputs, dtype=dtype, **attributes)[0]

        return write

    def op(
        self,
        operator: str,
        *inputs: Operand,
        outputs: int = 1,
        dtype: ir.DataType | Sequence[ir.DataType] | None = None,
        domain: str = "",
        **attributes: Any,
    ) -> Sequence[ir.Value]:
        """Writes a node, of ONNX's operators unless `domain` says otherwise; gives its outputs."""
        like = next((one for one in inputs if isinstance(one, ir.Value)), None)
        values = [self._operand(one, like) for one in inputs]
        while values and values[-1] is None:
            values.pop()
        given = {name: value for name, value in attributes.items() if value is not None}
        name = self.names.new(f"{self.prefix}.{operator}" if self.prefix else operator)
        node = ir.node(
            operator,
            values,
            {
                key: ir.convenience.convert_attribute(key, _plain(value))
                for key, value in given.items()
            },
            domain=domain,
            num_outputs=outputs,
            name=name,
            metadata_props=dict(self.metadata),
        )
        types = _types_of(operator, values, given) if dtype is None else dtype
        for i, output in enumerate(node.outputs):
            output.name = name if i == 0 else self.names.new(f"{name}.{i}")
            output.type = ir.TensorType(types if isinstance(types, ir.DataType) else types[i])
        self.graph.append(node)
        return node.outputs

    def body(self: B, name: str, inputs: Sequence[ir.Value] = ()) -> tuple[ir.Graph, B]:
        """A subgraph for an attribute of that name, and a builder that writes its nodes."""
        graph = ir.Graph(
            inputs,
            [],
            nodes=[],
            opset_imports=self.graph.opset_imports,
            name=self.names.new(f"{self.prefix}.{name}"),
        )
        inner = type(self)(graph, self.names, self, self.prefix)
        inner.metadata = self.metadata
        return graph, inner

    def set_outputs(self, results: Sequence[ir.Value], names: Sequence[str]) -> None:
        """Makes values the outputs of the graph, by these names. What is an input or a constant, or
        an output already, is copied."""
        self.prefix, self.metadata = "", {}
        seen: set[ir.Value] = set()
        for name, value in zip(names, results, strict=True):
            made = value.producer()
            if made is None or made.op_type == "Constant" or value in seen:
                copy = self.Identity(value)
                copy.shape = value.shape
                value = copy
            value.name = name
            seen.add(value)
            self.graph.outputs.append(value)

    def _operand(self, operand: Operand, like: ir.Value | None) -> ir.Value | None:
        if operand is None or isinstance(operand, ir.Value):
            return operand
        if isinstance(operand, Sequence):
            return self.ints(operand)
        if like is None:
            raise TypeError("a node of numbers alone: make them constants")
        return self.constant(operand, dtype_of(like))

    # Constants ------------------------------------------------------------------------------------

    def constant(self, value: Any, dtype: ir.DataType) -> ir.Value:
        """A constant of a number, or of an array of them."""
        wanted = dtype.numpy()
        array = np.asarray(value)
        if array.dtype == object:
            raise Unsupported(f"the number {value} is too large")
        if array.dtype != wanted:
            with np.errstate(all="ignore"):
                array = array.astype(wanted)
        key = (dtype, array.shape, array.tobytes())
        found = self._constant(key)
        if found is not None:
            return found
        name = self.names.new("constant")
        tensor = ir.Tensor(array, dtype=dtype, name=name)
        node = ir.node("Constant", [], {"value": tensor}, name=name)
        (output,) = node.outputs
        output.name, output.const_value = name, tensor
        output.type, output.shape = ir.TensorType(dtype), ir.Shape(array.shape)
        self.graph.append(node)
        self._constants[key] = output
        return output

    def _constant(self, key: tuple[Any, ...]) -> ir.Value | None:
        found = self._constants.get(key)
        return self._parent._constant(key) if found is None and self._parent else found

    def ints(self, values: Iterable[int]) -> ir.Value:
        """A 1-d constant of int64."""
        return self.constant(np.array(list(values), dtype=np.int64), ir.DataType.INT64)

    # Data types -----------------------------------------------------------------------------------

    def cast(self, x: ir.Value | Number, dtype: ir.DataType) -> ir.Value:
        """The value in a data type, itself if it has that already."""
        if not isinstance(x, ir.Value):
            return self.constant(x, dtype)
        if x.dtype == dtype:
            return x
        result = self.Cast(x, to=int(dtype), dtype=dtype)
        result.shape = x.shape
        return result

    # Symbolic numbers -----------------------------------------------------------------------------

    def scalar(self, number: Size, dtype: ir.DataType = ir.DataType.INT64) -> ir.Value:
        """A number as a 0-d value."""
        return self.cast(number, dtype)

    def vector(self, numbers: Sequence[Size]) -> ir.Value:
        """Numbers as a 1-d value of int64: a shape, an index, a list of steps."""
        parts: list[ir.Value | list[int]] = []
        for number in numbers:
            if isinstance(number, ir.Value):
                known = number.meta.get("vector")
                parts.append(known or self.Reshape(self.cast(number, ir.DataType.INT64), [1]))
            elif parts and isinstance(parts[-1], list):
                parts[-1].append(number)
            else:
                parts.append([number])
        if not parts:
            return self.ints([])
        values = [self.ints(part) if isinstance(part, list) else part for part in parts]
        return values[0] if len(values) == 1 else self.Concat(*values, axis=0)

    def size(self, x: ir.Value, axis: int) -> Size:
        """How long an axis is: an int where that is known."""
        shape = shape_of(x)
        axis %= len(shape)
        length = shape[axis]
        if isinstance(length, int):
            return length
        known: dict[int, ir.Value] = x.meta.setdefault("sizes", {})
        # One that is written in the branch of an If is not seen outside of it.
        if axis not in known or known[axis].graph is not self.graph:
            vector = self.Shape(x, start=axis, end=axis + 1)
            known[axis] = self.Squeeze(vector, [0])
            known[axis].shape = ir.Shape([])
            known[axis].meta["vector"] = vector
        return known[axis]

    def sizes(self, x: ir.Value) -> list[Size]:
        """How long all axes are."""
        return [self.size(x, axis) for axis in range(rank_of(x))]

    def plus(self, a: Size, b: Size) -> Size:
        """The sum of two sizes."""
        if isinstance(a, int) and isinstance(b, int):
            return a + b
        return self.Add(self.scalar(a), self.scalar(b)) if b != 0 else a

    def minus(self, a: Size, b: Size) -> Size:
        """The difference of two sizes."""
        if isinstance(a, int) and isinstance(b, int):
            return a - b
        return self.Sub(self.scalar(a), self.scalar(b)) if b != 0 else a

    def times(self, a: Size, b: Size) -> Size:
        """The product of two sizes."""
        if isinstance(a, int) and isinstance(b, int):
            return a * b
        return self.Mul(self.scalar(a), self.scalar(b)) if b != 1 else a

    def product(self, sizes: Iterable[Size]) -> Size:
        """The product of any number of sizes."""
        result: Size = 1
        for size in sizes:
            result = (
                self.times(size, result) if isinstance(result, int) else self.times(result, size)
            )
        return result

    def range(self, start: Size, end: Size, step: Size = 1) -> ir.Value:
        """The integers from one to before another."""
        if isinstance(start, int) and isinstance(end, int) and isinstance(step, int):
            return self.ints(range(start, end, step))
        return self.Range(self.scalar(start), self.scalar(end), self.scalar(step))

    # Shapes ---------------------------------------------------------------------------------------

    def reshape(self, x: ir.Value, shape: Sequence[Size]) -> ir.Value:
        """Reshapes; one length that is not known is left to be found."""
        unknown = [i for i, length in enumerate(shape) if isinstance(length, ir.Value)]
        known = [length for length in shape if isinstance(length, int)]
        if len(unknown) == 1 and -1 not in known and 0 not in known:
            shape = [-1 if i == unknown[0] else length for i, length in enumerate(shape)]
        # Only where a length may be 0 has ONNX to be told that it means 0.
        zero = 0 in known or (-1 not in shape and bool(unknown))
        return self.Reshape(x, self.vector(shape), allowzero=1 if zero else None)

    def with_axis(self, x: ir.Value) -> ir.Value:
        """With a first axis of length 1."""
        result: ir.Value = self.Unsqueeze(x, [0])
        result.shape = ir.Shape([1, *shape_of(x)])
        return result

    def expand(self, x: ir.Value, shape: Sequence[Size]) -> ir.Value:
        """Broadcasts to a shape."""
        own = shape_of(x)
        if len(own) == len(shape) and all(
            isinstance(a, int) and a == b for a, b in zip(own, shape, strict=True)
        ):
            return x
        return self.Expand(x, self.vector(shape))

    def full(self, shape: Sequence[Size], value: Number, dtype: ir.DataType) -> ir.Value:
        """An array of one number."""
        with np.errstate(all="ignore"):
            filling = ir.Tensor(np.array([value]).astype(dtype.numpy()), dtype=dtype)
        return self.ConstantOfShape(self.vector(shape), value=filling, dtype=dtype)

    def axes_last(self, x: ir.Value, *axes: int) -> tuple[ir.Value, list[int]]:
        """Moves axes to the end; the second is what moves them back."""
        rank = rank_of(x)
        last = [axis % rank for axis in axes]
        order = [axis for axis in range(rank) if axis not in last] + last
        back = sorted(range(rank), key=order.__getitem__)
        return self.transpose(x, order), back

    def transpose(self, x: ir.Value, order: Sequence[int]) -> ir.Value:
        """Permutes axes, or not if they are in order."""
        return x if list(order) == sorted(order) else self.Transpose(x, perm=list(order))


def _plain(value: Any) -> Any:
    """An attribute as ONNX takes it."""
    if isinstance(value, bool):
        return int(value)
    return list(value) if isinstance(value, tuple) else value


def _types_of(
    operator: str, inputs: Sequence[ir.Value | None], attributes: Mapping[str, Any]
) -> ir.DataType:
    """The data type of what an operator gives, with those of its inputs."""
    if operator in _BOOL:
        return ir.DataType.BOOL
    if operator in _INT64:
        return ir.DataType.INT64
    like = inputs[_LIKE.get(operator, 0)]
    assert like is not None, f"{operator} has its data type from an input that is left out"
    return dtype_of(like)


def dtype_of(x: ir.Value) -> ir.DataType:
    """The data type of a value, which each value here has."""
    assert x.dtype is not None, f"{x.name} has no data type"
    return x.dtype


def shape_of(x: ir.Value) -> Sequence[int | ir.SymbolicDim]:
    """The shape of a value that its framework knows, or that a rule has given one."""
    assert x.shape is not None, f"{x.name} has no shape"
    return list(x.shape)


def rank_of(x: ir.Value) -> int:
    """How many axes a value has."""
    return len(shape_of(x))


def static(numbers: Iterable[Any], what: str) -> list[int]:
    """Numbers that have to be known now."""
    result = list(numbers)
    if any(isinstance(number, (ir.Value, ir.SymbolicDim)) for number in result):
        raise Unsupported(f"{what} is not known before the model runs")
    return [int(number) for number in result]
