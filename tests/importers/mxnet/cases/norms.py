"""Cases: normalizations."""

import numpy as np
import torch.nn.functional as F

from .data import C4, IMAGE, Case, batch_normalized, f32, last, of_torch


def normalized(x: np.ndarray, axes: tuple[int, ...], eps: float) -> np.ndarray:
    variance = x.var(axes, keepdims=True)
    return (x - x.mean(axes, keepdims=True)) / np.sqrt(variance + eps)


def with_channels(x: np.ndarray, gamma: np.ndarray, beta: np.ndarray) -> np.ndarray:
    return x * gamma[:, None, None] + beta[:, None, None]


NORMS: list[Case] = [
    (
        "BatchNorm",
        {},
        [IMAGE, *C4],
        lambda x, g, *more: batch_normalized(x, np.ones_like(g), *more),
    ),
    ("BatchNorm", {"fix_gamma": False, "use_global_stats": True}, [IMAGE, *C4], batch_normalized),
    (
        "BatchNorm",
        {"fix_gamma": "0", "axis": -1, "eps": 1e-3},
        [last(IMAGE), *C4],
        lambda x, *more: last(batch_normalized(IMAGE, *more)),
    ),
    (
        "BatchNorm",
        {"fix_gamma": False, "output_mean_var": True},
        [IMAGE, *C4],
        lambda x, g, b, m, v: [batch_normalized(x, g, b, m, v), m, 1 / np.sqrt(v + 1e-3)],
    ),
    (
        "LayerNorm",
        {},
        [f32(2, 3, 4), f32(4), f32(4)],
        lambda x, g, b: normalized(x, (2,), 1e-5) * g + b,
    ),
    (
        "LayerNorm",
        {"axis": 1, "output_mean_var": True},
        [f32(2, 3, 4), f32(3), f32(3)],
        lambda x, g, b: [
            normalized(x, (1,), 1e-5) * g[:, None] + b[:, None],
            x.mean(1, keepdims=True),
            np.sqrt(x.var(1, keepdims=True) + 1e-5),
        ],
    ),
    (
        "InstanceNorm",
        {},
        [IMAGE, *C4[:2]],
        lambda x, g, b: with_channels(normalized(x, (2, 3), 1e-3), g, b),
    ),
    (
        "GroupNorm",
        {"num_groups": 2},
        [IMAGE, *C4[:2]],
        of_torch(lambda x, g, b: F.group_norm(x, 2, g, b)),
    ),
    (
        "GroupNorm",
        {"num_groups": 2},
        [IMAGE, C4[0][:2], C4[1][:2]],
        lambda x, g, b: of_torch(lambda *a: F.group_norm(a[0], 2, *a[1:]))(
            x, g.repeat(2), b.repeat(2)
        ),
    ),
    *(
        (
            "L2Normalization",
            {"mode": mode},
            [IMAGE],
            lambda x, axes=axes: x / np.sqrt((x * x).sum(axes, keepdims=True) + 1e-10),
        )
        for mode, axes in (("instance", (1, 2, 3)), ("channel", (1,)), ("spatial", (2, 3)))
    ),
    (
        "LRN",
        {"nsize": 3, "alpha": 0.1},
        [f32(4, 4, 5, 6)],  # as many images as channels: the reference mixes them up
        of_torch(lambda x: F.local_response_norm(x, 3, 0.1, 0.75, 2.0)),
    ),
]
