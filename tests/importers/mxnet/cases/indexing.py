"""Cases: indexing."""

import numpy as np

from .data import SMALL, A, Case, f32

EMBEDDED = np.array([[0, 4], [2, 9], [-3, 1]], "float32")
INDEXING: list[Case] = [
    (
        "Embedding",
        {"input_dim": 5, "output_dim": 3},
        [EMBEDDED, f32(5, 3)],
        lambda i, w: w[i.astype(int).clip(0, 4)],
    ),
    ("take", {}, [f32(5, 3), EMBEDDED], lambda x, i: x[i.astype(int).clip(0, 4)]),
    (
        "take",
        {"axis": 1, "mode": "wrap"},
        [f32(5, 3), EMBEDDED],
        lambda x, i: x[:, i.astype(int) % 3],
    ),
    ("take", {"axis": -1, "mode": "raise"}, [f32(5, 3), np.array([0, 2])], lambda x, i: x[:, i]),
    ("batch_take", {}, [A, np.array([2, 0], "int32")], lambda x, i: x[[0, 1], i]),
    ("pick", {}, [A, np.array([2, 7], "float32")], lambda x, i: x[[0, 1], [2, 2]]),
    (
        "pick",
        {"axis": 0, "keepdims": True},
        [A, np.array([1, 0, 1], "float32")],
        lambda x, i: x[[[1, 0, 1]], [[0, 1, 2]]],
    ),
    (
        "one_hot",
        {"depth": 3, "on_value": 2, "off_value": -1},
        [np.array([[0, 2], [-1, 5]], "float32")],
        lambda i: np.where(i[..., None] == np.arange(3), 2, -1).astype("float32"),
    ),
    (
        "one_hot",
        {"depth": 3, "dtype": "int32"},
        [np.array([1, 0])],
        lambda i: np.eye(3, dtype="int32")[i],
    ),
    ("gather_nd", {}, [SMALL, np.array([[0, 1, 1], [2, 0, 1]])], lambda x, i: x[i[0], i[1]]),
    (
        "scatter_nd",
        {"shape": (2, 3)},
        [np.array([5, 6], "float32"), np.array([[0, 1], [2, 0]])],
        lambda x, i: np.array([[0, 0, 5], [6, 0, 0]], "float32"),
    ),
    (
        "_contrib_boolean_mask",
        {},
        [A, np.array([0, 1], "float32")],
        lambda x, i: x[i != 0],
    ),
    ("sort", {}, [SMALL], np.sort),
    ("sort", {"axis": 0, "is_ascend": False}, [SMALL], lambda x: np.sort(x, 0)[::-1]),
    ("sort", {"axis": None}, [SMALL], lambda x: np.sort(x, None)),
    ("argsort", {}, [SMALL], lambda x: np.argsort(x).astype("float32")),
    ("argsort", {"axis": 1, "dtype": "int32"}, [SMALL], lambda x: np.argsort(x, 1).astype("int32")),
    ("topk", {"k": 2}, [SMALL], lambda x: np.argsort(-x)[..., :2].astype("float32")),
    (
        "topk",
        {"k": 2, "axis": 1, "ret_typ": "both", "is_ascend": True, "dtype": "int64"},
        [SMALL],
        lambda x: [np.sort(x, 1)[:, :2], np.argsort(x, 1)[:, :2]],
    ),
    ("topk", {"k": 0, "ret_typ": "value"}, [SMALL], lambda x: -np.sort(-x)),
    (
        "topk",
        {"k": 2, "ret_typ": "mask"},
        [SMALL],
        lambda x: (x >= np.sort(x)[..., -2:-1]).astype("float32"),
    ),
    (
        "topk",
        {"k": 5, "ret_typ": "mask", "axis": None},
        [SMALL],
        lambda x: (x >= np.sort(x, None)[-5]).astype("float32"),
    ),
]
