"""Products of arrays, by kernels and by libraries for matrices."""

import numpy as np
import pytest

from mxacc_check.plugin import Memory

from .cases import M, run

STACK = np.random.default_rng(6).normal(size=(2, 3, 5, 4)).astype("float32")
LONG = np.linspace(-1, 2, 10_000, dtype="float32")
INTS = np.arange(-6, 6, dtype="int8").reshape(3, 4)

SUMMED = [[0, 3], [0, 3]]
PRODUCTS = [
    ("matmul", M, M.T, {}, M @ M.T),
    ("matmul", M, M[0], {}, M @ M[0]),
    ("matmul", M[:, 0], M, {}, M[:, 0] @ M),
    ("matmul", M[0], M[1], {}, np.asarray(M[0] @ M[1])),
    ("matmul", M, STACK, {}, M @ STACK),
    ("matmul", STACK[:, :1], STACK[0, :, :4], {}, STACK[:, :1] @ STACK[0, :, :4]),
    ("matmul", M[:, :0], M[:0], {}, np.zeros((7, 5), "float32")),
    ("matmul", M[:0], M.T, {}, np.zeros((0, 7), "float32")),
    ("matmul", INTS, INTS.T, {}, INTS @ INTS.T),
    ("matmul", INTS > 0, INTS.T > 1, {}, (INTS > 0) @ (INTS.T > 1)),
    ("matmul", M.astype("float16"), M.T.astype("float16"), {}, None),
    ("dot", M, STACK[0], {}, M @ STACK[0].swapaxes(0, 1).reshape(5, 12)),
    ("dot", LONG, LONG[::-1], {}, np.asarray(LONG @ LONG[::-1])),
    ("inner", M, M, {}, np.inner(M, M)),
    ("outer", M, INTS.astype("float32"), {}, np.outer(M, INTS.astype("float32"))),
    (
        "tensordot",
        STACK,
        STACK,
        {"axes": [[0, 3], [0, 3]]},
        np.tensordot(STACK, STACK, ((0, 3), (0, 3))),
    ),
    ("tensordot", M, STACK, {"axes": [1, 2]}, np.tensordot(M, STACK, (1, 2))),
    ("tensordot", M, M, {"axes": 0}, np.tensordot(M, M, 0)),
    ("tensordot", STACK, STACK, {"axes": 4}, np.tensordot(STACK, STACK, 4)),
]


def product_names(name: str) -> tuple[str, str]:
    return ("x1", "x2") if name == "matmul" else ("a", "b")


@pytest.mark.parametrize(("name", "a", "b", "attributes", "expected"), PRODUCTS)
def test_products(plugin, name, a, b, attributes, expected):
    if expected is None:
        expected = (a.astype("float32") @ b.astype("float32")).astype(a.dtype)
    if name == "dot" and b.ndim > 2:
        expected = expected.reshape(7, 3, 4)
    inputs = dict(zip(product_names(name), (a, b), strict=True))
    result = run(plugin, name, inputs, np.asarray(expected), **attributes)
    tolerance = 2e-3 if expected.dtype == "float16" else 1e-4
    np.testing.assert_allclose(result, expected, rtol=tolerance, atol=tolerance)


LEFT = np.random.default_rng(7).normal(size=(3, 40, 36)).astype("float32")
RIGHT = np.random.default_rng(8).normal(size=(3, 36, 44)).astype("float32")
REVERSED = (slice(None), slice(None, None, -1))
# Views of what is large enough for matrices: dense, transposed, of rows further apart, packed, and
# several at a time.
LARGE = [
    ("matmul", LEFT[0], (), RIGHT[0], ()),
    ("matmul", LEFT[0], (), RIGHT[0][:, :36], "T"),
    ("matmul", LEFT[0], (slice(None), slice(30)), RIGHT[0], (slice(30), slice(2, 40))),
    ("matmul", LEFT[0], REVERSED, RIGHT[0], ()),
    ("matmul", LEFT, (), RIGHT, ()),
    ("matmul", LEFT, (), RIGHT[1], ()),
    ("dot", LEFT, (), RIGHT[2], ()),
]


@pytest.mark.parametrize(("name", "a", "of_a", "b", "of_b"), LARGE)
def test_products_of_matrices(plugin, monkeypatch, name, a, of_a, b, of_b):
    # PoCL takes many seconds to optimize CLBlast's kernels.
    monkeypatch.setenv("POCL_EXTRA_BUILD_FLAGS", "-cl-opt-disable")

    def view(memory: Memory, key) -> Memory:
        return memory.like(memory.array.T) if key == "T" else memory.view(key)

    memories = [plugin.to_device(np.ascontiguousarray(item)) for item in (a, b)]
    views = [view(memory, key) for memory, key in zip(memories, (of_a, of_b), strict=True)]
    inputs = dict(zip(product_names(name), views, strict=True))
    before = plugin.configure()["gemms"]
    left, right = (item.T if key == "T" else item[key] for item, key in ((a, of_a), (b, of_b)))
    expected = getattr(np, name)(left, right)
    # Into columns that are further apart, too.
    for shape, key in ((expected.shape, ()), ((*expected.shape, 2), (..., 1))):
        memory = plugin.empty(shape)
        output = memory.view(key)
        executor = plugin.executor(name, inputs, [output])
        executor.run(views, [output])
        executor.close()
        np.testing.assert_allclose(plugin.to_host(output), expected, rtol=1e-4, atol=1e-4)
        memory.free()
    # cuBLAS may be missing, and has tests of its own.
    if plugin.name() == "opencl":
        assert int(plugin.configure()["gemms"]) == int(before) + 2
    for memory in memories:
        memory.free()
