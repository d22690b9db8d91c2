"""Gradients of products of matrices."""

from __future__ import annotations

from collections.abc import Iterator
from string import ascii_letters

import numpy
import onnx_ir as ir

from ....graph._einsum import NotWritten, terms_of
from ....graph._spec import Dim
from .._rules import Call, Declined, gradient
from .._writer import Writer

INT64 = ir.DataType.INT64
Grads = list[ir.Value | None]


def _swapped(to: Writer, x: ir.Value, rank: int) -> ir.Value:
    order = [*range(rank - 2), rank - 1, rank - 2]
    return to.transpose(x, order)


@gradient("MatMul")
def _matmul(to: Writer, call: Call) -> Grads:
    a, b, dy = call.input(0), call.input(1), call.dy
    rank_a, rank_b = len(call.dims(0)), len(call.dims(1))
    if rank_a == 1 and rank_b == 1:
        return [to.Mul(b, dy), to.Mul(a, dy)]
    if rank_a == 1:  # (k,) @ (..., k, n): as a row
        row, wide = to.Unsqueeze(a, [0]), to.Unsqueeze(dy, [-2])
        d_a = to.MatMul(wide, _swapped(to, b, rank_b)) if call.wants(0) else None
        d_b = to.MatMul(_swapped(to, row, 2), wide) if call.wants(1) else None
        if d_a is not None:
            d_a = to.Squeeze(to.sum_over(d_a, list(range(rank_b - 2))), [0])
        return [d_a, d_b]
    if rank_b == 1:  # (..., m, k) @ (k,): as a column
        column, wide = to.Unsqueeze(b, [0]), to.Unsqueeze(dy, [-1])
        d_a = to.MatMul(wide, column) if call.wants(0) else None
        d_b = to.MatMul(_swapped(to, a, rank_a), wide) if call.wants(1) else None
        if d_b is not None:
            d_b = to.Squeeze(to.sum_over(d_b, list(range(rank_a - 2))), [1])
        return [d_a, d_b]
    if rank_b == 2:
        return _by_matrix(to, call)
    d_a = d_b = None
    if call.wants(0):
        d_a = _summed(to, to.MatMul(dy, _swapped(to, b, rank_b)), call, 0)
    if call.wants(1):
        producer = b.producer()
        if producer is not None and producer.op_type == "Transpose" and rank_a == rank_b:
            # So that the gradient comes as what was transposed lies.
            d_b = _swapped(to, to.MatMul(_swapped(to, dy, rank_a), a), rank_a)
        else:
            d_b = to.MatMul(_swapped(to, a, rank_a), dy)
        d_b = _summed(to, d_b, call, 1)
    return [d_a, d_b]


def _by_matrix(to: Writer, call: Call) -> Grads:
    """Each gradient is one product of all rows, not one for each matrix of a batch."""
    a, b, dy = call.input(0), call.input(1), call.dy
    d_a = d_b = None
    rows = dy if len(call.dims(0)) == 2 else _rows(to, dy, to.extent(b, 1))
    if call.wants(0):
        d_a = to.gemm(rows, b, flip_b=True)
        d_a = d_a if rows is dy else to.Reshape(d_a, to.shape(a), allowzero=1)
    if call.wants(1):
        read = a if rows is dy else _rows(to, a, to.extent(b, 0))
        producer = b.producer()
        if producer is not None and producer.op_type == "Transpose":
            # So that the gradient comes as what was transposed lies.
            d_b = to.Transpose(to.gemm(rows, read, flip_a=True), perm=[1, 0])
        else:
            d_b = to.gemm(read, rows, flip_a=True)
    return [d_a, d_b]


def _rows(to: Writer, x: ir.Value, width: ir.Value) -> ir.Value:
    """All rows of a batch of matrices as one matrix."""
    known = ir.convenience.get_const_tensor(width)
    if known is not None:
        made: ir.Value = to.Reshape(x, [-1, int(known.numpy()[0])])
    else:
        made = to.Reshape(x, to.Concat([-1], width, axis=0))
    return made


def _summed(to: Writer, grad: ir.Value, call: Call, index: int) -> ir.Value:
    """A gradient with the batch of the output, summed to that of an input."""
    own, other = call.dims(index)[:-2], call.dims(1 - index)[:-2]
    if own == other or not other:
        return grad
    # The shape it has: the batch of the output, and the matrix of the input.
    dims = call.y.shape
    if dims is None:
        return to.own_like("SumTo", grad, to.shape(call.input(index)), like=call.input(index))
    like = ir.Value(shape=ir.Shape([*list(dims)[:-2], *call.dims(index)[-2:]]))
    return to.sum_to(grad, call.input(index), like)


