"""Losses that ONNX has an operator for, kept whole."""

from __future__ import annotations

import onnx_ir as ir

from .._builder import Builder, dtype_of, rank_of
from .._promotion import promoted
from .._rule import rule
from .random import detach
from .unary import log1p

_REDUCTIONS = ("none", "mean", "sum")


@rule("cross_entropy_loss")
def cross_entropy(
    b: Builder,
    scores: ir.Value,
    target: ir.Value,
    weight: ir.Value | None = None,
    reduction: int = 1,
    ignore_index: int = -100,
    label_smoothing: float = 0.0,
) -> ir.Value:
    is_classes = dtype_of(target).is_integer()
    if rank_of(scores) == 1:  # one item, without an axis for more
        scores, target = b.with_axis(scores), b.with_axis(target)
        if reduction == 0:
            result = cross_entropy(
                b, scores, target, weight, reduction, ignore_index, label_smoothing
            )
            return b.Squeeze(result, [0])
    if not is_classes:
        return _of_shares(b, scores, target, weight, reduction, label_smoothing)
    if not label_smoothing:
        return _of_classes(b, scores, target, weight, _REDUCTIONS[reduction], ignore_index)
    counted = b.Not(b.Equal(target, ignore_index))
    weights = _of_labels(b, target, counted, weight, dtype_of(scores))
    losses = _of_classes(b, scores, target, weight, "none", ignore_index)
    every = _along_classes(b, b.LogSoftmax(scores, axis=1), weight, rank_of(scores))
    zero = b.constant(0, dtype_of(scores))
    even = b.Where(counted, every, zero)
    classes = b.cast(b.scalar(b.size(scores, 1)), dtype_of(scores))
    losses = b.Add(b.Mul(losses, 1 - label_smoothing), b.Div(b.Mul(even, label_smoothing), classes))
    if reduction == 0:
        return losses
    total = b.ReduceSum(losses, keepdims=0)
    return total if reduction == 2 else b.Div(total, b.ReduceSum(weights, keepdims=0))


def _of_classes(
    b: Builder,
    scores: ir.Value,
    target: ir.Value,
    weight: ir.Value | None,
    reduction: str,
    ignore_index: int,
) -> ir.Value:
    return b.SoftmaxCrossEntropyLoss(
        scores, target, weight, reduction=reduction, ignore_index=ignore_index
    )


def _of_shares(
    b: Builder,
    scores: ir.Value,
    target: ir.Value,
    weight: ir.Value | None,
    reduction: int,
    label_smoothing: float,
) -> ir.Value:
    """Of a target that has a share for each class."""
    classes = b.cast(b.scalar(b.size(scores, 1)), dtype_of(scores))
    if label_smoothing:
        even = b.Div(b.constant(label_smoothing, dtype_of(scores)), classes)
        target = b.Add(b.Mul(target, 1 - label_smoothing), even)
    losses = _along_classes(b, b.Mul(b.LogSoftmax(scores, axis=1), target), weight, rank_of(scores))
    if reduction == 0:
        return losses
    total = b.ReduceSum(losses, keepdims=0)
    if reduction == 2:
        return total
    sizes = [b.size(scores, axis) for axis in range(rank_of(scores)) if axis != 1]
    return b.Div(total, b.cast(b.scalar(b.product(sizes)), dtype_of(scores)))


def _along_classes(
    b: Builder, logarithms: ir.Value, weight: ir.Value | None, rank: int
) -> ir.Value:
    """The negative sum over the classes, weighted."""
    if weight is not None:
        logarithms = b.Mul(logarithms, b.Reshape(weight, [-1, *[1] * (rank - 2)]))
    return b.Neg(b.ReduceSum(logarithms, [1], keepdims=0))


def _of_labels(
    b: Builder,
    target: ir.Value,
    counted: ir.Value,
    weight: ir.Value | None,
    dtype: ir.DataType,
) -> ir.Value:
    """How much each label counts."""
    if weight is None:
        return b.cast(counted, dtype)
    labels = b.Where(counted, target, b.constant(0, dtype_of(target)))
    return b.Where(counted, b.Gather(weight, labels, axis=0), b.constant(0, dtype))


