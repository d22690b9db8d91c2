"""Operands and helpers that several tables of cases share."""

from collections.abc import Callable
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F

RNG = np.random.default_rng(7)
Case = tuple[str, dict[str, Any], list[np.ndarray], Any]


def f32(*shape: int) -> np.ndarray:
    return RNG.standard_normal(shape).astype("float32")


def positive(*shape: int) -> np.ndarray:
    return (RNG.random(shape) + 0.1).astype("float32")


def of_torch(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function of torch as one of NumPy."""

    def call(*arrays: np.ndarray) -> Any:
        out = function(*(torch.from_numpy(np.ascontiguousarray(a)) for a in arrays))
        if isinstance(out, (tuple, list)):
            return [one.detach().numpy() for one in out]
        return out.detach().numpy()

    return call


IMAGE, WEIGHT, BIAS = f32(2, 4, 9, 8), f32(6, 4, 3, 2), f32(6)
C4 = [positive(4) for _ in range(4)]


def last(x: np.ndarray) -> np.ndarray:
    return np.moveaxis(x, 1, -1)


def batch_normalized(x: Any, gamma: Any, beta: Any, mean: Any, variance: Any) -> Any:
    return of_torch(lambda x, g, b, m, v: F.batch_norm(x, m, v, g, b, training=False, eps=1e-3))(
        x, gamma, beta, mean, variance
    )


SMALL = f32(2, 3, 4)
A, B = f32(2, 3), f32(2, 3)
WHOLE, OTHER = np.array([[3, -4, 5], [7, 8, -9]]), np.array([[2, 3, -4], [-2, 3, 9]])
COMPARED = {
    "equal": np.equal,
    "not_equal": np.not_equal,
    "greater": np.greater,
    "greater_equal": np.greater_equal,
    "lesser": np.less,
    "lesser_equal": np.less_equal,
    "logical_and": np.logical_and,
    "logical_or": np.logical_or,
    "logical_xor": np.logical_xor,
}

SAME = np.array([[1, 0, 2], [0, 5, 1]], "float32"), np.array([[1, 2, 0], [0, 1, 1]], "float32")
ROIS = np.array([[1, 2, 2, 10, 12], [0, 0, 4, 6, 5]], "float32")
