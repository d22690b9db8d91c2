"""What rules write nodes with."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy
import onnx_ir as ir

from ...graph._spec import Dim, dims_of
from ...importers._builder import Builder, Operand
from ..operators import DOMAIN

FLOATS = frozenset(
    (ir.DataType.FLOAT, ir.DataType.DOUBLE, ir.DataType.FLOAT16, ir.DataType.BFLOAT16)
)


# What is noted of parts of gradients.
_PART = "gradient.part"


class Writer(Builder):
    """Writes nodes at the end of a graph: `to.Mul(x, 2)` writes one and gives its output."""

    def own(
        self,
        operator: str,
        *inputs: ir.Value | None,
        types: Sequence[ir.DataType | None],
        **attributes: Any,
    ) -> Sequence[ir.Value]:
        """Writes a node of an operator of ours, with outputs of these types."""
        values = list(inputs)
        while values and values[-1] is None:
            values.pop()
        name = self.names.new(f"{self.prefix}.{operator}" if self.prefix else operator)
        node = ir.node(
            operator,
            values,
            {
                key: ir.convenience.convert_attribute(key, value)
                for key, value in attributes.items()
                if value is not None
            },
            domain=DOMAIN,
            num_outputs=len(types),
            name=name,
            metadata_props=dict(self.metadata),
        )
        for i, (output, dtype) in enumerate(zip(node.outputs, types, strict=True)):
            output.name = name if i == 0 else self.names.new(f"{name}.{i}")
            output.type = None if dtype is None else ir.TensorType(dtype)
        self.graph.append(node)
        return node.outputs

    def own_like(
        self, operator: str, *inputs: ir.Value | None, like: ir.Value, **attributes: Any
    ) -> ir.Value:
        """Writes a node of an operator of ours with one output, of the spec of another value."""
        (made,) = self.own(operator, *inputs, types=[like.dtype], **attributes)
        made.shape = like.shape
        return made

    def shape(self, value: ir.Value) -> ir.Value:
        """The shape of a value: a constant where it is known."""
        dims = dims_of(value.shape)
        if dims is not None and all(isinstance(dim, int) for dim in dims):
            return self.ints([int(str(dim)) for dim in dims])
        # One that is written in a graph inside of a node is not seen outside of it.
        found: ir.Value | None = value.meta.get("gradient.shape")
        if found is None or found.graph is not self.graph:
            found = self.Shape(value)
            value.meta["gradient.shape"] = found
        return found

    def extent(self, value: ir.Value, axis: int) -> ir.Value:
        """The extent along one axis, as a vector of one element."""
        dims = dims_of(value.shape)
        if dims is not None and isinstance(dims[axis], int):
            return self.ints([int(str(dims[axis]))])
        end = None if axis == -1 else axis + 1
        return self.Shape(value, start=axis, end=end)

    def zeros_like(self, value: ir.Value) -> ir.Value:
        """Zeros of the spec of a value."""
        assert value.dtype is not None
        filling = ir.Tensor(numpy.zeros(1, value.dtype.numpy()), dtype=value.dtype)
        made: ir.Value = self.ConstantOfShape(self.shape(value), value=filling, dtype=value.dtype)
        made.shape = value.shape
        return made

    def given(self, grad: ir.Value | None, output: ir.Value) -> ir.Value:
        """A gradient, or zeros where there is none."""
        return self.zeros_like(output) if grad is None else grad

    def where(self, condition: ir.Value, x: ir.Value, y: Operand) -> ir.Value:
        """Elements of one value or of the other one, which may be a number."""
        other = y if isinstance(y, ir.Value) else self.constant(y, _dtype(x))
        made: ir.Value = self.Where(condition, x, other)
        return made

    def part(self, x: ir.Value, whole: ir.Value, axis: int, begin: int, end: int) -> ir.Value:
        """A gradient of part of a value along an axis of known extent, with zeros for the rest."""
        dims = dims_of(whole.shape) or ()
        extent, pads = int(str(dims[axis])), [0] * (2 * len(dims))
        pads[axis], pads[len(dims) + axis] = begin, extent - end
        made: ir.Value = self.Pad(x, pads)
        made.shape = whole.shape
        made.meta[_PART] = (axis, begin, end, extent, x)
        return made

    def joined(self, parts: Sequence[ir.Value]) -> ir.Value | None:
        """The sum of parts that follow each other without a gap, as `part` gives them."""
        told = [value.meta.get(_PART) for value in parts]
        found = sorted((one for one in told if one is not None), key=lambda one: one[:3])
        axis, _, _, extent, _ = found[0] if len(found) == len(parts) else (0, 0, 0, -1, None)
        at = 0
        for other, begin, end, _, _ in found:
            if other != axis or begin != at or end == begin:
                return None
            at = end
        if at != extent:
            return None
        made: ir.Value = self.Concat(*(one[4] for one in found), axis=axis)
        made.shape = parts[0].shape
        return made

    def sum_to(self, grad: ir.Value, like: ir.Value, shape_of: ir.Value) -> ir.Value:
        """Sums a gradient, which has the shape of one value, to the shape of another one that was
        broadcast to it."""
        wide, narrow = dims_of(shape_of.shape), dims_of(like.shape)
        axes = None if wide is None or narrow is None else _summed(wide, narrow)
        if axes is None or wide is None or narrow is None:
            return self.own_like("SumTo", grad, self.shape(like), like=like)
        if not axes:
            return grad
        more = len(wide) - len(narrow)
        kept = [axis - more for axis in axes if axis >= more]
        made: ir.Value = self.ReduceSum(grad, axes, keepdims=0 if more else 1)
        if more and kept:
            made = self.Unsqueeze(made, kept)
        made.shape = like.shape
        return made

    def transpose(self, x: ir.Value, order: Sequence[int]) -> ir.Value:
        """Permutes axes: of what was transposed before, from where that comes."""
        before = _transposed(x)
        if before is not None:
            given, first = before
            return super().transpose(given, [first[axis] for axis in order])
        return super().transpose(x, order)

    def gemm(
        self, a: ir.Value, b: ir.Value, flip_a: bool = False, flip_b: bool = False, **kwargs: Any
    ) -> ir.Value:
        """The product of two matrices, or of what is transposed to these."""
        for_a, for_b = _transposed(a), _transposed(b)
        if for_a is not None:
            a, flip_a = for_a[0], not flip_a
        if for_b is not None:
            b, flip_b = for_b[0], not flip_b
        made: ir.Value = self.Gemm(
            a, b, transA=int(flip_a) or None, transB=int(flip_b) or None, **kwargs
        )
        return made

    def sum_over(self, x: ir.Value, axes: Sequence[int], keep: bool = False) -> ir.Value:
        """The sum over axes; the value itself for no axes."""
        if not axes:
            return x
        made: ir.Value = self.ReduceSum(x, list(axes), keepdims=int(keep))
        return made


def _transposed(x: ir.Value) -> tuple[ir.Value, list[int]] | None:
    """What a value is a transpose of, other than the identity, and the order of its axes."""
    node = x.producer()
    if node is None or node.op_type != "Transpose" or node.domain or node.inputs[0] is None:
        return None
    order = node.attributes.get_ints("perm", None)
    if order is None or list(order) == sorted(order):
        return None
    return node.inputs[0], list(order)


def _summed(wide: tuple[Dim, ...], narrow: tuple[Dim, ...]) -> list[int] | None:
    """The axes along which a shape has become another one; None where that is not known."""
    more = len(wide) - len(narrow)
    if more < 0:
        return None
    axes = list(range(more))
    for position, dim in enumerate(narrow):
        other = wide[more + position]
        if dim == 1:
            if other != 1:
                axes.append(more + position)
        elif not isinstance(dim, int) and (dim is None or dim != other):
            return None  # it may be 1
    return axes


def _dtype(value: ir.Value) -> ir.DataType:
    assert value.dtype is not None
    return value.dtype


def is_float(value: ir.Value | None) -> bool:
    """Whether a value is a tensor of numbers that have gradients."""
    return value is not None and value.dtype in FLOATS
