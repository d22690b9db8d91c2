"""Cases: sequences."""

import numpy as np

from .data import Case, f32

LENGTHS = np.array([1, 3], "float32")
TIME = f32(4, 2, 3)


def masked(x: np.ndarray, n: np.ndarray, value: float = 0) -> np.ndarray:
    return np.where(np.arange(len(x))[:, None, None] < n[:, None], x, value).astype("float32")


def reversed_to(x: np.ndarray, n: np.ndarray) -> np.ndarray:
    x = x.copy()
    for i, k in enumerate(n.astype(int)):
        x[:k, i] = x[:k, i][::-1]
    return x


SEQUENCES: list[Case] = [
    ("SequenceMask", {}, [TIME], lambda x: x),
    (
        "SequenceMask",
        {"use_sequence_length": True, "value": -1},
        [TIME, LENGTHS],
        lambda x, n: masked(x, n, -1),
    ),
    (
        "SequenceMask",
        {"use_sequence_length": True, "axis": 1},
        [TIME.swapaxes(0, 1).copy(), LENGTHS],
        lambda x, n: masked(x.swapaxes(0, 1), n).swapaxes(0, 1),
    ),
    ("SequenceLast", {}, [TIME], lambda x: x[-1]),
    (
        "SequenceLast",
        {"use_sequence_length": True},
        [TIME, LENGTHS],
        lambda x, n: x[[0, 2], [0, 1]],
    ),
    (
        "SequenceLast",
        {"use_sequence_length": True, "axis": 1},
        [TIME.swapaxes(0, 1).copy(), LENGTHS],
        lambda x, n: x[[0, 1], [0, 2]],
    ),
    ("SequenceReverse", {}, [TIME], lambda x: x[::-1]),
    ("SequenceReverse", {"use_sequence_length": True}, [TIME, LENGTHS], reversed_to),
]
