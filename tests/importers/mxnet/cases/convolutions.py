"""Cases: convolutions and pools."""

from collections.abc import Callable
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F

from .data import BIAS, IMAGE, WEIGHT, Case, f32, last, of_torch

GROUPED = f32(6, 2, 3, 2)


def pooled(kind: str, **more: Any) -> Callable[..., Any]:
    function = {"max": F.max_pool2d, "avg": F.avg_pool2d}[kind]
    return of_torch(lambda x: function(x, **more))


def summed(x: np.ndarray, p: int = 1) -> np.ndarray:
    x = torch.from_numpy(x**p)
    return (F.avg_pool2d(x, (3, 2), (2, 1), divisor_override=1) ** (1 / p)).numpy()


CONVOLUTIONS: list[Case] = [
    (
        "Convolution",
        {"kernel": (3, 2), "num_filter": 6},
        [IMAGE, WEIGHT, BIAS],
        of_torch(F.conv2d),
    ),
    (
        "Convolution",
        {"kernel": "(3L, 2L)", "num_filter": 6, "stride": (2, 1), "pad": (1, 1), "dilate": "[2,1]"}
        | {"num_group": 2, "no_bias": True, "workspace": 512, "cudnn_tune": "off"},
        [IMAGE, GROUPED],
        of_torch(lambda x, w: F.conv2d(x, w, None, (2, 1), (1, 1), (2, 1), 2)),
    ),
    (
        "Convolution",
        {"kernel": (3, 2), "num_filter": 6, "layout": "NHWC"},
        [last(IMAGE), last(WEIGHT), BIAS],
        lambda x, w, b: last(of_torch(F.conv2d)(IMAGE, WEIGHT, b)),
    ),
    (
        "Convolution",
        {"kernel": (3,), "num_filter": 5},
        [f32(2, 3, 8), f32(5, 3, 3), f32(5)],
        of_torch(F.conv1d),
    ),
    (
        "Convolution",
        {"kernel": (2, 2, 2), "num_filter": 5},
        [f32(1, 3, 4, 4, 4), f32(5, 3, 2, 2, 2), f32(5)],
        of_torch(F.conv3d),
    ),
    (
        "Deconvolution",
        {"kernel": (3, 2), "num_filter": 5, "stride": (2, 2), "pad": (1, 0), "adj": (1, 1)},
        [IMAGE, f32(4, 5, 3, 2)],
        of_torch(lambda x, w: F.conv_transpose2d(x, w, None, (2, 2), (1, 0), (1, 1))),
    ),
    (
        "Deconvolution",
        {"kernel": (4, 4), "num_filter": 2, "stride": (2, 2), "no_bias": False}
        | {"target_shape": (18, 16)},
        [IMAGE, f32(4, 2, 4, 4), f32(2)],
        of_torch(lambda x, w, b: F.conv_transpose2d(x, w, b, 2, 1)),
    ),
    (
        "Pooling",
        {"kernel": (3, 2), "stride": (2, 1)},
        [IMAGE],
        pooled("max", kernel_size=(3, 2), stride=(2, 1)),
    ),
    (
        "Pooling",
        {"kernel": (3, 3), "stride": (2, 2), "pad": (1, 1), "pooling_convention": "full"},
        [IMAGE],
        pooled("max", kernel_size=3, stride=2, padding=1, ceil_mode=True),
    ),
    (
        "Pooling",
        {"kernel": (3, 3), "stride": (2, 2), "pad": (1, 1), "pool_type": "avg"},
        [IMAGE],
        pooled("avg", kernel_size=3, stride=2, padding=1),
    ),
    (
        "Pooling",
        {"kernel": (3, 3), "stride": (2, 2), "pad": (1, 1), "pool_type": "avg"}
        | {"pooling_convention": "full", "count_include_pad": False},
        [IMAGE],
        pooled("avg", kernel_size=3, stride=2, padding=1, ceil_mode=True, count_include_pad=False),
    ),
    (
        "Pooling",
        {"kernel": (3, 3), "stride": (2, 2), "pool_type": "avg", "pooling_convention": "full"},
        [IMAGE],
        pooled("avg", kernel_size=3, stride=2, ceil_mode=True),
    ),
    (
        "Pooling",
        {"kernel": (2,), "stride": (2,), "pooling_convention": "same"},
        [f32(2, 3, 7)],
        of_torch(lambda x: F.max_pool1d(F.pad(x, (0, 1), value=-1e9), 2, 2)),
    ),
    ("Pooling", {"kernel": (3, 2), "stride": (2, 1), "pool_type": "sum"}, [IMAGE], summed),
    (
        "Pooling",
        {"kernel": (3, 2), "stride": (2, 1), "pool_type": "lp", "p_value": 2},
        [IMAGE],
        lambda x: summed(x, 2),
    ),
    ("Pooling", {"global_pool": True}, [IMAGE], lambda x: x.max((2, 3), keepdims=True)),
    (
        "Pooling",
        {"global_pool": True, "pool_type": "avg", "kernel": (7, 7)},
        [IMAGE],
        lambda x: x.mean((2, 3), keepdims=True),
    ),
    (
        "Pooling",
        {"global_pool": True, "pool_type": "sum", "layout": "NHWC"},
        [IMAGE],
        lambda x: x.sum((1, 2), keepdims=True),
    ),
    (
        "_contrib_AdaptiveAvgPooling2D",
        {"output_size": (3, 4)},
        [IMAGE],
        of_torch(lambda x: F.adaptive_avg_pool2d(x, (3, 4))),
    ),
    (
        "FullyConnected",
        {"num_hidden": 5},
        [f32(2, 3, 4), f32(5, 12), f32(5)],
        lambda x, w, b: x.reshape(2, 12) @ w.T + b,
    ),
    (
        "FullyConnected",
        {"num_hidden": 5, "flatten": False},
        [f32(2, 3, 4), f32(5, 4), f32(5)],
        lambda x, w, b: x @ w.T + b,
    ),
    (
        "FullyConnected",
        {"num_hidden": "5", "no_bias": "True"},
        [f32(2, 3), f32(5, 3)],
        lambda x, w: x @ w.T,
    ),
]
