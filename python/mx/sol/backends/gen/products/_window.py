"""The windows of convolutions: which elements of the input a result reads."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from .....graph.lowering._value import Declined
from .._kernel import Spec


@dataclass(frozen=True)
class Window:
    """A convolution of two spatial dimensions, with what it reads for one result."""

    batch: int
    groups: int
    channels: int  # of the input, in a group
    results: int  # of the output, in a group
    high: int  # of the input
    wide: int
    taps_high: int
    taps_wide: int
    out_high: int
    out_wide: int
    strides: tuple[int, int]
    dilations: tuple[int, int]
    pads: tuple[int, int]  # before; what lies behind follows from the sizes

    @property
    def taps(self) -> int:
        """How many elements of a channel one result reads."""
        return self.taps_high * self.taps_wide

    @property
    def pixels(self) -> int:
        """Results of a channel."""
        return self.out_high * self.out_wide

    @property
    def is_inside(self) -> bool:
        """Whether every window lies within the input."""
        reach = [
            (extent - 1) * stride + (taps - 1) * dilation - pad < limit
            for extent, stride, taps, dilation, pad, limit in (
                (
                    self.out_high,
                    self.strides[0],
                    self.taps_high,
                    self.dilations[0],
                    self.pads[0],
                    self.high,
                ),
                (
                    self.out_wide,
                    self.strides[1],
                    self.taps_wide,
                    self.dilations[1],
                    self.pads[1],
                    self.wide,
                ),
            )
        ]
        return self.pads == (0, 0) and all(reach)


def ints(given: Any, count: int, default: int) -> list[int]:
    """An attribute of integers, or so many of a default."""
    return [int(one) for one in given] if given is not None else [default] * count


def window_of(
    x: Spec, w_shape: Sequence[int], attributes: dict[str, Any]
) -> tuple[Window, tuple[int, ...]]:
    """The window of a Conv of ONNX, and the shape of its output; one spatial dimension is seen as
    two. Declined for more than two, and for shapes that do not fit."""
    count = len(x.shape) - 2
    if count not in (1, 2) or len(w_shape) != count + 2:
        raise Declined(f"only 1 or 2 spatial dimensions, got shape {x.shape}")
    groups = int(attributes.get("group", 1))
    strides = ints(attributes.get("strides"), count, 1)
    dilations = ints(attributes.get("dilations"), count, 1)
    pads = ints(attributes.get("pads"), 2 * count, 0)
    taps = list(w_shape[2:])
    if tuple(attributes.get("kernel_shape", taps)) != tuple(taps):
        raise Declined(f"kernel_shape {attributes['kernel_shape']} for weights of {tuple(w_shape)}")
    if groups < 1 or w_shape[1] * groups != x.shape[1] or w_shape[0] % groups:
        raise Declined(f"weights of shape {tuple(w_shape)} for {x.shape[1]} channels")
    auto = attributes.get("auto_pad", "NOTSET")
    auto = auto.decode() if isinstance(auto, bytes) else auto
    spatial = x.shape[2:]
    outs = []
    for axis in range(count):
        span = (taps[axis] - 1) * dilations[axis] + 1
        if auto in ("SAME_UPPER", "SAME_LOWER"):
            out = -(-spatial[axis] // strides[axis])
            total = max(0, (out - 1) * strides[axis] + span - spatial[axis])
            pads[axis] = total // 2 if auto == "SAME_UPPER" else total - total // 2
            pads[count + axis] = total - pads[axis]
        elif auto == "VALID":
            pads[axis] = pads[count + axis] = 0
        if min(pads[axis], pads[count + axis]) < 0:
            raise Declined(f"pads: none below zero, got {pads}")
        room = spatial[axis] + pads[axis] + pads[count + axis] - span
        if room < 0 or taps[axis] < 1:
            raise Declined(f"a window of {span} in {spatial[axis]} elements")
        outs.append(room // strides[axis] + 1)
    is_line = count == 1

    def pair(values: Sequence[int], missing: int) -> tuple[int, int]:
        return (missing, values[0]) if is_line else (values[0], values[1])

    window = Window(
        x.shape[0],
        groups,
        w_shape[1],
        w_shape[0] // groups,
        *pair(spatial, 1),
        *pair(taps, 1),
        *pair(outs, 1),
        pair(strides, 1),
        pair(dilations, 1),
        pair(pads, 0),
    )
    return window, (x.shape[0], w_shape[0], *outs)


@dataclass(frozen=True)
class Rows:
    """Rows of the input as windows of stride 1 read them: copied with what surrounds them, and
    for other strides as one image for each remainder of the position divided by the stride.

    Tap t of the result at row r and column c lies at taps[t] + r * wide + c of its channel.
    """

    wide: int  # elements of a row
    phases: tuple[tuple[int, int], ...]
    more: int  # rows that a result reads behind its own
    is_copied: bool

    @staticmethod
    def of(window: Window, may_read_behind: bool) -> Rows:
        """How to lay them out. Rows that lie right already are not copied, unless whole vectors
        must not be read where they end."""
        step_h, step_w = window.strides
        far_h = [i * window.dilations[0] for i in range(window.taps_high)]
        far_w = [j * window.dilations[1] for j in range(window.taps_wide)]
        phases = sorted({(i % step_h, j % step_w) for i in far_h for j in far_w})
        wide = window.out_wide + max(j // step_w for j in far_w)
        more = max(i // step_h for i in far_h)
        stays = window.strides == (1, 1) and window.is_inside
        if stays and (may_read_behind or (wide == window.out_wide == window.wide)):
            return Rows(window.wide, ((0, 0),), more, False)
        return Rows(wide, tuple(phases), more, True)

    def plane(self, rows: int) -> int:
        """Elements of a channel, for results of so many rows."""
        return len(self.phases) * (rows + self.more) * self.wide

    def taps(self, window: Window, rows: int) -> list[int]:
        """Where the taps of a window begin."""
        found = []
        for i in range(window.taps_high):
            for j in range(window.taps_wide):
                high, low = divmod(i * window.dilations[0], window.strides[0])
                right, left = divmod(j * window.dilations[1], window.strides[1])
                phase = self.phases.index((low, left))
                found.append((phase * (rows + self.more) + high) * self.wide + right)
        return found
