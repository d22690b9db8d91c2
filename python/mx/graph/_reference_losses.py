"""Losses of classes, of which onnx's reference implementations overflow where one is unlikely, and
add numbers of few bits as such."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy
from onnx.reference.op_run import OpRun

Array: TypeAlias = numpy.ndarray[Any, Any]


class NegativeLogLikelihoodLoss(OpRun):
    """What is lost by logarithms of probabilities (N, C, ...), of the classes (N, ...)."""

    op_domain = ""

    def _run(
        self,
        x: Array,
        target: Array,
        weight: Array | None = None,
        ignore_index: int | None = None,
        reduction: str | None = None,
    ) -> tuple[Array]:
        return (_loss(_wide(x), target, weight, ignore_index, reduction).astype(x.dtype),)


class SoftmaxCrossEntropyLoss(OpRun):
    """The same by scores, which are no logarithms yet; these, too, where they are asked for."""

    op_domain = ""

    def _run(
        self,
        x: Array,
        target: Array,
        weight: Array | None = None,
        ignore_index: int | None = None,
        reduction: str | None = None,
    ) -> tuple[Array, ...]:
        wide = _wide(x)
        behind = wide - wide.max(axis=1, keepdims=True, initial=-numpy.inf)
        logarithms = behind - numpy.log(numpy.exp(behind).sum(axis=1, keepdims=True))
        found = _loss(logarithms, target, weight, ignore_index, reduction), logarithms
        return tuple(one.astype(x.dtype) for one in found[: len(self.onnx_node.output)])


def _wide(x: Array) -> Array:
    return x.astype(numpy.result_type(x.dtype, numpy.float32))


def _loss(
    logarithms: Array,
    target: Array,
    weight: Array | None,
    ignored: int | None,
    reduction: str | None,
) -> Array:
    is_used = numpy.ones(target.shape, bool) if ignored is None else target != ignored
    classes = numpy.where(is_used, target, 0).astype("int64")
    share = numpy.ones(target.shape) if weight is None else weight.astype("float64")[classes]
    share = numpy.where(is_used, share, 0)
    taken = numpy.take_along_axis(logarithms, classes[:, None], axis=1)[:, 0]
    # What is left out is nothing, even if its logarithm is infinite.
    lost = numpy.where(is_used, -taken * share, 0)
    if reduction == "none":
        return numpy.asarray(lost)
    total = numpy.asarray(lost.sum(dtype="float64"))
    return total if reduction == "sum" else numpy.asarray(total / share.sum())


OPERATORS = [NegativeLogLikelihoodLoss, SoftmaxCrossEntropyLoss]
