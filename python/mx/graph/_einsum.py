"""Einsum as nodes of simpler operators: products of matrices, or of elements, and sums."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import onnx_ir

from ._spec import Dim, dims_of


class NotWritten(Exception):
    """An equation that is not written as other nodes; the text says why, for people."""


class Write(Protocol):
    """Writes a node with one output of a known shape; a list among its inputs is a constant."""

    def __call__(
        self,
        operator: str,
        *inputs: onnx_ir.Value | Sequence[int],
        shape: Sequence[Dim],
        **attributes: int | Sequence[int],
    ) -> onnx_ir.Value: ...


def terms_of(equation: str, ranks: Sequence[int]) -> tuple[list[list[str]], list[str]]:
    """The labels of the axes of each operand and of the result; of an ellipsis "0", "1", ...

    Raises NotWritten for an equation that does not fit the numbers of axes.
    """
    left, arrow, right = equation.replace(" ", "").partition("->")
    terms = left.split(",")
    if len(terms) != len(ranks):
        raise NotWritten(f"{len(terms)} terms for {len(ranks)} inputs")
    hidden = [rank - len(term.replace("...", "")) for term, rank in zip(terms, ranks, strict=True)]
    if any(
        count < 0 or (count > 0 and "..." not in term)
        for term, count in zip(terms, hidden, strict=True)
    ):
        raise NotWritten(f"the equation {equation!r} for inputs with {list(ranks)} axes")
    between = [str(index) for index in range(max(hidden))]
    if not arrow:
        letters = left.replace(",", "").replace("...", "")
        right = "..." * ("..." in left)
        right += "".join(sorted(one for one in set(letters) if letters.count(one) == 1))

    def expand(term: str, count: int) -> list[str]:
        before, dots, after = term.partition("...")
        return [*before, *(between[len(between) - count :] if dots else ()), *after]

    operands = [expand(term, count) for term, count in zip(terms, hidden, strict=True)]
    return operands, expand(right, len(between))


@dataclass
class _Operand:
    """A value whose axes have labels."""

    labels: list[str]
    value: onnx_ir.Value


def write_einsum(
    write: Write, equation: str, inputs: Sequence[onnx_ir.Value | None]
) -> onnx_ir.Value:
    """Writes nodes that give what an Einsum gives, the last of them its output.

    Raises NotWritten where an extent that is not known would have to be computed.
    """
    values, shapes = [], []
    for value in inputs:
        dims = None if value is None else dims_of(value.shape)
        if value is None or dims is None:
            raise NotWritten("an input whose number of axes is not known")
        values.append(value)
        shapes.append(dims)
    terms, wanted = terms_of(equation, [len(dims) for dims in shapes])
    if len(set(wanted)) < len(wanted) or set(wanted) - {one for term in terms for one in term}:
        raise NotWritten(f"the equation {equation!r}")
    writing = _Writing(write, _extents_of(terms, shapes))
    operands = [
        writing.begin(_Operand(list(term), value), dims)
        for term, value, dims in zip(terms, values, shapes, strict=True)
    ]
    made = operands[0]
    for position, other in enumerate(operands[1:], 1):
        later = {label for one in operands[position + 1 :] for label in one.labels}
        made = writing.product(made, other, wanted, later | set(wanted))
    made = writing.summed(made, set(wanted))
    made = writing.transposed(made, wanted)
    if made.value in values:
        return write("Identity", made.value, shape=writing.dims(wanted))
    return made.value


def _extents_of(terms: Sequence[Sequence[str]], shapes: Sequence[Sequence[Dim]]) -> dict[str, Dim]:
    """The extent of each label: a number where one is known, other than 1 where there is another
    one, which elements are repeated for."""
    extents: dict[str, Dim] = {}
    for term, dims in zip(terms, shapes, strict=True):
        for label, dim in zip(term, dims, strict=True):
            old = extents.get(label, 1)
            if old == 1 or (not isinstance(old, int) and isinstance(dim, int) and dim != 1):
                extents[label] = dim
            elif isinstance(old, int) and isinstance(dim, int) and dim not in (1, old):
                raise NotWritten(f"axes {label} of the extents {old} and {dim}")
    return extents


class _Writing:
    """The nodes of an equation, as they come."""

    def __init__(self, write: Write, extents: dict[str, Dim]) -> None:
        self._write, self._extents = write, extents

    def dims(self, labels: Sequence[str]) -> list[Dim]:
        """The shape of a value whose axes have these labels."""
        return [self._extents[label] for label in labels]

    def begin(self, x: _Operand, dims: Sequence[Dim]) -> _Operand:
        """An operand without labels that it has twice, and without axes along which its one element
        is repeated."""
        single = [
            axis
            for axis, (label, dim) in enumerate(zip(x.labels, dims, strict=True))
            if dim == 1 and self._extents[label] != 1
        ]
        if single:
            labels = [label for axis, label in enumerate(x.labels) if axis not in single]
            x = _Operand(labels, self._write("Squeeze", x.value, single, shape=self.dims(labels)))
        for label in dict.fromkeys(x.labels):
            while x.labels.count(label) > 1:
                x = self._diagonal(x, label)
        return x

    def _diagonal(self, x: _Operand, label: str) -> _Operand:
        """Where two axes of one label have the same index: every extent + 1 elements."""
        extent = self._extents[label]
        if not isinstance(extent, int):
            raise NotWritten("a diagonal whose extent varies")
        first = x.labels.index(label)
        second = x.labels.index(label, first + 1)
        rest = [axis for axis in range(len(x.labels)) if axis not in (first, second)]
        labels = [x.labels[axis] for axis in rest]
        order = [*rest, first, second]
        shape = self.dims([*labels, label, label])
        value = self._write("Transpose", x.value, shape=shape, perm=order)
        value = self._reshaped(value, [*labels, label, label], [*map(_alone, labels), [label] * 2])
        shape = self.dims([*labels, label])
        axis = [len(labels)]
        value = self._write("Slice", value, [0], [extent * extent], axis, [extent + 1], shape=shape)
        return _Operand([*labels, label], value)

    def summed(self, x: _Operand, kept: set[str]) -> _Operand:
        """The sum along axes with other labels than these."""
        axes = [axis for axis, label in enumerate(x.labels) if label not in kept]
        if not axes:
            return x
        labels = [label for label in x.labels if label in kept]
        shape = self.dims(labels)
        return _Operand(labels, self._write("ReduceSum", x.value, axes, shape=shape, keepdims=0))

    def transposed(self, x: _Operand, labels: Sequence[str]) -> _Operand:
        """The same with its axes in the order of labels."""
        if list(labels) == x.labels:
            return x
        order = [x.labels.index(label) for label in labels]
        shape = self.dims(labels)
        return _Operand(list(labels), self._write("Transpose", x.value, shape=shape, perm=order))

    def product(self, a: _Operand, b: _Operand, wanted: Sequence[str], later: set[str]) -> _Operand:
        """The product of two operands: what both have and nobody needs later is summed."""
        a = self.summed(a, later | set(b.labels))
        b = self.summed(b, later | set(a.labels))
        inner = [label for label in a.labels if label in b.labels and label not in later]
        if not inner:
            return self._multiplied(a, b, wanted)
        rows = [label for label in a.labels if label not in b.labels]
        columns = [label for label in b.labels if label not in a.labels]
        free = [label for label in wanted if label in rows or label in columns]
        if set(columns) & set(free) and free[-1] in rows:
            return self._contracted(b, a, inner, wanted)
        return self._contracted(a, b, inner, wanted)

    def _contracted(
        self, a: _Operand, b: _Operand, inner: Sequence[str], wanted: Sequence[str]
    ) -> _Operand:
        both = [label for label in a.labels if label in b.labels and label not in inner]
        rows = [label for label in a.labels if label not in b.labels]
        columns = [label for label in b.labels if label not in a.labels]
        inner = [label for label in (b if len(b.labels) > 2 else a).labels if label in inner]
        if both:
            batch = [_alone(label) for label in both]
            left, right = [*batch, rows, inner], [*batch, inner, columns]
            result = [*batch, rows, columns]
        elif lead := _in_front(wanted, rows, columns):
            # MatMul repeats the matrix on the left for all of these.
            batch = [_alone(label) for label in lead]
            columns = [label for label in columns if label not in lead]
            left, right = [rows, inner], [*batch, inner, columns]
            result = [*batch, rows, columns]
        else:
            left = [*map(_alone, rows), inner]
            right = [inner, columns] if columns else [inner]
            result = [*map(_alone, rows), *([columns] if columns else [])]
        product = self._write(
            "MatMul",
            self._arranged(a, left),
            self._arranged(b, right),
            shape=[self._extent(group) for group in result],
        )
        labels = [label for group in result for label in group]
        return _Operand(labels, self._split(product, result, labels))

    def _multiplied(self, a: _Operand, b: _Operand, wanted: Sequence[str]) -> _Operand:
        """The product of elements, repeated along the axes that only the other one has."""
        there = dict.fromkeys((*wanted, *a.labels, *b.labels))
        labels = [label for label in there if label in a.labels or label in b.labels]
        values = []
        for x in (a, b):
            x = self.transposed(x, [label for label in labels if label in x.labels])
            begin = labels.index(x.labels[0]) if x.labels else len(labels)
            behind = labels[begin:]
            missing = [axis for axis, label in enumerate(behind) if label not in x.labels]
            value = x.value
            if missing:
                shape = [self._extents[one] if one in x.labels else 1 for one in behind]
                value = self._write("Unsqueeze", value, missing, shape=shape)
            values.append(value)
        return _Operand(labels, self._write("Mul", *values, shape=self.dims(labels)))

    def _extent(self, group: Sequence[str]) -> Dim:
        dims = self.dims(group)
        if all(isinstance(dim, int) for dim in dims):
            return math.prod(dim for dim in dims if isinstance(dim, int))
        return dims[0] if len(dims) == 1 else None

    def _arranged(self, x: _Operand, groups: Sequence[Sequence[str]]) -> onnx_ir.Value:
        """A value with an axis for each group of labels; of extent 1 for one without any."""
        labels = [label for group in groups for label in group]
        value = self.transposed(x, labels).value
        if all(len(group) == 1 for group in groups):
            return value
        if all(len(group) <= 1 for group in groups):
            empty = [axis for axis, group in enumerate(groups) if not group]
            shape = [self._extent(group) for group in groups]
            return self._write("Unsqueeze", value, empty, shape=shape)
        return self._reshaped(value, labels, groups)

    def _reshaped(
        self, value: onnx_ir.Value, labels: Sequence[str], groups: Sequence[Sequence[str]]
    ) -> onnx_ir.Value:
        """A value whose axes have labels with an axis for each group of them."""
        same = [
            len(group) == 1 and axis < len(labels) and labels[axis] == group[0]
            for axis, group in enumerate(groups)
        ]
        return self._with_shape(value, [self._extent(group) for group in groups], same)

    def _split(
        self, value: onnx_ir.Value, groups: Sequence[Sequence[str]], labels: Sequence[str]
    ) -> onnx_ir.Value:
        """The other way round: from an axis for each group to one for each label."""
        if all(len(group) == 1 for group in groups):
            return value
        if all(len(group) <= 1 for group in groups):
            empty = [axis for axis, group in enumerate(groups) if not group]
            return self._write("Squeeze", value, empty, shape=self.dims(labels))
        same = [
            axis < len(groups) and list(groups[axis]) == [label]
            for axis, label in enumerate(labels)
        ]
        return self._with_shape(value, self.dims(labels), same)

    def _with_shape(
        self, value: onnx_ir.Value, dims: Sequence[Dim], same: Sequence[bool]
    ) -> onnx_ir.Value:
        """A Reshape; `same` says which axes are where they were."""
        shape = [
            dim if isinstance(dim, int) else 0 if is_same else -1
            for dim, is_same in zip(dims, same, strict=True)
        ]
        if all(isinstance(dim, int) for dim in dims):
            return self._write("Reshape", value, shape, shape=dims, allowzero=int(0 in shape))
        if shape.count(-1) > 1 or 0 in dims:
            raise NotWritten("several extents that vary become one axis")
        return self._write("Reshape", value, shape, shape=dims)


def _alone(label: str) -> list[str]:
    return [label]


def _in_front(wanted: Sequence[str], rows: Sequence[str], columns: Sequence[str]) -> list[str]:
    """The labels of the right operand alone that come before those of the left one alone, where
    both have more behind that."""
    if not rows:
        return []
    begin = min((wanted.index(label) for label in rows if label in wanted), default=0)
    lead = [label for label in wanted[:begin] if label in columns]
    return lead if len(lead) < len(columns) else []
