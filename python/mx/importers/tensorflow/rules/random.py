"""Random numbers of models in training: they follow from the seed of the graph."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import onnx_ir as ir

from ..._builder import Size, dtype_of, shape_of
from ..._layout import permuted
from ..._training import DOMAIN, Training
from .._call import Builder, Call, Unsupported, rule


class Seed:
    """What stands for a seed among the values of operations."""


def dropout(b: Builder, settings: Sequence[str], x: ir.Value) -> list[ir.Value]:
    """A call that stands for dropout."""
    result = b.op(
        "DropoutTraining",
        x,
        _training(b).stream(b),
        ratio=float(settings[0]),
        domain=DOMAIN,
        outputs=2,
        dtype=[dtype_of(x), ir.DataType.BOOL],
    )[0]
    result.shape = x.shape
    return [result]


def batch_norm(b: Builder, settings: Sequence[str], values: Sequence[ir.Value]) -> list[ir.Value]:
    """A call that stands for batch normalization: its result, and the new statistics."""
    axis, momentum, epsilon = int(settings[0]), float(settings[1]), float(settings[2])
    x, scale, offset, mean, variance = values
    rest = [one for one in range(len(shape_of(x))) if one != axis]
    order = [rest[0], axis, *rest[1:]]
    images = permuted(b, x, order)
    result, *statistics = training_norm(
        b, [images, scale, offset, mean, variance], 1 - momentum, epsilon, unbiased=False
    )
    return [permuted(b, result, sorted(range(len(order)), key=order.__getitem__)), *statistics]


def training_norm(
    b: Builder, values: Sequence[ir.Value], momentum: float, epsilon: float, unbiased: bool
) -> list[ir.Value]:
    """Images normalized by the statistics of the batch, and the new moving ones."""
    images, scale = values[:2]
    kept = dtype_of(scale)
    result, mean, variance, _, _ = b.op(
        "BatchNormTraining",
        *values,
        domain=DOMAIN,
        epsilon=epsilon,
        momentum=momentum,
        unbiased=int(unbiased),
        outputs=5,
        dtype=[dtype_of(images), *[kept] * 4],
    )
    result.shape = images.shape
    mean.shape = variance.shape = scale.shape
    return [result, mean, variance]


def _training(b: Builder) -> Training:
    if b.training is None:
        raise Unsupported("random numbers, which models have in training alone")
    return b.training


def _sizes(b: Builder, call: Call, index: int) -> list[Size]:
    """The shape that is asked for: what TensorFlow knows of it, or what the model computes."""
    shape = call.shape()
    return [
        b.Squeeze(b.Slice(b.cast(call[index], ir.DataType.INT64), [n], [n + 1], [0]), [0])
        if one is None
        else one
        for n, one in enumerate(shape)
    ]


@rule("StatelessRandomGetKeyCounter")
def key(b: Builder, call: Call) -> list[Any]:
    _training(b)
    if not isinstance(call.inputs[0], Seed):
        raise Unsupported("random numbers of a seed that the model has or computes itself")
    return [Seed() for _ in call.op.outputs]


@rule("StatelessRandomGetAlg")
def algorithm(b: Builder, call: Call) -> Seed:
    return Seed()


@rule("StatelessRandomUniformV2", "RandomUniform")
def uniform(b: Builder, call: Call) -> ir.Value:
    return b.cast(_training(b).uniform(b, _sizes(b, call, 0)), call.out())


@rule("StatelessRandomNormalV2", "RandomStandardNormal")
def normal(b: Builder, call: Call) -> ir.Value:
    return b.cast(_training(b).normal(b, _sizes(b, call, 0)), call.out())