@rule("binary_cross_entropy")
def binary_cross_entropy(
    b: Builder, x: ir.Value, target: ir.Value, weight: ir.Value | None = None, reduction: int = 1
) -> ir.Value:
    """Logarithms are -100 at least, and the gradient is torch's, which is bounded, too."""
    zero, one = b.scalar(0, dtype_of(x)), b.scalar(1, dtype_of(x))
    given = detach(b, x)
    rest = b.Sub(one, given)
    is_none, is_all = b.Equal(given, zero), b.Equal(rest, zero)
    shares = _bounded(b, is_none, b.Log(b.Where(is_none, one, given)))
    others = _bounded(b, is_all, log1p(b, b.Neg(b.Where(is_all, zero, given))))
    shares, others = b.Mul(target, shares), b.Mul(b.Sub(one, target), others)
    losses = b.Neg(b.Add(shares, others))
    if b.training is not None:
        slope = b.Div(b.Sub(given, target), b.Max(b.Mul(given, rest), 1e-12))
        losses = b.Add(losses, b.Mul(detach(b, slope), b.Sub(x, given)))
    if weight is not None:
        losses = b.Mul(losses, weight)
    return _reduced(b, losses, reduction)


def _reduced(b: Builder, losses: ir.Value, reduction: int) -> ir.Value:
    if reduction == 0:
        return losses
    return b.ReduceSum(losses, keepdims=0) if reduction == 2 else b.ReduceMean(losses, keepdims=0)


@rule("smooth_l1_loss")
def smooth_l1(
    b: Builder, x: ir.Value, target: ir.Value, reduction: int = 1, beta: float = 1.0
) -> ir.Value:
    apart = b.Abs(b.Sub(*promoted(b, x, target, dtype=b.out)))
    if beta:
        apart = _huber(b, apart, beta, 1 / beta, 1)
    return _reduced(b, apart, reduction)


@rule("huber_loss")
def huber(
    b: Builder, x: ir.Value, target: ir.Value, reduction: int = 1, delta: float = 1.0
) -> ir.Value:
    apart = b.Abs(b.Sub(*promoted(b, x, target, dtype=b.out)))
    return _reduced(b, _huber(b, apart, delta, 1, delta), reduction)


def _huber(b: Builder, apart: ir.Value, bound: float, curve: float, slope: float) -> ir.Value:
    """Half of a square below a bound, and a line above."""
    is_near = b.Less(apart, bound)
    # The square of infinity, which is not asked for, would have no gradient.
    near = b.Where(is_near, apart, b.scalar(0, b.out))
    square = b.Mul(b.Mul(near, near), curve / 2)
    return b.Where(is_near, square, b.Mul(b.Sub(apart, bound / 2), slope))


def _bounded(b: Builder, is_zero: ir.Value, logarithms: ir.Value) -> ir.Value:
    least = b.scalar(-100, dtype_of(logarithms))
    return b.Where(is_zero, least, b.Max(logarithms, least))


@rule("multilabel_margin_loss")
def multilabel_margin(
    b: Builder, scores: ir.Value, target: ir.Value, reduction: int = 1
) -> ir.Value:
    """Of labels up to the first -1, each against all classes that are none of them.

    torch's own decomposition also counts what is behind the -1.
    """
    if rank_of(scores) == 0:
        one = ir.Shape([1])
        scores, target = b.Reshape(scores, [1]), b.Reshape(target, [1])
        scores.shape = target.shape = one
    if rank_of(scores) == 1:
        result = multilabel_margin(b, b.with_axis(scores), b.with_axis(target), reduction)
        return b.Squeeze(result, [0]) if reduction == 0 else result
    dtype = dtype_of(scores)
    classes = b.size(scores, 1)
    ends = b.cast(b.Equal(target, -1), ir.DataType.INT64)
    counted = b.Unsqueeze(b.Equal(b.CumSum(ends, b.scalar(1)), 0), [2])
    labels = b.Where(b.Greater(target, 0), target, b.constant(0, dtype_of(target)))
    same = b.And(b.Equal(b.Unsqueeze(labels, [2]), b.range(0, classes)), counted)
    is_label = b.Cast(b.ReduceMax(b.cast(same, ir.DataType.INT32), [1]), to=ir.DataType.BOOL)
    own = b.Unsqueeze(b.GatherElements(scores, labels, axis=1), [2])
    margins = b.Relu(b.Add(b.Sub(b.Unsqueeze(scores, [1]), own), 1))
    zero = b.constant(0, dtype)
    losses = b.Where(b.And(counted, b.Not(is_label)), margins, zero)
    losses = b.Div(b.ReduceSum(losses, [1, 2], keepdims=0), b.cast(b.scalar(classes), dtype))
    if reduction == 0:
        return losses
    return b.ReduceSum(losses, keepdims=0) if reduction == 2 else b.ReduceMean(losses, keepdims=0)
