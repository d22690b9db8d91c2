"""What torch has of layers and regions, called with the inputs of ONNX's operators."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import nn
from torch.nn import functional as F

# The number that each of torch's gates has in ONNX.
_GATES = {"LSTM": (0, 2, 3, 1), "GRU": (1, 0, 2), "RNN": (0,)}


def recurrent(
    operator: str, is_reverse: bool = False, is_batch_first: bool = False, **options: Any
) -> Callable[..., Any]:
    """nn.LSTM, nn.GRU or nn.RNN; a GRU resets behind the product, as `linear_before_reset`."""

    def call(
        x: Any, w: Any, r: Any, b: Any = None, lengths: Any = None, *states: Any
    ) -> tuple[Any, ...]:
        directions, hidden = w.shape[0], r.shape[2]
        if is_batch_first:
            x, *states = (one.transpose(0, 1) for one in (x, *states))
        layer = getattr(nn, operator)(
            x.shape[2], hidden, bias=b is not None, bidirectional=directions == 2, **options
        )
        x = x.flip(0) if is_reverse else x
        if lengths is not None:
            packed = nn.utils.rnn.pack_padded_sequence(x, lengths, enforce_sorted=False)
        weights = {}
        for n, suffix in enumerate(("", "_reverse")[:directions]):
            of_biases = [] if b is None else b[n].chunk(2)
            names = "weight_ih", "weight_hh", "bias_ih", "bias_hh"
            for name, one in zip(names, (w[n], r[n], *of_biases), strict=False):
                gates = one.chunk(len(_GATES[operator]))
                ordered = torch.cat([gates[gate] for gate in _GATES[operator]])
                weights[f"{name}_l0{suffix}"] = ordered
        begin = () if not states else (states[0] if len(states) == 1 else tuple(states),)
        given = (x if lengths is None else packed, *begin)
        y, last = torch.func.functional_call(layer, weights, given)
        if lengths is not None:
            y, _ = nn.utils.rnn.pad_packed_sequence(y, total_length=len(x))
        y = y.flip(0) if is_reverse else y
        y = y.reshape(*y.shape[:2], directions, hidden)
        outputs = [y.permute(1, 0, 2, 3) if is_batch_first else y.permute(0, 2, 1, 3)]
        ends = last if isinstance(last, tuple) else (last,)
        return *outputs, *(one.transpose(0, 1) if is_batch_first else one for one in ends)

    return call


def deformed(
    group: int = 1,
    offset_group: int = 1,
    strides: Sequence[int] = (1, 1),
    pads: Sequence[int] = (0, 0, 0, 0),
    dilations: Sequence[int] = (1, 1),
) -> Callable[..., Any]:
    """A deformed convolution of images, by torch's samples of the image at all positions."""

    def call(x: Any, w: Any, offsets: Any, b: Any = None, mask: Any = None) -> Any:
        batch, channels, height, width = x.shape
        rows, columns = offsets.shape[2:]
        kernel = w.shape[2:]
        at = offsets.reshape(batch, offset_group, *kernel, 2, rows, columns)
        tops, lefts = (
            torch.arange(count) * stride - pad
            for count, stride, pad in zip((rows, columns), strides, pads[:2], strict=True)
        )
        y = at[:, :, :, :, 0] + tops[:, None] + steps(kernel[0], dilations[0])[:, None, None, None]
        x_at = at[:, :, :, :, 1] + lefts + steps(kernel[1], dilations[1])[:, None, None]
        # From -1 to 1 are the middles of the first and of the last element.
        grid = torch.stack([2 * x_at / (width - 1) - 1, 2 * y / (height - 1) - 1], -1)
        grid = grid.reshape(batch * offset_group, -1, columns, 2)
        parts = x.reshape(batch * offset_group, channels // offset_group, height, width)
        found = F.grid_sample(parts, grid, padding_mode="zeros", align_corners=True)
        found = found.reshape(batch, offset_group, -1, *kernel, rows, columns)
        if mask is not None:
            found = found * mask.reshape(batch, offset_group, 1, *kernel, rows, columns)
        found = found.reshape(batch, group, channels // group, *kernel, rows, columns)
        weights = w.reshape(group, -1, *w.shape[1:])
        made = torch.einsum("ngcijrs,gocij->ngors", found, weights)
        made = made.reshape(batch, -1, rows, columns)
        return made if b is None else made + b[:, None, None]

    return call


def steps(count: int, gap: int) -> Any:
    """Where the elements of a kernel are along an axis."""
    return torch.arange(count) * gap


def aligned_regions(
    size: tuple[int, int], samples: int, scale: float = 1.0, half: float = 0.5
) -> Callable[..., Any]:
    """Means of samples of regions that lie inside of their images."""

    def call(x: Any, regions: Any, images: Any) -> Any:
        height, width = x.shape[2:]
        found = []
        for region, image in zip(regions * scale - half, images, strict=True):
            axes = []
            for first, last, count in zip(region[:2], region[2:], size[::-1], strict=True):
                middles = (torch.arange(count * samples, dtype=x.dtype) + 0.5) / (count * samples)
                axes.append(first + (last - first) * middles)
            across, down = torch.meshgrid(*axes, indexing="xy")
            grid = torch.stack([2 * across / (width - 1) - 1, 2 * down / (height - 1) - 1], -1)
            values = F.grid_sample(
                x[image][None], grid[None], padding_mode="border", align_corners=True
            )
            found.append(F.avg_pool2d(values, samples))
        return torch.cat(found)

    return call


def largest_of_regions(size: tuple[int, int], boxes: Sequence[Any]) -> Callable[..., Any]:
    """Maxima of parts of regions: of an image, rows and columns, or nothing for an empty one."""

    def call(x: Any, _: Any) -> Any:
        made = [
            x.new_zeros(x.shape[1], *size)
            if box is None
            else F.adaptive_max_pool2d(x[box[0]][:, box[1], box[2]], size)
            for box in boxes
        ]
        return torch.stack(made)

    return call
