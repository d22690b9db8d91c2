"""Every member that MXNet calls and that can fail, failing: users see it, and nothing breaks.

The members are those of the header, so that a new one without a scenario fails here.
"""

from __future__ import annotations

import gc
import re
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy
import pytest

import ffi
import mx
from tests.graph.build import graph_of

ROOT = Path(__file__).resolve().parents[2]
HEADER = (ROOT / "include" / "mxnet_acc.h").read_text(encoding="utf-8")
SOURCES = "\n".join(path.read_text() for path in (ROOT / "src" / "acc").rglob("*.cc"))

# What MXNet does not call today.
NOT_CALLED = {"mx_releaseAll"}


def members(struct: str) -> Iterator[str]:
    """The functions of a struct of the header that return a status: others cannot fail."""
    body = re.search(rf"typedef struct {struct} \{{(.*?)\n\}} {struct};", HEADER, re.S)
    assert body is not None
    yield from re.findall(r"^  MXAccStatus \(\*(\w+)\)", body[1], re.M)


MEMBERS = [
    "mxacc_get_api",
    *(name for struct in ("MXAccApi", "MXAccExecutor", "MXAccModel") for name in members(struct)),
]

GRAPH = "g (float[2] x) => (float[2] y) { a = Relu(x) b = Erf(a) y = Neg(b) }"
WEIGHTED = (
    "g (float[2] x) => (float[2] y) <float[2] w = {{{weight}, {weight}}}> {{ y = Mul(x, w) }}"
)
X = numpy.array([-1, 2], "float32")


def arrays(ctx: mx.Context) -> None:
    other = mx.Context(ctx.device_type, 1)
    zeros = mx.np.zeros(4, ctx=ctx)
    zeros[:] = (mx.np.array([1.0, 2, 3, 4], ctx=ctx) + zeros).copy()
    assert zeros.as_in_ctx(other).tolist() == [1, 2, 3, 4]
    mx.waitall()


def model(ctx: mx.Context) -> None:
    expected = mx.graph.Plan(graph_of(GRAPH))(X)[0]
    for _ in range(2):  # what the first compiles the second takes from the cache
        plan = mx.graph.PartitionedPlan(graph_of(GRAPH), ctx)
        numpy.testing.assert_allclose(plan(X)[0].as_in_ctx(mx.cpu()), expected)
    assert len(plan.profile({"x": X}).steps) > 0
    weighted, other = (graph_of(WEIGHTED.format(weight=weight)) for weight in (2, 3))
    plan = mx.graph.PartitionedPlan(weighted, ctx)
    plan.update_weights(other)
    numpy.testing.assert_allclose(plan(X)[0].as_in_ctx(mx.cpu()), X * 3)


def models_apart(ctx: mx.Context) -> None:
    key = ffi.get_global_func("mx.acc.models.key")(ctx)
    assert ffi.get_global_func("mx.acc.models.check")(ctx, key) == "fits"
    assert len(ffi.get_global_func("mx.acc.models.options")(ctx)) > 0


def configure(ctx: mx.Context) -> None:
    assert ctx.configure()["live"] == "0"


def everything(library: Path) -> list[str]:
    """Does what there is to do with a library; returns all errors and warnings."""
    told: list[str] = []

    def attempt(act: Callable[..., object], *args: object) -> object:
        try:
            return act(*args)
        except Exception as error:
            told.append(str(error))
            return None

    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        ctx = attempt(mx.load_acc, library, "everything")
        if ctx is not None:
            for scenario in (arrays, model, models_apart, configure):
                attempt(scenario, ctx)
                gc.collect()
                mx.empty_cache(ctx)
            attempt(mx.unload_acc, "everything")
    return told + [str(each.message) for each in warned]


@pytest.mark.parametrize("member", [name for name in MEMBERS if name not in NOT_CALLED])
def test_a_fault_is_told(accelerators: Path, monkeypatch, tmp_path: Path, member: str) -> None:
    library = accelerators / "librefacc.so"
    monkeypatch.setenv("MXNET_CACHE", "1")
    monkeypatch.setenv("MXNET_CACHE_DIR", str(tmp_path))
    monkeypatch.setenv("REFACC_STREAMS", "1")
    monkeypatch.setenv("REFACC_SHAPES", "asked")
    monkeypatch.setenv("REFACC_FAULTS", member)
    told = everything(library)
    assert any(f"the fault that was asked for at {member}" in text for text in told), told
    monkeypatch.delenv("REFACC_FAULTS")
    assert not [text for text in everything(library) if "does not execute" not in text]


@pytest.mark.parametrize("member", sorted(NOT_CALLED))
def test_what_is_called_nowhere(member: str) -> None:
    assert member in MEMBERS and not re.search(rf"(->|\.){member}\(", SOURCES)
