"""Models that are deployed for slices of their batch."""

from __future__ import annotations

from pathlib import Path

import numpy
import pytest

from mx import sol
from mx.graph import Graph
from mx.graph.plan import Plan
from mx.sol.deployments import _deploy, _slices
from mx.sol.deployments._arena import lay_out
from tests.graph.build import graph_of

from .loaded import Library, aligned
from .test_libraries import pool_of

random = numpy.random.default_rng(6)
X = "float[4,6,8,8] x"
ROWS = "float[4,6,8] x"


def floats(*shape: int) -> numpy.ndarray:
    return random.standard_normal(shape).astype("float32")


def ints(name: str, *values: int) -> str:
    numbers = ", ".join(map(str, values))
    return f"{name} = Constant <value = int64[{len(values)}] {{{numbers}}}> () "


def weight(name: str, *shape: int) -> str:
    numbers = ", ".join(f"{one:.3f}" for one in floats(*shape).reshape(-1))
    return f"{name} = Constant <value = float{list(shape)} {{{numbers}}}> () "


@pytest.fixture(autouse=True)
def small(monkeypatch) -> None:
    """Has slices be of use whatever they compute."""
    monkeypatch.setattr(_slices, "_LEAST_OPERATIONS", 1)
    monkeypatch.setattr(_slices, "_LEAST_USES", 0)
    monkeypatch.setattr(_slices, "_LEAST_FAR_USES", 0)


W = weight("w", 5, 6, 3, 3)
# What does the same for each item: inputs and nodes.
SAME = {
    "convolution": (X, W + "c = Conv (x, w) y = Relu (c)"),
    "transposed": (X, weight("w", 6, 2, 2, 2) + "y = ConvTranspose (x, w)"),
    "pools": (X, "a = MaxPool <kernel_shape = [2, 2]> (x) y = GlobalAveragePool (a)"),
    "reshape": (X, ints("s", 4, 12, -1) + "y = Reshape (x, s)"),
    "reshape of any batch": (X, ints("s", -1, 384) + "y = Reshape (x, s)"),
    "flatten": (X, "f = Flatten (x) " + weight("w", 384, 3) + "y = Gemm (f, w)"),
    "norms": (ROWS, weight("s", 8) + "n = LayerNormalization (x, s) y = Softmax (n)"),
    "products": (ROWS, "t = Transpose <perm = [0, 2, 1]> (x) y = MatMul (x, t)"),
    "broadcast": (ROWS, weight("w", 6, 1) + weight("v", 1, 1, 8) + "a = Add (x, w) y = Mul (a, v)"),
    "split": (
        ROWS, ints("n", 3, 5) + "a, b = Split <axis = 2> (x, n) y = Concat <axis = -1> (b, a)"
    ),
    "axes": (
        ROWS,
        ints("o", 1) + "u = Unsqueeze (x, o) n = Neg (u) q = Squeeze (n, o) "
        "y = ReduceMean <keepdims = 0> (q, o)",
    ),
    "slice": (ROWS, ints("b", 1) + ints("e", 5) + ints("a", 2) + "y = Slice (x, b, e, a)"),
    "expand": (
        "float[4,1,8] x", ints("s", 4, 3, 8) + "e = Expand (x, s) y = Exp (e)"
    ),
    "table": ("int64[4,3] x", weight("w", 7, 5) + "y = Gather (w, x)"),
    "some columns": (ROWS, ints("i", 3, 0) + "y = Gather <axis = 1> (x, i)"),
    "attention": (
        "float[4,2,5,8] x, float[4,1,5,5] m", "y = Attention (x, x, x, m)"
    ),
}  # fmt: skip
# What mixes items, or may.
MIXED = {
    "statistics of the batch": (
        X,
        weight("s", 6) + "a, b, c = BatchNormalization <training_mode = 1> (x, s, s, s, s) "
        "y = Relu (a)",
    ),
    "positions in all": (
        X, "a, i = MaxPool <kernel_shape = [2, 2]> (x) y = Cast <to = 1> (i)"
    ),
    "another axis first": (ROWS, "y = Transpose <perm = [1, 0, 2]> (x)"),
    "the batch in a row": (ROWS, ints("s", 24, 8) + "y = Reshape (x, s)"),
    "a number for each item": (ROWS, weight("w", 4, 1, 1) + "y = Add (x, w)"),
    "softmax over items": (ROWS, "y = Softmax <axis = 0> (x)"),
    "items behind items": (ROWS, "y = Concat <axis = 0> (x, x)"),
    "items of a table": (ROWS, ints("i", 3, 0, 1, 1) + "y = Gather (x, i)"),
    "a sum over items": (ROWS, ints("a", 0) + "y = ReduceSum (x, a)"),
    "a sum over all": (ROWS, "y = ReduceSum (x)"),
    "some items": (ROWS, ints("b", 0) + ints("e", 4) + ints("a", 0) + "y = Slice (x, b, e, a)"),
    "products between items": (
        "float[4,4] x", "t = Transpose <perm = [1, 0]> (x) y = MatMul (x, t)"
    ),
    "an attention whose mask has fewer axes": (
        "float[4,2,4,8] x, float[4,4] m", "y = Attention (x, x, x, m)"
    ),
    "an input without the batch": ("float[4,6,8] x, float[8] v", "y = Add (x, v)"),
    "steps of a sequence": (ROWS, ints("a", 0) + "y = CumSum (x, a)"),
}  # fmt: skip


