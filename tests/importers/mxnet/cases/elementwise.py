"""Cases: operators on elements of one array or two."""

from collections.abc import Callable
from typing import Any

import numpy as np
import torch

from .data import COMPARED, OTHER, SAME, SMALL, WHOLE, A, B, Case, f32, of_torch, positive

HALVES = np.array([-2.5, -1.5, -0.5, 0, 0.5, 1.5, 2.5, 1.2, -1.7], "float32")
UNARY: list[Case] = [
    *(
        (name, {}, [SMALL], getattr(np, name))
        for name in "exp tanh square abs sign negative ceil floor trunc sin cos tan arctan sinh "
        "cosh arcsinh cbrt degrees radians expm1 isnan isinf isfinite logical_not".split()
    ),
    *((name, {}, [positive(2, 3)], getattr(np, name)) for name in "log log2 log10 log1p".split()),
    *((name, {}, [positive(2, 3)], getattr(np, name)) for name in ("sqrt", "reciprocal")),
    *((name, {}, [f32(5) * 0.1], getattr(np, name)) for name in ("arcsin", "arccos", "arctanh")),
    ("arccosh", {}, [positive(5) + 1], np.arccosh),
    ("rsqrt", {}, [positive(5)], lambda x: 1 / np.sqrt(x)),
    ("rcbrt", {}, [positive(5)], lambda x: 1 / np.cbrt(x)),
    ("relu", {}, [SMALL], lambda x: np.maximum(x, 0)),
    ("sigmoid", {}, [SMALL], lambda x: 1 / (1 + np.exp(-x))),
    ("softsign", {}, [SMALL], lambda x: x / (1 + abs(x))),
    ("erf", {}, [SMALL], of_torch(torch.erf)),
    ("round", {}, [HALVES], lambda x: np.sign(x) * np.floor(abs(x) + 0.5)),
    ("rint", {}, [HALVES], lambda x: np.ceil(x - 0.5)),
    ("fix", {}, [HALVES], np.fix),
    ("isnan", {}, [np.array([1, np.nan, np.inf], "float32")], np.isnan),
    ("isfinite", {}, [np.array([1, np.nan, np.inf], "float32")], np.isfinite),
    ("_npi_isinf", {}, [np.array([1, np.nan, np.inf], "float32")], np.isinf),
    ("clip", {"a_min": -0.5, "a_max": 0.25}, [SMALL], lambda x: x.clip(-0.5, 0.25)),
    ("clip", {"a_min": 1.5, "a_max": 3}, [np.arange(6)], lambda x: x.clip(1, 3)),
    ("hard_sigmoid", {}, [SMALL], lambda x: (0.2 * x + 0.5).clip(0, 1)),
    ("Cast", {"dtype": "int32"}, [SMALL], lambda x: x.astype("int32")),
    ("Cast", {"dtype": "float32"}, [SMALL], lambda x: x),
    ("Cast", {"dtype": "float64"}, [np.arange(4)], lambda x: x.astype("float64")),
    (
        "smooth_l1",
        {"scalar": 2.0},
        [SMALL],
        lambda x: np.where(abs(x) < 0.25, 2 * x * x, abs(x) - 0.125),
    ),
    ("_contrib_quadratic", {"a": 2, "b": 3, "c": 4}, [SMALL], lambda x: 2 * x * x + 3 * x + 4),
    ("_contrib_div_sqrt_dim", {}, [SMALL], lambda x: x / 2),
    (
        "amp_multicast",
        {"num_outputs": 2},
        [f32(2).astype("float16"), f32(3)],
        lambda a, b: [a.astype("float32"), b],
    ),
]


def truth(function: Callable[..., Any]) -> Callable[..., Any]:
    return lambda a, b: function(a, b).astype(a.dtype)


ARITHMETIC = {
    "add": np.add,
    "sub": np.subtract,
    "mul": np.multiply,
    "div": np.divide,
}

OTHERS = {
    "mod": np.mod,
    "maximum": np.maximum,
    "minimum": np.minimum,
    "hypot": np.hypot,
}

