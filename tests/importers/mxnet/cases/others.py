"""Cases: what belongs to none of the other tables."""

from collections.abc import Callable
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F

from .data import C4, COMPARED, IMAGE, ROIS, SAME, A, B, Case, batch_normalized, f32, of_torch


def roi_means(data: np.ndarray, rois: np.ndarray) -> np.ndarray:
    """The means of 2 by 2 cells of regions, of 2 by 2 samples each."""
    made = []
    for image, *corners in rois:
        x1, y1, x2, y2 = (c * 0.5 for c in corners)
        steps = (np.arange(4) + 0.5) / 4
        ys, xs = y1 + steps * max(y2 - y1, 1), x1 + steps * max(x2 - x1, 1)
        points = np.stack(np.meshgrid(2 * xs / 7 - 1, 2 * ys / 8 - 1), -1)[None].astype("float32")
        given = torch.from_numpy(data[int(image)][None]), torch.from_numpy(points)
        samples = F.grid_sample(*given, align_corners=True).numpy()
        made.append(samples.reshape(1, 4, 2, 2, 2, 2).mean((3, 5)))
    return np.concatenate(made)


STEPS = np.array([[1, 2, 3], [-4, 5, -6]])
SCALARS: dict[str, Callable[..., Any]] = {
    "subtract": np.subtract,
    "multiply": np.multiply,
    "mod": np.mod,
    "fmod": np.fmod,
    "floor_divide": np.floor_divide,
    "power": lambda x, n: abs(x) ** n,
    "ldexp": lambda x, n: x * 2**n,
    "logaddexp": np.logaddexp,
    "copysign": np.copysign,
    "arctan2": np.arctan2,
    "fmax": np.fmax,
    "fmin": np.fmin,
    **{name.replace("lesser", "less"): function for name, function in COMPARED.items()},
}

REVERSED = ("mod", "fmod", "floor_divide", "copysign", "arctan2")
REST: list[Case] = [
    *(
        (f"_npi_{n}_scalar", {"scalar": 2}, [abs(A)], lambda x, f=f: f(x, 2))
        for n, f in SCALARS.items()
    ),
    *((f"_npi_r{n}_scalar", {"scalar": 2}, [A], lambda x, n=n: SCALARS[n](2, x)) for n in REVERSED),
    ("_npi_rpower_scalar", {"scalar": 2}, [A], lambda x: 2**x),
    ("_npi_rldexp_scalar", {"scalar": 2}, [A], lambda x: 2 * 2**x),
    *(
        (
            f"_npi_bitwise_{n}_scalar",
            {"scalar": 6},
            [STEPS],
            lambda x, n=n: getattr(np, f"bitwise_{n}")(x, 6),
        )
        for n in ("and", "or", "xor")
    ),
    *(
        (f"_npi_{n}", {}, [A, B], getattr(np, n))
        for n in ("subtract", "multiply", "fmax", "fmin", "hypot")
    ),
    *((f"_npi_{n}", {}, [SAME[0]], getattr(np, n)) for n in ("isnan", "isfinite", "logical_not")),
    ("log_sigmoid", {}, [A], of_torch(F.logsigmoid)),
    ("mish", {}, [A], of_torch(F.mish)),
    ("make_loss", {}, [A], lambda x: x),
    ("_contrib_gradientmultiplier", {"scalar": 3}, [A], lambda x: x),
    ("_identity_with_attr_like_rhs", {}, [A, B], lambda a, b: a),
    ("IdentityAttachKLSparseReg", {}, [A, f32(3)], lambda x, m: x),
    ("_rnn_param_concat", {"dim": 0}, [f32(3), f32(2)], lambda a, b: np.r_[a, b]),
    ("_contrib_SyncBatchNorm", {"fix_gamma": False, "ndev": 2}, [IMAGE, *C4], batch_normalized),
    (
        "_contrib_BatchNormWithReLU",
        {"fix_gamma": False},
        [IMAGE, *C4],
        lambda *a: np.maximum(batch_normalized(*a), 0),
    ),
    (
        "_contrib_ROIAlign",
        {"pooled_size": (2, 2), "spatial_scale": 0.5, "sample_ratio": 2},
        [IMAGE, ROIS],
        roi_means,
    ),
]