@gradient("Gemm")
def _gemm(to: Writer, call: Call) -> Grads:
    a, b, c, dy = call.input(0), call.input(1), call.optional(2), call.dy
    alpha, beta = call.number("alpha", 1.0), call.number("beta", 1.0)
    flip_a, flip_b = bool(call.integer("transA", 0)), bool(call.integer("transB", 0))
    d_a = d_b = d_c = None
    if call.wants(0):
        # dA = dY B^T, or its transpose B dY^T.
        if flip_a:
            d_a = to.gemm(b, dy, flip_b, True, alpha=alpha)
        else:
            d_a = to.gemm(dy, b, False, not flip_b, alpha=alpha)
    if call.wants(1):
        if flip_b:
            d_b = to.gemm(dy, a, True, flip_a, alpha=alpha)
        else:
            d_b = to.gemm(a, dy, not flip_a, False, alpha=alpha)
    if c is not None and call.wants(2):
        d_c = to.sum_to(dy, c, call.y)
        d_c = d_c if beta == 1 else to.Mul(d_c, beta)
    return [d_a, d_b, d_c]


@gradient("Einsum")
def _einsum(to: Writer, call: Call) -> Grads:
    equation = call.string("equation", "")
    count = len(call.node.inputs)
    try:
        terms, right = terms_of(equation, [len(call.dims(i)) for i in range(count)])
    except NotWritten as error:
        raise Declined(str(error)) from None
    spare = (one for one in ascii_letters if one not in equation)
    # Letters for the axes that dots stand for.
    hidden = {label for term in terms for label in term if label.isdigit()}
    names = {label: _letter(spare) for label in sorted(hidden)}
    terms = [[names.get(label, label) for label in term] for term in terms]
    right = [names.get(label, label) for label in right]
    more = list(spare)
    return [
        _einsum_part(to, call, terms, right, i, set(names.values()), iter(more))
        if call.wants(i)
        else None
        for i in range(count)
    ]


def _letter(spare: Iterator[str]) -> str:
    found = next(spare, None)
    if found is None:
        raise Declined("its axes are more than there are letters")
    return found


def _einsum_part(
    to: Writer,
    call: Call,
    terms: list[list[str]],
    right: list[str],
    index: int,
    hidden: set[str],
    spare: Iterator[str],
) -> ir.Value:
    """The gradient for one operand: an Einsum of what came, of the others, and of a matrix that is
    1 where two axes of one letter have the same index."""
    x, dims = call.input(index), call.dims(index)
    operands = [right, *(term for i, term in enumerate(terms) if i != index)]
    values = [call.dy, *(call.input(i) for i in range(len(terms)) if i != index)]
    wanted: list[str] = []
    for axis, label in enumerate(terms[index]):
        if label in wanted:
            other = _letter(spare)
            operands.append([label, other])
            values.append(_unit(to, x, dims[axis], axis))
            label = other
        wanted.append(label)
    there = {label for term in operands for label in term}
    # One element was repeated along its axis, or the operand was summed along it alone.
    kept = [axis for axis, label in enumerate(wanted) if label in there and dims[axis] != 1]
    result = "".join(wanted[axis] for axis in kept)
    equation = f"{','.join(map(''.join, operands))}->{result}"
    made: ir.Value = to.Einsum(*values, equation=equation)
    if any(
        wanted[axis] in hidden and _may_be_one(dims[axis], call, terms, wanted[axis])
        for axis in kept
    ):
        shape = to.shape(x)
        if len(kept) < len(wanted):
            shape = to.Gather(shape, to.ints(kept))
        made = to.own("SumTo", made, shape, types=[x.dtype])[0]
    if len(kept) < len(wanted):
        made = to.Unsqueeze(made, [axis for axis in range(len(wanted)) if axis not in kept])
    made = to.Expand(made, to.shape(x))
    made.shape = x.shape
    return made


def _unit(to: Writer, x: ir.Value, dim: Dim, axis: int) -> ir.Value:
    """The identity matrix of the extent of an axis."""
    assert x.dtype is not None
    if isinstance(dim, int):
        return to.constant(numpy.eye(dim), x.dtype)
    extent = to.extent(x, axis)
    row = to.Range(to.constant(0, INT64), to.Squeeze(extent), to.constant(1, INT64))
    return to.cast(to.Equal(row, to.Unsqueeze(row, [1])), x.dtype)


def _may_be_one(dim: Dim, call: Call, terms: list[list[str]], label: str) -> bool:
    """Whether an axis that varies may have one element, which is repeated for another operand."""
    every = {
        call.dims(i)[axis]
        for i, term in enumerate(terms)
        for axis, other in enumerate(term)
        if other == label
    }
    return not isinstance(dim, int) and every != {dim}
