"""Losses of classifiers; each has its gradient for the logits as a second output."""

from __future__ import annotations

import onnx_ir as ir

from ..._builder import dtype_of
from .._call import Builder, Call, rule


@rule("SparseSoftmaxCrossEntropyWithLogits")
def of_classes(b: Builder, call: Call) -> list[ir.Value]:
    logits, classes = call[0], b.cast(call[1], ir.DataType.INT64)
    loss = b.SoftmaxCrossEntropyLoss(logits, classes, reduction="none")
    values = b.constant([0, 1], dtype_of(logits))
    labels = b.OneHot(classes, b.scalar(b.size(logits, -1)), values, axis=-1)
    return [loss, b.Sub(b.Softmax(logits, axis=-1), labels)]


@rule("SoftmaxCrossEntropyWithLogits")
def of_probabilities(b: Builder, call: Call) -> list[ir.Value]:
    logits, labels = call[0], call[1]
    terms = b.Mul(labels, b.LogSoftmax(logits, axis=-1))
    loss = b.Neg(b.ReduceSum(terms, [-1], keepdims=0))
    return [loss, b.Sub(b.Softmax(logits, axis=-1), labels)]
