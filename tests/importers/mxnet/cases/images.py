"""Cases: images."""

import numpy as np
import torch.nn.functional as F

from .data import IMAGE, RNG, Case, f32, of_torch

IMAGES: list[Case] = [
    (
        "GridGenerator",
        {"transform_type": "affine", "target_shape": (3, 5)},
        [f32(2, 6)],
        of_torch(
            lambda m: F.affine_grid(m.view(2, 2, 3), [2, 1, 3, 5], align_corners=True).permute(
                0, 3, 1, 2
            )
        ),
    ),
    (
        "SpatialTransformer",
        {"transform_type": "affine", "sampler_type": "bilinear", "target_shape": (3, 5)},
        [IMAGE, f32(2, 6)],
        of_torch(
            lambda x, m: F.grid_sample(
                x,
                F.affine_grid(m.view(2, 2, 3), [2, 1, 3, 5], align_corners=True),
                align_corners=True,
            )
        ),
    ),
    (
        "UpSampling",
        {"scale": 2, "sample_type": "nearest"},
        [IMAGE],
        lambda x: x.repeat(2, 2).repeat(2, 3),
    ),
    (
        "UpSampling",
        {"scale": 2, "sample_type": "nearest"},
        [IMAGE, np.ascontiguousarray(IMAGE.repeat(2, 2).repeat(2, 3))],
        lambda x, y: np.concatenate([x.repeat(2, 2).repeat(2, 3), y], 1),
    ),
    (
        "UpSampling",
        {"scale": 2, "sample_type": "bilinear", "num_filter": 4, "num_args": 2},
        [IMAGE, f32(4, 1, 4, 4)],
        of_torch(lambda x, w: F.conv_transpose2d(x, w, None, 2, 1, groups=4)),
    ),
    (
        "_contrib_BilinearResize2D",
        {"height": 5, "width": 12},
        [IMAGE],
        of_torch(lambda x: F.interpolate(x, (5, 12), mode="bilinear", align_corners=True)),
    ),
    (
        "_contrib_BilinearResize2D",
        {"mode": "like", "align_corners": False},
        [IMAGE, f32(1, 1, 18, 16)],
        of_torch(lambda x, y: F.interpolate(x, (18, 16), mode="bilinear", align_corners=False)),
    ),
    ("Crop", {"h_w": (3, 4), "offset": (1, 2)}, [IMAGE], lambda x: x[:, :, 1:4, 2:6]),
    ("Crop", {"center_crop": True}, [IMAGE, f32(1, 1, 5, 4)], lambda x, y: x[:, :, 2:7, 2:6]),
    (
        "BilinearSampler",
        {},
        [IMAGE, RNG.uniform(-1, 1, (2, 2, 3, 5)).astype("float32")],
        of_torch(lambda x, g: F.grid_sample(x, g.permute(0, 2, 3, 1), align_corners=True)),
    ),
]
