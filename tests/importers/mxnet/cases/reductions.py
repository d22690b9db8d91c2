"""Cases: reductions."""

import numpy as np

from .data import SMALL, WHOLE, A, Case, f32

WITH_NAN = np.where(abs(SMALL) > 1, np.nan, SMALL).astype("float32")
REDUCED = {"sum": np.sum, "mean": np.mean, "prod": np.prod, "max": np.max, "min": np.min}
REDUCTIONS: list[Case] = [
    *(
        (name, {}, [SMALL], lambda x, f=f: f(x, keepdims=True).reshape(1))
        for name, f in REDUCED.items()
    ),
    *(
        (name, {"axis": (0, 2)}, [SMALL], lambda x, f=f: f(x, (0, 2)))
        for name, f in REDUCED.items()
    ),
    *(
        (name, {"axis": -1, "keepdims": 1}, [SMALL], lambda x, f=f: f(x, -1, keepdims=True))
        for name, f in REDUCED.items()
    ),
    *(
        (name, {"axis": 1, "exclude": True}, [SMALL], lambda x, f=f: f(x, (0, 2)))
        for name, f in REDUCED.items()
    ),
    *(
        (f"_npi_{name}", {}, [SMALL], lambda x, f=f: np.asarray(f(x)))
        for name, f in REDUCED.items()
    ),
    *(
        (f"_npi_{name}", {"axis": 1}, [SMALL], lambda x, f=f: f(x, 1))
        for name, f in REDUCED.items()
    ),
    ("_npi_mean", {}, [WHOLE], lambda x: np.asarray(x.mean(), "float32")),
    ("_np_sum", {"dtype": "float64", "axis": "(1,)"}, [A], lambda x: x.sum(1, dtype="float64")),
    ("sum_axis", {"axis": 1}, [SMALL], lambda x: x.sum(1)),
    ("nansum", {"axis": 1}, [WITH_NAN], lambda x: np.nansum(x, 1)),
    ("nanprod", {}, [WITH_NAN], lambda x: np.nanprod(x).reshape(1)),
    ("norm", {}, [SMALL], lambda x: np.sqrt((x * x).sum()).reshape(1)),
    (
        "norm",
        {"ord": 1, "axis": 1, "keepdims": True},
        [SMALL],
        lambda x: abs(x).sum(1, keepdims=True),
    ),
    ("_square_sum", {"axis": 1}, [SMALL], lambda x: (x * x).sum(1)),
    ("_npi_var", {"axis": 1}, [SMALL], lambda x: x.var(1)),
    ("_npi_std", {"ddof": 1}, [SMALL], lambda x: np.asarray(x.std(ddof=1))),
    ("moments", {"axes": (0, 2)}, [SMALL], lambda x: [x.mean((0, 2)), x.var((0, 2))]),
    ("argmax", {"axis": 1}, [SMALL], lambda x: x.argmax(1).astype("float32")),
    (
        "argmin",
        {"axis": -1, "keepdims": True},
        [SMALL],
        lambda x: x.argmin(-1, keepdims=True).astype("f"),
    ),
    ("argmax", {}, [SMALL], lambda x: np.array([x.argmax()], "float32")),
    ("_npi_argmax", {"axis": 1}, [SMALL], lambda x: x.argmax(1)),
    ("_npi_argmin", {}, [SMALL], lambda x: np.asarray(x.argmin())),
    ("argmax_channel", {}, [A], lambda x: x.argmax(1).astype("float32")),
    ("broadcast_axis", {"axis": 1, "size": 3}, [f32(2, 1)], lambda x: np.repeat(x, 3, 1)),
    (
        "broadcast_axes",
        {"axis": (0, 2), "size": (2, 3)},
        [f32(1, 4, 1)],
        lambda x: np.broadcast_to(x, (2, 4, 3)),
    ),
    ("broadcast_to", {"shape": (0, 3)}, [f32(2, 1)], lambda x: np.repeat(x, 3, 1)),
    ("_np_broadcast_to", {"shape": (4, 2, 3)}, [A], lambda x: np.broadcast_to(x, (4, 2, 3))),
    ("broadcast_like", {}, [f32(1, 3), A], lambda x, y: np.broadcast_to(x, (2, 3))),
    (
        "broadcast_like",
        {"lhs_axes": (0,), "rhs_axes": (-1,)},
        [f32(1, 2), A],
        lambda x, y: np.repeat(x, 3, 0),
    ),
    ("_np_cumsum", {"axis": 1}, [A], lambda x: x.cumsum(1)),
    ("cumsum", {}, [A], lambda x: x.cumsum()),
]
