"""Models of the libraries that the SDK makes: kept in the cache, and in files."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from pathlib import Path

import numpy
import pytest

import mx
from mx.graph import PartitionedPlan, Plan
from mx.model import load_compiled, save_compiled
from mxacc_check.cli import main
from tests.acc.models.test_compiled_cache import origins
from tests.graph.build import graph_of

from ..conftest import FILES, need, open_usable

# A weight that is used twice, and a node that only views.
TEXT = """g (float[2,4] x) => (float[3,2] y, float[2,3] z)
<float[4,3] w = {1,-2,3,4,5,6,7,-8,9,10,11,12}, float[3] b = {1,2,3}> {
 [first] h = Gemm(x, w, b) [second] r = Relu(h) [third] s = Add(r, b)
 [fourth] y = Transpose(s) [fifth] z = Tanh(s) }"""
X = numpy.linspace(-1, 1, 8, dtype="float32").reshape(2, 4)


@pytest.fixture(scope="module", params=["onednn", "opencl", "cuda"])
def library(request, accelerators) -> Path:
    """The one for CUDA with the CPU for a device."""
    if request.param == "cuda":
        return request.getfixturevalue("cuda_on_cpu")
    if not (accelerators / FILES[request.param]).exists():
        need(request.param)
    open_usable(accelerators / FILES[request.param]).close()
    return accelerators / FILES[request.param]


@pytest.fixture
def ctx(library, tmp_path, monkeypatch) -> Iterator[mx.Context]:
    """With the cache switched on."""
    monkeypatch.setenv("MXNET_CACHE", "1")
    monkeypatch.setenv("MXNET_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setattr("mx.cache._use._told", set())
    yield mx.load_acc(library, "kept")
    gc.collect()
    mx.unload_acc("kept")


def same(plan: PartitionedPlan) -> None:
    for output, expected in zip(plan(X), Plan(graph_of(TEXT))(X), strict=True):
        numpy.testing.assert_allclose(output.asnumpy(), expected.asnumpy(), rtol=1e-5)


def test_the_cache_has_it(ctx) -> None:
    for origin in ("compiled", "cache"):
        plan = PartitionedPlan(graph_of(TEXT), ctx)
        same(plan)
        assert origins(plan) == [origin] and plan.summary() == "kept: 5 of 5 nodes"
    assert not mx.cache.check()


def test_a_second_start_reads_no_weights(ctx, tmp_path) -> None:
    """Where the pieces have them, which oneDNN's do not: it packs them."""
    import onnx

    from tests.graph.build import model_of

    path = tmp_path / "m.onnx"
    path.write_bytes(onnx.ModelProto.SerializeToString(model_of(TEXT)))
    for _ in range(2):
        plan = PartitionedPlan(mx.graph.load(path), ctx)
        same(plan)
    whole = {entry.about.get("weights") for entry in mx.cache.entries()} - {None}
    assert whole == {"oneDNN" not in str(mx.device_info(ctx).vendor)}
    assert origins(plan) == ["cache"]


def test_a_file_has_it(ctx, tmp_path) -> None:
    path = tmp_path / "model.mx"
    save_compiled(path, PartitionedPlan(graph_of(TEXT), ctx, cache=False))
    loaded = load_compiled(path)
    same(loaded)
    assert origins(loaded) == ["file"]


def test_other_settings_are_other_models(ctx) -> None:
    if mx.device_info(ctx).vendor != "oneDNN":
        pytest.skip("it has no settings that models are compiled with")
    for threads, origin in (("1", "compiled"), ("2", "compiled"), ("1", "cache")):
        ctx.configure(threads=threads)
        plan = PartitionedPlan(graph_of(TEXT), ctx, options={"keep_nan": False})
        same(plan)
        assert origins(plan) == [origin]


def test_keeps_to_the_contract(library) -> None:
    """Damaged pieces are rejected, and what is imported is the same."""
    assert main([str(library), "--quick", "--only=models", "--only=graphs"]) == 0