BINARY: list[Case] = [
    *((f"elemwise_{name}", {}, [A, B], function) for name, function in ARITHMETIC.items()),
    *((f"broadcast_{name}", {}, [A, f32(1, 3)], f) for name, f in (ARITHMETIC | OTHERS).items()),
    *((f"_{name}", {}, [A, B], function) for name, function in OTHERS.items()),
    ("_power", {}, [positive(2, 3), B], np.power),
    ("broadcast_power", {}, [positive(2, 3), f32(1, 3)], np.power),
    ("_mod", {}, [A, A * 0], lambda a, b: b),
    *((f"_{name}", {}, list(SAME), truth(function)) for name, function in COMPARED.items()),
    *((f"broadcast_{n}", {}, [SAME[0], SAME[1][:1]], truth(f)) for n, f in COMPARED.items()),
    *((f"_npi_{n.replace('lesser', 'less')}", {}, list(SAME), f) for n, f in COMPARED.items()),
    *(
        (f"_{name}_scalar", {"scalar": 2}, [SAME[0]], lambda x, f=f: f(x, 2).astype("float32"))
        for name, f in ({"plus": np.add, "minus": np.subtract} | OTHERS | COMPARED).items()
    ),
    ("_mul_scalar", {"scalar": "1.5"}, [A], lambda x: x * 1.5),
    ("_div_scalar", {"scalar": 3}, [A], lambda x: x / 3),
    ("_power_scalar", {"scalar": 2}, [A], lambda x: x**2),
    ("_rminus_scalar", {"scalar": 2}, [A], lambda x: 2 - x),
    ("_rdiv_scalar", {"scalar": 2}, [A], lambda x: 2 / x),
    ("_rmod_scalar", {"scalar": 2}, [A], lambda x: np.mod(2, x)),
    ("_rpower_scalar", {"scalar": 2}, [A], lambda x: 2**x),
    ("_PlusScalar", {"scalar": 2.7}, [WHOLE], lambda x: x + 2),
    ("_npi_add_scalar", {"scalar": 2.5, "is_int": False}, [WHOLE], lambda x: (x + 2.5).astype("f")),
    ("_npi_add_scalar", {"scalar": 2}, [WHOLE], lambda x: x + 2),
    ("_npi_rsubtract_scalar", {"scalar": 2}, [A], lambda x: 2 - x),
    ("_npi_true_divide", {}, [WHOLE, OTHER], lambda a, b: (a / b).astype("float32")),
    ("_npi_true_divide_scalar", {"scalar": 4}, [WHOLE], lambda a: (a / 4).astype("float32")),
    ("_npi_rtrue_divide_scalar", {"scalar": 4}, [A], lambda a: 4 / a),
    ("_npi_floor_divide", {}, [WHOLE, OTHER], np.floor_divide),
    ("_npi_floor_divide", {}, [A, B], np.floor_divide),
    ("_npi_mod", {}, [WHOLE, OTHER], np.mod),
    ("_npi_fmod", {}, [A, B], np.fmod),
    ("_npi_add", {}, [WHOLE, A], lambda a, b: (a + b).astype("float32")),
    ("_npi_add", {}, [WHOLE.astype("int32"), OTHER], np.add),
    ("_npi_power", {}, [positive(2, 3), B], np.power),
    ("_npi_logaddexp", {}, [A, B], np.logaddexp),
    ("_npi_copysign", {}, [A, B], np.copysign),
    ("_npi_ldexp", {}, [A, B], lambda a, b: a * 2**b),
    (
        "_npi_arctan2",
        {},
        [np.r_[A[0], 0, 0, 1, -1].astype("f"), np.r_[B[0], -1, 1, 0, 0].astype("f")],
        np.arctan2,
    ),
    ("_npi_bitwise_and", {}, [WHOLE, OTHER], np.bitwise_and),
    ("_npi_bitwise_or", {}, [WHOLE, OTHER], np.bitwise_or),
    ("_npi_bitwise_xor", {}, [WHOLE, OTHER], np.bitwise_xor),
    ("add_n", {}, [A, B, A], lambda a, b, c: a + b + c),
    ("ElementWiseSum", {}, [A], lambda a: a),
    ("where", {}, [SAME[0], A, B], lambda c, a, b: np.where(c != 0, a, b)),
    ("where", {}, [np.array([0, 1], "float32"), A, B], lambda c, a, b: np.stack([b[0], a[1]])),
    ("_npi_where", {}, [SAME[0], A, B[0]], lambda c, a, b: np.where(c != 0, a, b)),
    ("_npi_where_lscalar", {"scalar": 3}, [SAME[0], A], lambda c, a: np.where(c != 0, 3, a)),
    ("_npi_where_rscalar", {"scalar": 3}, [SAME[0], A], lambda c, a: np.where(c != 0, a, 3)),
]
