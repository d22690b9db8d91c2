"""Conv."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .....graph.lowering._value import Declined
from .._kernel import GenKernel, Spec
from .._table import Known, emits
from .._target import Target
from ._depthwise import DepthwiseConvolution
from ._epilogue import Step
from ._gather import GatherConvolution, cycles_of
from ._inputs import Positions, needed, nothing, operands_of
from ._kernels import ConvolutionKernel
from ._pixels import MOST_PIXELS, PixelConvolution, has_tiles, pixel_shape
from ._rows import RowConvolution, shape_of
from ._window import Window, window_of


@emits("Conv", since=1)
def convolution(
    target: Target,
    inputs: Sequence[Spec | None],
    attributes: dict[str, Any],
    known: Known,
    epilogue: Sequence[Step] = (),
    positions: Positions | None = None,
) -> GenKernel:
    """Conv of one or two spatial dimensions with constant weights, then the epilogue."""
    x, w = needed(inputs, 2)
    positions = positions or Positions.of(inputs, epilogue)
    if 1 not in known:
        raise Declined("weights that are no constant")
    window, shape = window_of(x, w.shape, attributes)
    result = Spec(shape, "float32")
    steps = list(epilogue)
    bias = inputs[2] if len(inputs) > 2 else None
    if bias is not None:
        spec = Spec((bias.shape[0], *(1,) * (len(shape) - 2)), bias.dtype)
        steps.insert(0, Step.binary("Add", spec, positions.at[2]))
    operands = operands_of(steps, 2 + (bias is not None), result, 1)
    if not result.size:
        return nothing("conv", (result,))
    is_depthwise = window.channels == window.results == 1 and window.groups > 1
    if is_depthwise and window.taps <= 49:
        kind: Any = DepthwiseConvolution
    else:
        costs = _costs(window, target)
        kind = min(costs, key=costs.__getitem__)
    made: GenKernel = kind(target, window, known[1], result, steps, operands, positions).kernel()
    return made


def _costs(window: Window, target: Target) -> dict[type[ConvolutionKernel], float]:
    """Cycles for an image by each way to compute it."""
    costs: dict[type[ConvolutionKernel], float] = {
        RowConvolution: shape_of(window, target).cycles,
        GatherConvolution: cycles_of(window, target),
    }
    if window.pixels <= MOST_PIXELS and has_tiles(window, target):
        costs[PixelConvolution] = pixel_shape(window, target).cycles
    return costs


def cycles_of_first(window: Window, target: Target) -> float:
    """Cycles for an image by the best way that reads and writes tensors as ONNX has them."""
    return min(_costs(window, target).values())
