"""Conv of tensors whose channels are last, which the passes of deployments make of Conv."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy

from .....graph.lowering._node import PRECISION
from .....graph.lowering._value import Declined
from .._kernel import GenKernel, Spec
from .._table import Known
from .._target import Target
from ._depthwise_last import DepthwiseLast
from ._epilogue import Step
from ._inputs import Positions, needed, nothing, operands_of
from ._last import FirstToLastConvolution, LastConvolution
from ._pixel_tile import tile_shape
from ._problem import Product
from ._rounded import emit_product
from ._window import Window, window_of
from ._winograd import WinogradConvolution, is_faster, part

# The name of the operator in groups. Its input is of the shape (N, H, W, C), or, with the attribute
# READS_FIRST, of (N, C, H, W); weights are as Conv has them; the output is of (N, H, W, C).
CONV_LAST = "ConvChannelsLast"
READS_FIRST = "reads_first"

# Targets whose convolutions of windows of one element, and of each channel on its own, take 0.5 to
# 1.1 of the time of oneDNN's, 0.85 on the whole: MobileNetV2, EfficientNet and ResNet-50 at batches
# of 1 and 16, two threads of an Intel Xeon, AVX2 and AVX-512, 2026-11-29.
_FASTER = ("avx2", "avx512")
# Where strides leave elements out, 0.7 to 0.9 with AVX-512, for so many weights.
_MANY_WEIGHTS = 1 << 18
# Targets where all convolutions do that are in one group and have a vector of results: those of
# ResNet-50 with strides or windows of 3 x 3 take 0.6 to 0.85 of the time of oneDNN's, two threads
# of an AMD EPYC (Zen 3), 2026-11-29.
_ALL_FASTER = ("avx2",)
# Images of so few channels are those that models are given: oneDNN reads their elements one by one.
_FEW_CHANNELS = 4
_MOST_TAPS = 49
_SAVED = 0.2


def convolution_last(
    target: Target,
    inputs: Sequence[Spec | None],
    attributes: dict[str, Any],
    known: Known,
    epilogue: Sequence[Step] = (),
    positions: Positions | None = None,
) -> GenKernel:
    """Conv of two spatial dimensions with constant weights, then the epilogue."""
    x, w = needed(inputs, 2)
    positions = positions or Positions.of(inputs, epilogue)
    if 1 not in known:
        raise Declined("weights that are no constant")
    if len(x.shape) != 4:
        raise Declined(f"only 2 spatial dimensions, got shape {x.shape}")
    attributes = dict(attributes)
    reads_first = bool(attributes.pop(READS_FIRST, False))
    shape = x.shape if reads_first else tuple(x.shape[axis] for axis in (0, 3, 1, 2))
    window, (batch, count, *spatial) = window_of(Spec(shape, x.dtype), w.shape, attributes)
    result = Spec((batch, *spatial, count), "float32")
    steps = list(epilogue)
    bias = inputs[2] if len(inputs) > 2 else None
    if bias is not None:
        steps.insert(0, Step.binary("Add", bias, positions.at[2]))
    operands = operands_of(steps, 2 + (bias is not None), result, -1, 3)
    if not result.size or not x.size:
        return nothing("conv", (result,))
    if is_depthwise(window) and not reads_first:
        kind: Any = DepthwiseLast
    elif window.groups > 1:
        raise Declined("groups of channels")
    elif not reads_first and _is_product(window):
        matrix = known[1].reshape(window.results, window.channels)
        return emit_product(
            target,
            Product(
                "conv",
                window.batch * window.pixels,
                window.results,
                window.channels,
                (result,),
                positions.count,
                positions.at[0],
                weights=matrix.T.astype(numpy.float32, copy=False),
                steps=tuple(steps),
                operands=operands,
                rounds=attributes.get(PRECISION) == "bfloat16",
            ),
        )
    elif not reads_first and is_faster(window, target):
        kind = WinogradConvolution
    else:
        kind = FirstToLastConvolution if reads_first else LastConvolution
    made: GenKernel = kind(target, window, known[1], result, steps, operands, positions).kernel()
    return made


def is_depthwise(window: Window) -> bool:
    """Whether each channel is convolved on its own."""
    return window.channels == window.results == 1 and window.groups > 1


def _is_product(window: Window) -> bool:
    """Whether pixels are rows of a matrix, one behind the other."""
    return _is_of_pixels(window) and window.strides == (1, 1)


def _is_of_pixels(window: Window) -> bool:
    """Whether each window is one pixel of the input."""
    return window.taps == window.groups == 1 and window.is_inside


def starts_images(
    x: Sequence[int], weight: Sequence[int], attributes: dict[str, Any], target: Target
) -> bool:
    """Whether a Conv reads images (N, C, H, W) of few channels, and had better give many last."""
    results, channels, *taps = weight
    is_wide = results % target.lanes == 0 and attributes.get("group", 1) == 1
    is_few = x[1] == channels <= _FEW_CHANNELS and math.prod(taps) <= _MOST_TAPS
    return target.name in _FASTER and is_wide and is_few


def saves(x: Spec, weight: Spec, attributes: dict[str, Any], target: Target) -> float:
    """The part of the time of a Conv that is expected to be saved, beside kernels that multiply
    elements as they are; `x` has the shape (N, C, H, W)."""
    if len(x.shape) != 4 or not x.size:
        return 0.0
    try:
        window, _ = window_of(x, weight.shape, attributes)
    except Declined:
        return 0.0
    if is_faster(window, target):
        return 1 - part(window, target)
    return _SAVED if _is_quick(window, target) else 0.0


def _is_quick(window: Window, target: Target) -> bool:
    """Whether a convolution is one that takes less than others' kernels do."""
    # A row is bound by the time that it takes to read the weights.
    if target.name not in _FASTER or window.batch * window.pixels < 2:
        return False
    if is_depthwise(window) or _is_product(window):
        return True
    is_quick = target.name in _ALL_FASTER or window.channels <= _FEW_CHANNELS
    if window.groups == 1 and window.results >= target.lanes and is_quick:
        return True
    is_large = window.results * window.channels >= _MANY_WEIGHTS
    return _is_of_pixels(window) and is_large and target.name == "avx512"


def cycles_of_last(window: Window, target: Target) -> float:
    """Cycles for an image."""
    return tile_shape(window, target).cycles
