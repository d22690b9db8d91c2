"""Convolutions of small images: mx has a kernel that does what follows them, too."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import ffi

from ._lowering import Lowering
from ._value import Follower, Value

_kernel = ffi.get_global_func("mx.graph.small_convolution")
_suits = ffi.get_global_func("mx.graph.suits_small_convolution")
_fits = ffi.get_global_func("mx.graph.fits_small_convolution")


@dataclass(frozen=True)
class SmallConvolution:
    """One that mx is estimated to be faster at than other backends."""

    x: Value
    weight: Value
    bias: Value | None
    strides: Sequence[int]
    pads: Sequence[int]
    dilations: Sequence[int]
    relu: bool
    pools: bool

    @property
    def taken(self) -> int:
        """How many followers its kernel does."""
        return self.relu + self.pools

    def lower(self, to: Lowering) -> Value:
        """Adds the step, and takes the followers that it does."""
        assert self.weight.known is not None
        bias = self.bias.known if self.bias is not None else None
        kernel = to.kernel(
            _kernel,
            self.x.shape,
            self.weight.known.array,
            None if bias is None else bias.array,
            self.strides,
            self.pads,
            self.dilations,
            self.relu,
            self.pools,
        )
        (made,) = to.step(kernel, [to.row_major(self.x)])
        to.taken = self.taken
        return made


def small_convolution(
    to: Lowering,
    x: Value,
    weight: Value,
    bias: Value | None,
    strides: Sequence[int],
    pads: Sequence[int],
    dilations: Sequence[int],
    group: int,
    is_last: bool = False,
    may_follow: bool = True,
) -> SmallConvolution | None:
    """What mx does for a Conv and those behind it; None where others are asked. `is_last` says that
    nobody else has a kernel for it, so that it may be of larger images,
    `may_follow` whether its kernel may do what follows the node.

    `pads` are those before and behind the axes, beginnings first, as Conv has them.
    """
    if len(x.shape) != 4 or len(weight.shape) != 4 or group != 1 or to.precision:
        return None
    if any(value is not None and value.dtype != "float32" for value in (x, weight, bias)):
        return None
    # Channels in blocks are what a kernel of oneDNN has left for the next one.
    if x.known is not None or x.layout is not None or weight.known is None:
        return None
    if bias is not None and (bias.known is None or bias.shape != weight.shape[:1]):
        return None
    if x.shape[1] != weight.shape[1] or 0 in (*x.shape, *weight.shape) or min(pads) < 0:
        return None
    relu, pools = _followers(to) if may_follow else (False, False)
    if not (_fits if is_last else _suits)(x.shape, weight.shape, strides, pads, dilations, pools):
        return None
    return SmallConvolution(x, weight, bias, strides, pads, dilations, relu, pools)


def _followers(to: Lowering) -> tuple[bool, bool]:
    """Whether the next nodes are a Relu, a pool that the kernel does, or both in any order."""
    relu = pools = False
    for index in range(2):
        follower = to.followers.get(index)
        if follower is not None and follower.operator == "Relu" and not relu:
            relu = True
        elif follower is not None and not pools and _is_pool(to, follower):
            pools = True
        else:
            break
    return relu, pools


def _is_pool(to: Lowering, follower: Follower) -> bool:
    """Whether it takes the largest of each two by two elements, of whole windows only."""
    given = follower.attributes
    return (
        follower.operator == "MaxPool"
        and not to.keep_nan
        and list(given.get("kernel_shape", ())) == [2, 2]
        and list(given.get("strides", ())) == [2, 2]
        and given.get("auto_pad", "NOTSET") in ("NOTSET", "VALID", "")
        and not any(given.get("pads", ()))
        and all(gap == 1 for gap in given.get("dilations", ()))
        and not given.get("ceil_mode", 0)
    )