def graph(inputs: str, nodes: str) -> Graph:
    made = graph_of(f"g ({inputs}) => (z) {{ {nodes} z = Neg (y) }}")
    made.infer()
    return made


def feeds_of(one: Graph) -> list[numpy.ndarray]:
    shapes = [(spec.dtype, spec.shape) for spec in one.inputs]
    return [
        floats(*shape) if dtype == "float32" else random.integers(0, 5, shape)
        for dtype, shape in shapes
    ]


@pytest.mark.parametrize("name", SAME)
@pytest.mark.parametrize(("threads", "count"), [(1, 4), (2, 4), (3, 1), (4, 4)])
def test_slices_give_what_the_whole_gives(name: str, threads: int, count: int) -> None:
    whole = graph(*SAME[name])
    found, part = _slices.slices_of(whole, threads)
    assert found == count
    feeds = feeds_of(whole)
    (wanted,) = Plan(whole)(*feeds)
    plan, items = Plan(part), 4 // count
    made = [plan(*(one[n * items : (n + 1) * items] for one in feeds))[0] for n in range(count)]
    numpy.testing.assert_allclose(numpy.concatenate(made), wanted, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("name", MIXED)
def test_what_is_not_cut(name: str) -> None:
    whole = graph(*MIXED[name])
    assert _slices.slices_of(whole, 1) == (1, whole)


# How many threads are told, those of this machine are, and slices of a batch of 4 that follow.
@pytest.mark.parametrize(
    ("threads", "here", "count"), [(None, 3, 1), (None, 2, 4), (2, 3, 4), (3, 2, 1), (8, 2, 1)]
)
def test_as_many_slices_as_threads_share(tmp_path: Path, monkeypatch, threads, here, count) -> None:
    whole = graph(*SAME["convolution"])
    monkeypatch.setattr(_deploy, "get_num_threads", lambda: here)
    made = []
    monkeypatch.setattr(
        _deploy, "lay_out", lambda program: made.append(program) or lay_out(program)
    )
    sol.deploy(whole, "source", path=tmp_path, lib_name="cut", threads=threads)
    assert [program.slices for program in made] == [count]


@pytest.mark.parametrize("weights", ["inside", "beside"])
def test_deployed(tmp_path: Path, weights: str) -> None:
    whole = graph(X, W + "c = Conv (x, w) r = Relu (c) f = Flatten (r) y = Softmax (f)")
    deployed = sol.deploy(whole, "shared", path=tmp_path, lib_name="cut", weights=weights)
    kept = None
    if weights == "beside":
        kept = aligned((tmp_path / "cut.weights").read_bytes())
    library = Library(deployed.files[0], kept)
    (x,) = feeds_of(whole)
    (wanted,) = Plan(whole)(x)
    for threads in (None, 1, 2, 3, 9):
        y = numpy.full(wanted.shape, 7, "float32")
        pool = None if threads is None else pool_of(threads)
        assert library.call([x, y], pool=pool) == 0
        numpy.testing.assert_allclose(y, wanted, rtol=1e-5, atol=1e-6)
