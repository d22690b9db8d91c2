"""Convolutions that are one product of matrices: those whose windows are of one element."""

from __future__ import annotations

import math
from collections.abc import Sequence

from .._lowering import Lowering
from .._value import Declined, Value
from .._windows import pads_of
from ._backend import Product, rule


@rule("Conv", since=1)
def _conv(
    to: Lowering,
    x: Value,
    weight: Value,
    bias: Value | None = None,
    *,
    auto_pad: str = "NOTSET",
    dilations: Sequence[int] | None = None,
    group: int = 1,
    kernel_shape: Sequence[int] | None = None,
    pads: Sequence[int] | None = None,
    strides: Sequence[int] | None = None,
) -> Value:
    spatial, kernel = x.shape[2:], weight.shape[2:]
    if group != 1 or any(extent != 1 for extent in (*kernel, *(strides or ()))):
        raise Declined("no product of matrices: windows of several elements, groups or strides")
    ones = [1] * len(spatial)
    if any(pads_of(auto_pad, pads, spatial, kernel, ones, ones)):
        raise Declined("no product of matrices: pads")
    if len(x.shape) < 3 or x.shape[1] != weight.shape[1]:
        raise Declined("shapes that do not go together")
    filters, channels = weight.shape[:2]
    windows = math.prod(spatial)
    images = to.reshape(to.plain(x), (x.shape[0], channels, windows))
    matrix = to.reshape(weight, (filters, channels))
    column = None if bias is None else to.reshape(bias, (filters, 1))
    # What is added behind it has other axes than the product.
    made = Product(matrix, images, column).lower(to, takes=("Relu",))
    return to.reshape(made, (x.shape[0], filters, *spatial))
