"""The cross entropy of classes in training, and its gradient."""

from __future__ import annotations

from collections.abc import Sequence

import numpy

from ._describe import Array, operator
from ._inference import Call, Spec


def _training(call: Call) -> Sequence[Spec]:
    scores, labels = call.spec(0), call.spec(1)
    reduced = call.attributes["reduction"] not in ("none", b"none")
    return [Spec(scores.dtype, () if reduced else labels.shape), scores]


def _weights_of(labels: Array, weights: Array | None, ignore: int, dtype: numpy.dtype) -> Array:
    """The weight of each label, 0 for those that are ignored; and labels that are classes."""
    counted = labels != ignore
    if weights is None:
        return counted.astype(dtype)
    return numpy.where(counted, weights[numpy.where(counted, labels, 0)], 0).astype(dtype)


@operator("SoftmaxCrossEntropyTraining", "loss log_prob", _training)
def cross_entropy_training(
    scores: Array,
    labels: Array,
    weights: Array | None = None,
    *,
    reduction: str = "mean",
    ignore_index: int = -100,
) -> tuple[Array, ...]:
    """SoftmaxCrossEntropyLoss over axis 1: the mean, the sum, or with "none" each one's loss.

    The mean is that of the labels other than ignore_index, weighted by their classes' weights.
    log_prob, the logarithm of softmax, is what the gradient needs.
    """
    top = scores.max(1, keepdims=True)
    shifted = scores - top
    log_prob = shifted - numpy.log(numpy.exp(shifted).sum(1, keepdims=True))
    share = _weights_of(labels, weights, ignore_index, scores.dtype)
    classes = numpy.where(labels == ignore_index, 0, labels)
    picked = numpy.take_along_axis(log_prob, numpy.expand_dims(classes, 1), 1)[:, 0]
    losses = numpy.where(share == 0, 0, -picked * share).astype(scores.dtype)
    if reduction == "none":
        return losses, log_prob
    total = losses.sum(dtype=scores.dtype)
    if reduction == "mean":
        total = total / share.sum(dtype=scores.dtype)
    return numpy.asarray(total, scores.dtype), log_prob


@operator("SoftmaxCrossEntropyGrad", "dscores", lambda call: [call.spec(1)])
def cross_entropy_grad(
    dloss: Array,
    log_prob: Array,
    labels: Array,
    weights: Array | None = None,
    *,
    reduction: str = "mean",
    ignore_index: int = -100,
) -> Array:
    """The gradient of SoftmaxCrossEntropyTraining's loss for the scores."""
    share = _weights_of(labels, weights, ignore_index, log_prob.dtype)
    factor = share * dloss
    if reduction == "mean":
        factor = factor / share.sum(dtype=share.dtype)
    # Not 0 / 0, which the mean of no labels would make.
    factor = numpy.where(share == 0, 0, factor)
    wide = numpy.expand_dims(factor, 1)
    made = numpy.exp(log_prob) * wide
    classes = numpy.expand_dims(numpy.where(labels == ignore_index, 0, labels), 1)
    at_class = numpy.take_along_axis(made, classes, 1) - wide
    numpy.put_along_axis(made, classes, at_class, 1)
    return made.astype(log_prob.dtype)
