"""Cases: what makes arrays."""

import numpy as np

from .data import WHOLE, A, Case

CREATION: list[Case] = [
    ("_zeros", {"shape": (0, 3)}, [], lambda: np.zeros((1, 3), "float32")),
    ("_ones", {"shape": (2, 3), "dtype": "int32"}, [], lambda: np.ones((2, 3), "int32")),
    ("_full", {"shape": (2,), "value": 1.5}, [], lambda: np.full(2, 1.5, "float32")),
    ("_npi_zeros", {"shape": ()}, [], lambda: np.zeros((), "float32")),
    ("_npi_ones", {"shape": (2, 0)}, [], lambda: np.ones((2, 0), "float32")),
    ("_npi_full", {"shape": 3, "fill_value": 2}, [], lambda: np.full(3, 2, "float32")),
    ("zeros_like", {}, [A], np.zeros_like),
    ("ones_like", {}, [WHOLE], np.ones_like),
    ("_npi_full_like", {"fill_value": 3}, [A], lambda x: np.full_like(x, 3)),
    (
        "_arange",
        {"start": 2, "stop": 8, "step": 2, "repeat": 2},
        [],
        lambda: np.array([2, 2, 4, 4, 6, 6], "f"),
    ),
    ("_arange", {"start": 3}, [], lambda: np.arange(3, dtype="float32")),
    (
        "_npi_arange",
        {"start": 0, "stop": 1, "step": 0.3, "dtype": "float64"},
        [],
        lambda: np.arange(0, 1, 0.3),
    ),
    (
        "_contrib_arange_like",
        {"axis": 1, "start": 2, "step": 0.5},
        [A],
        lambda x: np.array([2, 2.5, 3], "f"),
    ),
    ("_contrib_arange_like", {}, [A], lambda x: np.arange(6, dtype="f").reshape(2, 3)),
    ("_linspace", {"start": 0, "stop": 1, "num": 5}, [], lambda: np.linspace(0, 1, 5, dtype="f")),
    ("_eye", {"N": 3, "M": 4, "k": 1}, [], lambda: np.eye(3, 4, 1, dtype="float32")),
]
