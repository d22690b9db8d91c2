"""Cases: products of matrices."""

import numpy as np

from .data import A, B, Case, f32


def attention(x: np.ndarray, heads: int, parts: int) -> list[np.ndarray]:
    length, batch, n = x.shape
    apart = x.reshape(length, batch, heads, parts, n // heads // parts)
    moved = apart.transpose(3, 1, 2, 0, 4)
    return list(moved.reshape(parts, batch * heads, length, -1))


def heads_together(x: np.ndarray, heads: int) -> np.ndarray:
    many, length, n = x.shape
    return x.reshape(-1, heads, length, n).transpose(2, 0, 1, 3).reshape(length, -1, heads * n)


QKV, KV, QUERY = f32(5, 2, 24), f32(6, 2, 16), f32(5, 2, 8)
LINEAR: list[Case] = [
    ("_npi_einsum", {"subscripts": "ij,kj->ik"}, [A, B], lambda a, b: a @ b.T),
    (
        "_npi_tensordot_int_axes",
        {"axes": 2},
        [f32(5, 2, 3), f32(2, 3, 4)],
        lambda a, b: np.tensordot(a, b, 2),
    ),
    ("dot", {}, [f32(2, 3), f32(3, 4)], np.dot),
    (
        "dot",
        {"transpose_a": True, "transpose_b": True},
        [f32(3, 2), f32(4, 3)],
        lambda a, b: a.T @ b.T,
    ),
    ("dot", {}, [f32(3), f32(3)], lambda a, b: np.dot(a, b).reshape(1)),
    ("dot", {}, [f32(2, 5, 3), f32(3, 4, 2)], lambda a, b: np.tensordot(a, b, 1)),
    (
        "dot",
        {"transpose_a": True},
        [f32(3, 2, 5), f32(3, 4)],
        lambda a, b: np.tensordot(a, b, ((0,), (0,))),
    ),
    ("_np_dot", {}, [f32(2, 3), f32(5, 3, 4)], np.dot),
    ("_npi_matmul", {}, [f32(5, 2, 3), f32(3, 4)], np.matmul),
    ("batch_dot", {}, [f32(5, 2, 3), f32(5, 3, 4)], np.matmul),
    (
        "batch_dot",
        {"transpose_a": 1, "transpose_b": 1},
        [f32(5, 3, 2), f32(5, 4, 3)],
        lambda a, b: a.swapaxes(1, 2) @ b.swapaxes(1, 2),
    ),
    (
        "_linalg_gemm2",
        {"alpha": 2, "transpose_b": True},
        [f32(5, 2, 3), f32(5, 4, 3)],
        lambda a, b: 2 * a @ b.swapaxes(1, 2),
    ),
    (
        "linalg_gemm",
        {"alpha": 2, "beta": 3},
        [f32(2, 3), f32(3, 4), f32(2, 4)],
        lambda a, b, c: 2 * a @ b + 3 * c,
    ),
    (
        "_contrib_interleaved_matmul_selfatt_qk",
        {"heads": 2},
        [QKV],
        lambda x: attention(x, 2, 3)[0] / 2 @ attention(x, 2, 3)[1].swapaxes(1, 2),
    ),
    (
        "_contrib_interleaved_matmul_selfatt_valatt",
        {"heads": 2},
        [QKV, f32(4, 5, 5)],
        lambda x, a: heads_together(a @ attention(x, 2, 3)[2], 2),
    ),
    (
        "_contrib_interleaved_matmul_encdec_qk",
        {"heads": 2},
        [QUERY, KV],
        lambda q, kv: attention(q, 2, 1)[0] / 2 @ attention(kv, 2, 2)[0].swapaxes(1, 2),
    ),
    (
        "_contrib_interleaved_matmul_encdec_valatt",
        {"heads": 2},
        [KV, f32(4, 5, 6)],
        lambda kv, a: heads_together(a @ attention(kv, 2, 2)[1], 2),
    ),
]
